"""What `kerntape sweep` says of makespans that are known, line by line."""

from decimal import Decimal

import pytest
from kerntape.cli.sweep_pair_text import margin_text
from kerntape.cli.sweep_text import outcome_text
from kerntape.replay.sweep.cases import CaseOutcome
from kerntape.replay.sweep.margins import Margin
from kerntape.replay.sweep.plan import DifferentArgument
from kerntape.replay.sweep.ranking import Ranking
from kerntape.replay.sweep.shares import Part, Shares
from kerntape.replay.sweep.sweep import SweepOutcome


def outcome(**facts):
    nothing = dict.fromkeys(("kept", "deadlocked", "impossible", "with_violations"), 0)
    without = {"replaced": False, "different_arguments": (), "cases": [], "rankings": []}
    return SweepOutcome(**({"points": 8, "followed": 6, "replayed": 2} | nothing | without | facts))


def ranking(**facts):
    names = {"first": "a.ktrace", "second": "b.ktrace", "under": "strict_fifo"}
    counts = {"first_faster": 3, "second_faster": 1, "equal": 0}
    margins = {"first_margin": None, "second_margin": None}
    without = {"first_violating": 0, "second_violating": 0, "flips": (), "shares": ()}
    return Ranking(**(names | counts | margins | without | facts))


def case(policy, **facts):
    counts = {"followed": 3, "replayed": 1, "deadlocked": 0, "impossible": 0}
    race = {"with_violations": 0, "fastest": 0, "over_best_ppm": 0}
    return CaseOutcome(**({"trace": "a.ktrace", "policy": policy} | counts | race | facts))


def lines(**facts):
    return outcome_text(outcome(**facts), "r.csv").splitlines()[2:]


@pytest.mark.parametrize(
    ("ppm", "text"),
    [
        (0, "0 %"),
        (49, "under 0.01 %"),
        (50, "0.01 %"),
        (9_949, "0.99 %"),
        (10_000, "1.0 %"),
        (123_499, "12.3 %"),
        (123_500, "12.4 %"),
        (9_999_499, "999.9 %"),
        (10_000_000, "×11.0"),
        (1_233_949_999, "×1,234.9"),
        (1_233_950_000, "×1,235.0"),
    ],
)
def test_a_margin_is_a_percentage_and_a_large_one_a_factor(ppm, text):
    assert margin_text(ppm) == text


def test_a_pair_says_by_how_much_each_is_faster_where_it_is():
    margins = {"first_margin": Margin(123_000, 4_000_000), "second_margin": Margin(5_000, 5_000)}
    assert lines(rankings=[ranking(**margins)])[2:] == [
        "  faster by 12.3 % in the median, 400.0 % at most; slower by 0.50 %"
    ]
    assert lines(rankings=[ranking(**margins, second_faster=2)])[1:] == [
        "a.ktrace against b.ktrace, strict_fifo: faster at 3, slower at 2, equal at 0",
        "  faster by 12.3 % in the median, 400.0 % at most;"
        " slower by 0.50 % in the median, 0.50 % at most",
    ]


def test_samples_say_in_which_part_of_which_range_the_first_wins():
    # 7 of 8 are 87.5 %: a half is rounded up; a tie counts as a point that it does not win
    quarters = [(0, 20, 7, 1, 0), (20, 40, 1, 1, 0), (40, 60, 0, 0, 0), (60, 80, 1, 1, 1)]
    plan = Shares(
        "plan", tuple(Part(Decimal(low), Decimal(high), *n) for low, high, *n in quarters)
    )
    depth = Shares("depth", (Part(4, 4, 2, 1, 0), Part(8, 8, 1, 2, 0)))
    assert lines(rankings=[ranking(shares=(plan, depth))])[2:] == [
        "  a.ktrace is faster, by quarter          1st   2nd  3rd   4th",
        "  plan                            0..80  88 %  50 %    –  33 %",
        "  depth                           4, 8   67 %  33 %",
    ]


