"""An area in numbers."""

from itertools import pairwise

import numpy as np
import pytest
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.hazards import Outcome
from kerntape.viewer.model.area import (
    area_lines,
    figures_by_kind,
    figures_by_lane,
    in_area,
    percentile,
)
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.text import line_cells
from timeline_builder import timeline_of_intervals, two_commands


def indexed(timeline):
    index = TimelineIndex(timeline, "x")
    return index, HazardIndex(index)


def lines_of(index, hazards, area, width):
    by_kind = figures_by_kind(index, hazards, area)
    return area_lines(area, by_kind, figures_by_lane(index, hazards, area), width)


def test_a_stage_is_in_an_area_if_any_part_of_it_is_or_it_is_an_instant_in_it():
    index, _ = indexed(two_commands().build())
    assert in_area(index, (30_000, 54_000)).tolist() == [
        2,
        3,
    ]  # fetch 1 ends at 30, GEMM 4 is at 54
    assert in_area(index, (29_999, 54_001)).tolist() == [1, 2, 3, 4]
    assert in_area(index, (78_000, 79_000)).tolist() == [5, 6]  # the finish has no length


def test_the_figures_of_a_kind_count_what_is_inside_and_rank_whole_durations():
    # 40–60 holds 10 ns of fetch 2 (30–50), 14 of GEMM 3 (30–54), 6 of GEMM 4 (54–78)
    index, hazards = indexed(two_commands().build())
    gemm, fetch = figures_by_kind(index, hazards, (40_000, 60_000))
    assert (gemm.name, gemm.count, gemm.sum_ps, gemm.p50_ps, gemm.p99_ps) == (
        *("GEMM", 2, 20_000),
        *(24_000, 24_000),
    )
    assert gemm.busy_permille == 1000
    assert (fetch.name, fetch.count, fetch.sum_ps, fetch.busy_permille) == ("fetch", 1, 10_000, 500)


def test_the_figures_of_a_lane_are_from_top_to_bottom():
    index, hazards = indexed(two_commands().build())
    lanes = figures_by_lane(index, hazards, (0, 96_000))
    assert [(one.name, one.count, one.busy_permille) for one in lanes] == [
        ("PE 0 CPU", 3, 208),
        ("PE 0 TCM", 2, 416),
        ("PE 0 GEMM", 2, 500),
        ("PE 0 MATH", 1, 83),
    ]


def test_an_instant_of_a_lane_that_runs_two_stages_at_once_is_busy_once():
    timeline = timeline_of_intervals([0, 0, 5], [10, 10, 20])
    index, hazards = indexed(timeline)
    (gemm,) = figures_by_kind(index, hazards, (0, 40))
    assert (gemm.sum_ps, gemm.busy_permille) == (35, 500)


@pytest.mark.parametrize(("percent", "value"), [(50, 5), (99, 10), (100, 10), (1, 1), (90, 9)])
def test_percentiles_are_by_nearest_rank(percent, value):
    assert percentile(np.arange(1, 11), percent) == value


def test_hazards_count_where_they_began():
    builder = two_commands()
    builder.hazard(
        Outcome.VIOLATED, HazardKind.RAW, 0, 1, 2, cost_ns=3
    )  # at command 1's dispatch, 78
    index, hazards = indexed(builder.build())
    (dispatch, *_) = [
        one for one in figures_by_kind(index, hazards, (78_000, 96_000)) if one.name == "dispatch"
    ]
    assert dispatch.hazards[Outcome.VIOLATED] == 1
    assert figures_by_lane(index, hazards, (78_000, 96_000))[0].hazards[Outcome.VIOLATED] == 1
    assert sum(figures_by_lane(index, hazards, (0, 78_000))[0].hazards) == 0


def test_a_hold_that_begins_before_its_stage_is_listed_without_one():
    # command 1 is dispatched at 78 after 20 ns of waiting: the hold begins at 58, where no dispatch runs
    builder = two_commands()
    builder.hazard(Outcome.HELD, HazardKind.RAW, 0, 1, 2, cost_ns=20)
    index, hazards = indexed(builder.build())
    area = (56_000, 60_000)
    by_kind, by_lane = figures_by_kind(index, hazards, area), figures_by_lane(index, hazards, area)
    for figures, without in ((by_kind, "dispatch"), (by_lane, "PE 0 CPU")):
        (one,) = [figure for figure in figures if figure.name == without]
        assert (one.count, one.sum_ps, one.p50_ps, one.p99_ps, one.busy_permille) == (0,) * 5
        assert one.hazards[Outcome.HELD] == 1
    lines = [
        "".join(s.text for s in line).rstrip() for line in area_lines(area, by_kind, by_lane, 99)
    ]
    assert lines[4] == (
        "  dispatch                       0        0 ps           –           –   0.0 %  ◇ 1"
    )


