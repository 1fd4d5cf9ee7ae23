"""The lines of the main screen around the rows."""

from dataclasses import replace

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.timeline import Status
from kerntape.viewer.model import frame, minimap, steps
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, select, window
from kerntape.viewer.model.text import line_cells
from painted_text import line_text
from timeline_builder import decode_like, timeline_of_intervals, topology, two_commands


@pytest.fixture
def two():
    index = TimelineIndex(two_commands().build(), "two.ktrace")
    return index, HazardIndex(index), first_look(index)


def test_the_header_names_file_machine_costs_policy_and_makespan(two):
    index, _, _ = two
    line = frame.header_line(index, 80)
    assert line_text(line).split() == [
        "two.ktrace", "single_pe", "·", "default", "·", "strict_fifo", "96.00", "ns",
    ]  # fmt: skip


def test_a_kernel_over_tiles_says_how_many_and_how_often_one_is_done():
    index = TimelineIndex(decode_like(4), "opt2.ktrace")
    assert index.timeline.makespan_ps == 1_719_126  # in four, 429,781 ps
    assert line_text(frame.header_line(index, 100)).endswith(
        "1.719 µs · 4 tiles, one every 429.8 ns"
    )


def test_the_thousands_of_tiles_are_marked_and_the_time_between_two_is_of_all_pes_together():
    # four PEs sweep 1,024 tiles each: one is done every quarter of what one takes
    timeline = decode_like(4, launched=4, machine=topology(pes=(4, 1)))
    arguments = timeline.trace.header.arguments | {"s_kv": 64 * 4096}
    header = replace(timeline.trace.header, arguments=arguments)
    many = replace(timeline, trace=replace(timeline.trace, header=header))
    # 1,719,126 ps / 4,096 = 419 ps
    assert line_text(frame.header_line(TimelineIndex(many, "x"), 100)).endswith(
        " · 4,096 tiles, one every 419 ps"
    )


def test_a_run_that_grew_more_than_tenfold_is_told_by_its_factor():
    index = TimelineIndex(decode_like(4), "x", before_ps=149_489)  # 1,719,126 / 149,489 = 11.50
    assert "  149.5 ns → 1.719 µs ×11.5 · 4 tiles" in line_text(frame.header_line(index, 100))


def test_both_makespans_of_a_change_have_as_many_decimals():
    index = TimelineIndex(two_commands().build(), "x", before_ps=104_000)
    assert line_text(frame.header_line(index, 100)).endswith("104.0 ns → 96.0 ns −7.69 %")


def test_what_does_not_fit_is_left_out_of_the_header_the_makespan_last():
    index = TimelineIndex(decode_like(4), "opt2.ktrace")
    assert line_text(frame.header_line(index, 72)).endswith("µs · 4 tiles")
    assert line_text(frame.header_line(index, 60)).endswith("µs")
    assert line_cells(frame.header_line(index, 20)) == 20


def test_a_deadlock_stands_in_the_header(two):
    index, _, _ = two
    stuck = TimelineIndex(replace(index.timeline, status=Status.DEADLOCK), "two.ktrace")
    assert line_text(frame.header_line(stuck, 80)).endswith("DEADLOCK after 96.00 ns")


def test_names_in_any_script_keep_the_header_s_width(two):
    index, _, _ = two
    for name in ("커널.ktrace", "नमस्ते.ktrace", "a\x1b[31m\n.ktrace", "🔥" * 90):
        named = TimelineIndex(index.timeline, name)
        assert line_cells(frame.header_line(named, 80)) == 80


def test_the_minimap_says_how_much_is_shown_and_brackets_it(two):
    index, hazards, look = two
    top, bottom = minimap.minimap_lines(index, hazards, look, 80)
    assert line_text(top).endswith("◇ 0 held  ! 0 violated")
    assert line_text(bottom).endswith("all of 96.00 ns shown")
    half = window(index, look, 48_000, 48_000)
    top, bottom = minimap.minimap_lines(index, hazards, half, 80)
    assert line_text(bottom).endswith("48.00 ns shown of 96.00 ns")
    assert line_text(bottom).lstrip().startswith("╶──")
    assert {line_cells(top), line_cells(bottom)} == {80}


def test_possible_hazards_are_counted_where_there_are_any():
    builder = two_commands()
    builder.hazard(Outcome.POTENTIAL, HazardKind.RAW, 0, 1, 2)
    index = TimelineIndex(builder.build(), "x")
    top, _ = minimap.minimap_lines(index, HazardIndex(index), first_look(index), 90)
    assert line_text(top).endswith("◇ 0 held  ! 0 violated  ? 1 potential")


