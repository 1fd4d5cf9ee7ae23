"""Columns in files: as narrow as they can be, listed group by group, the same when read back."""

from random import Random
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.columns import offsets_of
from kerntape.schemas.errors import FileError
from kerntape.schemas.grouping import differenced, rows_by_group, summed, undifferenced
from kerntape.schemas.packed_columns import (
    MAX_ITEM_COUNT,
    PackedColumn,
    narrow,
    packed_column,
    packed_columns,
    whole_declarations,
)
from kerntape.schemas.plain_data import Field
from kerntape.schemas.proofs import Unproven


@pytest.mark.parametrize(
    ("low", "high", "item_bytes"),
    [
        (0, 0, 1),
        (-128, 127, 1),
        (-129, 0, 2),
        (0, 128, 2),
        (-(1 << 15), (1 << 15) - 1, 2),
        (0, 1 << 15, 4),
        (-(1 << 31), (1 << 31) - 1, 4),
        (0, 1 << 31, 8),
        (-(1 << 63), (1 << 63) - 1, 8),
    ],
)
def test_a_column_takes_the_fewest_bytes_that_hold_its_extremes(
    low: int, high: int, item_bytes: int
) -> None:
    column = narrow(np.array([low, high], np.int64))
    assert (column.item_bytes, column.count) == (item_bytes, 2)
    assert column.values.tolist() == [low, high]


def test_an_empty_column_takes_one_byte_an_item_and_has_none() -> None:
    column = narrow(np.zeros(0, np.int64))
    assert (column.item_bytes, column.count, column.raw) == (1, 0, b"")


@given(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=50))
def test_a_packed_column_unpacks_to_itself(values: list[int]) -> None:
    column = narrow(np.array(values, np.int64))
    unpacked = packed_column(Field(column.packed, "column x")).unpack()
    assert unpacked == column
    assert unpacked.values.tolist() == values


def declared_whole(rows: list[list[Any]], names: list[str]) -> list[PackedColumn] | None:
    """The declarations, or None where they are not proved sound."""
    try:
        return whole_declarations(list(map(tuple, rows)), names)
    except Unproven:
        return None


def declared_one_by_one(rows: list[list[Any]], names: list[str]) -> list[PackedColumn] | None:
    """The declarations, or None where one is refused."""
    try:
        return [
            packed_column(Field(row, f"column {name}"))
            for row, name in zip(rows, names, strict=True)
        ]
    except FileError:
        return None


def test_sound_declarations_are_proved_so() -> None:
    expected = [
        PackedColumn(1, 3, b"x", "column a"),
        PackedColumn(8, MAX_ITEM_COUNT, b"", "column b"),
    ]
    rows = [[1, 3, b"x"], [8, MAX_ITEM_COUNT, b""]]
    assert declared_whole(rows, ["a", "b"]) == declared_one_by_one(rows, ["a", "b"]) == expected


@pytest.mark.parametrize(
    "row",
    [
        [True, 3, b"x"],  # which is a key of a map that has 1
        [3, 3, b"x"],
        [1, True, b"x"],
        [1, -1, b"x"],
        [1, MAX_ITEM_COUNT + 1, b"x"],
        [1, 3, "x"],
        [1, 3, b"x", 0],
        [1, 3],
    ],
)
def test_a_declaration_that_is_refused_leaves_all_unproved(row: list[Any]) -> None:
    for rows in ([row, [1, 0, b""]], [[1, 0, b""], row]):
        assert declared_one_by_one(rows, ["a", "b"]) is None
        assert declared_whole(rows, ["a", "b"]) is None


ENTRY = st.one_of(
    st.sampled_from([-1, 0, 1, 2, 3, 4, 8, 16, MAX_ITEM_COUNT, MAX_ITEM_COUNT + 1, 1 << 63]),
    st.sampled_from([None, True, False, 1.0, "", "x", b"", b"x", (), ("x",)]),
)
SOUND = st.tuples(st.sampled_from([1, 2, 4, 8]), st.integers(0, 9), st.just(b"x")).map(list)


