"""The tile loop: order, buffers, what is read how often, and where results go.

The tile is 4×4×4 (64 MACs, 64 ns a full step), an f16 tile 32 bytes (32 ns in every channel).
"""

import pytest
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import KerntapeError
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind, Why

FETCH, GEMM, MATH = StageKind.FETCH, StageKind.GEMM, StageKind.MATH


def gemm(build, m, k, n, *, a_in=Space.TCM, b_in=Space.HBM, out_in=Space.TCM, **more):
    a = build.handle((m, k), space=a_in)
    b = build.handle((k, n), space=b_in)
    out = build.handle((m, n), space=out_in)
    return build.gemm(m, k, n, a, b, out, **more)


def test_one_step_reads_b_fetches_both_and_multiplies(build, run_trace):
    gemm(build, 4, 4, 4)
    # admitted and planned at 10; HBM 10–42; DMA 110–142; fetch 32 + 32 bytes; 64 MACs
    assert run_trace(build).rows() == [
        ("dispatch", 0, 10),
        ("admit", 10, 10),
        ("plan", 10, 10),
        ("hbm_read", 10, 42),
        ("dma_read", 110, 142),
        ("fetch", 142, 206),
        ("gemm", 206, 270),
        ("finish", 270, 270),
        ("retire", 270, 270),
    ]


def test_operands_in_tcm_are_fetched_and_never_read(build, run_trace):
    gemm(build, 4, 4, 4, b_in=Space.TCM)
    replayed = run_trace(build)
    assert replayed.rows(StageKind.DMA_READ) == []
    assert replayed.rows(FETCH, GEMM) == [("fetch", 10, 74), ("gemm", 74, 138)]


def test_a_b_tile_is_read_once_however_many_rows_there_are(build, run_trace):
    gemm(build, 12, 8, 8)
    replayed = run_trace(build)
    # 2 k-tiles × 2 n-tiles of B; 3 m-tiles of A multiply each
    assert len(replayed.rows(StageKind.DMA_READ)) == 4
    assert len(replayed.rows(GEMM)) == 12


def test_an_a_tile_in_hbm_is_read_once_for_every_n_tile(build, run_trace):
    gemm(build, 8, 4, 12, a_in=Space.HBM, b_in=Space.TCM)
    # 2 m-tiles, each for 3 n-tiles
    assert len(run_trace(build).rows(StageKind.DMA_READ)) == 6


def test_the_third_tile_is_read_when_the_first_has_been_multiplied(build, run_trace):
    gemm(build, 4, 4, 12)
    replayed = run_trace(build)
    # two buffers: reads 0 and 1 at once (HBM 10–42, 42–74), read 2 after GEMM 0 (206 + 64 = 270)
    assert replayed.rows(StageKind.HBM_READ) == [
        ("hbm_read", 10, 42),
        ("hbm_read", 42, 74),
        ("hbm_read", 270, 302),
    ]
    assert replayed.causes(StageKind.HBM_READ)[2][1] is Why.BUFFER


def test_more_buffers_let_the_third_tile_be_read_at_once(build, run_trace):
    gemm(build, 4, 4, 12)
    replayed = run_trace(build, tile_buffers=3)
    assert replayed.rows(StageKind.HBM_READ)[2] == ("hbm_read", 74, 106)


def test_a_fetch_waits_for_the_step_that_holds_its_buffer(build, run_trace):
    gemm(build, 4, 4, 12, b_in=Space.TCM)
    # fetches 64 ns each: 10–74, 74–138; the third waits for GEMM 0, 74–138
    assert run_trace(build).rows(FETCH, GEMM) == [
        ("fetch", 10, 74),
        ("gemm", 74, 138),
        ("fetch", 74, 138),
        ("gemm", 138, 202),
        ("fetch", 138, 202),
        ("gemm", 202, 266),
    ]


def test_b_is_fetched_at_its_first_m_tile_only(build, run_trace):
    gemm(build, 8, 4, 4, b_in=Space.TCM)
    # step 0 fetches A and B (64 bytes), step 1 only A (32 bytes)
    assert run_trace(build).rows(FETCH) == [("fetch", 10, 74), ("fetch", 74, 106)]


def test_partial_sums_stay_in_the_engine_over_k(build, run_trace):
    gemm(build, 4, 8, 4, b_in=Space.TCM, epilogue=[("scale", [])])
    replayed = run_trace(build)
    # one epilogue op after the last k step only
    assert len(replayed.rows(GEMM)) == 2
    assert replayed.rows(MATH) == [("math", 202, 218)]


def test_ragged_tiles_cost_what_they_hold(build, run_trace):
    gemm(build, 3, 5, 4, b_in=Space.TCM)
    # k = 4 then 1: (3·4 + 4·4)·2 = 56 bytes and 48 MACs, then (3 + 4)·2 = 14 bytes and 12 MACs
    assert run_trace(build).rows(FETCH, GEMM) == [
        ("fetch", 10, 66),
        ("gemm", 66, 114),
        ("fetch", 66, 80),
        ("gemm", 114, 126),
    ]


def test_an_output_in_hbm_is_written_tile_by_tile_and_finishes_a_latency_later(build, run_trace):
    gemm(build, 4, 4, 4, b_in=Space.TCM, out_in=Space.HBM)
    assert run_trace(build).rows()[-5:] == [
        ("gemm", 74, 138),
        ("dma_write", 138, 170),
        ("hbm_write", 138.001, 170.001),
        ("finish", 270.001, 270.001),
        ("retire", 270.001, 270.001),
    ]


def test_a_dot_runs_the_same_loop_and_blocks(build, run_trace):
    gemm(build, 4, 4, 4, b_in=Space.TCM, kind=CommandKind.DOT)
    build.overhead(1)
    assert run_trace(build).rows() == [
        ("dispatch", 0, 10),
        ("fetch", 10, 74),
        ("gemm", 74, 138),
        ("finish", 138, 138),
        ("dispatch", 138, 139),
    ]


def test_a_product_of_too_many_steps_is_refused_and_names_the_command(build, run_trace):
    build.overhead(1)
    gemm(build, 4 << 10, 4 << 10, 8, b_in=Space.TCM)
    # 1024 · 1024 · 2 steps of the 4×4×4 tile
    with pytest.raises(KerntapeError) as refused:
        run_trace(build)
    assert str(refused.value) == (
        "command 1 (tiny.py:1): a product of [4096, 4096] × [4096, 8] is 2,097,152 tile steps;"
        " one command must have at most 1,048,576: cut it into several, or choose a larger tile"
    )
