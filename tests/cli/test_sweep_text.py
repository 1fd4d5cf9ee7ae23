"""What `kerntape sweep` says of makespans that are known, line by line."""

from decimal import Decimal

import pytest
from kerntape.cli.sweep_pair_text import margin_text
from kerntape.cli.sweep_text import outcome_text
from kerntape.replay.sweep.cases import CaseOutcome
from kerntape.replay.sweep.influence import CaseMakespans, Extreme, Influence, PartMedian
from kerntape.replay.sweep.margins import Margin
from kerntape.replay.sweep.plan import DifferentArgument
from kerntape.replay.sweep.ranking import Ranking
from kerntape.replay.sweep.shares import Part, Shares
from kerntape.replay.sweep.sweep import SweepOutcome


def outcome(**facts):
    nothing = dict.fromkeys(("kept", "deadlocked", "impossible", "with_violations"), 0)
    without = {"replaced": False, "different_arguments": (), "cases": []}
    without |= {"makespans": [], "rankings": []}
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


def influence(path, *medians_ps):
    parts = (PartMedian(low, low, 1, median) for low, median in enumerate(medians_ps, 1))
    return Influence(path, tuple(parts))


def makespans(trace="a.ktrace", policy="strict_fifo", *influences, **facts):
    """Of eight points; every number is 1 at the smallest and 2.50 at the largest."""
    least, most = (
        tuple((each.path, value) for each in influences) for value in (1, Decimal("2.50"))
    )
    counts = {"points": 8, "left_out": 0, "median_ps": 1_234_500}
    ends = {"smallest": Extreme(900_001, least), "largest": Extreme(12_345_678_900, most)}
    names = {"trace": trace, "policy": policy, "influences": influences}
    return CaseMakespans(**(names | counts | ends | facts))


NOTHING = {"points": 0, "left_out": 8, "smallest": None, "median_ps": None, "largest": None}


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


def test_a_case_says_how_far_its_makespan_goes_and_which_numbers_move_it_how_much():
    told = [
        influence("cycles", 1_000, 1_200, 1_500),
        influence("hbm", 1_000, 900),
        influence("depth", 1_000, 1_010, 1_000),
        influence("width", 1_000, None, 1_000),
    ]
    assert lines(makespans=[makespans("a.ktrace", "none", *told)]) == [
        "",
        "makespan in ns  smallest     median         largest",
        "a.ktrace, none   900.001  1,234.500  12,345,678.900",
        "",
        "what moves the median  at smallest  at largest      by",
        "cycles                           1        2.50  50.0 %  rising",
        # 900 to 1,000
        "hbm                              1        2.50  11.1 %  falling",
        "depth                            1        2.50   1.0 %",
        "width                            1        2.50     0 %",
    ]


def test_of_a_range_it_is_not_said_whether_the_median_rises():
    # each quarter has its own samples of the other numbers
    halves = PartMedian(0, 4, 4, 1_000), PartMedian(4, 8, 4, 1_500)
    shown = lines(makespans=[makespans("a.ktrace", "none", Influence("cycles", halves))])
    assert shown[-1] == "cycles                           1        2.50  50.0 %"


def test_of_several_cases_each_says_what_moves_it():
    cases = [
        makespans("a.ktrace", "none", influence("cycles", 1_000, 1_500)),
        makespans("a.ktrace", "serial", influence("cycles", 1_000, 13_000)),
    ]
    assert lines(makespans=cases)[5:] == [
        "what moves the median  at smallest  at largest      by",
        "a.ktrace, none",
        "  cycles                         1        2.50  50.0 %  rising",
        "a.ktrace, serial",
        "  cycles                         1        2.50   ×13.0  rising",
    ]


