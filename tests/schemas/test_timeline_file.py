"""A timeline file gives back what was written, maps its columns into memory, and believes nothing."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.schemas.errors import FileError
from kerntape.schemas.hazards import HAZARD_COLUMNS, no_hazards
from kerntape.schemas.sections import TIMELINE_FORMAT, NewSection, open_sections, pieces
from kerntape.schemas.stages import STAGE_COLUMNS, Stages
from kerntape.schemas.timeline import Status, Timeline
from kerntape.schemas.timeline_file import read_timeline, write_timeline
from kerntape.schemas.trace_file import trace_bytes
from small_timelines import deadlocked, two_pes_timeline
from small_traces import with_inputs

TIMES = ("ready_ps", "start_ps", "end_ps", "cause", "why")


def alike(one: Timeline, other: Timeline) -> bool:
    """Whether two timelines say the same, column by column."""
    columns = [(one.stages, other.stages, name) for name in STAGE_COLUMNS]
    columns += [(one.hazards, other.hazards, name) for name in HAZARD_COLUMNS]
    columns += [(one, other, name) for name in TIMES]
    same = all(np.array_equal(getattr(a, name), getattr(b, name)) for a, b, name in columns)
    return same and without_columns(one) == without_columns(other)


def without_columns(timeline: Timeline) -> tuple[Any, ...]:
    return (
        timeline.trace.streams,
        timeline.trace.pes,
        timeline.trace.header.arguments,
        timeline.topology,
        timeline.calibration,
        timeline.policy,
        timeline.status,
        timeline.engines,
        timeline.duration_classes,
        timeline.deadlock,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "x.ktimeline"


@pytest.fixture
def content(path: Path) -> bytes:
    write_timeline(path, two_pes_timeline())
    return path.read_bytes()


def refused(path: Path, content: bytes, *, verify: bool = True) -> str:
    """The one line that a file of these bytes is refused with, without the path and the remedy."""
    path.write_bytes(content)
    with pytest.raises(FileError) as caught:
        read_timeline(path, verify=verify)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}: ")
    return message.removeprefix(f"{path}: ").removesuffix("; replay its trace again")


def signed(content: bytes, changes: dict[str, bytes]) -> bytes:
    """The file with sections replaced and their checksums made right again."""
    sections = open_sections(memoryview(content), TIMELINE_FORMAT, "x")
    new = {name: bytes(section.content) for name, section in sections.items()} | changes
    parts = [NewSection(name, new[name], hashlib.sha256(new[name]).digest()) for name in new]
    return b"".join(pieces(TIMELINE_FORMAT, parts))


def rewritten(path: Path, timeline: Timeline) -> bytes:
    write_timeline(path, timeline)
    return path.read_bytes()


# ── what comes back ──────────────────────────────────────────────────────────────────────────────


def made_by_the_policy() -> Timeline:
    """A deadlock that other policies clear, and no depth."""
    timeline = deadlocked()
    assert timeline.deadlock is not None
    cleared = replace(
        timeline.deadlock, clearing_depth=None, clearing_policies=("strict_fifo", "none")
    )
    return replace(timeline, deadlock=cleared)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("timeline", [two_pes_timeline(), deadlocked(), made_by_the_policy()])
def test_a_timeline_is_read_as_it_was_written(timeline: Timeline, verify: bool, path: Path) -> None:
    write_timeline(path, timeline)
    assert alike(read_timeline(path, verify=verify), timeline)


def test_an_empty_timeline_is_read_as_it_was_written(path: Path) -> None:
    timeline = empty(two_pes_timeline())
    write_timeline(path, timeline)
    assert alike(read_timeline(path), timeline)
    assert read_timeline(path).makespan_ps == 0


def empty(timeline: Timeline) -> Timeline:
    stages: dict[str, Any] = {name: np.zeros(0, item) for name, item in STAGE_COLUMNS.items()}
    times: dict[str, Any] = {name: getattr(timeline, name)[:0] for name in TIMES}
    return replace(timeline, stages=Stages(**stages), hazards=no_hazards(), **times)


def test_the_same_timeline_gives_the_same_bytes(path: Path, content: bytes) -> None:
    assert rewritten(path, read_timeline(path)) == content


def test_the_trace_inside_is_a_whole_trace_file_with_its_inputs(path: Path) -> None:
    timeline = replace(two_pes_timeline(), trace=with_inputs(two_pes_timeline().trace))
    content = rewritten(path, timeline)
    inside = open_sections(memoryview(content), TIMELINE_FORMAT, "x")["trace"].content
    assert inside == trace_bytes(timeline.trace)
    assert read_timeline(path).trace.inputs == timeline.trace.inputs


def test_columns_are_views_of_the_file_and_cannot_be_written(path: Path, content: bytes) -> None:
    timeline = read_timeline(path)
    for column in (timeline.start_ps, timeline.stages.kind, timeline.hazards.cost_ps):
        assert not column.flags.owndata
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_columns_come_back_in_the_types_that_the_records_name(path: Path, content: bytes) -> None:
    timeline = read_timeline(path)
    for name, item in STAGE_COLUMNS.items():
        assert getattr(timeline.stages, name).dtype == item
    for name, item in HAZARD_COLUMNS.items():
        assert getattr(timeline.hazards, name).dtype == item
    assert [getattr(timeline, name).dtype for name in TIMES] == ["i8", "i8", "i8", "i4", "i1"]


def test_every_section_begins_at_a_multiple_of_64(content: bytes) -> None:
    sections = open_sections(memoryview(content), TIMELINE_FORMAT, "x")
    assert all(section.offset % 64 == 0 for section in sections.values())


def test_a_timeline_stays_readable_when_its_file_is_replaced(path: Path, content: bytes) -> None:
    timeline = read_timeline(path)
    write_timeline(path, empty(two_pes_timeline()))
    assert timeline.makespan_ps == 95_250


# ── what a file may not say ──────────────────────────────────────────────────────────────────────


def test_an_empty_file_is_no_timeline(path: Path) -> None:
    assert refused(path, b"") == "must be a timeline (.ktimeline), not an empty file"


def test_a_trace_is_called_by_its_name(path: Path) -> None:
    assert refused(path, trace_bytes(two_pes_timeline().trace)) == (
        "byte 0: must be a timeline (.ktimeline), not a trace (.ktrace)"
    )


def test_a_truncated_file_says_where_it_ends(path: Path, content: bytes) -> None:
    assert refused(path, content[:-1]) == (
        f"truncated: section 'hazard_cost_ps' must end at byte {len(content)}, and the file ends"
        f" at {len(content) - 1}"
    )


def test_a_damaged_column_is_named(path: Path, content: bytes) -> None:
    section = open_sections(memoryview(content), TIMELINE_FORMAT, "x")["start_ps"]
    damaged = bytearray(content)
    damaged[section.offset] ^= 1
    found = hashlib.sha256(damaged[section.offset : section.offset + 48]).hexdigest()
    assert refused(path, bytes(damaged)) == (
        f"section 'start_ps', bytes {section.offset} to {section.offset + 48}: its SHA-256 must be"
        f" {section.sha256.hex()}, not {found}"
    )


def test_without_verifying_a_changed_time_is_read_and_a_changed_id_is_not(
    path: Path, content: bytes
) -> None:
    sections = open_sections(memoryview(content), TIMELINE_FORMAT, "x")
    damaged = bytearray(content)
    damaged[sections["end_ps"].offset + 5 * 8] ^= 1  # the last stage's end
    path.write_bytes(damaged)
    assert read_timeline(path, verify=False).makespan_ps == 95_251
    damaged[sections["engine"].offset] = 5
    assert refused(path, bytes(damaged), verify=False) == (
        "stage 0: its engine must be from 0 to 4 (there are 5), not 5"
    )


def test_damage_to_the_trace_inside_is_told_as_the_traces(path: Path, content: bytes) -> None:
    trace = bytearray(trace_bytes(two_pes_timeline().trace))
    trace[-1] ^= 1
    message = refused(path, signed(content, {"trace": bytes(trace)}))
    assert message.startswith("its trace: column bases: not a zlib stream")


def about_but(content: bytes, key: str, value: Any) -> bytes:
    section = open_sections(memoryview(content), TIMELINE_FORMAT, "x")["about"]
    about = msgpack.unpackb(bytes(section.content)) | {key: value}
    return signed(content, {"about": msgpack.packb(about)})


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("status", "fine", "about.status must be one of ok, deadlock, not 'fine'"),
        ("stages", 7, "section 'kind' must have 7 items of 2 bytes, not 12 bytes"),
        (
            "hazards",
            1 << 62,
            "section 'hazard_outcome' must have 4611686018427387904 items of 1 bytes, not 2 bytes",
        ),
        ("stages", -1, "about.stages must be from 0 to 9223372036854775807, not -1"),
        ("policy", {}, "about.policy: the key 'name' is missing"),
        ("status", "deadlock", "the status must be 'ok' without a deadlock, not 'deadlock'"),
        ("extra", 1, "about: unknown key 'extra'"),
    ],
)
def test_what_a_timeline_says_of_itself_is_checked(
    key: str, value: Any, message: str, path: Path, content: bytes
) -> None:
    assert refused(path, about_but(content, key, value)) == message


@pytest.mark.parametrize(
    ("section", "row", "message"),
    [
        ("engines", ["pe_gpu", 0, "", True], "engines[0][0] must be one of pe_cpu, pe_scheduler,"),
        ("engines", ["pe_cpu", -2, "", True], "engines[0][1] must be from -1 to"),
        ("engines", ["pe_cpu", 0, "", 1], "engines[0][3] must be true or false, not 1"),
        ("duration_classes", ["x", -1], "duration_classes[0][1] must be from 0 to"),
        ("duration_classes", ["x"], "duration_classes[0] must have 2 entries, not 1"),
    ],
)
def test_every_row_of_the_tables_is_checked(
    section: str, row: list[Any], message: str, path: Path, content: bytes
) -> None:
    assert refused(path, signed(content, {section: msgpack.packb(row)})).startswith(message)


def with_stage(column: str, row: int, value: int) -> Timeline:
    timeline = two_pes_timeline()
    changed = getattr(timeline.stages, column).copy()
    changed[row] = value
    return replace(timeline, stages=replace(timeline.stages, **{column: changed}))


def with_time(column: str, row: int, value: int) -> Timeline:
    timeline = two_pes_timeline()
    changed = getattr(timeline, column).copy()
    changed[row] = value
    return replace(timeline, **{column: changed})


def with_hazard(column: str, row: int, value: int) -> Timeline:
    timeline = two_pes_timeline()
    changed = getattr(timeline.hazards, column).copy()
    changed[row] = value
    return replace(timeline, hazards=replace(timeline.hazards, **{column: changed}))


@pytest.mark.parametrize(
    ("timeline", "message"),
    [
        (with_stage("kind", 1, 17), "stage 1: its kind must be from 0 to 16, not 17"),
        (with_stage("pe", 4, 2), "stage 4: its PE entry must be from 0 to 1 (there are 2), not 2"),
        # PE 1 has 8 commands, PE 0 has 9
        (with_stage("command", 5, 8), "stage 5: command 8 must be one of its PE's 8"),
        (with_stage("command", 0, -1), "stage 0: command -1 must be one of its PE's 9"),
        (with_stage("op", 1, 1), "stage 1: op 1 must be one of its command's 1, or -1"),
        (with_stage("tile", 2, -2), "stage 2: its tile must be from -1 to 2147483647, not -2"),
        (
            with_stage("duration_class", 3, 4),
            "stage 3: its duration class must be from 0 to 3 (there are 4), not 4",
        ),
        (
            with_time("cause", 2, 6),
            "stage 2: its cause must be from -1 to 5 (-1 where it has none), not 6",
        ),
        (with_time("why", 2, 16), "stage 2: its why must be from 0 to 15, not 16"),
        (
            with_time("ready_ps", 0, -1),
            "stage 0: ready, start and end must ascend from 0 to 2^62 ps, not be -1, 0, 41250",
        ),
        (
            with_time("start_ps", 3, 87_249),
            "stage 3: ready, start and end must ascend from 0 to 2^62 ps,"
            " not be 87250, 87249, 91250",
        ),
        (
            with_time("end_ps", 5, (1 << 62) + 1),
            "stage 5: ready, start and end must ascend from 0 to 2^62 ps,"
            " not be 41250, 91250, 4611686018427387905",
        ),
        (with_hazard("outcome", 0, 3), "hazard 0: its outcome must be from 0 to 2, not 3"),
        (with_hazard("kind", 1, 3), "hazard 1: its kind must be from 0 to 2 (there are 3), not 3"),
        (with_hazard("later", 0, 9), "hazard 0: command 9 must be one of its PE's 9"),
        (with_hazard("later_op", 0, 4), "hazard 0: op 4 must be one of its command's 4, or -1"),
        (
            with_hazard("earlier_handle", 0, 11),
            "hazard 0: handle 11 must be one of its PE's 11, or -1",
        ),
        (
            with_hazard("byte_to", 0, 4095),
            "hazard 0: its bytes must run upwards from 0, not from 4096 to 4095",
        ),
        (
            with_hazard("cost_ps", 1, -1),
            "hazard 1: its cost in ps must be from 0 to 4611686018427387904, not -1",
        ),
        (
            replace(deadlocked(), status=Status.OK),
            "the status must be 'deadlock' with a deadlock, not 'ok'",
        ),
    ],
)
def test_every_id_exists_and_times_ascend(timeline: Timeline, message: str, path: Path) -> None:
    assert refused(path, rewritten(path, timeline)) == message


def test_an_engine_belongs_to_a_pe_of_the_machine(path: Path) -> None:
    timeline = two_pes_timeline()
    engines = (*timeline.engines[:4], replace(timeline.engines[4], rank=2))
    assert refused(path, rewritten(path, replace(timeline, engines=engines))) == (
        "engines[4]: its rank must be from -1 to 1 (-1 where it is shared), not 2"
    )


@pytest.mark.parametrize("change", [{"rank": 2}, {"command": 9}, {"for_rank": -1}])
def test_a_deadlock_names_commands_of_the_trace(change: dict[str, int], path: Path) -> None:
    timeline = deadlocked()
    assert timeline.deadlock is not None
    blocked = replace(timeline.deadlock.cycle[0], **change)
    timeline = replace(timeline, deadlock=replace(timeline.deadlock, cycle=(blocked,)))
    message = refused(path, rewritten(path, timeline))
    if "for_rank" in change:
        assert message == "deadlock[1][5] must be from 0 to 9223372036854775807, not -1"
    else:
        rank, command = change.get("rank", 0), change.get("command", 4)
        assert message == (
            f"the deadlock must name commands of the trace, not PE {rank}, command {command}"
        )


# ── bad files at random ──────────────────────────────────────────────────────────────────────────


def sound_or_refused(path: Path, content: bytes, expected: Timeline | None, verify: bool) -> None:
    """Reading gives a timeline (the expected one, where one is) or a FileError, and nothing else."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    try:
        timeline = read_timeline(path, verify=verify)
    except FileError as error:
        message = str(error)
    else:
        assert expected is None or alike(timeline, expected)
        return
    assert message.startswith(f"{path}: ")
    assert "\n" not in message


