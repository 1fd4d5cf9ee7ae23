"""PE_DMA and HBM: channels, latency as a lag, cut-through."""

from decimal import Decimal

from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind


def test_a_load_is_an_hbm_hop_and_a_dma_hop_a_latency_behind_it(build, run_trace):
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    # 16 bytes at 1 byte a ns; the DMA starts 100 ns after the channel did
    assert run_trace(build).rows() == [
        ("dispatch", 0, 10),
        ("hbm_read", 10, 26),
        ("dma_read", 110, 126),
    ]


def test_latency_does_not_occupy_the_channel(build, run_trace):
    q = build.handle((8,), space=Space.HBM)
    build.load(q, build.handle((8,)))
    build.load(q, build.handle((8,)))
    replayed = run_trace(build)
    # the second load is dispatched at 20, waits for the channel until 26, and arrives 16 ns later
    assert replayed.rows(StageKind.HBM_READ) == [("hbm_read", 10, 26), ("hbm_read", 26, 42)]
    assert replayed.rows(StageKind.DMA_READ) == [("dma_read", 110, 126), ("dma_read", 126, 142)]


def test_the_second_hop_lasts_as_long_as_the_narrowest_so_far(build, run_trace, calibration):
    wide = calibration.pe_dma.model_copy(update={"read_bytes_per_ns": Decimal(4)})
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    replayed = run_trace(build, calibration=calibration.model_copy(update={"pe_dma": wide}))
    assert replayed.rows(StageKind.DMA_READ) == [("dma_read", 110, 126)]
    narrow = calibration.pe_dma.model_copy(update={"read_bytes_per_ns": Decimal("0.5")})
    replayed = run_trace(build, calibration=calibration.model_copy(update={"pe_dma": narrow}))
    assert replayed.rows(StageKind.DMA_READ) == [("dma_read", 110, 142)]


def test_a_store_ends_a_latency_after_the_hbm_channel(build, run_trace):
    build.store(build.handle((8,)), build.handle((8,), space=Space.HBM))
    build.overhead(1)
    # DMA 10–26; HBM starts 1 ps behind it and is done at 26.001; arrived 100 ns later
    assert run_trace(build).rows() == [
        ("dispatch", 0, 10),
        ("dma_write", 10, 26),
        ("hbm_write", 10.001, 26.001),
        ("finish", 126.001, 126.001),
        ("dispatch", 126.001, 127.001),
    ]


def test_a_load_returns_at_once(build, run_trace):
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    build.overhead(5)
    assert run_trace(build).rows(StageKind.DISPATCH) == [("dispatch", 0, 10), ("dispatch", 10, 15)]
