"""Hazards as marks of lanes, in words, and as a list."""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.model.fates import Fate
from kerntape.viewer.model.hazard_list import (
    DETAIL_LINES,
    hazard_detail,
    hazard_lines,
)
from kerntape.viewer.model.hazard_ruler import ruler_lines
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.lists import moved, scroll_top
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import CPU, SCHED, decode_like, topology, two_commands

S = 2
"""The handle `s` of two_commands."""


def indexes(builder):
    index = TimelineIndex(builder.build(), "x")
    return index, HazardIndex(index)


@pytest.fixture
def three():
    """One of each outcome between commands 0 and 1 of two_commands, on s (1024 bytes at 0x1400)."""
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=30)
    builder.hazard(Outcome.VIOLATED, HazardKind.WAW, 0, 1, S, cost_ns=5)
    builder.hazard(Outcome.POTENTIAL, HazardKind.WAR, 0, 1, S)
    return indexes(builder)


def test_a_pair_is_seen_where_its_commands_begin(three):
    _, hazards = three
    assert hazards.sites.earlier.tolist() == [0, 0, 0]  # dispatches: command 0's and command 1's
    assert hazards.sites.later.tolist() == [6, 6, 6]


def test_a_composite_begins_at_its_admission():
    timeline = decode_like(1)
    hazards = HazardIndex(TimelineIndex(timeline, "x"))
    later = int(hazards.sites.later[0])
    assert timeline.stages.engine[later] == SCHED
    assert timeline.stages.command[later] == timeline.hazards.later[0]


def test_a_pair_whose_commands_have_no_stage_is_listed_but_not_drawn():
    builder = two_commands()
    del builder.stages[6:]
    builder.hazard(Outcome.POTENTIAL, HazardKind.RAW, 0, 1, S)
    _, hazards = indexes(builder)
    assert hazards.sites.later.tolist() == [-1]
    assert hazards.marks.hazard.tolist() == []
    assert len(hazards) == 1


def test_a_held_command_is_marked_from_when_it_was_held(three):
    _, hazards = three
    marks = hazards.marks
    assert marks.at_ps.tolist() == [78_000] * 3
    assert dict(zip(marks.outcome.tolist(), marks.from_ps.tolist(), strict=True)) == {
        Outcome.HELD: 48_000,  # 30 ns before the dispatch at 78
        Outcome.VIOLATED: 78_000,
        Outcome.POTENTIAL: 78_000,
    }
    assert marks.offsets[CPU + 1] - marks.offsets[CPU] == 3


def test_the_list_is_in_the_order_of_weight_and_then_of_cost():
    builder = two_commands()
    for outcome, cost in (
        (Outcome.HELD, 9),
        (Outcome.POTENTIAL, 0),
        (Outcome.VIOLATED, 1),
        (Outcome.HELD, 20),
        (Outcome.VIOLATED, 2),
    ):
        builder.hazard(outcome, HazardKind.RAW, 0, 1, S, cost_ns=cost)
    _, hazards = indexes(builder)
    assert hazards.by_weight.tolist() == [4, 2, 1, 3, 0]


def test_each_outcome_has_its_sentence(three):
    _, hazards = three
    assert hazards.sentence(0) == "command 1 was held 30 ns for s, written by command 0"
    assert hazards.sentence(1) == (
        "command 1 writes s while command 0 was not done with it: they overlapped for 5 ns"
    )
    assert hazards.sentence(2) == (
        "command 1 writes s, read by command 0, and nothing orders the two:"
        " another calibration can make them collide"
    )


def test_two_names_for_the_same_bytes_are_both_told():
    builder = two_commands()
    builder.hazard(Outcome.VIOLATED, HazardKind.RAW, 0, 1, S, cost_ns=1)
    builder.hazard_rows[0]["later_handle"] = 0
    _, hazards = indexes(builder)
    assert hazards.handle_words(0) == "s and q"


def test_a_line_of_the_list_says_what_how_long_who_and_where(three):
    index, hazards = three
    lines = hazard_lines(index, hazards, hazards.by_weight, 0, 0, 90, 4)
    assert [line_text(line) for line in lines] == [
        " ›! violated          5 ns  WAW  0 → 1             s                     0x1400–0x1800",
        "  ? potential               WAR  0 → 1             s                     0x1400–0x1800",
        "  ◇ held             30 ns  RAW  0 → 1             s                     0x1400–0x1800",
        "",
    ]
    assert {line_cells(line) for line in lines} == {90}


def test_the_chosen_hazard_is_told_with_both_kernel_lines(three):
    index, hazards = three
    held = int(hazards.by_weight[2])
    lines = hazard_detail(index, hazards, held, {}, 79)
    assert len(lines) == DETAIL_LINES
    assert [line_text(line) for line in lines] == [
        "",
        "  command 1 was held 30 ns for s, written by command 0",
        "",
        "       0  decode.py:7  s = tl.dot(q, k)",
        "       1  decode.py:8  tl.exp(s)",
        "  earlier    ├──────────────────────────┤  s          0x1400 – 0x1800",
        "  later      ├──────────────────────────┤  s          0x1400 – 0x1800",
        "  both       ████████████████████████████  first shared run: 1024 B at 0x1400",
        "  in TCM     ▲····················┊······  of 4194304 B, scratch from 0x300000",
        "  asking the shipped policies …",
    ]


