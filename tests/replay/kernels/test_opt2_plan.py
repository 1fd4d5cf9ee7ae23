"""decode opt2 as PE_SCHEDULER runs it (DDD-0065 §7 and §10): plan, K before V, scratch, the same answer."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.check_data.check import in_program_order
from kerntape.replay.check_data.program import Program
from kerntape.replay.op_log import op_log_sha256
from kerntape.replay.policy import shipped_policies
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Timeline
from kerntape.schemas.trace import Command, Trace
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("single_pe")
PROLOGUE = 8
"""Ops of softmax_merge, before the GEMM."""


def captured(*, keep_inputs: bool = False, **arguments: object) -> Trace:
    texts = {name: str(value) for name, value in arguments.items()}
    return capture(
        "gqa_decode", MACHINE, texts, with_data=keep_inputs, keep_inputs=keep_inputs
    ).trace


@cache
def replayed(policy: str = "strict_fifo", s_kv: int = 512, **arguments: object) -> Timeline:
    return replay(captured(s_kv=s_kv, **arguments), policy=policy)


def composites(trace: Trace) -> list[Command]:
    commands = trace.commands(trace.streams[0])
    return [command for command in commands if command.kind is CommandKind.COMPOSITE]


def stages_of(timeline: Timeline, command: Command, *kinds: StageKind) -> np.ndarray:
    """The ids of the command's stages of these kinds."""
    stages = timeline.stages
    mine = stages.command == command.index
    return np.flatnonzero(mine & np.isin(stages.kind, [*map(int, kinds)]))


READS = (StageKind.HBM_READ, StageKind.DMA_READ)
WORK = (*READS, StageKind.FETCH, StageKind.GEMM, StageKind.MATH, StageKind.DMA_WRITE)


def test_the_plan_of_the_second_composite():
    timeline = replayed(s_kv=64)
    merge = composites(timeline.trace)[1]
    stages = timeline.stages
    plan = [
        (StageKind(int(stages.kind[stage])), int(stages.op[stage]))
        for stage in stages_of(timeline, merge, *WORK)
    ]
    # the eight ops of the prologue, with no read: all that they touch is in TCM
    assert plan[:PROLOGUE] == [(StageKind.MATH, op) for op in range(PROLOGUE)]
    # V is [64, 128], tiles are 64 × 32: four steps, one V tile each, the add after each; the output
    # is in TCM, so that nothing is written, and no stage follows the loop
    step = [
        *[(kind, PROLOGUE) for kind in (*READS, StageKind.FETCH, StageKind.GEMM)],
        (StageKind.MATH, PROLOGUE + 1),
    ]
    assert plan[PROLOGUE:] == 4 * step


def test_what_is_in_tcm_is_not_read_and_what_is_in_hbm_once_a_tile():
    timeline = replayed(s_kv=64)
    scores, merge = composites(timeline.trace)
    # K is [128, 64]: two tiles along k, two along n
    assert len(stages_of(timeline, scores, StageKind.DMA_READ)) == 4
    assert len(stages_of(timeline, merge, StageKind.DMA_READ)) == 4
    assert len(stages_of(timeline, scores, StageKind.DMA_WRITE)) == 0


@pytest.mark.parametrize("policy", shipped_policies())
def test_no_byte_of_v_is_asked_for_before_the_softmax_of_its_tile_is_done(policy: str):
    timeline = replayed(policy)
    merges = composites(timeline.trace)[1::2]
    assert len(merges) == 8
    for merge in merges:
        prologue = stages_of(timeline, merge, StageKind.MATH)[:PROLOGUE]
        reads = stages_of(timeline, merge, *READS)
        assert timeline.start_ps[reads].min() >= timeline.end_ps[prologue].max()


def test_the_next_tiles_k_is_read_during_this_tiles_softmax():
    timeline = replayed()
    tiles = composites(timeline.trace)
    meanwhile = []
    for merge, following in pairwise(tiles[1:]):
        prologue = stages_of(timeline, merge, StageKind.MATH)[:PROLOGUE]
        begun, done = timeline.start_ps[prologue].min(), timeline.end_ps[prologue].max()
        reads = timeline.start_ps[stages_of(timeline, following, *READS)]
        meanwhile.append(bool(((begun <= reads) & (reads < done)).any()))
    assert any(meanwhile[0::2])


def scratch_end(trace: Trace) -> int:
    """The first byte after everything that the launch has in TCM."""
    stream = trace.streams[0]
    sizes = np.array([geometry.size_bytes for geometry in trace.geometries], dtype=np.int64)
    ends = stream.addresses + sizes[stream.geometries]
    return int(ends[stream.tensors < 0].max())


def test_scratch_at_256_ki_keys_is_that_of_4_ki():
    # ADR-0063's check of DDD-0065 §12: slots recycle, so a tile's scratch is all there is
    short, long = captured(s_kv=4096), captured(s_kv=256 * 1024)
    assert len(composites(long)) == 64 * len(composites(short))
    assert scratch_end(long) == scratch_end(short)


def output(trace: Trace) -> np.ndarray:
    """What the kernel computes, from the kept inputs."""
    timeline = replay(trace)
    run = in_program_order(Program(trace, MACHINE, timeline.stages), trace.inputs)
    tensors = [tensor.name for tensor in trace.header.tensors]
    image = run.memory.image((0, tensors.index("o")))
    return image.view(np.float16).astype(np.float64)


@pytest.mark.parametrize("s_kv", [64, 200])
def test_opt2_agrees_with_opt3_within_f16(s_kv: int):
    opt2, opt3 = (
        output(captured(keep_inputs=True, variant=variant, s_kv=s_kv, g=8, dtype="f16"))
        for variant in ("opt2", "opt3")
    )
    assert opt2.shape == (8 * 128,)
    assert np.abs(opt2).max() > 0.1
    # both round P and o to 11 bits
    assert np.abs(opt2 - opt3).max() <= 2**-10 * np.abs(opt3).max()


def test_the_same_question_has_the_same_answer():
    one, other = (replay(captured(s_kv=512)) for _ in range(2))
    assert op_log_sha256(one) == op_log_sha256(other)
    assert one.makespan_ps == other.makespan_ps
