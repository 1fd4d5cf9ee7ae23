"""The critical path as a list."""

import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.schemas.stages import StageKind, Why
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import NO_STAGE, TimelineIndex
from kerntape.viewer.model.path_list import (
    BRIEFLY,
    PATH_COLUMNS,
    REASON_CELLS,
    path_count,
    path_head,
    path_lines,
    path_place,
    path_rows,
    short_pe_name,
)
from kerntape.viewer.model.text import line_cells
from kerntape.viewer.model.why import REASON_WORDS
from painted_text import line_texts
from timeline_builder import (
    SCHED,
    decode_like,
    timeline_of_intervals,
    topology,
    two_commands,
)


def listed(index, chosen, top, width, height):
    lines = path_lines(index, HazardIndex(index), chosen, top, width, height)
    assert {line_cells(line) for line in lines} == {width}
    return line_texts(lines)


def shown_head(index, width):
    lines = path_head(index, width)
    assert {line_cells(line) for line in lines} == {width}
    return line_texts(lines)


@pytest.fixture(scope="module")
def index():
    return TimelineIndex(two_commands().build(), "x")


@pytest.fixture(scope="module")
def far():
    """The same decode on two SIPs of two PEs each: the path is on the first."""
    machine = topology(sips=2, pes=(2, 1))
    return TimelineIndex(decode_like(1, launched=4, machine=machine), "x")


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


def test_the_list_tells_every_step_in_the_order_of_time(index):
    # the last start is 88 ns, and `88.999 ns` takes 9 cells; so do the times on the path
    assert path_count(index) == 7
    assert listed(index, 3, 0, 100, 8) == [
        "        0 ps      10 ns  dispatch of command 0",
        "       10 ns      20 ns  fetch tile 1 of command 0           its dispatch",
        "       30 ns      24 ns  GEMM tile 1 of command 0            its data",
        " ›     54 ns      24 ns  GEMM tile 2 of command 0            its engine",
        "       78 ns       0 ps  finish of command 0                 its data",
        "       78 ns      10 ns  dispatch of command 1               the command before it to finish",
        "       88 ns       8 ns  MATH exp of command 1               its dispatch",
        "",
    ]


def test_the_head_splits_the_makespan_by_engine_and_by_what_was_waited_for(index):
    # 96 ns: GEMM 48, CPU 10 + 10, TCM 20, MATH 8; of waits data 44, engine 24, dispatch 20, the rest 8
    head = shown_head(index, 120)
    assert head[:2] == [
        "  by engine   50.0 % GEMM  20.8 % CPU  20.8 % TCM  8.3 % MATH",
        "  waited for  45.8 % its data  25.0 % its engine  20.8 % its dispatch  8.3 % the last stage",
    ]


def test_the_sums_go_on_in_the_next_line_and_the_last_adds_up_what_it_has_no_room_for(index):
    head = shown_head(index, 44)
    assert head[:2] == [
        "  by engine   50.0 % GEMM  20.8 % CPU",
        "              20.8 % TCM  8.3 % MATH",
    ]
    # a part a line of 32 cells, but for the third
    assert shown_head(index, 32)[:6] == [
        "  by engine   50.0 % GEMM",
        "              20.8 % CPU",
        "              29.2 % other",
        "  waited for  45.8 % its data",
        "              25.0 % its engine",
        "              29.2 % other",
    ]


def test_parts_below_a_tenth_of_a_percent_are_left_out_of_the_sums():
    # 1 ns of 10,001: less than 0.05 %, which rounds to 0.0 %
    builder = two_commands()
    gemm = next(stage for stage in builder.stages if stage.kind is StageKind.GEMM)
    gemm.duration_ps = 10**9
    index = TimelineIndex(builder.build(), "x")
    assert shown_head(index, 120)[0] == "  by engine   100.0 % GEMM"