def test_a_narrow_line_has_whole_entries_the_pe_before_the_bytes():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=30)
    index, hazards = indexes(builder)

    def told(width):
        (line,) = hazard_lines(index, hazards, hazards.by_weight, 0, 0, width, 1)
        return line_text(line)

    assert (
        told(80) == " ›◇ held             30 ns  RAW  0 → 1         s                 0x1400–0x1800"
    )
    assert told(77) == " ›◇ held             30 ns  RAW  0 → 1         s"


@pytest.mark.parametrize("width", [80, 78, 74])
def test_of_several_pes_a_narrow_line_names_the_pe_and_shortens_what_they_meet_on(width):
    # 33 cells and 14 of the pair; of 80 the PE takes 2 + 17, so that 14 are left for the handle
    machine = topology(sips=2, pes=(2, 1))
    index = TimelineIndex(decode_like(1, launched=4, machine=machine), "x")
    hazards = HazardIndex(index)
    (line,) = hazard_lines(index, hazards, hazards.by_weight, 0, 0, width, 1)
    on_cells = width - 33 - 14 - 2 - 17
    assert line_text(line) == (
        f" ›◇ held        351.875 ns  RAW  1 → 2         {'s':<{on_cells}}  SIP 0 CUBE 0 PE 0"
    )


def test_of_several_pes_the_sentence_says_on_which():
    # the same pair on both PEs: the second is a copy of the first but for its PE
    timeline = decode_like(1, launched=2, machine=topology(pes=(2, 1)))
    one = timeline.hazards
    columns = {name: np.repeat(getattr(one, name), 2) for name in one.__dataclass_fields__}
    both = replace(one, **columns | {"pe": np.array([0, 1], dtype=np.int32)})
    hazards = HazardIndex(TimelineIndex(timeline, "x"), both)
    assert [hazards.sentence(row) for row in (0, 1)] == [
        "PE 0: command 2 was held 351.875 ns for s, written by command 1",
        "PE 1: command 2 was held 351.875 ns for s, written by command 1",
    ]


def test_a_hold_that_delayed_nothing_is_told_as_one_that_cost_nothing():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=0)
    builder.hazard(Outcome.HELD, HazardKind.WAW, 0, 1, S, cost_ns=9)
    index, hazards = indexes(builder)
    assert hazards.counts == {Fate.VIOLATED: 0, Fate.POTENTIAL: 0, Fate.HELD: 1, Fate.FREE: 1}
    assert hazards.sentence(0) == (
        "command 1 was held for s, written by command 0, at no cost:"
        " something else let it go no earlier"
    )
    lines = [line_text(one) for one in hazard_lines(index, hazards, hazards.by_weight, 0, 0, 90, 2)]
    assert lines == [
        " ›◇ held              9 ns  WAW  0 → 1             s                     0x1400–0x1800",
        "  ◇ at no cost        0 ps  RAW  0 → 1             s                     0x1400–0x1800",
    ]


def test_stepping_from_hazard_to_hazard_passes_what_cost_nothing():
    timeline = decode_like(4)
    hazards = HazardIndex(TimelineIndex(timeline, "x"))
    first = hazards.beside(-1, 1)
    cost_ps = timeline.hazards.cost_ps.copy()
    cost_ps[first] = 0
    free = replace(timeline, hazards=replace(timeline.hazards, cost_ps=cost_ps))
    passed = HazardIndex(TimelineIndex(free, "x")).beside(-1, 1)
    assert passed == hazards.beside(int(hazards.sites.later[first]), 1) != first


def test_an_empty_list_has_empty_lines():
    index, hazards = indexes(two_commands())
    lines = hazard_lines(index, hazards, hazards.by_weight, 0, 0, 80, 2)
    assert [line_text(line) for line in lines] == ["", ""]


def test_a_pair_that_shares_no_byte_says_so():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=1)
    builder.hazard_rows[0] |= {"byte_from": 0, "byte_to": 0}
    index, hazards = indexes(builder)
    (line,) = hazard_lines(index, hazards, hazards.by_weight, 0, 0, 90, 1)
    assert line_text(line).endswith("no byte shared")
    assert [line_text(line) for line in ruler_lines(index, hazards, 0, 80)] == [
        "  the two share no byte: the policy holds this pair all the same",
        *[""] * 3,
    ]


@pytest.mark.parametrize(
    ("action", "place"),
    [
        ("list_down", 6),
        ("list_up", 4),
        ("list_page_down", 9),
        ("list_page_up", 0),
        ("list_first", 0),
        ("list_last", 9),
    ],
)
def test_a_list_is_moved_through_and_never_left(action, place):
    assert moved(action, 5, 10, 8) == place
    assert moved(action, 0, 0, 8) == 0


def test_a_list_scrolls_no_further_than_it_must():
    assert scroll_top(0, 4, 100, 5) == 0
    assert scroll_top(0, 5, 100, 5) == 1
    assert scroll_top(50, 20, 100, 5) == 20
    assert scroll_top(98, 99, 100, 5) == 95
    assert scroll_top(0, 0, 2, 5) == 0