@pytest.mark.parametrize("parts", [1, 3, 7])
def test_every_hazard_of_a_run_is_counted_once_by_kind_and_once_by_lane(opt2, parts):
    index, hazards = indexed(opt2)
    edges = [opt2.makespan_ps * part // parts for part in range(parts)] + [opt2.makespan_ps + 1]
    areas = list(pairwise(edges))
    for figures in (figures_by_kind, figures_by_lane):
        counted = sum(sum(one.hazards) for area in areas for one in figures(index, hazards, area))
        assert counted == len(hazards.marks.at_ps)


def test_the_panel_tells_it_all():
    index, hazards = indexed(two_commands().build())
    lines = lines_of(index, hazards, (40_000, 60_000), 100)
    assert {line_cells(line) for line in lines} == {100}
    assert ["".join(span.text for span in line).rstrip() for line in lines] == [
        "  40 ns to 60 ns · 20 ns",
        "",
        "  kind of stage              count         sum         p50         p99    busy  hazards",
        "  GEMM                           2    20.00 ns    24.00 ns    24.00 ns 100.0 %",
        "  fetch                          1    10.00 ns    20.00 ns    20.00 ns  50.0 %",
        "",
        "  lane                       count         sum         p50         p99    busy  hazards",
        "  PE 0 TCM                       1    10.00 ns    20.00 ns    20.00 ns  50.0 %",
        "  PE 0 GEMM                      2    20.00 ns    24.00 ns    24.00 ns 100.0 %",
    ]


def test_an_area_without_a_stage_says_so():
    index, hazards = indexed(timeline_of_intervals([0], [5]))
    text = "".join(span.text for line in lines_of(index, hazards, (50, 60), 60) for span in line)
    assert text.count("nothing ran here") == 2


def covered_ps(spans):
    """The length of the union of spans, instant by instant of their edges."""
    edges = sorted({edge for span in spans for edge in span})
    return sum(
        until - since
        for since, until in pairwise(edges)
        if any(start <= since and until <= end for start, end in spans)
    )


@pytest.mark.parametrize("figures", [figures_by_kind, figures_by_lane])
@pytest.mark.parametrize("part", [(0, 8), (1, 2), (3, 8), (5, 6)])
def test_figures_of_a_run_are_what_going_through_its_stages_one_by_one_gives(opt2, figures, part):
    index, hazards = indexed(opt2)
    from_ps, to_ps = area = tuple(opt2.makespan_ps * eighth // 8 for eighth in part)
    engines, kinds = opt2.stages.engine.tolist(), opt2.stages.kind.tolist()
    spans = [*zip(opt2.start_ps.tolist(), opt2.end_ps.tolist(), strict=True)]
    groups = {}
    for stage in in_area(index, area).tolist():
        key = kinds[stage] if figures is figures_by_kind else engines[stage]
        groups.setdefault(key, []).append(stage)
    expected = []
    for stages in groups.values():
        lanes, clipped = {}, []
        for stage in stages:
            start, end = spans[stage]
            clipped.append((max(start, from_ps), min(end, to_ps)))
            lanes.setdefault(engines[stage], []).append(clipped[-1])
        busy_ps = sum(map(covered_ps, lanes.values()))
        lasting = sorted(spans[stage][1] - spans[stage][0] for stage in stages)
        figure = (
            len(stages),
            sum(end - start for start, end in clipped),
            lasting[-(-len(lasting) * 50 // 100) - 1],
            lasting[-(-len(lasting) * 99 // 100) - 1],
            1000 * busy_ps // ((to_ps - from_ps) * len(lanes)),
        )
        expected.append(figure)
    found = [
        (one.count, one.sum_ps, one.p50_ps, one.p99_ps, one.busy_permille)
        for one in figures(index, hazards, area)
        if one.count
    ]
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize("figures", [figures_by_kind, figures_by_lane])
def test_it_is_told_how_far_the_adding_up_is(figures):
    # 3 CPU, 2 TCM, 2 GEMM and 1 MATH stage: 8 of them
    index, hazards = indexed(two_commands().build())
    told = []
    figures(index, hazards, (0, 96_000), lambda *how_far: told.append(how_far))
    assert told[0] == (0, 8)
    assert told == sorted(told)
    assert {total for _, total in told} == {8}


@pytest.mark.parametrize("figures", [figures_by_kind, figures_by_lane])
def test_whoever_is_told_can_end_it(figures):
    index, hazards = indexed(two_commands().build())
    told = []

    def end(done, total):
        told.append(done)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        figures(index, hazards, (0, 96_000), end)
    assert told == [0]
