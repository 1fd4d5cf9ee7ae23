"""Which bytes a strided handle covers, and which two handles share: exactly, never the hull."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.dtypes import DType
from kerntape.schemas.footprints import Footprint, footprint, shared_bytes
from kerntape.schemas.handles import Geometry, Space


def geometry(
    shape: tuple[int, ...], strides: tuple[int, ...], dtype: DType = DType.F16
) -> Geometry:
    return Geometry(shape, strides, dtype, Space.TCM)


def bytes_of(shape: tuple[int, ...], strides: tuple[int, ...], item: int, address: int) -> set[int]:
    """Every byte of every element, one by one."""
    return {
        address + sum(i * stride for i, stride in zip(index, strides, strict=True)) + byte
        for index in product(*map(range, shape))
        for byte in range(item)
    }


def test_a_dense_handle_is_one_run() -> None:
    # 8 · 16 elements of 2 bytes
    assert footprint(geometry((8, 16), (32, 2)), 100) == Footprint(100, 256, ())


def test_a_column_block_is_a_run_a_row() -> None:
    # [16, 32] of a [16, 64] tensor: 64 bytes at every 128
    covered = footprint(geometry((16, 32), (128, 2)), 64)
    assert covered == Footprint(64, 64, ((16, 128),))
    assert covered.stop == 64 + 15 * 128 + 64


def test_a_transposed_view_covers_what_its_source_covers() -> None:
    assert footprint(geometry((16, 8), (2, 32)), 0) == footprint(geometry((8, 16), (32, 2)), 0)


def test_a_broadcast_covers_its_source_once() -> None:
    assert footprint(geometry((5, 3, 4), (0, 0, 2)), 10) == Footprint(10, 8, ())


def test_rows_that_touch_are_one_run() -> None:
    # rows of 3 elements, 6 bytes, that begin every 4 bytes: 4 · 2 + 6 = 14 bytes without a gap
    assert footprint(geometry((3, 3), (4, 2)), 0) == Footprint(0, 14, ())


def test_an_empty_handle_covers_and_shares_nothing() -> None:
    nothing = footprint(geometry((0, 4), (8, 2)), 0)
    assert (nothing.run_bytes, nothing.stop) == (0, 0)
    assert shared_bytes(nothing, footprint(geometry((8,), (2,)), 0)) is None


def test_interleaved_columns_share_nothing_though_their_hulls_do() -> None:
    even = footprint(geometry((8,), (4,)), 0)
    odd = footprint(geometry((8,), (4,)), 2)
    assert shared_bytes(even, odd) is None


def test_handles_that_touch_share_nothing() -> None:
    first, second = geometry((8,), (2,)), geometry((8,), (2,))
    assert shared_bytes(footprint(first, 0), footprint(second, 16)) is None
    assert shared_bytes(footprint(first, 0), footprint(second, 15)) == (15, 16)


def test_the_first_shared_run_is_named() -> None:
    # a dense handle at 130 … 162 meets rows at 0, 128, 256 (64 bytes each): 130 to 162
    rows = footprint(geometry((3, 32), (128, 2)), 0)
    assert shared_bytes(rows, footprint(geometry((16,), (2,)), 130)) == (130, 162)


EXTENTS = st.integers(0, 4)
AXES = st.lists(st.tuples(EXTENTS, st.integers(0, 14)), max_size=3)
DTYPES = st.sampled_from([DType.BOOL, DType.F16, DType.F32])


@given(AXES, DTYPES, st.integers(0, 5))
def test_a_footprint_covers_the_bytes_of_the_elements_and_no_other(
    axes: list[tuple[int, int]], dtype: DType, address: int
) -> None:
    shape = tuple(extent for extent, _ in axes)
    strides = tuple(stride for _, stride in axes)
    covered = footprint(geometry(shape, strides, dtype), address)
    expected = bytes_of(shape, strides, dtype.size_bytes, address)
    counts = tuple(count for count, _ in covered.axes)
    steps = tuple(stride for _, stride in covered.axes)
    assert bytes_of(counts, steps, covered.run_bytes, covered.start) == expected
    assert all(stride > covered.run_bytes for stride in steps)
    assert covered.stop == max(expected, default=address - 1) + 1


@given(AXES, AXES, DTYPES, DTYPES, st.integers(0, 30), st.integers(0, 30))
def test_shared_bytes_are_bytes_of_both_beginning_with_the_first(
    one: list[tuple[int, int]],
    other: list[tuple[int, int]],
    one_type: DType,
    other_type: DType,
    one_address: int,
    other_address: int,
) -> None:
    sides = []
    expected = []
    for axes, dtype, address in ((one, one_type, one_address), (other, other_type, other_address)):
        shape, strides = tuple(a for a, _ in axes), tuple(b for _, b in axes)
        sides.append(footprint(geometry(shape, strides, dtype), address))
        expected.append(bytes_of(shape, strides, dtype.size_bytes, address))
    shared = expected[0] & expected[1]
    found = shared_bytes(*sides)
    assert (found is None) == (not shared)
    if found is not None:
        low, high = found
        assert low == min(shared)
        assert set(range(low, high)) <= shared
    assert shared_bytes(sides[1], sides[0]) == found
