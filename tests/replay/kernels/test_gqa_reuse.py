"""Grouped queries (ADR-0060 §11.2): what is read of K and V does not depend on G, what is multiplied does."""

from dataclasses import dataclass

import numpy as np
import pytest
from decode_captures import VARIANTS, decoded
from kerntape.replay.replay import replay
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Timeline
from kerntape.topologies.loader import resolve_topology
from prefill_captures import prefilled

SINGLE_PE = resolve_topology("single_pe")
LLAMA = {"d": 128, "tile": 64, "dtype": "bf16"}
KV_TILES_OF_64_KEYS = 4 + 4
"""K [128, 64] and V [64, 128] in tiles of 64 × 32."""


@dataclass(frozen=True)
class Work:
    """What the tile loops of a replay's composites read from HBM, and what they multiply."""

    reads: int
    read_bytes: int
    macs: int


def work_of(timeline: Timeline) -> Work:
    stages = timeline.stages
    quantities = np.array([each.quantity for each in timeline.duration_classes])
    read = (stages.kind == StageKind.DMA_READ) & (stages.tile >= 0)
    multiplied = stages.kind == StageKind.GEMM
    return Work(
        reads=int(read.sum()),
        read_bytes=int(quantities[stages.duration_class[read]].sum()),
        macs=int(quantities[stages.duration_class[multiplied]].sum()),
    )


@pytest.mark.parametrize("variant", VARIANTS)
# 71 rows are three tiles of 32 in M: the K/V tile that is in TCM serves all of them
@pytest.mark.parametrize("g", [1, 8, 71])
def test_decode_reads_each_tile_of_k_and_v_once_for_all_heads_of_a_group(variant: str, g: int):
    work = work_of(
        replay(decoded(c=2, p=2, variant=variant, g=g, s_kv=1024, heads=2, **LLAMA).trace)
    )
    # two heads of 1024 keys: 32 tiles of 64 keys, wherever they lie, in bf16
    assert work.reads == 32 * KV_TILES_OF_64_KEYS
    assert work.read_bytes == 32 * 2 * 64 * 128 * 2
    assert work.macs == g * 32 * 2 * 64 * 128


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("g", [1, 8])
def test_prefill_reads_each_tile_of_k_and_v_once_a_chunk_for_all_heads_of_a_group(
    variant: str, g: int
):
    sizes = LLAMA | {"tile": 32}
    work = work_of(
        replay(prefilled(SINGLE_PE, variant=variant, g=g, s_kv=128, chunk=32, **sizes).trace)
    )
    # chunks of 32 queries see 1, 2, 3 and 4 tiles of the lower triangle, with 32·g rows each; K
    # [128, 32] is 2 tiles of 64 × 32, V [32, 128] is 4
    assert work.reads == 10 * (2 + 4)
    assert work.read_bytes == 10 * 2 * 32 * 128 * 2
    assert work.macs == g * 32 * 10 * 2 * 32 * 128
