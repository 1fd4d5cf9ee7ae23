"""What stands above the list of hazards."""

from dataclasses import replace

import pytest
from kerntape.replay.hazards.shared import SharedTensor
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.timeline import Status
from kerntape.viewer.model import hazard_head
from kerntape.viewer.model.fates import Fate
from kerntape.viewer.model.hazard_filter import EVERYTHING, HazardFilter
from kerntape.viewer.model.hazard_head import Listed, columns_line, counts_line, shared_note
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import two_commands

S = 2
"""The handle `s` of two_commands."""

POTENTIAL = HazardFilter(fate=Fate.POTENTIAL)


def indexes(*hazards, status=Status.OK, is_searched=False):
    """Of hazards as (outcome, cost in ns) between the two commands."""
    builder = two_commands()
    for outcome, cost_ns in hazards:
        builder.hazard(outcome, HazardKind.RAW, 0, 1, S, cost_ns=cost_ns)
    index = TimelineIndex(replace(builder.build(), status=status), "x")
    return index, HazardIndex(index, index.timeline.hazards if is_searched else None)


THREE = ((Outcome.HELD, 5), (Outcome.HELD, 0), (Outcome.VIOLATED, 1))


def test_the_counts_tell_every_fate_and_what_the_filter_wants():
    _, hazards = indexes(*THREE, is_searched=True)
    assert line_text(counts_line(Listed(hazards, EVERYTHING, 3), 80)) == (
        "  [all 3]   ! 1 violated   ? 0 potential   ◇ 1 held   ◇ 1 at no cost"
    )
    free = HazardFilter(fate=Fate.FREE)
    assert line_text(counts_line(Listed(hazards, free, 1), 80)) == (
        "  all 3   ! 1 violated   ? 0 potential   ◇ 1 held   [◇ 1 at no cost]"
    )


def test_possible_pairs_are_not_counted_before_they_were_looked_for():
    _, hazards = indexes(*THREE)
    assert "? potential: a finds them" in line_text(counts_line(Listed(hazards, EVERYTHING, 3), 80))
    working = line_text(counts_line(Listed(hazards, POTENTIAL, 0, percent=45), 80))
    assert "[? searching, 45 %]" in working


def test_the_counts_move_together_before_they_are_cut():
    _, hazards = indexes(*THREE)
    listed = Listed(hazards, EVERYTHING, 3)
    roomy, narrower = line_text(counts_line(listed, 80)), line_text(counts_line(listed, 76))
    assert roomy == (
        "  [all 3]   ! 1 violated   ? potential: a finds them   ◇ 1 held   ◇ 1 at no cost"
    )
    assert narrower == roomy.replace("   ", "  ")
    assert line_text(counts_line(listed, 58)) == (
        "  [all 3] ! 1 violated ? potential ◇ 1 held ◇ 1 at no cost"
    )
    assert (
        line_text(counts_line(listed, 57))
        == "  [all] ! 1 violated ? potential ◇ 1 held ◇ 1 at no cost"
    )
    for width in (1, 20, 76, 79, 80, 200):
        assert line_cells(counts_line(listed, width)) == width


def test_of_a_run_that_stopped_only_the_possible_pairs_can_be_known():
    index, hazards = indexes(status=Status.DEADLOCK)
    assert line_text(counts_line(Listed(hazards, EVERYTHING, 0), 80)) == (
        "  [all 0]   not evaluated: the replay did not end   ? potential: a finds them"
    )
    held = Listed(hazards, HazardFilter(fate=Fate.HELD), 0)
    assert "[not evaluated: the replay did not end]" in line_text(counts_line(held, 100))
    assert line_text(columns_line(index, held, 80)) == (
        "  hazards not evaluated: the replay did not end"
    )


@pytest.mark.parametrize(
    ("found", "is_searched", "wanted", "percent", "said"),
    [
        ((), False, EVERYTHING, None, "no hazards: nothing was held back, nothing went wrong"),
        (THREE, True, HazardFilter(pe=1), None, "none of the hazards is wanted by the filter; r"),
        (
            THREE,
            False,
            POTENTIAL,
            None,
            "not looked for yet: a finds what can go wrong in any replay",
        ),
        (THREE, False, POTENTIAL, 3, "comparing every pair of commands that nothing orders …"),
        ((), True, POTENTIAL, None, "strict_fifo: no hazard is possible, under any calibration"),
        (THREE, True, POTENTIAL, None, "strict_fifo: no other hazard is possible, under any"),
    ],
)
def test_an_empty_list_says_why_it_is_empty(found, is_searched, wanted, percent, said):
    index, hazards = indexes(*found, is_searched=is_searched)
    listed = Listed(hazards, wanted, 0, percent)
    assert line_text(columns_line(index, listed, 100)).startswith(f"  {said}")


def test_a_list_has_the_heads_of_its_columns():
    index, hazards = indexes(*THREE)
    heads = "                      time  kind command           on"
    assert line_text(columns_line(index, Listed(hazards, EVERYTHING, 3), 90)) == heads


def test_where_pes_meet_is_told_whole_where_there_is_room_and_in_a_line_where_not(monkeypatch):
    index, hazards = indexes(is_searched=True)
    assert shared_note(index, 80, 9) == []
    index, hazards = indexes(is_searched=True)
    monkeypatch.setattr(
        hazard_head, "shared_tensors", lambda trace: (SharedTensor("x", 1, (1,), (0,)),)
    )
    whole = [
        "  1 tensor is reached by several PEs, written by at least one: x of PE 1.",
        "  Pairs of commands of different PEs are not compared; replay --check-data",
        "  sees what they do.",
    ]
    assert [line_text(line) for line in shared_note(index, 80, 3)] == whole
    short = "  not compared: 1 tensor that several PEs reach (--check-data sees them)"
    assert [line_text(line) for line in shared_note(index, 80, 2)] == [short]
    none = "  strict_fifo: no hazard is possible within a PE, under any calibration"
    assert line_text(columns_line(index, Listed(hazards, POTENTIAL, 0), 80)) == none
