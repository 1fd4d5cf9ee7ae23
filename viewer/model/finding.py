"""Finding stages by a pattern: in their kind, their op, the labels of their handles, their kernel line."""

import re
from dataclasses import dataclass

import numpy as np

from ...schemas.columns import Bools, Int64s, offsets_of
from ...schemas.errors import KerntapeError
from ...schemas.stages import StageKind
from ...schemas.trace import Stream
from .index import NO_STAGE, TimelineIndex
from .words import KIND_WORDS


class PatternError(KerntapeError):
    """A pattern that was typed is no regular expression."""


@dataclass(frozen=True)
class Matches:
    """The stages that a pattern found, in the order (start, stage id); `starts` are theirs."""

    pattern: str
    stages: Int64s
    starts: Int64s

    def __len__(self) -> int:
        return len(self.stages)

    def beside(self, start_ps: int, stage: int, by: int) -> int:
        """The place of the next (by=1) or previous match from a stage on; round the ends. Not if empty."""
        first = int(np.searchsorted(self.starts, start_ps))
        past = int(np.searchsorted(self.starts, start_ps, side="right"))
        at = first + int(np.searchsorted(self.stages[first:past], stage))
        is_here = at < len(self) and int(self.stages[at]) == stage
        place = at - 1 if by < 0 else at + is_here
        return place % len(self)

    def words(self, place: int) -> str:
        """`match 3 of 120 for gemm`."""
        return f"match {place + 1} of {len(self)} for {self.pattern}"


def compiled(pattern: str) -> re.Pattern[str]:
    """The pattern, blind to case. PatternError where it is none."""
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise PatternError(f"the pattern must be a regular expression: {error}") from None


def find(index: TimelineIndex, pattern: str) -> Matches:
    """Every stage that the pattern finds. Linear in stages, commands and distinct texts."""
    wanted = compiled(pattern)
    stages = index.timeline.stages
    if not len(index):
        return Matches(pattern, np.zeros(0, np.int64), np.zeros(0, np.int64))
    found = _kinds(wanted)[stages.kind] | _ops(index, wanted) | _commands(index, wanted)
    ids = np.flatnonzero(found)
    starts = index.timeline.start_ps[ids]
    order = np.argsort(starts, kind="stable")
    return Matches(pattern, ids[order], starts[order])


def _kinds(wanted: re.Pattern[str]) -> Bools:
    """Per number of a stage kind, whether its words match."""
    found = np.zeros(max(StageKind) + 1, dtype=np.bool_)
    found[list(KIND_WORDS)] = [bool(wanted.search(words)) for words in KIND_WORDS.values()]
    return found


def _ops(index: TimelineIndex, wanted: re.Pattern[str]) -> Bools:
    """Per stage, whether the name of its own op matches."""
    stages, trace = index.timeline.stages, index.timeline.trace
    widest = max((len(form.ops) for form in trace.forms), default=0) + 1
    table = np.zeros((len(trace.forms), widest), dtype=np.bool_)
    for number, form in enumerate(trace.forms):
        table[number, : len(form.ops)] = [bool(wanted.search(op.kind)) for op in form.ops]
    offsets, forms = _of_all_pes(index, [stream.forms for stream in trace.streams])
    found: Bools = table[forms[offsets[stages.pe] + stages.command], stages.op]
    return found


def _commands(index: TimelineIndex, wanted: re.Pattern[str]) -> Bools:
    """Per stage, whether its command's kernel line or a label of its handles matches."""
    stages, trace = index.timeline.stages, index.timeline.trace
    strings = np.array([bool(wanted.search(text)) for text in trace.strings] or [False])
    lines = np.array([bool(wanted.search(f"{line} {line.text}")) for line in trace.lines])
    of_streams = [
        _labelled(index, stream, strings) | lines[stream.lines] for stream in trace.streams
    ]
    offsets, commands = _of_all_pes(index, of_streams)
    found: Bools = commands[offsets[stages.pe] + stages.command]
    return found


def _labelled(index: TimelineIndex, stream: Stream, strings: Bools) -> Bools:
    """Per command of a stream, whether one of its handles has a label that matches."""
    offsets = index.timeline.trace.slot_offsets(stream)
    before = offsets_of(strings[stream.labels][stream.slots].astype(np.int64))
    found: Bools = before[offsets[1:]] > before[offsets[:-1]]
    return found


def _of_all_pes(
    index: TimelineIndex, columns: list["np.ndarray[tuple[int], np.dtype[np.generic]]"]
) -> tuple[Int64s, "np.ndarray[tuple[int], np.dtype[np.generic]]"]:
    """A column of each stream, all streams one after the other, and where each PE's begins."""
    starts = offsets_of(np.array([len(column) for column in columns], dtype=np.int64))
    streams = np.array([pe.stream for pe in index.timeline.trace.pes], dtype=np.int64)
    return starts[streams], np.concatenate(columns)


def match_from(matches: Matches, index: TimelineIndex, stage: int, by: int) -> tuple[int, int]:
    """The place and the stage of the match beside a stage; (−1, NO_STAGE) where nothing matched."""
    if not len(matches):
        return -1, NO_STAGE
    start = index.start(stage) if stage != NO_STAGE else 0
    place = matches.beside(start, stage, by)
    return place, int(matches.stages[place])
