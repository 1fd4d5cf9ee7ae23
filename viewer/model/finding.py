"""Finding stages by a pattern: in their kind, their op, the labels of their handles, their kernel line."""

import re
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Bools, Int32s, Int64s, offsets_of
from ...schemas.errors import KerntapeError
from ...schemas.stages import StageKind
from ...schemas.trace import Stream, Trace
from .index import NO_STAGE, TimelineIndex
from .words import KIND_WORDS


class PatternError(KerntapeError):
    """A pattern that was typed is no regular expression."""


@dataclass(frozen=True)
class Matches:
    """The stages that a pattern found, as their places in the order (start, stage id), `order`."""

    pattern: str
    order: Int32s
    places: Int32s

    def __len__(self) -> int:
        return len(self.places)

    def stage(self, place: int) -> int:
        """The match at a place."""
        return int(self.order[self.places[place]])

    def beside(self, at: int, by: int) -> int:
        """The place of the next (by=1) or previous match from a place in the order on, that one left
        out; round the ends. Not if empty.
        """
        here = int(self.places.searchsorted(at))
        is_here = here < len(self) and int(self.places[here]) == at
        place = here - 1 if by < 0 else here + is_here
        return place % len(self)

    def words(self, place: int) -> str:
        """`match 3 of 120 for gemm`."""
        return f"match {place + 1:,} of {len(self):,} for {self.pattern}"


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, blind to case. PatternError where it is none."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise PatternError(f"the pattern must be a regular expression: {error}") from None


def find(index: TimelineIndex, pattern: str) -> Matches:
    """Every stage that the pattern finds. Linear in stages, commands and distinct texts: a quarter of
    a second for seven million stages.
    """
    wanted = compiled(pattern)
    if not len(index):
        return Matches(pattern, np.zeros(0, np.int32), np.zeros(0, np.int32))
    places = np.flatnonzero(_found(index, wanted)[index.by_start])
    return Matches(pattern, index.by_start, places.astype(np.int32))


def _found(index: TimelineIndex, wanted: re.Pattern[str]) -> Bools:
    """Per stage, whether its kind, its op, or its command's line or labels match."""
    stages, trace = index.timeline.stages, index.timeline.trace
    found: Bools = _kinds(wanted)[stages.kind]
    of_forms, of_streams = _ops(trace, wanted), _commands(trace, wanted)
    if not of_forms.any() and not any(one.any() for one in of_streams):
        return found
    offsets, commands = _of_all_pes(trace, of_streams)
    command = offsets[stages.pe] + stages.command
    if commands.any():
        found |= commands[command]
    if of_forms.any():
        _, forms = _of_all_pes(trace, [stream.forms for stream in trace.streams])
        found |= of_forms[forms[command], stages.op]
    return found


def _kinds(wanted: re.Pattern[str]) -> Bools:
    """Per number of a stage kind, whether its words match."""
    found = np.zeros(max(StageKind) + 1, dtype=np.bool_)
    found[list(KIND_WORDS)] = [bool(wanted.search(words)) for words in KIND_WORDS.values()]
    return found


def _ops(trace: Trace, wanted: re.Pattern[str]) -> Bools:
    """Per form and op, whether the op's name matches; the last column is for stages without an op."""
    widest = max((len(form.ops) for form in trace.forms), default=0) + 1
    table = np.zeros((len(trace.forms), widest), dtype=np.bool_)
    for number, form in enumerate(trace.forms):
        table[number, : len(form.ops)] = [bool(wanted.search(op.kind)) for op in form.ops]
    return table


def _commands(trace: Trace, wanted: re.Pattern[str]) -> list[Bools]:
    """Per stream and command, whether its kernel line or a label of its handles matches."""
    strings = np.array([bool(wanted.search(text)) for text in trace.strings] or [False])
    lines = np.array([bool(wanted.search(f"{line} {line.text}")) for line in trace.lines])
    return [_labelled(trace, stream, strings) | lines[stream.lines] for stream in trace.streams]


def _labelled(trace: Trace, stream: Stream, strings: Bools) -> Bools:
    """Per command of a stream, whether one of its handles has a label that matches."""
    offsets = trace.slot_offsets(stream)
    before = offsets_of(strings[stream.labels][stream.slots].astype(np.int64))
    found: Bools = before[offsets[1:]] > before[offsets[:-1]]
    return found


Column = TypeVar("Column", bound=np.generic)


def _of_all_pes(
    trace: Trace, columns: list[npt.NDArray[Column]]
) -> tuple[Int64s, npt.NDArray[Column]]:
    """A column of each stream, all streams one after the other, and where each PE's begins."""
    starts = offsets_of(np.array([len(column) for column in columns], dtype=np.int64))
    streams = np.array([pe.stream for pe in trace.pes], dtype=np.int64)
    return starts[streams], np.concatenate(columns)


def match_from(matches: Matches, index: TimelineIndex, stage: int, by: int) -> tuple[int, int]:
    """The place and the stage of the match beside a stage; (−1, NO_STAGE) where nothing matched."""
    if not len(matches):
        return -1, NO_STAGE
    place = matches.beside(index.place_in_time(stage) if stage != NO_STAGE else -1, by)
    return place, matches.stage(place)
