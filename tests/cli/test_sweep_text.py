"""What `kerntape sweep` says of makespans that are known, line by line."""

from dataclasses import replace
from decimal import Decimal

import pytest
from kerntape.cli.flow import WIDTH
from kerntape.cli.sweep_pair_text import margin_text
from kerntape.cli.sweep_text import outcome_text
from kerntape.replay.sweep.case_makespans import CaseMakespans, Extreme
from kerntape.replay.sweep.cases import CaseOutcome
from kerntape.replay.sweep.influence import Influence, ValueMedian
from kerntape.replay.sweep.margins import Margin
from kerntape.replay.sweep.plan import DifferentArgument
from kerntape.replay.sweep.ranking import Ranking
from kerntape.replay.sweep.sample_fit import Change, SampleFit
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
    medians = (ValueMedian(value, 1, median) for value, median in enumerate(medians_ps, 1))
    return Influence(path, tuple(medians))


def makespans(trace="a.ktrace", policy="strict_fifo", *influences, **facts):
    """Of eight points; every number is 1 at the smallest and 2.50 at the largest."""
    least, most = (
        tuple((each.path, value) for each in influences) for value in (1, Decimal("2.50"))
    )
    counts = {"points": 8, "left_out": 0, "median_ps": 1_234_500}
    ends = {"smallest": Extreme(900_001, least), "largest": Extreme(12_345_678_900, most)}
    names = {"trace": trace, "policy": policy, "influences": influences, "fit": None}
    return CaseMakespans(**(names | counts | ends | facts))


def sampled(*changes, explained_ppm=850_499, trace="a.ktrace", policy="none", **facts):
    """Of eight samples, as `makespans` of a grid."""
    case = makespans(trace, policy, *(influence(each.path) for each in changes), **facts)
    return replace(case, influences=(), fit=SampleFit(explained_ppm, changes))


def change(path, change_ps, *, is_told=True):
    return Change(path, Decimal(1), Decimal(3), change_ps, is_told)


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
        influence("width", 1_000, 1_000),
        influence("plan", None, None),
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
        # no two of its values can be compared
        "plan                             1        2.50       –",
    ]


def test_samples_say_the_change_over_each_range_and_how_far_to_trust_it():
    # in parts of the median, 1,234,500 ps; a share is rounded down
    told = [
        change("cycles", 13_000_000),
        change("hbm", -617_250),
        change("latency", 5_000, is_told=False),
        change("same", 0, is_told=False),
        change("depth", None, is_told=False),
    ]
    single = Change("single", 4, 4, None, is_told=False)
    assert lines(makespans=[sampled(*told, single)])[4:] == [
        "what moves the makespan  at smallest  at largest         by",
        "cycles                             1        2.50  1,053.1 %  rising",
        "hbm                                1        2.50     50.0 %  falling",
        "latency                            1        2.50     0.41 %  within chance",
        "same                               1        2.50        0 %",
        "depth                              1        2.50          –",
        "straight lines explain 85.0 % of the differences",
    ]


def test_samples_that_say_nothing_of_any_number_say_so_and_none_of_equal_makespans_does():
    unknown, still = change("cycles", None, is_told=False), change("cycles", 0, is_told=False)
    assert lines(makespans=[sampled(unknown, explained_ppm=None)])[5:] == [
        "cycles                             1        2.50   –",
        "too few samples, or too alike, to tell the numbers apart",
    ]
    assert lines(makespans=[sampled(still, explained_ppm=None)])[5:] == [
        "cycles                             1        2.50  0 %",
    ]
    no_time = sampled(change("cycles", 5), median_ps=0, explained_ppm=999_999)
    assert lines(makespans=[no_time])[5:] == [
        "cycles                             1        2.50   –  rising",
        "straight lines explain 99.9 % of the differences",
    ]


def test_of_several_sampled_cases_each_has_its_own_share():
    seven = [change(f"n{each}", 1_000_000) for each in range(7)]
    cases = [
        sampled(*seven),
        sampled(change("n0", 5_000), policy="serial", explained_ppm=1_000_000),
    ]
    shown = lines(makespans=cases)[5:]
    assert shown[1] == "a.ktrace, none"
    assert shown[6:] == [
        "  n4                               1        2.50  81.0 %  rising",
        "  2 more (--json has all)",
        "  straight lines explain 85.0 % of the differences",
        "a.ktrace, serial",
        "  n0                               1        2.50  0.41 %  rising",
        "  straight lines explain 100.0 % of the differences",
    ]


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


