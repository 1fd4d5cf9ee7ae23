"""Reads and writes `.ktimeline` files: what a replay said, and all it takes to replay again.

The columns lie uncompressed at multiples of 64 bytes, so that reading maps them into memory: pages
are fetched as they are looked at. docs/trace-format.md lists the sections.
"""

import mmap
from collections.abc import Callable, Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .atomic_file import write_whole
from .calibration import Calibration
from .config_file import Model, check
from .deadlock import BlockedCommand, Deadlock
from .errors import ConfigError, FileError
from .hazard_policy import HazardPolicy
from .hazards import HAZARD_COLUMNS, Hazards
from .plain_data import MAX_INTEGER, Field, Rows, blamed_on, pack, pack_row, unpack
from .sections import (
    TIMELINE_FORMAT,
    NewSection,
    Section,
    must_have,
    new_section,
    open_sections,
    opened,
    pieces,
)
from .stages import STAGE_COLUMNS, Block, Engine, Stages
from .timeline import DurationClass, Status, Timeline
from .timeline_checks import check_timeline
from .topology import Topology
from .trace_file import parse_trace, trace_bytes

ABOUT, ENGINES, CLASSES, TRACE = "about", "engines", "duration_classes", "trace"
DEADLOCK = "deadlock"
DESCRIPTIONS = (ABOUT, ENGINES, CLASSES, DEADLOCK)
"""The small sections: their checksums are always compared. The trace has its own inside."""

TIME_COLUMNS: dict[str, type[np.integer]] = {
    "ready_ps": np.int64,
    "start_ps": np.int64,
    "end_ps": np.int64,
    "cause": np.int32,
    "why": np.int8,
}
HAZARD_PREFIX = "hazard_"
ABOUT_KEYS = ("calibration", "hazards", "policy", "stages", "status", "topology")
BLOCKS = tuple(block.value for block in Block)
STATUSES = tuple(status.value for status in Status)

Row = TypeVar("Row")


def write_timeline(path: Path, timeline: Timeline) -> None:
    """Writes the file whole or not at all. FileError where it cannot be written."""
    with blamed_on(str(path), "not written"):
        sections = list(_sections(timeline))
    with write_whole(path) as file:
        for piece in pieces(TIMELINE_FORMAT, sections):
            file.write(piece)


def read_timeline(path: Path, *, verify: bool = True) -> Timeline:
    """The timeline in the file, its columns mapped into memory, read-only.

    FileError, naming file and place, where it is not whole and sound. Without `verify` the columns'
    checksums are left out, which takes most of the time of opening a large file; all else is
    checked, so that ids can be trusted and only times can be other than those written. The file may
    be replaced while the timeline is in use (as `write_timeline` does), but not be truncated.
    """
    content = memoryview(_mapped(path))
    sections = open_sections(content, TIMELINE_FORMAT, str(path))
    with blamed_on(str(path), TIMELINE_FORMAT.remedy):
        must_have(sections, (ABOUT, ENGINES, CLASSES, TRACE, *_column_names()), (DEADLOCK,))
        for name, section in sections.items():
            if verify or name in DESCRIPTIONS:
                section.check_bytes()
        timeline = _timeline(sections)
        check_timeline(timeline)
    return timeline


def _mapped(path: Path) -> bytes | mmap.mmap:
    with opened(path) as file:
        try:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError:  # nothing can be mapped of an empty file
            return b""
        except OSError as error:
            raise FileError(f"{path}: cannot be mapped: {error.strerror or error}") from error


def _column_names() -> tuple[str, ...]:
    return (*STAGE_COLUMNS, *TIME_COLUMNS, *(HAZARD_PREFIX + name for name in HAZARD_COLUMNS))


def _sections(timeline: Timeline) -> Iterator[NewSection]:
    yield new_section(ABOUT, _packed_about(timeline))
    yield new_section(ENGINES, _packed_engines(timeline.engines))
    yield new_section(CLASSES, _packed_classes(timeline.duration_classes))
    yield new_section(TRACE, trace_bytes(timeline.trace))
    for name, item in STAGE_COLUMNS.items():
        yield _column_section(name, getattr(timeline.stages, name), item)
    for name, item in TIME_COLUMNS.items():
        yield _column_section(name, getattr(timeline, name), item)
    for name, item in HAZARD_COLUMNS.items():
        yield _column_section(HAZARD_PREFIX + name, getattr(timeline.hazards, name), item)
    if timeline.deadlock is not None:
        yield new_section(DEADLOCK, _packed_deadlock(timeline.deadlock))


def _column_section(
    name: str, column: npt.NDArray[np.integer], item: type[np.integer]
) -> NewSection:
    values = np.ascontiguousarray(column, dtype=_stored(item))
    return new_section(name, values.data.cast("B") if len(values) else b"")


def _stored(item: type[np.integer]) -> np.dtype[np.integer]:
    """The type as it lies in a file: little endian."""
    return np.dtype(item).newbyteorder("<")


