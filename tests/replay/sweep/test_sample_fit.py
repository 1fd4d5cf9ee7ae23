"""By how much a makespan changes over a range: worked out by hand from a few samples."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis, Span
from kerntape.replay.sweep.sample_fit import Change, SampleFit, sample_fit, sampled_column

CYCLES = Span("cycles", Decimal(20), Decimal(80))
BUFFERS = Span("buffers", 1, 3)


def fit_of(varied, values, makespans):
    """Of a value of each parameter and a makespan per sample."""
    columns = [
        sampled_column(each, column)
        for each, column in zip(varied, zip(*values, strict=True), strict=True)
    ]
    return sample_fit(columns, range(len(makespans)), makespans)


def column(*values):
    return [(Decimal(value),) for value in values]


def test_the_change_is_over_the_whole_range_and_not_over_what_was_drawn():
    # 4 ps a cycle, 60 cycles
    found = fit_of([CYCLES], column("30", "40.5", "50"), [1_120, 1_162, 1_200])
    assert found == SampleFit(
        1_000_000, (Change("cycles", Decimal(20), Decimal(80), 240, is_told=True),)
    )


@pytest.mark.parametrize(
    ("low", "high", "change_ps"),
    [
        ([0, 0], [0, 1], 1),
        ([0, 1], [0, 0], -1),
        ([0, 0, 0], [0, 0, 1], 0),
        ([0, 0, 0], [0, 1, 1], 1),
    ],
)
def test_a_change_is_rounded_to_a_picosecond_a_half_away_from_zero(low, high, change_ps):
    # it is the mean at the high end less that at the low end: 1/2, -1/2, 1/3, 2/3
    values = [(0,)] * len(low) + [(1,)] * len(high)
    (change,) = fit_of([Axis("x", (0, 1))], values, [*low, *high]).changes
    assert change.change_ps == change_ps


def test_the_greatest_change_stands_first_and_what_is_not_told_after_what_is():
    # residuals are 0 of a and b, so both are told; c has one value
    one, other, same = (Axis(name, (1, 2, 3)) for name in "abc")
    values = [(1, 1, 2), (1, 2, 2), (2, 1, 2), (2, 2, 2), (3, 1, 2)]
    makespans = [1_000 + 5 * a - 20 * b for a, b, _ in values]
    found = fit_of([same, one, other], [(c, a, b) for a, b, c in values], makespans)
    assert found.changes == (
        Change("b", 1, 3, -40, is_told=True),
        Change("a", 1, 3, 10, is_told=True),
        Change("c", 1, 3, None, is_told=False),
    )
    # of eight samples one is 90 ps late, which x and y alike would be 22.5 ps a step for
    x, y = Axis("x", (-1, 1)), Axis("y", (-1, 1))
    eight = [(a, b) for a in (-1, 1) for b in (-1, 1)] * 2
    makespans = [1_000 + 400 * b for _, b in eight]
    makespans[4] += 90
    shown = fit_of([x, y], eight, makespans)
    assert [(each.path, each.is_told) for each in shown.changes] == [("y", True), ("x", False)]
    assert shown.changes[1].change_ps != 0


def test_few_samples_or_such_as_go_together_say_nothing():
    unknown = Change("cycles", Decimal(20), Decimal(80), None, is_told=False)
    assert fit_of([CYCLES], column("30", "40"), [5, 6]) == SampleFit(None, (unknown,))
    both = [(Decimal(20 * each), each) for each in (1, 2, 3, 2)]
    found = fit_of([CYCLES, BUFFERS], both, [5, 6, 8, 6])
    assert found.explained_ppm is None
    assert [each.change_ps for each in found.changes] == [None, None]
    none = sample_fit([sampled_column(CYCLES, [Decimal(20)])], [], [])
    assert none == SampleFit(None, (unknown,))


def test_only_the_samples_that_count_have_a_say():
    columns = [sampled_column(BUFFERS, [1, 2, 3, 1, 2])]
    found = sample_fit(columns, [0, 2, 3, 4], [10, 30, 10, 20])
    assert found == SampleFit(1_000_000, (Change("buffers", 1, 3, 20, is_told=True),))


def test_the_share_is_rounded_down():
    # 7/10 of test_linear_fit's first, and 146 of 147
    four = [(each,) for each in range(4)]
    assert fit_of([Axis("x", (0, 3))], four, [1, 3, 2, 6]).explained_ppm == 700_000
    square = [(0, 0), (0, 1), (1, 0), (1, 1)]
    two = [Axis("x", (0, 1)), Axis("y", (0, 1))]
    assert fit_of(two, square, [1, 3, 6, 9]).explained_ppm == 993_197
    assert fit_of(two, square, [7, 7, 7, 7]).explained_ppm is None


def test_makespans_beyond_what_a_float_holds_are_told_apart():
    four = [(each,) for each in range(4)]
    line = [(1 << 61) + each for each in range(4)]
    (change,) = fit_of([Axis("x", (0, 3))], four, line).changes
    assert (change.change_ps, change.is_told) == (3, True)


@given(
    st.lists(
        st.tuples(st.decimals(20, 80, places=3), st.integers(0, 1 << 62)), min_size=3, max_size=9
    )
)
def test_how_values_are_written_changes_nothing(samples):
    makespans = [makespan for _, makespan in samples]
    short = fit_of([CYCLES], [(value,) for value, _ in samples], makespans)
    long = [(value.quantize(Decimal("1e-9")),) for value, _ in samples]
    exponent = replace(CYCLES, low=Decimal("2E+1"), high=Decimal("8E+1"))
    assert fit_of([exponent], long, makespans) == short
