"""Latin-hypercube samples: every stratum once, decimals throughout, the same on every machine."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kerntape.replay.sweep.axes import Axis, Span
from kerntape.replay.sweep.sampling import _within, latin_hypercube
from kerntape.schemas.errors import ConfigError

CYCLES = Span("pe_cpu.fixed_cycles", Decimal(10), Decimal(90))
DEPTH = Span("topology.ipcq.depth", 1, 4)

# strata of CYCLES: 10 to 30, to 50, to 70, to 90, in steps of 0.1; one value of DEPTH a stratum
PINNED = (
    (Decimal("88.7"), 3),
    (Decimal("23.5"), 1),
    (Decimal("59.6"), 4),
    (Decimal("46.0"), 2),
)


def test_the_same_seed_gives_the_same_samples_for_ever():
    assert latin_hypercube([CYCLES, DEPTH], 4, seed=7) == PINNED


def test_another_seed_gives_others():
    assert latin_hypercube([CYCLES, DEPTH], 4, seed=8) != PINNED


def test_a_parameters_samples_do_not_depend_on_the_others():
    alone = latin_hypercube([CYCLES], 4, seed=7)
    assert [values[:1] for values in PINNED] == list(alone)


decimals = st.decimals("0.001", 1000, places=3)


@given(
    ends=st.tuples(decimals, decimals).filter(lambda ends: ends[0] < ends[1]),
    count=st.integers(1, 30),
    seed=st.integers(min_value=0),
)
@example(ends=(Decimal(0), Decimal(1)), count=30, seed=9)
def test_every_stratum_of_a_range_has_one_sample(ends, count, seed):
    low, high = ends
    samples = sorted(value for (value,) in latin_hypercube([Span("x", low, high)], count, seed))
    width = Fraction(high - low) / count
    for stratum, value in enumerate(samples):
        assert stratum * width <= Fraction(value - low) < (stratum + 1) * width


def test_a_sample_that_rounding_would_take_to_the_stratum_below_is_rounded_up():
    # strata of thirds, in steps of 0.001: 0.33338 is of the second, and 0.333 would be of the first
    place = Fraction(33338, 100000)
    assert _within(Span("x", Decimal(0), Decimal(1)), place, 3) == Decimal("0.334")


def test_no_sample_lies_between_zero_and_the_least_number_that_a_calibration_may_have():
    tiny = Span("x", Decimal(0), Decimal("1e-11"))
    samples = sorted(value for (value,) in latin_hypercube([tiny], 10, seed=0))
    assert set(samples) <= {Decimal(each).scaleb(-12) for each in range(11)}


@given(seed=st.integers(min_value=0))
def test_listed_values_are_taken_equally_often(seed):
    samples = latin_hypercube([Axis("x", (Decimal(1), Decimal(2), Decimal(4)))], 9, seed)
    assert Counter(value for (value,) in samples) == {1: 3, 2: 3, 4: 3}


@given(seed=st.integers(min_value=0))
def test_whole_numbers_are_drawn_from_both_ends_inclusively(seed):
    samples = [value for (value,) in latin_hypercube([DEPTH], 8, seed)]
    assert Counter(samples) == {1: 2, 2: 2, 3: 2, 4: 2}
    assert all(isinstance(value, int) for value in samples)


def test_samples_have_few_digits():
    # a stratum is 8 wide and its hundredth 0.08: two decimals
    samples = [value for (value,) in latin_hypercube([CYCLES], 10, seed=0)]
    assert all(value.as_tuple().exponent == -2 for value in samples)


def test_a_narrow_range_of_large_numbers_keeps_to_the_digits_that_a_calibration_may_have():
    narrow = Span("x", Decimal(10**12 - 1), Decimal(10**12))
    for (value,) in latin_hypercube([narrow], 1000, seed=0):
        assert len(value.as_tuple().digits) <= 15


@pytest.mark.parametrize(
    ("varied", "count", "line"),
    [
        ([CYCLES], 0, "--samples must be at least 1, not 0"),
        ([], 4, "--latin-hypercube must have something to sample: give --vary or --grid"),
    ],
)
def test_nothing_to_sample_is_refused(varied, count, line):
    with pytest.raises(ConfigError) as error:
        latin_hypercube(varied, count, 0)
    assert str(error.value) == line
