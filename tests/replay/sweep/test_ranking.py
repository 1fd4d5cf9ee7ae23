"""Where the ranking flips: worked out by hand from a table of makespans."""

from decimal import Decimal

from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.margins import Margin
from kerntape.replay.sweep.planning import Sampling
from kerntape.replay.sweep.ranking import Flip, _lines, rankings

DISPATCH = parse_vary("pe_cpu.fixed_cycles=40,10,20")
WIDTH = parse_vary("pe_math.vector_width=8,64")


def makespans(*by_contender):
    """By point: one contender's after the other's."""
    flat = [each for row in by_contender for each in row]
    return {point: each for point, each in enumerate(flat) if each is not None}


def test_one_parameter_flips_between_neighbours_by_value_not_by_the_order_given(
    plan_of, tiled, shorter
):
    plan = plan_of({"a.ktrace": tiled, "b.ktrace": shorter}, DISPATCH)
    # at 40, 10, 20 cycles: a takes 9, 3, 5; b takes 7, 6, 6. So a is faster at 10 and 20
    (ranking,) = rankings(plan, makespans([9, 3, 5], [7, 6, 6]))
    assert (ranking.first, ranking.second, ranking.under) == ("a.ktrace", "b.ktrace", "strict_fifo")
    assert (ranking.first_faster, ranking.second_faster, ranking.equal) == (2, 1, 0)
    # 5 to 6 is 20 % longer, 3 to 6 100 %: the lower of the two is the median; 7 to 9 is 2/7
    assert ranking.first_margin == Margin(200_000, 1_000_000)
    assert ranking.second_margin == Margin(285_714, 285_714)
    low, high = Decimal(20), Decimal(40)
    assert ranking.flips == (Flip("pe_cpu.fixed_cycles", low, high, "a.ktrace", "b.ktrace", at=()),)


def test_a_tie_is_in_favour_of_nobody_and_is_passed_over(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    plan = plan_of(both, DISPATCH)
    (ranking,) = rankings(plan, makespans([9, 3, 6], [7, 6, 6]))
    assert ranking.equal == 1
    assert [(flip.low, flip.high) for flip in ranking.flips] == [(10, 40)]
    (ranking,) = rankings(plan, makespans([6, 3, 6], [7, 6, 6]))
    assert ranking.flips == ()
    assert ranking.second_margin is None


def test_several_parameters_have_a_line_along_each_for_every_combination_of_the_others(
    plan_of, tiled
):
    plan = plan_of(tiled, DISPATCH, WIDTH, policies=["none", "serial"])
    # combinations: (40, 8) (40, 64) (10, 8) (10, 64) (20, 8) (20, 64)
    # faster:        none    serial   none    none     none    serial
    (ranking,) = rankings(plan, makespans([1, 5, 1, 1, 1, 5], [2, 2, 2, 2, 2, 2]))
    assert (ranking.first, ranking.second, ranking.under) == ("none", "serial", "x.ktrace")
    cycles, width = "pe_cpu.fixed_cycles", "pe_math.vector_width"
    assert [(flip.path, flip.low, flip.high, dict(flip.at)) for flip in ranking.flips] == [
        (cycles, 10, 20, {width: 64}),
        (width, 8, 64, {cycles: 40}),
        (width, 8, 64, {cycles: 20}),
    ]
    assert {(flip.faster_below, flip.faster_above) for flip in ranking.flips} == {
        ("none", "serial")
    }


def test_a_deadlocked_point_is_compared_with_nothing(plan_of, tiled, shorter):
    plan = plan_of({"a.ktrace": tiled, "b.ktrace": shorter}, DISPATCH)
    (ranking,) = rankings(plan, makespans([9, None, 5], [7, 6, 6]))
    assert (ranking.first_faster, ranking.second_faster, ranking.equal) == (1, 1, 0)


def test_traces_are_compared_under_each_policy_and_policies_for_each_trace(plan_of, tiled, shorter):
    plan = plan_of({"a.ktrace": tiled, "b.ktrace": shorter}, policies=["none", "serial"])
    found = rankings(plan, makespans([1], [2], [3], [4]))
    assert [(each.first, each.second, each.under) for each in found] == [
        ("a.ktrace", "b.ktrace", "none"),
        ("a.ktrace", "b.ktrace", "serial"),
        ("none", "serial", "a.ktrace"),
        ("none", "serial", "b.ktrace"),
    ]
    assert all(each.first_faster == 1 for each in found)


def test_samples_of_one_parameter_are_a_line(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    plan = plan_of(both, DISPATCH, sampling=Sampling(3, seed=0))
    values = [combination[0] for combination in plan.combinations]
    (ranking,) = rankings(plan, makespans([int(value) for value in values], [15, 15, 15]))
    assert [(flip.low, flip.high) for flip in ranking.flips] == [(10, 20)]


def test_samples_of_several_parameters_share_no_line(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    spans = [parse_vary("hbm.latency_ns=1..1000"), parse_vary("pe_cpu.fixed_cycles=1..1000")]
    plan = plan_of(both, *spans, sampling=Sampling(50, seed=0))
    assert _lines(plan) == []
    (ranking,) = rankings(plan, {point: point % 3 for point in range(100)})
    assert ranking.first_faster + ranking.second_faster + ranking.equal == 50
    assert ranking.flips == ()


def test_samples_of_several_parameters_have_shares_instead(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    spans = [parse_vary("pe_cpu.fixed_cycles=0..80"), parse_vary("hbm.latency_ns=1..1000")]
    plan = plan_of(both, *spans, sampling=Sampling(40, seed=0))
    # a takes ten times the latency, b 5005: a wins below 500.5, which is half of the range. Of forty
    # samples each quarter has ten
    times_ten = [int(10 * latency) for _, latency in plan.combinations]
    (ranking,) = rankings(plan, makespans(times_ten, [5005] * 40))
    latency, cycles = ranking.shares
    assert (latency.path, cycles.path) == ("hbm.latency_ns", "pe_cpu.fixed_cycles")
    assert [part.first_faster for part in latency.parts] == [10, 10, 0, 0]
    assert [part.second_faster for part in latency.parts] == [0, 0, 10, 10]
    assert sum(part.first_faster for part in cycles.parts) == 20


def test_one_sampled_parameter_and_a_grid_have_no_shares(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    sampled = plan_of(both, DISPATCH, sampling=Sampling(3, seed=0))
    for plan in (sampled, plan_of(both, DISPATCH, WIDTH)):
        (ranking,) = rankings(plan, dict.fromkeys(range(len(plan)), 1))
        assert ranking.shares == ()


def test_points_with_violations_are_counted_of_each_contender(plan_of, tiled):
    # points 0 to 2 are of none, 3 to 5 of serial
    plan = plan_of(tiled, DISPATCH, policies=["none", "serial"])
    (ranking,) = rankings(plan, makespans([1, 1, 1], [2, 2, 2]), violating={0, 2, 4})
    assert (ranking.first_violating, ranking.second_violating) == (2, 1)
