"""A GEMM is cut n, then k, then m; ragged tiles end the axes."""

from hypothesis import given
from hypothesis import strategies as st
from kerntape.schemas.tiling import TileStep, gemm_steps
from kerntape.schemas.topology import Tile


def test_steps_run_over_n_then_k_then_m() -> None:
    tile = Tile(m=2, k=2, n=2)
    origins = [(s.n_from, s.k_from, s.m_from) for s in gemm_steps(4, 4, 4, tile)]
    assert origins == [
        (0, 0, 0),
        (0, 0, 2),
        (0, 2, 0),
        (0, 2, 2),
        (2, 0, 0),
        (2, 0, 2),
        (2, 2, 0),
        (2, 2, 2),
    ]


def test_the_last_tile_of_an_axis_is_ragged() -> None:
    # [5, 3] × [3, 4] in tiles of 4 × 4 × 4: m is cut 4 + 1, k and n are not
    first, last = gemm_steps(5, 3, 4, Tile(m=4, k=4, n=4))
    ends = {"first_k": True, "last_k": True}
    assert first == TileStep(0, 0, 4, 0, 3, 0, 4, first_m=True, last_m=False, **ends)
    assert last == TileStep(1, 0, 4, 0, 3, 4, 5, first_m=False, last_m=True, **ends)
    assert (first.macs, last.macs) == (4 * 3 * 4, 1 * 3 * 4)


EXTENTS = st.integers(1, 20)
TILES = st.builds(Tile, m=st.integers(1, 8), k=st.integers(1, 8), n=st.integers(1, 8))


@given(EXTENTS, EXTENTS, EXTENTS, TILES)
def test_the_steps_cover_every_product_once(m: int, k: int, n: int, tile: Tile) -> None:
    steps = list(gemm_steps(m, k, n, tile))
    assert sum(step.macs for step in steps) == m * k * n
    assert [step.step for step in steps] == list(range(len(steps)))
    boxes = {(step.n_from, step.k_from, step.m_from) for step in steps}
    assert len(boxes) == len(steps)
    for step in steps:
        assert step.m_to - step.m_from <= tile.m
        assert step.k_to - step.k_from <= tile.k
        assert step.n_to - step.n_from <= tile.n


@given(EXTENTS, EXTENTS, EXTENTS, TILES)
def test_the_ends_of_k_and_m_are_marked(m: int, k: int, n: int, tile: Tile) -> None:
    for step in gemm_steps(m, k, n, tile):
        assert step.first_k == (step.k_from == 0)
        assert step.last_k == (step.k_to == k)
        assert step.first_m == (step.m_from == 0)
        assert step.last_m == (step.m_to == m)