SIX_PAIRS = [ranking(second=f"{each}.ktrace") for each in "bcdefg"]

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
    shown = lines(makespans=cases, rankings=SIX_PAIRS)
    assert max(map(len, shown)) <= 80
    assert len(shown[: shown.index("6 pairs (--json has all)")]) == 1 + 19 + 1 + 4 + 1
    assert shown[21:25] == [
        "what moves the median most       cases  by, in the median",
        "pe_cpu.fixed_cycles                 14              ×12.0",
        "pe_scheduler.plan_cycles_per_op      3              ×12.0",
        "nothing that is known                1",
    ]
    few = lines(makespans=cases[:4])
    # of six numbers five and a line for the sixth, under each case's name
    assert len(few) == 1 + 5 + 1 + 1 + 4 * 7
    assert max(map(len, few)) <= 80


def most(cases):
    """What is said of many cases below their makespans."""
    shown = lines(makespans=cases, rankings=SIX_PAIRS)
    return shown[1 + 1 + len(cases) : shown.index("6 pairs (--json has all)") - 1]


def test_of_many_cases_and_one_number_it_is_told_how_much_it_moves_them():
    cases = [
        makespans("a.ktrace", "none", influence("cycles", 1_000, most))
        for most in (1_100, 1_300, 1_000, 1_900)
    ]
    # 10, 30 and 90 per cent; the third is not moved
    assert most(cases) == [
        "",
        "what moves the median most  cases  by, in the median",
        "cycles                          3             30.0 %",
        "nothing that is known           1",
    ]
    assert most(cases[:2])[2:] == ["cycles                          2             10.0 %"]


def test_of_many_sampled_cases_a_number_that_is_within_chance_moves_none():
    told, chance = change("cycles", 13_000_000), change("hbm", 5_000, is_told=False)
    unknown = change("cycles", None, is_told=False)
    cases = [sampled(told, chance), sampled(chance, unknown), sampled(unknown, **NOTHING)]
    assert most(cases) == [
        "",
        "what moves the makespan most  cases  by, in the median",
        "cycles                            1          1,053.1 %",
        "nothing that is known             2",
    ]


def test_of_many_cases_and_many_numbers_five_are_told_and_those_that_nothing_moves():
    cases = [
        makespans("a.ktrace", "none", influence(f"n{each}", 0, each)) for each in (0, *range(7))
    ]
    assert most(cases)[2:] == [
        *(f"n{each}                              1                  –" for each in range(1, 6)),
        "1 more (--json has all)",
        "nothing that is known           2",
    ]


def test_of_many_cases_of_which_no_number_is_varied_nothing_is_told():
    for influences in ((), [influence("cycles", 1_000)]):
        assert most([makespans("a.ktrace", "none", *influences)]) == []


def test_however_long_a_files_name_is_no_line_of_a_table_is_wider_than_a_terminal():
    names = [("x" * 240 + "_v1.ktrace", "none"), ("x" * 240 + "_v2.ktrace", "p" * 200)]
    few = [
        makespans(*names[0], influence("cycles", 1_000, 2_000), left_out=1_000),
        makespans(*names[1], influence("cycles", 1_000, 2_000)),
    ]
    of_samples = [
        sampled(change("c" * 90, 5_000), trace=trace, policy=policy) for trace, policy in names
    ]
    points = [replace(case("none"), trace=trace, policy=policy) for trace, policy in names]
    for cases in (few, of_samples):
        shown = lines(cases=points, makespans=cases)
        assert max(map(len, shown)) == WIDTH
        # a policy is not cut where the trace's name can be, and ends of names tell traces apart
        assert sum(line.startswith("x" * 20) and "_v1.ktrace, none" in line for line in shown) == 3
    ends = lines(makespans=few)
    assert ends[2].endswith("_v1.ktrace, none   900.001  1,234.500  12,345,678.900     1,000")
    assert [line.count("…") for line in ends[2:4]] == [1, 1]
    many = lines(makespans=few, rankings=SIX_PAIRS)
    assert max(map(len, many)) == WIDTH


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
