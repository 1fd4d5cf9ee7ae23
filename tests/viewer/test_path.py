"""The critical path on the screen."""

import numpy as np
import pytest
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.occupancy import axis
from kerntape.viewer.model.path import (
    PATH_COLUMNS,
    on_path,
    path_count,
    path_head,
    path_line,
    path_lines,
    path_place,
    path_rows,
)
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


def test_the_columns_of_a_row_are_on_the_path_where_a_stage_of_it_is(index):
    # a column is 4 ns: CPU is on the path at 0–10 and 78–88, the second fetch (30–50) never is
    shown = axis(0, 96_000, 24)
    rows = {row.title: row for row in index.tree.rows}
    marked = {
        title: np.flatnonzero(on_path(index, row, shown)).tolist() for title, row in rows.items()
    }
    assert marked["CPU"] == [0, 1, 2, 19, 20, 21]
    assert marked["TCM"] == [2, 3, 4, 5, 6, 7]
    assert marked["GEMM"] == list(range(7, 20))
    assert marked["MATH"] == [22, 23]
    assert marked["PE 0"] == list(range(24))


def test_the_steps_are_saved_in_the_order_of_time_and_sum_to_the_makespan(index):
    rows = [dict(zip(PATH_COLUMNS, row, strict=True)) for row in path_rows(index)]
    assert [row["stage"] for row in rows] == [0, 1, 3, 4, 5, 6, 7]
    assert [row["spent_ps"] for row in rows] == [10_000, 20_000, 24_000, 24_000, 0, 10_000, 8_000]
    assert sum(row["spent_ps"] + row["latency_ps"] for row in rows) == 96_000
    assert (rows[3]["engine"], rows[3]["name"], rows[3]["why"]) == (
        "pe_gemm",
        "GEMM tile 2 of command 0",
        "engine",
    )


def test_a_part_of_the_window_shows_its_part_of_the_path(index):
    shown = axis(40_000, 60_000, 5)
    gemm = next(row for row in index.tree.rows if row.title == "GEMM")
    cpu = next(row for row in index.tree.rows if row.title == "CPU")
    assert on_path(index, gemm, shown).all()
    assert not on_path(index, cpu, shown).any()


def test_the_strip_names_the_engine_of_every_run_that_has_room(index):
    # 10 ns CPU · 20 TCM · 48 GEMM · 10 CPU · 8 MATH, a column a nanosecond
    line = path_line(index, axis(0, 96_000, 96), 14, 110)
    assert line_text(line) == (
        "critical path "
        "━━╸CPU╺━━━"
        "━━━━━━━╸TCM╺━━━━━━━━"
        "━━━━━━━━━━━━━━━━━━━━━╸GEMM╺━━━━━━━━━━━━━━━━━━━━━"
        "━━╸CPU╺━━━"
        "━╸MATH╺━"
    )
    assert line_cells(line) == 110


def test_the_strip_shows_latency_as_a_thin_line():
    index = TimelineIndex(timeline_of_intervals([500], [1000]), "x")
    assert line_text(
        path_line(index, axis(0, 1000, 10), 12, 30)
    ) == "path        ╌╌╌╌╌━━━━━".replace("╌╌╌╌╌", "╌╌╌╌╌")


def test_the_list_tells_every_step_in_the_order_of_time(index):
    assert path_count(index) == 7
    lines = path_lines(index, 3, 0, 100, 8)
    assert [line_text(line) for line in lines] == [
        "            0 ps         10 ns  dispatch of command 0",
        "           10 ns         20 ns  fetch tile 1 of command 0           its dispatch",
        "           30 ns         24 ns  GEMM tile 1 of command 0            its data",
        "  ›        54 ns         24 ns  GEMM tile 2 of command 0            its engine",
        "           78 ns          0 ps  finish of command 0                 its data",
        "           78 ns         10 ns  dispatch of command 1               the command before it to finish",
        "           88 ns          8 ns  MATH exp of command 1               its dispatch",
        "",
    ]
    assert {line_cells(line) for line in lines} == {100}


def test_the_head_splits_the_makespan_by_engine_and_by_what_was_waited_for(index):
    head = [line_text(line) for line in path_head(index, 120)]
    assert head[0] == "  by engine   50 % GEMM  21 % CPU  21 % TCM  8 % MATH"
    assert (
        head[1]
        == "  waited for  46 % its data  25 % its engine  21 % its dispatch  8 % the last stage"
    )


@pytest.fixture(scope="module")
def far():
    """The same decode on two SIPs of two PEs each: the path is on the first, whose name is the longest
    there can be but for its digits.
    """
    machine = topology(sips=2, pes=(2, 1))
    return TimelineIndex(decode_like(1, launched=4, machine=machine), "x")


def test_of_several_pes_every_step_names_its_own(far):
    # 32 cells of times, 34 of stage, 2 + 17 of PE and 2 + 24 of reason make 111
    head, lines = path_head(far, 111)[2], path_lines(far, 1, 0, 111, 2)
    assert [line_text(line) for line in (head, *lines)] == [
        "            from           for  stage                               PE                 waited for",
        "            0 ps         41 ns  dispatch of command 0               SIP 0 CUBE 0 PE 0",
        "  ›        41 ns     44.375 ns  dispatch of command 1               SIP 0 CUBE 0 PE 0"
        "  the dispatch before it",
    ]


def test_a_narrow_list_of_several_pes_names_the_stages_in_fewer_words(far):
    head, lines = path_head(far, 80)[2], path_lines(far, 1, 4, 80, 2)
    assert [line_text(line) for line in (head, *lines)] == [
        "            from           for  stage                 PE                 waited…",
        "       85.375 ns         40 ns  HBM read tile 1 #1    SIP 0 CUBE 0 PE 0  its da…",
        "      125.375 ns         40 ns  HBM read tile 2 #1    SIP 0 CUBE 0 PE 0  its en…",
    ]


def test_the_steps_are_saved_with_the_rank_of_their_pe(far, index):
    pe = PATH_COLUMNS.index("pe")
    assert {row[pe] for row in path_rows(index)} == {0}
    assert [row[pe] for row in path_rows(far)] == [
        far.timeline.trace.pes[far.pe(row[1])].rank for row in path_rows(far)
    ]


def test_the_list_opens_at_the_cursor(index):
    assert path_place(index, 4) == 3
    assert path_place(index, 2) == 2  # a fetch beside the path starts at 30, with GEMM tile 1
    assert path_place(index, NO_STAGE) == 0


def test_an_empty_timeline_has_an_empty_path():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert path_count(index) == 0
    assert line_text(path_line(index, axis(0, 400, 10), 12, 30)) == "path"
    assert path_lines(index, 0, 0, 20, 2) == [path_lines(index, 0, 0, 20, 1)[0]] * 2


def test_latency_after_a_step_is_said():
    index = TimelineIndex(decode_like(1), "x")
    shown = [line_text(line) for line in path_lines(index, 0, 0, 140, path_count(index))]
    assert any(line.endswith("+ 60.00 ns latency") for line in shown)
