"""Which hazards the list shows, the possible ones in it, and how little a page of a million costs."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.hazards.verdicts import Verdict
from kerntape.replay.policy import shipped_policies
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Space
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import HAZARD_COLUMNS, Hazards, Outcome
from kerntape.viewer.model.fates import Fate
from kerntape.viewer.model.finding import PatternError
from kerntape.viewer.model.hazard_filter import (
    EVERYTHING,
    HazardFilter,
    filter_words,
    filtered,
    next_fate,
    next_kind,
    with_potential,
)
from kerntape.viewer.model.hazard_list import hazard_lines, verdict_line
from kerntape.viewer.model.hazard_ruler import ruler_lines
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import topology, two_commands

Q, K, S = range(3)
"""The handles of two_commands."""


@pytest.fixture
def five():
    builder = two_commands()
    builder.launched, builder.machine = 2, topology(pes=(2, 1))
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=30)
    builder.hazard(Outcome.HELD, HazardKind.WAW, 0, 1, Q, cost_ns=20, pe=1)
    builder.hazard(Outcome.VIOLATED, HazardKind.WAW, 0, 1, S, cost_ns=5)
    builder.hazard(Outcome.POTENTIAL, HazardKind.WAR, 0, 1, K, pe=1)
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, K, cost_ns=10)
    index = TimelineIndex(builder.build(), "x")
    return index, HazardIndex(index)


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (EVERYTHING, [2, 3, 0, 1, 4]),
        (HazardFilter(fate=Fate.HELD), [0, 1, 4]),
        (HazardFilter(kind=HazardKind.WAW), [2, 1]),
        (HazardFilter(pe=1), [3, 1]),
        (HazardFilter(handle="^K$"), [3, 4]),
        (HazardFilter(handle="q|s"), [2, 0, 1]),
        (HazardFilter(Fate.HELD, HazardKind.RAW, 0, "k"), [4]),
        (HazardFilter(handle="nothing"), []),
    ],
)
def test_a_filter_keeps_what_is_wanted_in_the_order_of_weight(five, wanted, rows):
    assert filtered(*five, wanted).tolist() == rows


def test_what_was_held_at_no_cost_is_wanted_on_its_own():
    builder = two_commands()
    for cost_ns in (0, 30, 0):
        builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=cost_ns)
    index = TimelineIndex(builder.build(), "x")
    hazards = HazardIndex(index)
    assert filtered(index, hazards, HazardFilter(fate=Fate.HELD)).tolist() == [1]
    assert filtered(index, hazards, HazardFilter(fate=Fate.FREE)).tolist() == [0, 2]
    assert filter_words(index, HazardFilter(fate=Fate.FREE), 2, 3) == "2 of 3 · at no cost"


def test_a_pattern_that_is_none_is_refused(five):
    with pytest.raises(PatternError, match="must be a regular expression"):
        filtered(*five, HazardFilter(handle="("))


def test_filters_go_round():
    wanted, seen = EVERYTHING, []
    for _ in range(5):
        wanted = next_fate(wanted)
        seen.append(wanted.fate)
    assert seen == [Fate.VIOLATED, Fate.POTENTIAL, Fate.HELD, Fate.FREE, None]
    kinds = []
    for _ in range(4):
        wanted = next_kind(wanted)
        kinds.append(wanted.kind)
    assert kinds == [*HazardKind, None]


def test_the_filter_is_told(five):
    index, _ = five
    assert filter_words(index, EVERYTHING, 5, 5) == "5"
    assert filter_words(index, HazardFilter(handle="K"), 1_000, 2_000_000) == (
        "1,000 of 2,000,000 · on 'K'"
    )
    wanted = HazardFilter(Fate.HELD, HazardKind.RAW, 1)
    assert filter_words(index, wanted, 1, 5) == "1 of 5 · held · RAW · PE 1"


def test_possible_pairs_join_the_list_but_not_those_already_violated(five):
    hazards = five[1]
    possible = [
        (Outcome.POTENTIAL, 1, 0, 0, 1),  # PE 0, commands 0 → 1: violated already
        (Outcome.POTENTIAL, 1, 1, 0, 1),  # PE 1: known as possible, told anew
    ]
    columns = {name: np.zeros(2, dtype) for name, dtype in HAZARD_COLUMNS.items()}
    for name, values in zip(
        ("outcome", "kind", "pe", "earlier", "later"), zip(*possible, strict=True), strict=True
    ):
        columns[name][:] = values
    table = with_potential(hazards.table, Hazards(**columns))
    assert table.outcome.tolist() == [Outcome.HELD, Outcome.HELD, Outcome.VIOLATED, Outcome.HELD, 2]
    assert table.pe.tolist() == [0, 1, 0, 0, 1]


pair = st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(st.tuples(st.sampled_from(Outcome), pair)), st.lists(pair))
def test_only_possible_pairs_that_went_wrong_already_are_left_out(told, possible):
    def table(rows):
        columns = {name: np.zeros(len(rows), dtype) for name, dtype in HAZARD_COLUMNS.items()}
        for place, (outcome, commands) in enumerate(rows):
            columns["outcome"][place] = outcome
            for name, value in zip(("pe", "earlier", "later"), commands, strict=True):
                columns[name][place] = value
        return Hazards(**columns)

    wrong = {commands for outcome, commands in told if outcome is Outcome.VIOLATED}
    kept = [one for one in told if one[0] is not Outcome.POTENTIAL]
    kept += [(Outcome.POTENTIAL, one) for one in possible if one not in wrong]
    joined = with_potential(table(told), table([(Outcome.POTENTIAL, one) for one in possible]))
    columns = (joined.outcome, joined.pe, joined.earlier, joined.later)
    assert [*zip(*(column.tolist() for column in columns), strict=True)] == [
        (outcome, *commands) for outcome, commands in kept
    ]


def test_the_possible_pairs_of_a_real_run_hold_what_went_wrong(opt2):
    timeline = opt2
    potential = potential_hazards(timeline.trace, timeline.topology, timeline.policy)
    table = with_potential(timeline.hazards, potential)
    assert table.count(Outcome.HELD) == timeline.hazards.count(Outcome.HELD)
    lost = len(potential) - table.count(Outcome.POTENTIAL)
    assert lost == timeline.hazards.count(Outcome.VIOLATED)


class Counted:
    """A column that counts how many of its items are read."""

    def __init__(self, column, log):
        self._column = column
        self._log = log

    def __getitem__(self, row):
        assert isinstance(row, int), "a page reads single rows"
        self._log.append(row)
        return self._column[row]


def test_a_page_of_a_million_rows_reads_only_the_rows_it_shows():
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, S, cost_ns=30)
    index = TimelineIndex(builder.build(), "x")
    million = Hazards(
        **{
            field.name: np.repeat(getattr(index.timeline.hazards, field.name), 1_000_000)
            for field in fields(Hazards)
        }
    )
    hazards = HazardIndex(index, million)
    rows = filtered(index, hazards, HazardFilter(fate=Fate.HELD, handle="s"))
    assert len(rows) == 1_000_000
    log: list[int] = []
    hazards.table = Hazards(
        **{name: Counted(getattr(million, name), log) for name in HAZARD_COLUMNS}
    )
    for top in (0, 500_000, 999_980):
        log.clear()
        lines = hazard_lines(index, hazards, rows, top + 3, top, 100, 20)
        assert {line_cells(line) for line in lines} == {100}
        assert set(log) == set(rows[top : top + 20].tolist())
        assert len(log) <= 20 * len(HAZARD_COLUMNS)


def test_the_ruler_shows_where_two_handles_overlap():
    builder = two_commands()
    builder.hazard(Outcome.VIOLATED, HazardKind.RAW, 0, 1, K, cost_ns=1)
    row = builder.hazard_rows[0]
    # K is 4096 bytes at 0x400, s 1024 at 0x1400: seen from s, the two overlap in the last 256 of K
    row |= {"later_handle": S, "byte_from": 0x1300, "byte_to": 0x1400}
    index = TimelineIndex(builder.build(), "x")
    lines = [line_text(line) for line in ruler_lines(index, HazardIndex(index), 0, 51 + 20)]
    # 20 cells of 256 bytes
    assert [line[13:33] for line in lines[:3]] == [
        "├──────────────┤    ",
        "                ├──┤",
        " " * 15 + "█    ",
    ]
    assert lines[2].endswith("first shared run: 256 B at 0x1300")


def test_the_ruler_of_a_tensor_in_hbm_names_it():
    builder = two_commands()
    tensor = builder.handle("out", (8, 64), dtype=DType.F32, space=Space.HBM)
    builder.placed[tensor] = (*builder.placed[tensor][:1], 0, *builder.placed[tensor][2:])
    builder.hazard(Outcome.POTENTIAL, HazardKind.WAW, 0, 1, tensor)
    index = TimelineIndex(builder.build(), "x")
    last = line_text(ruler_lines(index, HazardIndex(index), 0, 80)[3])
    assert last.startswith("  in HBM     ▲")
    assert last.endswith("of out")


def test_the_policies_are_told_by_what_they_make_of_the_pair():
    verdicts = {"none": Verdict.UNORDERED, "serial": Verdict.HELD, "mine": Verdict.ORDERED}
    verdicts |= {"byte_range": Verdict.HELD}
    assert line_text(verdict_line(verdicts, 100)) == (
        "  held by serial, byte_range · ordered anyway under mine · open under none"
    )
    assert line_text(verdict_line({}, 100)) == "  asking the shipped policies …"


def test_the_verdicts_of_all_shipped_policies_fit_80_columns():
    # three groups are the longest: nothing is left out in either
    verdicts = dict.fromkeys(shipped_policies(), Verdict.HELD)
    verdicts |= {"serial": Verdict.ORDERED, "none": Verdict.UNORDERED}
    assert line_text(verdict_line(verdicts, 80)) == (
        "  held byte_range, rw_aware, rw_handles, strict_fifo; ordered serial; open none"
    )