def _packed_about(timeline: Timeline) -> bytes:
    return pack(
        {
            "calibration": timeline.calibration.model_dump(mode="json"),
            "hazards": len(timeline.hazards),
            "policy": timeline.policy.model_dump(mode="json"),
            "stages": len(timeline.stages),
            "status": timeline.status.value,
            "topology": timeline.topology.model_dump(mode="json"),
        },
        ABOUT,
    )


def _packed_engines(engines: tuple[Engine, ...]) -> bytes:
    return b"".join(
        pack_row([engine.block.value, engine.rank, engine.channel, engine.arbitrates])
        for engine in engines
    )


def _packed_classes(classes: tuple[DurationClass, ...]) -> bytes:
    return b"".join(pack_row([each.equation, each.quantity]) for each in classes)


def _packed_deadlock(deadlock: Deadlock) -> bytes:
    rows = [[deadlock.clearing_depth, len(deadlock.cycle), list(deadlock.clearing_policies)]]
    rows += [list(astuple(blocked)) for blocked in (*deadlock.cycle, *deadlock.tail)]
    return b"".join(map(pack_row, rows))


def _timeline(sections: dict[str, Section]) -> Timeline:
    about = unpack(sections[ABOUT].content, ABOUT).entries(ABOUT_KEYS)
    stage_count, hazard_count = about["stages"].integer(), about["hazards"].integer()

    def column(name: str, item: type[np.integer], count: int) -> npt.NDArray[Any]:
        return _column(sections[name], _stored(item), count)

    stages = {name: column(name, item, stage_count) for name, item in STAGE_COLUMNS.items()}
    times = {name: column(name, item, stage_count) for name, item in TIME_COLUMNS.items()}
    hazards = {
        name: column(HAZARD_PREFIX + name, item, hazard_count)
        for name, item in HAZARD_COLUMNS.items()
    }
    return Timeline(
        trace=parse_trace(sections[TRACE].content, "its trace").trace,
        topology=_configuration(Topology, about["topology"]),
        calibration=_configuration(Calibration, about["calibration"]),
        policy=_configuration(HazardPolicy, about["policy"]),
        status=Status(about["status"].one_of(STATUSES)),
        engines=_rows(sections[ENGINES], _read_engine),
        duration_classes=_rows(sections[CLASSES], _read_class),
        stages=Stages(**stages),
        hazards=Hazards(**hazards),
        deadlock=_read_deadlock(sections[DEADLOCK]) if DEADLOCK in sections else None,
        ready_ps=times["ready_ps"],
        start_ps=times["start_ps"],
        end_ps=times["end_ps"],
        cause=times["cause"],
        why=times["why"],
    )


def _configuration(model: type[Model], field: Field) -> Model:
    try:
        return check(model, field.plain(), field.where)
    except ConfigError as error:
        raise FileError(" ".join(str(error).split())) from error


def _rows(section: Section, read: Callable[[Field], Row]) -> tuple[Row, ...]:
    rows = Rows(section.content, f"section '{section.name}'")
    found: list[Row] = []
    while not rows.at_end:
        found.append(read(rows.next(f"{section.name}[{len(found)}]")))
    return tuple(found)


def _read_engine(field: Field) -> Engine:
    block, rank, channel, arbitrates = field.items(4)
    return Engine(
        block=Block(block.one_of(BLOCKS)),
        rank=rank.integer(-1),
        channel=channel.text(),
        arbitrates=arbitrates.flag(),
    )


def _read_class(field: Field) -> DurationClass:
    equation, quantity = field.items(2)
    return DurationClass(equation.text(), quantity.integer(0, MAX_INTEGER))


def _read_deadlock(section: Section) -> Deadlock:
    first, *rest = _rows(section, _same) or (Field([], DEADLOCK),)
    depth, cycle, policies = first.items(3)
    blocked = tuple(_read_blocked(row) for row in rest)
    length = cycle.integer(0, len(blocked))
    clearing_depth = None if depth.value is None else depth.integer(1)
    clearing = tuple(policy.text() for policy in policies.items())
    return Deadlock(blocked[:length], blocked[length:], clearing_depth, clearing)


def _same(field: Field) -> Field:
    return field


def _read_blocked(field: Field) -> BlockedCommand:
    rank, command, verb, line, waits_for, for_rank, for_command = field.items(7)
    return BlockedCommand(
        rank=rank.integer(),
        command=command.integer(),
        verb=verb.text(),
        line=line.text(),
        waits_for=waits_for.text(),
        for_rank=for_rank.integer(),
        for_command=for_command.integer(),
    )


def _column(section: Section, item: np.dtype[np.integer], count: int) -> npt.NDArray[Any]:
    """The column where it lies: nothing is copied."""
    if len(section.content) != count * item.itemsize:
        raise FileError(
            f"section '{section.name}' must have {count} items of {item.itemsize} bytes,"
            f" not {len(section.content)} bytes"
        )
    return np.frombuffer(section.content, dtype=item) if count else np.zeros(0, dtype=item)
