"""How far each case's makespan goes, and what is said of grids and of samples."""

from dataclasses import replace
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis, Span, parse_vary
from kerntape.replay.sweep.case_makespans import CaseMakespans, Extreme, case_makespans
from kerntape.replay.sweep.influence import Influence, ValueMedian
from kerntape.replay.sweep.planning import Sampling
from kerntape.replay.sweep.sample_fit import Change, SampleFit
from kerntape.replay.sweep.sampling import latin_hypercube

CYCLES, WIDTH = "pe_cpu.fixed_cycles", "pe_math.vector_width"
DISPATCH = parse_vary(f"{CYCLES}=40,10,20")
VECTORS = parse_vary(f"{WIDTH}=8,64")


def at(cycles, width):
    return ((CYCLES, Decimal(cycles)), (WIDTH, Decimal(width)))


def test_a_case_has_its_extremes_with_their_values_and_of_a_grid_its_influences(plan_of, tiled):
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
            Influence(WIDTH, (ValueMedian(8, 3, 8), ValueMedian(64, 3, 3))),
            Influence(
                CYCLES, (ValueMedian(10, 2, 3), ValueMedian(20, 2, 3), ValueMedian(40, 2, 5))
            ),
        ),
        fit=None,
    )


def test_of_points_with_one_makespan_the_first_is_named_at_either_end(plan_of, tiled):
    (case,) = case_makespans(plan_of(tiled, DISPATCH, VECTORS), dict.fromkeys(range(6), 7))
    assert case.smallest == case.largest == Extreme(7, at(40, 8))


def test_points_that_are_in_no_race_have_no_say(plan_of, tiled):
    plan = plan_of(tiled, DISPATCH, VECTORS)
    # as above; the first, the fourth and the last are in no race
    (case,) = case_makespans(plan, {1: 5, 2: 7, 4: 8})
    assert (case.points, case.left_out) == (3, 3)
    assert case.smallest == Extreme(5, at(40, 64))
    assert case.median_ps == 7
    assert case.largest == Extreme(8, at(20, 8))
    # no width has all cycles, and no cycles have both widths
    assert [(each.path, each.spread_ps) for each in case.influences] == [
        (CYCLES, None),
        (WIDTH, None),
    ]


def test_a_case_whose_points_are_all_left_out_has_no_makespan(plan_of, deadlocked):
    (case,) = case_makespans(plan_of(deadlocked, DISPATCH), {})
    assert (case.points, case.left_out) == (0, 3)
    assert (case.smallest, case.median_ps, case.largest) == (None, None, None)
    (cycles,) = case.influences
    assert cycles.medians == tuple(ValueMedian(each, 0, None) for each in (10, 20, 40))
    (sampled,) = case_makespans(plan_of(deadlocked, DISPATCH, sampling=Sampling(2, seed=0)), {})
    unknown = Change(CYCLES, Decimal(10), Decimal(40), None, is_told=False)
    assert sampled.fit == SampleFit(None, (unknown,))


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


def test_samples_have_a_fit_over_the_ranges_and_no_influences(plan_of, tiled):
    depth = parse_vary("topology.ipcq.depth=8,4")
    latency = parse_vary("hbm.latency_ns=0..40")
    plan = plan_of(tiled, depth, latency, sampling=Sampling(8, seed=0))
    # a makespan is the latency in thousandths, and 100 for a step of the depth
    thousandths = [int(1000 * latency) + 100 * depth for depth, latency in plan.combinations]
    sound = {point: each for point, each in enumerate(thousandths) if point != 3}
    (case,) = case_makespans(plan, sound)
    assert (case.points, case.left_out, case.influences) == (7, 1, ())
    assert case.fit == SampleFit(
        1_000_000,
        (
            Change("hbm.latency_ns", Decimal(0), Decimal(40), 40_000, is_told=True),
            Change("topology.ipcq.depth", 4, 8, 400, is_told=True),
        ),
    )


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
)
def test_every_point_is_counted_or_left_out_and_the_median_is_between_the_extremes(
    plan_of, tiled, parameters, makespans
):
    named = tuple(replace(each, path=f"x{place}") for place, each in enumerate(parameters))
    plan = replace(
        plan_of(tiled),
        paths=tuple(each.path for each in named),
        combinations=latin_hypercube(named, len(makespans), seed=0),
        sampled=named,
    )
    sound = {point: each for point, each in enumerate(makespans) if each is not None}
    (case,) = case_makespans(plan, sound)
    assert (case.points, case.left_out) == (len(sound), len(makespans) - len(sound))
    assert sorted(each.path for each in case.fit.changes) == sorted(plan.paths)
    if not sound:
        return
    least, most = case.smallest.makespan_ps, case.largest.makespan_ps
    assert (least, most) == (min(sound.values()), max(sound.values()))
    assert case.median_ps == sorted(sound.values())[(len(sound) - 1) // 2]
