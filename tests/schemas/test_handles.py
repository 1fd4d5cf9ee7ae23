"""Geometries: what a handle looks like, in elements and bytes."""

import pytest
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Geometry, Space, contiguous_strides


def test_row_major_strides_are_dense_in_the_last_axis() -> None:
    assert contiguous_strides((2, 3, 4), 2) == (24, 8, 2)
    assert contiguous_strides((), 4) == ()


def test_sizes_are_those_of_the_elements_not_of_the_hull() -> None:
    block = Geometry((16, 32), (128, 2), DType.BF16, Space.HBM)
    assert (block.elements, block.size_bytes) == (512, 1024)
    repeated = Geometry((8, 4), (0, 0), DType.F32, Space.TCM)
    assert (repeated.elements, repeated.size_bytes) == (32, 128)


def test_a_scalar_has_one_element() -> None:
    scalar = Geometry((), (), DType.F32, Space.TCM)
    assert (scalar.elements, scalar.size_bytes, scalar.is_contiguous) == (1, 4, True)


@pytest.mark.parametrize(
    ("dtype", "size_bytes"),
    [(DType.F16, 2), (DType.BF16, 2), (DType.F32, 4), (DType.I32, 4), (DType.BOOL, 1)],
)
def test_an_element_has_the_bytes_of_its_type(dtype: DType, size_bytes: int) -> None:
    assert dtype.size_bytes == size_bytes


@pytest.mark.parametrize(
    ("shape", "strides", "contiguous"),
    [
        ((8, 16), (32, 2), True),
        ((8, 16), (2, 16), False),
        ((16, 32), (128, 2), False),
        ((4, 4), (0, 2), False),
        # an axis of one element is never stepped along
        ((1, 16), (4096, 2), True),
        ((8, 1), (2, 512), True),
        ((1, 1), (0, 0), True),
        ((0, 16), (7, 7), True),
    ],
)
def test_contiguous_is_one_element_after_another(
    shape: tuple[int, ...], strides: tuple[int, ...], contiguous: bool
) -> None:
    assert Geometry(shape, strides, DType.F16, Space.TCM).is_contiguous is contiguous


@pytest.mark.parametrize(
    ("shape", "strides", "repeats"),
    [
        ((8, 16), (32, 2), False),
        ((16, 8), (2, 32), False),
        ((4, 16), (64, 4), False),
        ((4, 16), (0, 2), True),
        ((4, 16), (16, 2), True),
        ((1, 16), (0, 2), False),
        ((), (), False),
    ],
)
def test_a_broadcast_and_rows_that_overlap_repeat_bytes(
    shape: tuple[int, ...], strides: tuple[int, ...], repeats: bool
) -> None:
    assert Geometry(shape, strides, DType.F16, Space.TCM).repeats_bytes is repeats
