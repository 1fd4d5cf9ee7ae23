"""How far each case's makespan goes and what moves it: worked out by hand from a table of makespans."""

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis, Span, parse_vary
from kerntape.replay.sweep.influence import (
    CaseMakespans,
    Extreme,
    Influence,
    PartMedian,
    case_makespans,
)
from kerntape.replay.sweep.planning import Sampling
from kerntape.replay.sweep.sampling import latin_hypercube

CYCLES, WIDTH = "pe_cpu.fixed_cycles", "pe_math.vector_width"
DISPATCH = parse_vary(f"{CYCLES}=40,10,20")
VECTORS = parse_vary(f"{WIDTH}=8,64")


def at(cycles, width):
    return ((CYCLES, Decimal(cycles)), (WIDTH, Decimal(width)))


def test_a_case_has_its_extremes_with_their_values_and_a_median_for_each_listed_value(
    plan_of, tiled
):
    plan = plan_of(tiled, DISPATCH, VECTORS)
    # (40, 8) 9, (40, 64) 5, (10, 8) 7, (10, 64) 3, (20, 8) 8, (20, 64) 3
    (case,) = case_makespans(plan, dict(enumerate([9, 5, 7, 3, 8, 3])))
    assert case == CaseMakespans(
        trace="x.ktrace",
        policy="strict_fifo",
        points=6,
        left_out=0,
        # of two points with 3 the first
        smallest=Extreme(3, at(10, 64)),
        # of 3 3 5 7 8 9 the lower middle one
        median_ps=5,
        largest=Extreme(9, at(40, 8)),
        influences=(
            # of 7 8 9, of 3 3 5
            Influence(WIDTH, (PartMedian(8, 8, 3, 8), PartMedian(64, 64, 3, 3))),
            # of 3 7, of 3 8, of 5 9: the lower ones
            Influence(
                CYCLES,
                (PartMedian(10, 10, 2, 3), PartMedian(20, 20, 2, 3), PartMedian(40, 40, 2, 5)),
            ),
        ),
    )
    assert [each.spread_ps for each in case.influences] == [5, 2]
    # 3 to 8 and 3 to 5, in whole millionths
    assert [each.spread_ppm for each in case.influences] == [1_666_666, 666_666]


def test_of_points_with_one_makespan_the_first_is_named_at_either_end(plan_of, tiled):
    (case,) = case_makespans(plan_of(tiled, DISPATCH, VECTORS), dict.fromkeys(range(6), 7))
    assert case.smallest == case.largest == Extreme(7, at(40, 8))
    # nothing moves it, and the parameters stand as they were given
    assert [(each.path, each.spread_ps) for each in case.influences] == [(CYCLES, 0), (WIDTH, 0)]


def test_points_without_figures_or_with_violations_have_no_say(plan_of, tiled):
    plan = plan_of(tiled, DISPATCH, VECTORS)
    # as above; the first and the last have violations, the fourth has no figures
    (case,) = case_makespans(plan, {0: 9, 1: 5, 2: 7, 4: 8, 5: 3}, violating={0, 5})
    assert (case.points, case.left_out) == (3, 3)
    assert case.smallest == Extreme(5, at(40, 64))
    assert case.median_ps == 7
    assert case.largest == Extreme(8, at(20, 8))
    assert [(each.path, each.spread_ps) for each in case.influences] == [(CYCLES, 3), (WIDTH, 2)]


def test_a_case_whose_points_are_all_left_out_has_no_makespan(plan_of, deadlocked):
    (case,) = case_makespans(plan_of(deadlocked, DISPATCH), {})
    assert (case.points, case.left_out) == (0, 3)
    assert (case.smallest, case.median_ps, case.largest) == (None, None, None)
    (cycles,) = case.influences
    assert cycles.parts == tuple(PartMedian(each, each, 0, None) for each in (10, 20, 40))
    assert (cycles.spread_ps, cycles.spread_ppm) == (0, None)


