"""Who wins how often in which part of a parameter's range, worked out by hand."""

from decimal import Decimal
from fractions import Fraction

from kerntape.replay.sweep.axes import Axis, Span
from kerntape.replay.sweep.shares import Part, Shares, shares

FIRST, SECOND, EQUAL = range(3)


def column(*values):
    return [(value,) for value in values]


def ends(varied):
    (found,) = shares([varied], [], [])
    return [(part.low, part.high) for part in found.parts]


def test_a_range_is_cut_into_quarters_and_its_high_end_is_in_the_last():
    # quarters of 1..3 begin at 1, 1.5, 2 and 2.5
    values = column(*map(Decimal, ("1", "1.4", "1.5", "2.49", "2.5", "3")))
    span = Span("hbm.latency_ns", Decimal(1), Decimal(3))
    (found,) = shares([span], values, [FIRST, SECOND, FIRST, EQUAL, None, SECOND])
    edges = list(map(Decimal, ("1", "1.5", "2", "2.5", "3")))
    assert found == Shares(
        "hbm.latency_ns",
        (
            Part(edges[0], edges[1], first_faster=1, second_faster=1, equal=0),
            Part(edges[1], edges[2], first_faster=1, second_faster=0, equal=0),
            Part(edges[2], edges[3], first_faster=0, second_faster=0, equal=1),
            Part(edges[3], edges[4], first_faster=0, second_faster=1, equal=0),
        ),
    )
    shown = [part.share for part in found.parts]
    assert shown == [Fraction(1, 2), 1, 0, 0]
    assert found.spread == 1


def test_whole_numbers_are_cut_between_two_of_them():
    assert ends(Span("x", 1, 8)) == [(1, 2), (3, 4), (5, 6), (7, 8)]
    # ten: the parts begin at 1 + 0, 2.5, 5, 7.5, rounded up
    assert ends(Span("x", 1, 10)) == [(1, 3), (4, 5), (6, 8), (9, 10)]
    assert ends(Span("x", 2, 4)) == [(2, 2), (3, 3), (4, 4)]
    (found,) = shares([Span("x", 1, 10)], column(3, 4, 8, 9), [FIRST, FIRST, SECOND, FIRST])
    assert [(part.first_faster, part.second_faster) for part in found.parts] == [
        (1, 0),
        (1, 0),
        (0, 1),
        (1, 0),
    ]


def test_listed_values_are_cut_by_rank():
    assert ends(Axis("x", (8, 2))) == [(2, 2), (8, 8)]
    assert ends(Axis("x", (64, 1, 2, 4, 8, 16, 32, 128))) == [(1, 2), (4, 8), (16, 32), (64, 128)]


def test_the_parameter_whose_shares_differ_most_stands_first():
    # of a: low 1 of 2, high 1 of 2; of b: low 2 of 2, high none; of c as of a
    two = [Axis(name, (1, 2)) for name in "abc"]
    points = [(1, 1, 1), (1, 2, 2), (2, 1, 2), (2, 2, 1)]
    found = shares(two, points, [FIRST, SECOND, FIRST, SECOND])
    assert [(each.path, each.spread) for each in found] == [("b", 1), ("a", 0), ("c", 0)]


def test_a_part_without_a_point_to_compare_has_no_share_and_no_say():
    (found,) = shares([Axis("x", (1, 2, 3))], column(1, 2, 3), [FIRST, None, FIRST])
    assert [part.share for part in found.parts] == [1, None, 1]
    assert found.spread == 0
    assert shares([Axis("x", (1,))], [], [])[0].spread == 0
