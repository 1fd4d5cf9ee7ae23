"""Overlap (ADR-0060 §11.6): lazy loads, run-ahead and ring exchange each gain against a kernel without.

The lazy kernel is the one that docs/kernels.md shows.
"""

from functools import cache
from pathlib import Path

import long_sweep
import pytest
from console_blocks import write_files
from kerntape.capture.capture import capture
from kerntape.replay.calibration import shipped_calibrations
from kerntape.replay.replay import replay
from kerntape.replay.summary import channel_uses
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology
from prefill_captures import prefilled

PAGE = Path(__file__).parents[3] / "docs" / "kernels.md"
MACHINE = resolve_topology("single_pe")
TWO_SIPS = resolve_topology("ahbm_2sip")


def traced(kernel: str, **arguments: object) -> Trace:
    texts = {name: str(value) for name, value in arguments.items()}
    return capture(kernel, MACHINE, texts, with_data=False).trace


def busy_ps(timeline: Timeline, *engines: str) -> int:
    """How long these were busy, all together."""
    uses = channel_uses(timeline)
    return sum(uses[engine].busy_ps for engine in engines)


def counts(trace: Trace) -> dict[CommandKind, int]:
    kinds = trace.form_kinds[trace.streams[0].forms].tolist()
    return {kind: kinds.count(kind) for kind in CommandKind if kinds.count(kind)}


# -- lazy loads


@pytest.fixture(scope="module")
def blocks(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Timeline]:
    """The page's row sums with lazy loads, and with loads that are waited for at once."""
    folder = tmp_path_factory.mktemp("page")
    write_files(PAGE, folder)
    kernel = str(folder / "blocks.py")
    return {lazy: replay(traced(kernel, lazy=int(lazy))) for lazy in (True, False)}


def test_lazy_loads_take_less_than_loading_and_computing_one_after_the_other(blocks):
    # 32 blocks of 64 × 256 in f32: 64 KiB at 102.4 bytes a nanosecond are 640 ns of DMA, twice
    # 16,384 elements at 64 a nanosecond 512 ns of MATH
    lazy = blocks[True]
    assert busy_ps(lazy, "pe_dma.read") == 32 * 640_000
    assert busy_ps(lazy, "pe_math") == 32 * 512_000
    assert lazy.makespan_ps < 32 * (640_000 + 512_000) < blocks[False].makespan_ps


def test_the_eager_kernel_differs_by_its_waits_alone(blocks):
    lazy, eager = (counts(blocks[lazy].trace) for lazy in (True, False))
    assert eager == lazy | {CommandKind.WAIT: 32}


# -- run-ahead


@cache
def decoded(variant: str) -> Trace:
    return traced("gqa_decode", variant=variant, s_kv=1024)


@pytest.mark.parametrize("calibration", shipped_calibrations())
def test_issuing_the_next_scores_before_this_softmax_gains_under_every_calibration(calibration):
    ahead, stepwise = (
        replay(decoded(variant), calibration=calibration).makespan_ps
        for variant in ("opt3", "opt1")
    )
    assert ahead < stepwise


@pytest.mark.parametrize("variant", ["opt2", "opt3"])
def test_a_tiled_sweep_takes_less_than_its_loads_and_its_computing_one_after_the_other(variant):
    timeline = replay(decoded(variant), calibration="dispatch_free")
    assert timeline.makespan_ps < busy_ps(timeline, "pe_dma.read", "pe_gemm", "pe_math")


def test_opt2_does_so_with_what_dispatching_costs_too():
    timeline = replay(decoded("opt2"))
    assert timeline.makespan_ps < busy_ps(timeline, "pe_dma.read", "pe_gemm", "pe_math")


def test_composites_that_run_ahead_gain_over_the_same_ones_waited_for_tile_by_tile():
    def timeline(ahead: int) -> Timeline:
        return replay(traced(long_sweep.__file__, s_kv=1024, ahead=ahead))

    with_it, without = timeline(1), timeline(0)
    assert counts(without.trace) == counts(with_it.trace) | {CommandKind.WAIT: 1 + 1024 // 64}
    assert with_it.makespan_ps < busy_ps(with_it, "pe_dma.read", "pe_gemm", "pe_math")
    assert without.makespan_ps > busy_ps(without, "pe_dma.read", "pe_gemm", "pe_math")


# -- the ring


def test_receiving_the_next_block_while_computing_on_this_one_gains():
    sizes = {"g": 8, "c": 8, "p": 2, "d": 128, "tile": 64, "dtype": "bf16", "s_kv": 512}
    overlapped, apart = (
        replay(prefilled(TWO_SIPS, overlap=overlap, **sizes).trace) for overlap in (1, 0)
    )
    # each step but the last also waits for its own composites before it asks for the next block
    waits = {CommandKind.WAIT: counts(overlapped.trace)[CommandKind.WAIT] + 7}
    assert counts(apart.trace) == counts(overlapped.trace) | waits
    assert overlapped.makespan_ps < apart.makespan_ps