def test_of_many_sampled_numbers_those_that_decide_most_are_told():
    seven = tuple(Shares(f"n{each}", (Part(1, 1, 1, 0, 0),)) for each in range(7))
    shown = lines(rankings=[ranking(shares=seven)])[2:]
    assert [line.split()[0] for line in shown] == ["a.ktrace", "n0", "n1", "n2", "n3", "n4", "2"]
    assert shown[-1] == "  2 more (--json has all)"


def test_a_pair_of_which_one_goes_wrong_says_at_how_many_points():
    policies = {"first": "none", "second": "serial", "under": "a.ktrace"}
    assert lines(rankings=[ranking(**policies, first_violating=3)])[1:] == [
        "none against serial, a.ktrace: faster at 3, slower at 1, equal at 0",
        "  points with hazard violations: 3 of none",
    ]
    both = ranking(**policies, first_violating=1_000, second_violating=1)
    assert lines(rankings=[both])[-1] == (
        "  points with hazard violations: 1,000 of none, 1 of serial"
    )


def test_several_cases_say_how_each_was_evaluated_and_only_what_occurs():
    cases = [case("none", replayed=1_000), case("serial", followed=0)]
    assert lines(cases=cases) == [
        "",
        "points of         followed  replayed",
        "a.ktrace, none           3     1,000",
        "a.ktrace, serial         0         1",
    ]
    cases = [case("none", with_violations=2), case("serial", deadlocked=1, impossible=4)]
    assert lines(cases=cases) == [
        "",
        "points of         followed  replayed  deadlocked  impossible  violations at",
        "a.ktrace, none           3         1           0           0              2",
        "a.ktrace, serial         3         1           1           4              0",
    ]
    assert lines(cases=cases[:1]) == []


def test_of_six_pairs_on_the_cases_say_who_is_fastest():
    cases = [
        case("none", with_violations=4, over_best_ppm=None),
        case("byte_range", fastest=4),
        case("serial", over_best_ppm=250_000),
    ]
    six = [ranking(second=f"{each}.ktrace") for each in "bcdefg"]
    assert lines(cases=cases, rankings=six) == [
        "",
        "points of             followed  replayed  violations at  fastest at  median over the best",
        "a.ktrace, none               3         1              4           0                     –",
        "a.ktrace, byte_range         3         1              0           4                   0 %",
        "a.ktrace, serial             3         1              0           0                25.0 %",
        "",
        "6 pairs (--json has all)",
    ]
    assert lines(rankings=six[:5])[1::2] == [
        f"a.ktrace against {each}.ktrace, strict_fifo: faster at 3, slower at 1, equal at 0"
        for each in "bcdef"
    ]


def test_of_very_many_cases_twenty_are_told():
    shown = lines(cases=[case(f"p{each}") for each in range(23)])
    assert len(shown) == 23
    assert shown[-1] == "3 more (--json has all)"


def test_arguments_that_differ_are_named_with_up_to_three_values():
    different = (
        DifferentArgument("pes", (4, 8, 4)),
        DifferentArgument("rows", (32, 30, 28, 26)),
        DifferentArgument("mask", (None, True)),
    )
    assert lines(different_arguments=different) == [
        "arguments differ, perhaps the problem too: pes 4 / 8, rows 32 / 30 / 28 / …, mask none / True"
    ]


def test_of_very_many_arguments_that_differ_eight_are_named():
    ten = tuple(DifferentArgument(f"an_argument_{each}", (4, 8)) for each in range(10))
    assert lines(different_arguments=ten) == [
        "arguments differ, perhaps the problem too: an_argument_0 4 / 8, an_argument_1 4 / 8,",
        "  an_argument_2 4 / 8, an_argument_3 4 / 8, an_argument_4 4 / 8, an_argument_5 4 / 8,",
        "  an_argument_6 4 / 8, an_argument_7 4 / 8, 2 more (--json has all)",
    ]
