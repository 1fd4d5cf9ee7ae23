"""Times for people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.viewer.model.times import (
    Tick,
    TimeTextError,
    alike,
    exact,
    most_cells,
    parse,
    parse_signed,
    ruler,
    short,
)


@pytest.mark.parametrize(
    ("time_ps", "written"),
    [
        (0, "0 ps"),
        (999, "999 ps"),
        (1000, "1 ns"),
        (42_875, "42.875 ns"),
        (7_401_250, "7.40125 µs"),
        (30_000_000_000, "30 ms"),
        (2**62, "4611686.018427387904 s"),
    ],
)
def test_an_exact_time_has_all_its_digits_and_no_zeros_at_its_end(time_ps, written):
    assert exact(time_ps) == written


@pytest.mark.parametrize(
    ("time_ps", "written"),
    [
        (0, "0 ps"),
        (412_000, "412.0 ns"),
        (30_312_499, "30.31 µs"),
        (30_315_000, "30.32 µs"),  # halves go up
        (999_960, "1.000 µs"),  # 999.96 ns is 1000.0 ns in four digits
        (2**62, "4611686 s"),
    ],
)
def test_a_short_time_has_about_four_digits(time_ps, written):
    assert short(time_ps) == written


@pytest.mark.parametrize(
    ("times_ps", "written"),
    [
        ((), []),
        (
            (1_240_000, 231_100, 40_000, 4_000, 7),
            ["1.240 µs", "231.1 ns", "40.0 ns", "4.0 ns", "7 ps"],
        ),
        ((40_000, 4_049), ["40.00 ns", "4.05 ns"]),
        ((999_960, 2_000), ["1.000 µs", "2.000 ns"]),  # the first is no time of nanoseconds
    ],
)
def test_times_below_each_other_have_as_many_decimals_as_the_longest_of_their_unit(
    times_ps, written
):
    assert alike(times_ps) == written


@pytest.mark.parametrize(
    "longest_ps", [0, 999, 88_000, 999_999, 1_000_000, 127 * 10**6, 10**13 + 1]
)
def test_no_exact_time_up_to_the_longest_takes_more_cells_than_is_said(longest_ps):
    below = [longest_ps, *(min(longest_ps, 10**k - 1) for k in range(16))]
    assert max(len(exact(time_ps)) for time_ps in below) <= most_cells(longest_ps)
    assert most_cells(88_000) == len("88.999 ns")
    assert most_cells(1_000_000) == len("1.000001 µs")


@pytest.mark.parametrize(
    ("text", "time_ps"),
    [
        ("7.4us", 7_400_000),
        ("7,4 µs", 7_400_000),
        ("12345ns", 12_345_000),
        (" 3ms ", 3_000_000_000),
        ("250", 250_000),  # a bare number is nanoseconds
        ("0.0000001ps", 0),
        ("1 S", 10**12),
    ],
)
def test_a_typed_time_is_understood_in_every_unit(text, time_ps):
    assert parse(text) == time_ps


@pytest.mark.parametrize("text", ["", "soon", "7 parsecs", "-3ns", "1e3", "7.4.1us"])
def test_a_time_that_is_none_says_what_one_looks_like(text):
    with pytest.raises(TimeTextError) as error:
        parse(text)
    assert str(error.value) == f"a time must be like 7.4us, 12345ns or 3ms, not {text.strip()!r}"


@pytest.mark.parametrize("text", ["9" * 31, "9" * 5000, "-" + "9" * 5000])
def test_a_time_of_more_digits_than_any_is_none_and_is_quoted_from_its_beginning(text):
    with pytest.raises(TimeTextError) as error:
        parse_signed(text)
    assert str(error.value) == f"a time must be like 7.4us, 12345ns or 3ms, not '{'9' * 23}…'"
    assert parse("1." + "0" * 5000) == 1000


@given(st.integers(0, 2**62))
def test_an_exact_time_reads_back_as_itself(time_ps):
    assert parse(exact(time_ps)) == time_ps


def test_ticks_are_round_times_in_one_unit():
    # 412 ns in at most 4 parts: 103 ns, rounded up to steps of 200 ns, from 7.2 µs on
    found = ruler(7_150_000, 7_562_000, 4)
    assert found.unit == "µs"
    assert found.ticks == (Tick(7_200_000, "7.2"), Tick(7_400_000, "7.4"))


def test_the_smallest_step_is_one_picosecond():
    found = ruler(5, 8, 100)
    assert [tick.label for tick in found.ticks] == ["5", "6", "7"]
    assert found.unit == "ps"


@given(st.integers(0, 2**62), st.integers(1, 2**62), st.integers(0, 30))
def test_there_is_at_most_one_tick_more_than_asked_for(from_ps, span_ps, at_most):
    ticks = ruler(from_ps, from_ps + span_ps, at_most).ticks
    assert len(ticks) <= max(at_most, 1) + 1
    assert all(from_ps <= tick.time_ps < from_ps + span_ps for tick in ticks)