def test_of_several_pes_every_step_names_its_own(far):
    # the starts end above 1 µs (11 cells), the times on the path below 100 ns (9): 3 cells of mark,
    # 11 + 2 and 9 + 2 of times, 34 of stage, 2 + 17 of PE and 2 + 31 of reason make 113
    assert shown_head(far, 113)[-1] == (
        "          from        for  stage                               PE                 waited for"
    )
    assert listed(far, 1, 0, 113, 2) == [
        "          0 ps      41 ns  dispatch of command 0               SIP 0 CUBE 0 PE 0",
        " ›       41 ns  44.375 ns  dispatch of command 1               SIP 0 CUBE 0 PE 0"
        "  the dispatch before it",
    ]
    assert "dispatch #1           SIP 0" in listed(far, 1, 0, 112, 2)[1]


def test_a_narrow_list_of_several_pes_names_stages_pes_and_reasons_in_fewer_words(far):
    assert shown_head(far, 80)[-1] == (
        "          from        for  stage                 PE        waited for  +latency"
    )
    assert listed(far, 1, 4, 80, 2) == [
        "     85.375 ns      40 ns  HBM read tile 1 #1    S0 C0 P0  its data",
        "    125.375 ns      40 ns  HBM read tile 2 #1    S0 C0 P0  its engine  +60 ns",
    ]


@pytest.mark.parametrize(
    ("name", "short"),
    [("PE 7", "PE 7"), ("CUBE 15 PE 7", "C15 P7"), ("SIP 0 CUBE 3 PE 7", "S0 C3 P7")],
)
def test_a_pe_has_a_short_name(name, short):
    assert short_pe_name(name) == short


def test_the_reasons_have_room_where_they_are_told_whole_and_are_shorter_where_told_briefly():
    usual = set(REASON_WORDS) - {Why.IN_FLIGHT, Why.SEND_DEPTH, Why.ADMISSION, Why.RETIREMENT}
    assert max(len(REASON_WORDS[why]) for why in usual - {Why.SCHEDULER_QUEUE}) == REASON_CELLS
    assert all(len(words) < len(REASON_WORDS[why]) for why, words in BRIEFLY.items())
    assert max(map(len, BRIEFLY.values())) == 17  # what a list of 80 columns leaves at worst


def held():
    """An admission that a hazard held for 20 ns."""
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    last = builder.stage(StageKind.ADMIT, SCHED, command=1)
    builder.release(last, 5, Why.HAZARD, lag_ns=200)
    return TimelineIndex(builder.build(), "x")


def test_a_step_that_a_hazard_held_says_which():
    index = held()
    assert listed(index, 0, path_count(index) - 1, 100, 1)[0].endswith("hazard RAW on s, by #0")
    assert listed(index, 0, path_count(index) - 1, 64, 1)[0].endswith("  RAW on s, by #0")


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


def test_an_empty_timeline_has_an_empty_list():
    index = TimelineIndex(timeline_of_intervals([], []), "x")
    assert path_count(index) == 0
    assert listed(index, 0, 0, 20, 2) == ["", ""]
    assert shown_head(index, 60)[:2] == ["  by engine", "  waited for"]


def test_latency_after_a_step_is_said_exactly_as_its_other_times():
    index = TimelineIndex(decode_like(1), "x")
    shown = listed(index, 0, 0, 140, path_count(index))
    assert any(line.endswith("  +60 ns latency") for line in shown)
    assert any(line.endswith("  +60 ns") for line in listed(index, 0, 0, 76, path_count(index)))


@pytest.mark.parametrize("width", [1, 20, 79, 200])
def test_the_list_fits_any_width(far, width):
    assert len(listed(far, 0, 0, width, 5)) == 5
    shown_head(far, width)


def test_a_reason_that_has_no_room_is_told_in_fewer_words_alone():
    # 3 + 10 + 2 + 9 + 2 + 20 + 2 = 48 cells before it: 32 for "the composite before it to be admitted"
    builder = two_commands()
    last = builder.stage(StageKind.PLAN, SCHED, command=1)
    builder.release(last, 5, Why.ADMISSION, lag_ns=200)
    index = TimelineIndex(builder.build(), "x")
    shown = listed(index, 0, 0, 80, path_count(index))
    assert shown[-1].endswith("  admission before")
    assert any(line.endswith("  its dispatch") for line in shown)
    assert shown_head(index, 80)[-1].endswith("  waited for")