def test_the_ruler_has_its_unit_in_the_title_and_a_caret_over_the_selected_stage(two):
    index, _, look = two
    # 68 columns of 1.41 ns: at most 6 ticks, so 20 ns apart. Stage 7 is 88–96, columns 62 to 67
    line = line_text(frame.ruler_line(index, select(index, look, 7), 80))
    assert line == " time, ns   │0            │20           │40           │60           │80     ▼"


def test_a_label_is_whole_or_left_out(two):
    index, _, look = two
    # 68 columns: of 41 ns 40 ns is in column 66, where a label of three has two; of 42 ns in 64
    for span_ps, end in ((41_000, "│30              │"), (42_000, "│30             │40")):
        line = line_text(frame.ruler_line(index, window(index, look, 0, span_ps), 80))
        assert line.rstrip().endswith(end)


def test_a_label_that_the_caret_would_cut_gives_way_to_it(two):
    index, _, look = two
    # stage 3 is 30–54, columns 21 to 38: the caret at 29 stands in the label of 40 ns
    line = line_text(frame.ruler_line(index, select(index, look, 3), 80))
    assert line == " time, ns   │0            │20           │▼            │60           │80"


def test_rows_stand_below_each_other_with_their_titles(two):
    index, hazards, look = two
    lines = [line_text(line) for line in frame.row_lines(index, hazards, look, 60, 5)]
    assert [line[:11].rstrip() for line in lines] == [
        " ▾ PE 0",
        "›   CPU",
        "    TCM",
        "    GEMM",
        "    MATH",
    ]


def test_rows_that_fit_twice_have_an_empty_line_between_them(two):
    index, hazards, look = two
    lines = [line_text(line)[:11].strip() for line in frame.row_lines(index, hazards, look, 60, 10)]
    assert lines == ["▾ PE 0", "", "›   CPU", "", "TCM", "", "GEMM", "", "MATH", ""]


def test_a_folded_pe_is_one_row(two):
    index, hazards, look = two
    folded = steps.toggle_fold(index, look)
    (line,) = frame.row_lines(index, hazards, folded, 60, 1)
    assert line_text(line)[:8] == "›▸ PE 0 "
    assert "▂" in line_text(line)


def test_rows_are_shown_from_the_top_row_on():
    machine = topology(pes=(4, 1))
    index = TimelineIndex(decode_like(1, launched=4, machine=machine), "x")
    look = replace(first_look(index), top=9)
    lines = frame.row_lines(index, HazardIndex(index), look, 60, 3)
    assert [line_text(line).split("  ")[0].strip() for line in lines] == [
        "▸ PE 1",
        "▸ PE 2",
        "▸ PE 3",
    ]


def test_the_last_lines_tell_why_and_where_in_the_kernel(two):
    index, hazards, look = two
    look = steps.cause_back(index, select(index, look, 4))
    assert line_text(frame.why_line(index, hazards, look, 80)) == (
        " why    waited for its data: fetch tile 1 (the engine was idle for 30 ns)"
    )
    assert line_text(frame.trail_line(index, look, 80)) == (
        " trail  GEMM tile 2 of command 0 ← GEMM tile 1"
    )
    assert line_text(frame.kernel_line(index, look, 80)) == " decode.py:7  s = tl.dot(q, k)"


def test_of_a_long_trail_the_latest_part_is_shown(two):
    index, _, look = two
    look = select(index, look, 7)
    for _ in range(6):
        look = steps.cause_back(index, look)
    line = line_text(frame.trail_line(index, look, 60))
    assert line.startswith(" trail  …")
    assert line.endswith("← fetch tile 1 ← dispatch")
    assert len(line) <= 60


def test_an_empty_timeline_says_that_nothing_ran():
    index = TimelineIndex(timeline_of_intervals([], []), "empty")
    hazards, look = HazardIndex(index), first_look(index)
    rows = frame.row_lines(index, hazards, look, 60, 3)
    assert [line_text(line) for line in rows] == ["  nothing ran", "", ""]
    assert line_text(frame.why_line(index, hazards, look, 60)) == " why    nothing selected"
    assert line_text(frame.kernel_line(index, look, 60)) == ""
    for line in minimap.minimap_lines(index, hazards, look, 60):
        assert line_cells(line) == 60


@pytest.mark.parametrize("width", [1, 2, 10, 24, 40, 79, 200])
def test_every_line_is_exactly_as_wide_as_asked_for(two, width):
    index, hazards, look = two
    lines = [
        frame.header_line(index, width),
        *minimap.minimap_lines(index, hazards, look, width),
        frame.ruler_line(index, look, width),
        *frame.row_lines(index, hazards, look, width, 8),
        frame.why_line(index, hazards, look, width),
        frame.trail_line(index, steps.cause_back(index, select(index, look, 7)), width),
        frame.kernel_line(index, look, width),
    ]
    assert {line_cells(line) for line in lines} == {width}
