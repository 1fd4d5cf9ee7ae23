"""Views are NumPy's: the same elements for every index, reshape, transpose and broadcast."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices, broadcastable_shapes
from kerntape.capture.views import View, broadcast, indexed, is_dense, reshaped, transposed
from kerntape.schemas.errors import KernelError

ITEM_BYTES = 4
SHAPES = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def counted(shape: tuple[int, ...]) -> np.ndarray:
    """Elements numbered in memory order."""
    return np.arange(np.prod(shape), dtype=np.int32).reshape(shape)


def whole(array: np.ndarray) -> View:
    return View(array.shape, array.strides)


def seen(base: np.ndarray, view: View) -> np.ndarray:
    """What the view shows of the base's bytes."""
    return np.ndarray(view.shape, base.dtype, base.data, view.offset, view.strides)


@given(st.data(), SHAPES)
def test_an_index_shows_what_numpy_shows(data, shape) -> None:
    base = counted(shape)
    index = data.draw(basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))
    wanted = base[index]
    items = index if isinstance(index, tuple) else (index,)
    forwards = all(not isinstance(item, slice) or (item.step or 1) > 0 for item in items)
    if not forwards or wanted.size == 0:
        with pytest.raises(KernelError):
            indexed(whole(base), index, "x")
    else:
        np.testing.assert_array_equal(seen(base, indexed(whole(base), index, "x")), wanted)


@given(st.data(), SHAPES)
def test_a_view_of_a_view_shows_what_numpy_shows(data, shape) -> None:
    base = counted(shape)
    index = data.draw(basic_indices(shape, allow_newaxis=True, min_dims=2))
    wanted = base[index]
    items = index if isinstance(index, tuple) else (index,)
    if wanted.size and all(not isinstance(i, slice) or (i.step or 1) > 0 for i in items):
        view = transposed(indexed(whole(base), index, "x"), "x")
        np.testing.assert_array_equal(seen(base, view), np.swapaxes(wanted, -1, -2))


@given(SHAPES)
def test_a_reshape_keeps_the_order_and_infers_one_extent(shape) -> None:
    base = counted(shape)
    view = reshaped(whole(base), (-1, shape[-1]), ITEM_BYTES, "x")
    np.testing.assert_array_equal(seen(base, view), base.reshape(-1, shape[-1]))
    assert is_dense(view.shape, view.strides, ITEM_BYTES)


@given(st.data(), SHAPES)
def test_a_broadcast_repeats_as_numpys_does(data, shape) -> None:
    wider = data.draw(broadcastable_shapes(shape, max_side=5))
    wanted_shape = np.broadcast_shapes(shape, wider)
    base = counted(shape)
    view = broadcast(whole(base), wanted_shape, "x")
    np.testing.assert_array_equal(seen(base, view), np.broadcast_to(base, wanted_shape))


def test_an_axis_of_extent_1_may_be_added_and_viewed_away() -> None:
    base = counted((8,))
    column = indexed(whole(base), (slice(None), None), "x")
    assert column.shape == (8, 1)
    assert reshaped(column, (2, 4), ITEM_BYTES, "x").strides == (16, 4)


def test_only_one_extent_is_inferred_and_it_must_come_out_whole() -> None:
    for shape in ((-1, -1), (3, -1), (0, -1)):
        with pytest.raises(KernelError, match="cannot be viewed as"):
            reshaped(whole(counted((8,))), shape, ITEM_BYTES, "x")