def test_points_left_out_are_counted_and_a_case_without_any_other_has_no_makespan():
    nothing = makespans("a.ktrace", "none", influence("cycles", None, None), **NOTHING)
    some = makespans("a.ktrace", "serial", influence("cycles", 1_000, 1_500), left_out=1_000)
    assert lines(makespans=[nothing, some]) == [
        "",
        "makespan in ns    smallest     median         largest  left out",
        "a.ktrace, none           –          –               –         8",
        "a.ktrace, serial   900.001  1,234.500  12,345,678.900     1,000",
        "",
        "what moves the median  at smallest  at largest      by",
        "a.ktrace, serial",
        "  cycles                         1        2.50  50.0 %  rising",
    ]
    assert len(lines(makespans=[nothing])) == 3


def test_of_one_point_a_case_the_makespan_is_told_once():
    one = {"points": 1, "smallest": Extreme(5, ()), "median_ps": 5, "largest": Extreme(5, ())}
    assert lines(makespans=[makespans(**one), makespans(policy="none", **one)]) == [
        "",
        "makespan in ns",
        "a.ktrace, strict_fifo  0.005",
        "a.ktrace, none         0.005",
    ]


def test_a_number_of_a_single_value_moves_nothing_and_a_least_median_of_no_time_has_no_ratio():
    told = influence("depth", 0, 1_000), influence("plan", 0, 0), influence("set", 1_000)
    assert lines(makespans=[makespans("a.ktrace", "none", *told)])[5:] == [
        "depth                            1        2.50   –  rising",
        "plan                             1        2.50   –",
    ]


def test_of_many_numbers_those_that_move_most_are_told():
    seven = [influence(f"n{each}", 1_000, 2_000) for each in range(7)]
    shown = lines(makespans=[makespans("a.ktrace", "none", *seven)])[5:]
    assert [line.split()[0] for line in shown] == ["n0", "n1", "n2", "n3", "n4", "2"]
    assert shown[-1] == "2 more (--json has all)"


PATHS = [
    "pe_scheduler.plan_cycles_per_op",
    "topology.pe.composites_in_flight",
    "pe_dma.write_bytes_per_ns",
    "noc.cube_link_bytes_per_ns",
    "topology.pe.tile_buffers",
    "pe_cpu.fixed_cycles",
]


def test_of_many_cases_a_line_each_and_which_number_moves_most_of_them_fit_a_terminal():
    moved = [influence(path, 1_000_000, 12_000_000) for path in PATHS]
    cases = [
        makespans(f"decode_opt{trace}.ktrace", policy, *moved[:: -1 if trace else 1])
        for trace in range(6)
        for policy in ("byte_range", "rw_aware", "strict_fifo")
    ]
    unknown = [influence(path, None, None) for path in PATHS]
    cases[4] = makespans("decode_opt1.ktrace", "rw_aware", *unknown, **NOTHING)
    six = [ranking(second=f"{each}.ktrace") for each in "bcdefg"]
    shown = lines(makespans=cases, rankings=six)
    assert max(map(len, shown)) <= 80
    assert len(shown[: shown.index("6 pairs (--json has all)")]) == 1 + 19 + 1 + 3 + 1
    assert shown[21:24] == [
        "what moves the median most       cases",
        "pe_cpu.fixed_cycles                 14",
        "pe_scheduler.plan_cycles_per_op      3",
    ]
    few = lines(makespans=cases[:4])
    # of six numbers five and a line for the sixth, under each case's name
    assert len(few) == 1 + 5 + 1 + 1 + 4 * 7
    assert max(map(len, few)) <= 80


def test_of_many_cases_that_nothing_moves_or_for_which_one_number_is_varied_none_is_told():
    six = [ranking(second=f"{each}.ktrace") for each in "bcdefg"]
    still = influence("cycles", 1_000, 1_000), influence("hbm", 1_000, 1_000)
    for influences in (still, [influence("cycles", 1_000, 2_000)]):
        shown = lines(makespans=[makespans("a.ktrace", "none", *influences)], rankings=six)
        assert shown[3:] == ["", "6 pairs (--json has all)"]


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
