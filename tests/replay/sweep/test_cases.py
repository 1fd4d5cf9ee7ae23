"""What each case came to, worked out by hand from a table of makespans."""

from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.cases import CaseOutcome, case_outcomes
from kerntape.replay.sweep.points import Way

F, R, D, X = Way.FOLLOWED, Way.REPLAYED, Way.DEADLOCKED, Way.IMPOSSIBLE


def test_each_trace_under_each_policy_has_its_own_counts(plan_of, tiled, shorter):
    both = {"a.ktrace": tiled, "b.ktrace": shorter}
    three = parse_vary("clock_ghz=1,2,3")
    plan = plan_of(both, three, policies=["none", "serial"])
    ways = [F, F, R, F, R, R, D, D, D, F, X, R]
    # by combination: a none 1 of them wrong; a serial; b none deadlocks; b serial
    #   10! 10 10
    #   20  10 30
    #   -   -  -
    #   25  -  20
    makespans = dict(enumerate([10, 10, 10, 20, 10, 30])) | {9: 25, 11: 20}
    # the best that goes not wrong: 20, 10, 10
    sound = {point: each for point, each in makespans.items() if point != 0}
    found = case_outcomes(plan, ways, sound, violating={0})
    assert found == [
        CaseOutcome("a.ktrace", "none", 2, 1, 0, 0, 1, fastest=2, over_best_ppm=0),
        # as fast, as fast, 200 % longer
        CaseOutcome("a.ktrace", "serial", 1, 2, 0, 0, 0, fastest=2, over_best_ppm=0),
        CaseOutcome("b.ktrace", "none", 0, 0, 3, 0, 0, fastest=0, over_best_ppm=None),
        # 25 % longer, none, 100 % longer: the lower of the two
        CaseOutcome("b.ktrace", "serial", 1, 1, 0, 1, 0, fastest=0, over_best_ppm=250_000),
    ]


def test_a_case_that_goes_wrong_everywhere_is_never_the_fastest(plan_of, tiled):
    plan = plan_of(tiled, policies=["none", "serial"])
    none, serial = case_outcomes(plan, [R, R], {1: 2}, violating={0})
    assert (none.with_violations, none.fastest, none.over_best_ppm) == (1, 0, None)
    assert (serial.with_violations, serial.fastest, serial.over_best_ppm) == (0, 1, 0)