SHARED = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SHARED
@given(data=st.data())
def test_no_flipped_bit_changes_what_is_read(path: Path, content: bytes, data: Any) -> None:
    damaged = bytearray(content)
    for bit in data.draw(st.lists(st.integers(0, 8 * len(content) - 1), min_size=1, max_size=3)):
        damaged[bit // 8] ^= 1 << bit % 8
    sound_or_refused(path, bytes(damaged), two_pes_timeline(), verify=True)
    sound_or_refused(path, bytes(damaged), None, verify=False)


@SHARED
@given(data=st.data())
def test_every_truncation_and_all_garbage_is_refused(path: Path, content: bytes, data: Any) -> None:
    kept = data.draw(st.integers(0, len(content) - 1))
    garbage = data.draw(st.binary(max_size=100))
    sound_or_refused(path, content[:kept] + garbage, two_pes_timeline(), verify=True)
    sound_or_refused(path, content[:kept] + garbage, None, verify=False)


@SHARED
@given(data=st.data())
def test_sections_with_right_hashes_and_wrong_bytes_are_sound_or_refused(
    path: Path, content: bytes, data: Any
) -> None:
    sections = open_sections(memoryview(content), TIMELINE_FORMAT, "x")
    name = data.draw(st.sampled_from([name for name in sections if len(sections[name].content)]))
    section = bytearray(sections[name].content)
    place = data.draw(st.integers(0, len(section) - 1))
    patch = data.draw(st.binary(min_size=1, max_size=4))
    section[place : place + len(patch)] = patch
    sound_or_refused(path, signed(content, {name: bytes(section)}), None, verify=True)


def test_all_columns_of_the_records_are_written(content: bytes) -> None:
    names = list(open_sections(memoryview(content), TIMELINE_FORMAT, "x"))
    assert names == [
        *("about", "engines", "duration_classes", "trace"),
        *STAGE_COLUMNS,
        *TIMES,
        *(f"hazard_{name}" for name in HAZARD_COLUMNS),
    ]
