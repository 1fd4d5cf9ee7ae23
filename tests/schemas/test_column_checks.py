"""Questions to whole columns, whatever their items' width."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from kerntape.schemas.column_checks import first_row, must_exist, must_lie_in
from kerntape.schemas.errors import FileError

ITEMS = (np.int8, np.int16, np.int32, np.int64)


def place(row: int) -> str:
    return f"row {row}"


@pytest.mark.parametrize("item", ITEMS)
@pytest.mark.parametrize("count", [1, 100, 200, 1 << 20])
def test_a_negative_id_names_nothing_however_many_things_there_are(
    item: type[np.signedinteger], count: int
) -> None:
    # of 200 things, −1 in a byte must not pass for 255, nor −100 for 156
    for wrong in (-1, -100):
        with pytest.raises(FileError) as caught:
            must_exist(np.array([0, wrong], item), count, "its form", place)
        assert str(caught.value) == (
            f"row 1: its form must be from 0 to {count - 1} (there are {count}), not {wrong}"
        )


@given(
    st.lists(st.integers(-130, 300), max_size=8),
    st.sampled_from(ITEMS),
    st.sampled_from([-5, 0, 3]),
    st.sampled_from([-1, 0, 5, 127, 128, 255, 1 << 40]),
)
@example([-1], np.int8, 0, 255)
@example([0], np.int8, 0, -1)
def test_a_column_is_refused_at_its_first_value_outside(
    values: list[int], item: type[np.signedinteger], low: int, high: int
) -> None:
    column = np.array(values, np.int64).astype(item)
    outside = [row for row, value in enumerate(column.tolist()) if not low <= value <= high]
    if not outside:
        must_lie_in(column, low, high, "it", place)
        return
    with pytest.raises(FileError) as caught:
        must_lie_in(column, low, high, "it", place)
    assert str(caught.value).startswith(f"row {outside[0]}: it must be ")


def test_the_first_row_is_found_or_none() -> None:
    assert first_row(np.array([False, True, True])) == 1
    assert first_row(np.array([False, False])) is None
    assert first_row(np.zeros(0, np.bool_)) is None
