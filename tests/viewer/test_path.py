"""The critical path on the screen."""

import numpy as np
import pytest
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.occupancy import axis
from kerntape.viewer.model.path import on_path, path_line
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import timeline_of_intervals, two_commands


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


def test_an_empty_timeline_has_an_empty_strip():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert line_text(path_line(index, axis(0, 400, 10), 12, 30)) == "path"
