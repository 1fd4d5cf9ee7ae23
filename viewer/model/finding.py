"""Finding stages by a pattern: in their kind, their op, the labels of their handles, their kernel line.

A pattern is a regular expression, or one with a place before it in which alone it looks: `line:exp`.
"""

import re
from dataclasses import dataclass
from enum import IntFlag
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...schemas.columns import Bools, Int32s, Int64s, offsets_of
from ...schemas.errors import nearest
from ...schemas.stages import StageKind
from ...schemas.trace import Stream, Trace
from .index import NO_STAGE, TimelineIndex
from .matching import LIMIT_S, PatternError, compiled, matching
from .words import KIND_WORDS

Bytes = npt.NDArray[np.uint8]


class Field(IntFlag):
    """Where a pattern looks. The names, in small letters, are what is typed before a pattern."""

    KIND = 1
    OP = 2
    HANDLE = 4
    LINE = 8


EVERYWHERE = Field.KIND | Field.OP | Field.HANDLE | Field.LINE

PREFIXES = tuple(f"{field.name}:".lower() for field in Field)

FIELD_WORDS = {
    Field.KIND: "its kind",
    Field.OP: "its op",
    Field.HANDLE: "a handle's label",
    Field.LINE: "the kernel's line",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A pattern that was typed: the regular expression, blind to case, and where it looks."""

    regex: re.Pattern[str]
    fields: Field = EVERYWHERE


@dataclass(frozen=True)
class Matches:
    """The stages that a pattern found, as their places in the order (start, stage id), `order`; parallel
    to `places` the fields (a sum of Field) in which each matched.
    """

    pattern: str
    order: Int32s
    places: Int32s
    fields: Bytes

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
        """`match 3 of 120 for gemm, in the kernel's line`."""
        matched = Field(int(self.fields[place]))
        where = ", ".join(words for field, words in FIELD_WORDS.items() if field in matched)
        return f"match {place + 1:,} of {len(self):,} for {self.pattern}, in {where}"


def no_match_words(pattern: str) -> str:
    """That nothing was found; for a prefix that is none, the nearest one."""
    prefix, colon, _ = pattern.partition(":")
    near = nearest(f"{prefix.lower()}:", PREFIXES) if colon else None
    is_meant = near is not None and not pattern.lower().startswith(near)
    return f"no match for {pattern}" + (f"; did you mean '{near}'?" if is_meant else "")


def wanted_of(pattern: str) -> Wanted:
    """What a typed pattern wants. PatternError where it is no regular expression, or a prefix alone."""
    prefix = next((prefix for prefix in PREFIXES if pattern.lower().startswith(prefix)), "")
    if prefix and len(pattern) == len(prefix):
        raise PatternError(f"a pattern must follow {prefix}")
    fields = Field[prefix[:-1].upper()] if prefix else EVERYWHERE
    return Wanted(compiled(pattern[len(prefix) :]), fields)


def find(index: TimelineIndex, pattern: str) -> Matches:
    """Every stage that the pattern finds. Linear in stages, commands and distinct texts: a quarter of
    a second for seven million stages. PatternError for a pattern that is none, or takes too long.
    """
    wanted = wanted_of(pattern)
    if not len(index):
        return Matches(pattern, np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.uint8))
    found = _found(index, wanted)[index.by_start]
    places = np.flatnonzero(found)
    return Matches(pattern, index.by_start, places.astype(np.int32), found[places])


def _found(index: TimelineIndex, wanted: Wanted) -> Bytes:
    """Per stage, the fields that match: its kind, its op, its command's line or labels."""
    stages, trace = index.timeline.stages, index.timeline.trace
    texts = _matched(wanted, _texts(trace))
    found: Bytes = _kinds(texts[Field.KIND])[stages.kind]
    of_forms, of_streams = _ops(trace, texts[Field.OP]), _commands(trace, texts)
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


def _texts(trace: Trace) -> dict[Field, list[str]]:
    """What there is to look at in each field."""
    return {
        Field.KIND: list(KIND_WORDS.values()),
        Field.OP: [op.kind for form in trace.forms for op in form.ops],
        Field.HANDLE: list(trace.strings) or [""],
        Field.LINE: [f"{line} {line.text}" for line in trace.lines],
    }


def _matched(wanted: Wanted, texts: dict[Field, list[str]]) -> dict[Field, Bytes]:
    """Per field and text, the field's number where the text is wanted, else 0."""
    looked_at = [text for field in texts if field in wanted.fields for text in texts[field]]
    found = matching(wanted.regex, looked_at, LIMIT_S).astype(np.uint8)
    matched, first = {}, 0
    for field, its_texts in texts.items():
        if field in wanted.fields:
            matched[field] = found[first : first + len(its_texts)] * np.uint8(field)
            first += len(its_texts)
        else:
            matched[field] = np.zeros(len(its_texts), dtype=np.uint8)
    return matched


def _kinds(matched: Bytes) -> Bytes:
    """Per number of a stage kind, KIND where its words match."""
    found = np.zeros(max(StageKind) + 1, dtype=np.uint8)
    found[list(KIND_WORDS)] = matched
    return found


def _ops(trace: Trace, matched: Bytes) -> Bytes:
    """Per form and op, OP where its name matches; the last column is for stages without an op."""
    widest = max((len(form.ops) for form in trace.forms), default=0) + 1
    table = np.zeros((len(trace.forms), widest), dtype=np.uint8)
    first = 0
    for number, form in enumerate(trace.forms):
        table[number, : len(form.ops)] = matched[first : first + len(form.ops)]
        first += len(form.ops)
    return table


def _commands(trace: Trace, matched: dict[Field, Bytes]) -> list[Bytes]:
    """Per stream and command, LINE where its kernel line matches, and HANDLE where a handle's label does."""
    strings, lines = matched[Field.HANDLE] > 0, matched[Field.LINE]
    handle = np.uint8(Field.HANDLE)
    return [
        lines[stream.lines] | _labelled(trace, stream, strings) * handle for stream in trace.streams
    ]


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


def find_completions(index: TimelineIndex, typed: str) -> tuple[str, ...]:
    """How a typed pattern could go on, sorted: prefixes, or what there is behind one."""
    trace, (prefix, colon, _) = index.timeline.trace, typed.partition(":")
    match prefix.lower() if colon else "":
        case "kind":
            kinds = {int(one) for one in np.unique(index.timeline.stages.kind)}
            texts = {words for kind, words in KIND_WORDS.items() if kind in kinds}
        case "op":
            texts = {op.kind for form in trace.forms for op in form.ops}
        case "handle":
            texts = {text for text in trace.strings if text.isidentifier()}
        case "line":
            texts = {str(line) for line in trace.lines}
        case _:
            return tuple(one for one in PREFIXES if one.startswith(typed.lower()))
    whole = (f"{prefix}:{re.escape(text)}".replace("\\ ", " ") for text in texts)
    return tuple(sorted(text for text in whole if text.lower().startswith(typed.lower())))
