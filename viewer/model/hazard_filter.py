"""Which hazards of the list are wanted, and the list with the possible ones added."""

import re
from dataclasses import dataclass, fields, replace

import numpy as np

from ...schemas.columns import Bools, Int32s, Int64s
from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KIND_NUMBERS, Hazards, Outcome
from .fates import FATE_WORDS, Fate
from .hazards import HazardIndex
from .index import TimelineIndex, command_keys
from .matching import compiled, matching

FATES = (None, *Fate)
KINDS = (None, *HazardKind)


@dataclass(frozen=True)
class HazardFilter:
    """None, and an empty pattern, want everything. `pe` is an index into Trace.pes; `handle` a
    regular expression that one of the two handles' names must match, whatever the case."""

    fate: Fate | None = None
    kind: HazardKind | None = None
    pe: int | None = None
    handle: str = ""


EVERYTHING = HazardFilter()


def next_fate(wanted: HazardFilter) -> HazardFilter:
    """All, violated, potential, held, held at no cost, and round again."""
    at = FATES.index(wanted.fate) + 1
    return replace(wanted, fate=FATES[at % len(FATES)])


def next_kind(wanted: HazardFilter) -> HazardFilter:
    """All, RAW, WAR, WAW, and round again."""
    at = KINDS.index(wanted.kind) + 1
    return replace(wanted, kind=KINDS[at % len(KINDS)])


def filtered(index: TimelineIndex, hazards: HazardIndex, wanted: HazardFilter) -> Int64s:
    """The rows that are wanted, in the order of weight. Raises PatternError for a pattern that is none, or
    takes too long.
    """
    if wanted == EVERYTHING:
        return hazards.by_weight
    table = hazards.table
    chosen: Bools = np.ones(len(table), dtype=np.bool_)
    if wanted.fate is not None:
        chosen &= hazards.fates == wanted.fate
    if wanted.kind is not None:
        chosen &= table.kind == KIND_NUMBERS[wanted.kind]
    if wanted.pe is not None:
        chosen &= table.pe == wanted.pe
    if wanted.handle:
        chosen &= _on_handles(index, table, compiled(wanted.handle))
    rows: Int64s = hazards.by_weight[chosen[hazards.by_weight]]
    return rows


def _on_handles(index: TimelineIndex, table: Hazards, pattern: re.Pattern[str]) -> Bools:
    """Per row, whether either handle's name matches: each name is looked at once."""
    trace = index.timeline.trace
    named = matching(pattern, trace.strings)
    streams = np.array([pe.stream for pe in trace.pes], dtype=np.int64)[table.pe]
    chosen: Bools = np.zeros(len(table), dtype=np.bool_)
    for number in np.unique(streams).tolist():
        rows = streams == number
        labels = trace.streams[number].labels
        chosen[rows] = _named(labels, named, table.earlier_handle[rows])
        chosen[rows] |= _named(labels, named, table.later_handle[rows])
    return chosen


def _named(labels: Int32s, named: Bools, handles: Int32s) -> Bools:
    if not len(labels):
        return np.zeros(len(handles), dtype=np.bool_)
    return (handles >= 0) & named[labels[np.maximum(handles, 0)]]


def filter_words(index: TimelineIndex, wanted: HazardFilter, count: int, whole: int) -> str:
    """`12 of 127 · held · RAW · PE 3 · on 'O'`."""
    parts = [f"{count:,}" if count == whole else f"{count:,} of {whole:,}"]
    if wanted.fate is not None:
        parts.append(FATE_WORDS[wanted.fate])
    if wanted.kind is not None:
        parts.append(wanted.kind.value)
    if wanted.pe is not None:
        parts.append(index.pe_names[wanted.pe])
    if wanted.handle:
        parts.append(f"on '{wanted.handle}'")
    return " · ".join(parts)


def with_potential(table: Hazards, potential: Hazards) -> Hazards:
    """The table's rows, then the possible pairs that it does not tell as violated already.

    Possible pairs that the table has are taken from `potential` anew.
    """
    told = table.outcome != Outcome.POTENTIAL
    new = ~_are_among(potential, table, table.outcome == Outcome.VIOLATED)
    return Hazards(
        **{
            field.name: np.concatenate(
                [getattr(table, field.name)[told], getattr(potential, field.name)[new]]
            )
            for field in fields(Hazards)
        }
    )


def _are_among(pairs: Hazards, table: Hazards, chosen: Bools) -> Bools:
    """Per pair, whether one of the chosen rows of the table is about the same two commands."""
    theirs = command_keys(table.pe[chosen], table.earlier[chosen])
    earlier = np.unique(theirs)
    mine = command_keys(pairs.pe, pairs.earlier)
    place = np.minimum(earlier.searchsorted(mine), max(len(earlier) - 1, 0))
    wanted = (earlier.searchsorted(theirs) << 32) + table.later[chosen]
    found: Bools = np.zeros(len(pairs), dtype=np.bool_)
    if len(earlier):
        found = (earlier[place] == mine) & np.isin((place << 32) + pairs.later, wanted)
    return found
