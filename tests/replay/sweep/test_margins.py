"""By how much one of two is faster: exact millionths, worked out by hand."""

from kerntape.replay.sweep.margins import Margin, margin


def test_it_is_how_much_longer_the_slower_one_takes_rounded_down():
    # 4/3 is a third longer: 333,333.3 millionths
    assert margin([(3, 4)]) == Margin(median_ppm=333_333, most_ppm=333_333)


def test_the_median_is_the_middle_one_and_of_an_even_number_the_lower_middle_one():
    # 10 %, 20 %, 100 %, and 300 % longer
    three = [(10, 20), (10, 11), (10, 12)]
    assert margin(three) == Margin(200_000, 1_000_000)
    assert margin([*three, (1, 4)]) == Margin(200_000, 3_000_000)


def test_makespans_beyond_what_a_float_holds_are_told_apart():
    # 2^60 ps and a millionth of it, less 1 ps and exactly; a float rounds both to one number
    base = 1_000_000 << 40
    assert margin([(base, base + (1 << 40) - 1)]) == Margin(0, 0)
    assert margin([(base, base + (1 << 40))]) == Margin(1, 1)


def test_where_nobody_is_faster_or_the_faster_one_takes_no_time_there_is_none():
    assert margin([]) is None
    assert margin([(0, 5)]) is None
    assert margin([(0, 5), (2, 3)]) == Margin(500_000, 500_000)
