"""Causality as index arithmetic: what is skipped, what is masked, and that nothing else is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.kernels.causal import (
    KeyTile,
    Sight,
    Staircase,
    pieces,
    seen_tiles,
    sight,
)

# queries 64 … 127. The first sees key 64, its own: a tile that ends with it is all past
EDGES = [
    (range(64), Sight.PAST),
    (range(1, 65), Sight.PAST),
    (range(2, 66), Sight.BOUNDARY),
    (range(64, 128), Sight.BOUNDARY),
    (range(127, 191), Sight.BOUNDARY),
    (range(128, 192), Sight.FUTURE),
]


@pytest.mark.parametrize(("keys", "expected"), EDGES)
def test_a_tile_is_past_until_the_first_query_and_future_after_the_last(
    keys: range, expected: Sight
):
    assert sight(range(64, 128), keys) is expected


def test_one_query_has_no_boundary_in_a_tile_that_ends_with_it():
    assert sight(range(99, 100), range(64, 100)) is Sight.PAST
    assert sight(range(99, 100), range(64, 101)) is Sight.BOUNDARY


def test_the_tiles_that_are_seen_are_those_of_the_lower_triangle():
    # queries 16 … 23, tiles of 8: two past, one at the boundary, two in the future
    assert list(seen_tiles(range(16, 24), range(40), 8)) == [
        KeyTile(range(8), is_masked=False),
        KeyTile(range(8, 16), is_masked=False),
        KeyTile(range(16, 24), is_masked=True),
    ]


def test_tiles_begin_where_a_block_begins_and_the_last_is_narrower():
    assert [tile.keys for tile in seen_tiles(range(50, 60), range(13, 30), 8)] == [
        range(13, 21),
        range(21, 29),
        range(29, 30),
    ]


def test_no_keys_are_no_tiles():
    assert list(seen_tiles(range(5), range(7, 7), 8)) == []


def test_pieces_end_where_the_whole_ends():
    assert list(pieces(range(3, 13), 4)) == [range(3, 7), range(7, 11), range(11, 13)]
    assert list(pieces(range(3, 3), 4)) == []


def test_a_staircase_is_as_wide_as_its_outermost_boundary_tiles():
    # 4 queries, tiles of 8: the leftmost ends at key 1, so begins at −6; the rightmost begins at
    # key 3, so ends at 10: 17 columns
    staircase = Staircase(queries=4, tile=8)
    assert (staircase.first, staircase.width) == (-6, 17)
    assert staircase.window(range(20, 24), range(14, 22)) == slice(0, 8)
    assert staircase.window(range(20, 24), range(23, 31)) == slice(9, 17)


def whole_mask(staircase: Staircase) -> np.ndarray:
    """True where masked, by the definition: the key in column x is after the query."""
    keys = staircase.first + np.arange(staircase.width)
    return keys > np.arange(staircase.queries)[:, None]


@given(
    start=st.integers(0, 40),
    count=st.integers(1, 20),
    first_key=st.integers(0, 40),
    keys=st.integers(1, 40),
    tile=st.integers(1, 12),
    longer=st.integers(0, 5),
)
def test_the_tiles_and_their_windows_are_exactly_the_causal_mask(
    start: int, count: int, first_key: int, keys: int, tile: int, longer: int
):
    queries, block = range(start, start + count), range(first_key, first_key + keys)
    staircase = Staircase(count + longer, tile)
    seen = np.zeros((count, keys), dtype=bool)
    for each in seen_tiles(queries, block, tile):
        columns = slice(each.keys.start - first_key, each.keys.stop - first_key)
        if each.is_masked:
            window = whole_mask(staircase)[:count, staircase.window(queries, each.keys)]
            assert window.shape == (count, len(each.keys))
            assert window.any()
            seen[:, columns] = ~window
        else:
            seen[:, columns] = True
    expected = np.array([[key <= query for key in block] for query in queries])
    assert (seen == expected).all()