def test_cases_come_by_trace_and_then_by_policy(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    found = case_makespans(plan_of(both, policies=["none", "serial"]), {0: 4, 1: 5, 2: 6, 3: 7})
    assert [(each.trace, each.policy, each.median_ps) for each in found] == [
        ("a.ktrace", "none", 4),
        ("a.ktrace", "serial", 5),
        ("b.ktrace", "none", 6),
        ("b.ktrace", "serial", 7),
    ]
    # nothing is varied
    assert found[0].smallest == found[0].largest == Extreme(4, ())
    assert found[0].influences == ()


def test_a_sampled_range_has_a_median_for_each_quarter_and_listed_values_one_each(plan_of, tiled):
    depth = parse_vary("topology.ipcq.depth=8,4")
    latency = parse_vary("hbm.latency_ns=0..40")
    plan = plan_of(tiled, depth, latency, sampling=Sampling(8, seed=0))
    # of eight samples every quarter has two; a makespan is the latency in thousandths
    thousandths = [int(1000 * latency) for _, latency in plan.combinations]
    lower = sorted(thousandths)[::2]
    (case,) = case_makespans(plan, dict(enumerate(thousandths)))
    first, second = case.influences
    assert (first.path, second.path) == ("hbm.latency_ns", "topology.ipcq.depth")
    assert first.parts == tuple(
        PartMedian(Decimal(10 * n), Decimal(10 * n + 10), 2, lower[n]) for n in range(4)
    )
    assert [(part.low, part.high, part.points) for part in second.parts] == [(4, 4, 4), (8, 8, 4)]


def test_a_listed_value_that_no_sample_has_is_without_a_median(plan_of, tiled):
    plan = plan_of(tiled, DISPATCH, sampling=Sampling(2, seed=0))
    drawn = {values[0] for values in plan.combinations}
    (case,) = case_makespans(plan, {0: 5, 1: 6})
    (cycles,) = case.influences
    assert {part.low for part in cycles.parts if part.median_ps is not None} == drawn
    assert len(cycles.parts) == 3
    assert cycles.spread_ps == 1


def test_makespans_beyond_what_a_float_holds_are_told_apart(plan_of, tiled):
    (case,) = case_makespans(plan_of(tiled, VECTORS), {0: (1 << 61) + 1, 1: 1 << 61})
    assert case.influences[0].spread_ps == 1
    assert case.median_ps == 1 << 61


def test_a_least_median_of_no_time_has_no_ratio():
    assert Influence("x", (PartMedian(1, 1, 1, 0), PartMedian(2, 2, 1, 5))).spread_ppm is None


varied = st.one_of(
    st.sets(st.integers(1, 20), min_size=1, max_size=6).map(lambda found: Axis("x", tuple(found))),
    st.sets(st.integers(1, 50), min_size=2, max_size=2).map(lambda ends: Span("x", *sorted(ends))),
    st.sets(st.decimals(0, 9, places=2), min_size=2, max_size=2).map(
        lambda ends: Span("x", *sorted(ends))
    ),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parameters=st.lists(varied, min_size=1, max_size=3),
    makespans=st.lists(st.none() | st.integers(0, 1 << 62), min_size=1, max_size=30),
    violating=st.sets(st.integers(0, 29)),
)
def test_parts_share_the_points_out_and_no_median_passes_the_extremes(
    plan_of, tiled, parameters, makespans, violating
):
    named = tuple(replace(each, path=f"x{place}") for place, each in enumerate(parameters))
    plan = replace(
        plan_of(tiled),
        paths=tuple(each.path for each in named),
        combinations=latin_hypercube(named, len(makespans), seed=0),
        sampled=named,
    )
    known = {point: each for point, each in enumerate(makespans) if each is not None}
    (case,) = case_makespans(plan, known, violating)
    sound = {point: each for point, each in known.items() if point not in violating}
    assert (case.points, case.left_out) == (len(sound), len(makespans) - len(sound))
    assert sorted(each.path for each in case.influences) == sorted(plan.paths)
    assert all(a.spread_ps >= b.spread_ps for a, b in pairwise(case.influences))
    for influence in case.influences:
        assert sum(part.points for part in influence.parts) == case.points
        assert all((part.points == 0) == (part.median_ps is None) for part in influence.parts)
    if not sound:
        return
    least, most = case.smallest.makespan_ps, case.largest.makespan_ps
    assert (least, most) == (min(sound.values()), max(sound.values()))
    assert case.median_ps in sound.values()
    for influence in case.influences:
        assert all(least <= median <= most for median in influence.medians_ps)
        assert influence.spread_ps <= most - least
        assert min(influence.medians_ps) <= case.median_ps <= max(influence.medians_ps)
