"""Hazards grouped by what a kernel's author would change, with names instead of numbers."""

from dataclasses import replace

import pytest
from kerntape.replay.hazards.patterns import pair, patterns
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space
from kerntape.schemas.hazards import no_hazards


@pytest.fixture
def loop(opt2, machine, policies):
    """The one-slot loop of 4 tiles on two PEs: every #1 on line 1, every #2 on line 2."""
    topology = machine()
    trace = opt2(4, 1).trace(topology, ranks=(0, 1))
    (stream,) = trace.streams
    trace = replace(trace, streams=(replace(stream, lines=stream.lines % 2),))
    return trace, potential_hazards(trace, topology, policies["rw_handles"])


def test_a_row_gets_its_names(loop) -> None:
    trace, found = loop
    first = pair(trace, found, 0)
    assert (str(first.kind), first.rank, first.space) == ("RAW", 0, Space.TCM)
    assert (first.byte_from, first.byte_to) == (1024, 1056)
    later = first.later
    assert (later.command, later.kind, later.op, later.op_kind) == (
        1,
        CommandKind.COMPOSITE,
        0,
        "op",
    )
    assert (first.earlier.handle, later.handle) == ("S0", "S0")
    assert (str(first.earlier.line), str(later.line)) == ("hand.py:1", "hand.py:2")


def test_pairs_alike_in_kind_lines_ops_and_handle_names_are_one_pattern(loop) -> None:
    # Every tile's scores have a name of their own here, so only the PEs' equal rows come together:
    # RAW 4+3+2+1, WAW 3+2+1, WAR 3 on each of two PEs.
    trace, found = loop
    groups = patterns(trace, found)
    assert len(found) == 2 * 19
    assert [(group.count, group.pes) for group in groups] == [(2, 2)] * 19


def test_a_loop_that_names_its_scores_alike_has_a_pattern_a_kind(loop) -> None:
    # RAW 4+3+2+1 = 10, WAW 6, WAR 3, each on two PEs; in the order of their first rows.
    trace, found = loop
    groups = patterns(_all_called_s(trace), found)
    assert [(str(group.first.kind), group.count, group.pes) for group in groups] == [
        ("RAW", 20, 2),
        ("WAW", 12, 2),
        ("WAR", 6, 2),
    ]
    assert [group.first.later.command for group in groups] == [1, 2, 2]


def _all_called_s(trace):
    return replace(trace, streams=(replace(trace.streams[0], labels=trace.streams[0].labels * 0),))


def test_without_hazards_there_are_no_patterns(loop) -> None:
    assert patterns(loop[0], no_hazards()) == []