@given(st.lists(SOUND | st.lists(ENTRY, min_size=2, max_size=4), min_size=1, max_size=4))
def test_declarations_are_proved_where_each_is_accepted_and_nowhere_else(
    rows: list[list[Any]],
) -> None:
    names = list("abcd")[: len(rows)]
    assert declared_whole(rows, names) == declared_one_by_one(rows, names)


def test_the_error_about_a_declaration_hangs_on_nothing() -> None:
    packed = b"".join(map(msgpack.packb, [[1, 0, b""], [3, 0, b""]]))
    with pytest.raises(FileError) as caught:
        packed_columns(packed, "section 'columns'", ["a", "b"])
    assert str(caught.value) == "column b[0] must be 1, 2, 4 or 8, not 3"
    assert caught.value.__context__ is None


def test_rows_are_listed_by_group_in_their_order() -> None:
    groups = np.array([2, 0, 2, 5, 0], np.int32)
    listed = [(group, rows.tolist()) for group, rows in rows_by_group(groups)]
    assert listed == [(0, [1, 4]), (2, [0, 2]), (5, [3])]


def test_more_than_65536_groups_keep_their_order() -> None:
    groups = np.array([70_000, 3, 70_000], np.int32)
    assert [(g, r.tolist()) for g, r in rows_by_group(groups)] == [(3, [1]), (70_000, [0, 2])]


def test_nothing_has_no_groups() -> None:
    assert list(rows_by_group(np.zeros(0, np.int32))) == []


def restored(listed: np.ndarray, groups: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """The inverse of `differenced`, as a reader of a file calls it."""
    first = offsets_of(widths[groups])
    by_group = [(first[rows], int(widths[group])) for group, rows in rows_by_group(groups)]
    return undifferenced(listed, by_group, np.int32)


def test_a_loop_becomes_a_repetition() -> None:
    # forms 0 and 1 in turn, of 2 and 1 slots: (10, 7), 10 · (12, 7), 12 · (14, 7), 14
    forms, widths = np.array([0, 1, 0, 1, 0, 1], np.int32), np.array([2, 1], np.int32)
    slots = np.array([10, 7, 10, 12, 7, 12, 14, 7, 14], np.int32)
    listed = differenced(slots, forms, widths)
    assert listed.tolist() == [10, 7, 2, 0, 2, 0, 10, 2, 2]
    assert restored(listed, forms, widths).tolist() == slots.tolist()


def test_a_single_group_is_plain_differences() -> None:
    groups, widths = np.zeros(4, np.int32), np.ones(1, np.int32)
    ranks = np.array([3, 4, 5, 9], np.int32)
    assert differenced(ranks, groups, widths).tolist() == [3, 1, 1, 4]
    assert restored(np.array([3, 1, 1, 4], np.int8), groups, widths).tolist() == [3, 4, 5, 9]


def test_sums_are_as_wide_as_asked_for_and_entry_by_entry() -> None:
    # two rows of (100, 1), then one of (7,): 100, 200 and 1, 2 · 7; eight bits would end at 127
    listed = np.array([100, 1, 100, 1, 7], np.int8)
    blocks = list(summed(listed, [(2, 2), (1, 1)], np.int32))
    assert [block.tolist() for block in blocks] == [[[100, 200], [1, 2]], [[7]]]
    assert listed.tolist() == [100, 1, 100, 1, 7]


@given(
    st.lists(st.integers(0, 3), max_size=20),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.randoms(use_true_random=False),
)
def test_differences_are_undone_exactly_even_where_they_wrap(
    groups: list[int], widths: list[int], random: Random
) -> None:
    count = sum(widths[group] for group in groups)
    extremes = [random.choice([-(1 << 31), (1 << 31) - 1, 0, 5]) for _ in range(count)]
    values = np.array(extremes, np.int32)
    of_rows, of_groups = np.array(groups, np.int32), np.array(widths, np.int32)
    listed = differenced(values, of_rows, of_groups)
    assert listed.dtype == values.dtype
    assert restored(listed, of_rows, of_groups).tolist() == extremes
