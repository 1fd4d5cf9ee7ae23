"""Shipped and user kernels: program order is what capture computed, and a sound policy keeps it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import kerntape.capture.capture as capture_module
import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.capture.data import DataStore
from kerntape.replay.check_data.check import check_data, in_program_order
from kerntape.replay.check_data.findings import Fault
from kerntape.replay.check_data.program import Program
from kerntape.replay.replay import replay
from kerntape.schemas.hazard_policy import HazardKind
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.topologies.loader import resolve_topology

SINGLE_PE = resolve_topology("single_pe")
ONE_CUBE = resolve_topology("one_cube")
SOUND = ("strict_fifo", "byte_range", "rw_aware", "serial")
VARIANTS = ("opt1", "opt2", "opt3")


@dataclass(frozen=True)
class Captured:
    """A trace with its inputs, and the HBM images that capture left, by (rank, tensor)."""

    trace: Trace
    images: dict[tuple[int, int], np.ndarray]


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Captured]:
    """Captures with data; capture's store of values is looked at when it is done."""

    def run(kernel: str, topology: Topology = SINGLE_PE, **arguments: object) -> Captured:
        seen: list[dict[tuple[int, int], np.ndarray]] = []

        def store(images: dict[tuple[int, int], np.ndarray]) -> DataStore:
            seen.append(images)
            return DataStore(images)

        monkeypatch.setattr(capture_module, "DataStore", store)
        texts = {name: str(value) for name, value in arguments.items()}
        result = capture(kernel, topology, texts, keep_inputs=True)
        assert all(output.is_right for output in result.outputs.values())
        return Captured(result.trace, seen[0])

    return run


@pytest.fixture
def decode(captured) -> Callable[..., Captured]:
    """A small gqa_decode: four tiles, the last of them 8 keys and ragged."""

    def run(variant: str, dtype: str = "f16", **arguments: object) -> Captured:
        sizes = {"g": 8, "d": 64, "s_kv": 200, "tile": 64}
        return captured("gqa_decode", variant=variant, dtype=dtype, **sizes | arguments)

    return run


def images_in_program_order(trace: Trace) -> dict[tuple[int, int], bytes]:
    timeline = replay(trace)
    program = Program(trace, timeline.topology, timeline.stages)
    memory = in_program_order(program, trace.inputs).memory
    return {
        (pe.rank, tensor): memory.image((place, tensor)).tobytes()
        for place, pe in enumerate(trace.pes)
        for tensor in range(len(trace.header.tensors))
    }


def captured_images(run: Captured) -> dict[tuple[int, int], bytes]:
    return {name: image.tobytes() for name, image in run.images.items()}


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_program_order_gives_captures_bits_and_every_sound_policy_keeps_them(
    decode, variant, dtype
):
    run = decode(variant, dtype)
    assert images_in_program_order(run.trace) == captured_images(run)
    for policy in SOUND:
        check = check_data(replay(run.trace, policy=policy))
        assert check.right, policy
        assert check.first_wrong is None, policy
        (output,) = check.outputs
        assert (output.name, output.elements, output.wrong_elements) == ("o", 8 * 64, 0)
        assert output.tolerance is None


def test_opt2_under_none_is_wrong_and_names_the_raw_on_the_scores(decode):
    timeline = replay(decode("opt2").trace, policy="none")
    check = check_data(timeline)
    (output,) = check.outputs
    assert not output.right
    assert output.wrong_elements == 8 * 64
    first = check.first_wrong
    assert first.writer.verb == "composite rmax, max_elem, exp_diff +7"
    assert (first.op, first.op_kind, first.label) == (0, "rmax", "m_loc")
    because = first.because
    assert because.fault is Fault.NOT_YET_WRITTEN
    assert because.hazard is HazardKind.RAW
    assert (because.operand, because.label, because.memory) == ("src", "S", "tcm")
    # the whole first score tile, [8, 64] in f32
    assert because.byte_to - because.byte_from == 8 * 64 * 4
    assert because.expected.verb == "composite gemm, scale"
    assert because.expected.command + 1 == first.writer.command
    assert because.found is None
    assert because.reader == first.writer


def test_opt2_with_one_slot_overwrites_scores_too_early_where_the_next_keys_come_fast(decode):
    # MATH is slowed down so that #2 still reads the scores when the next #1 writes them
    trace = decode("opt2", slots=1, s_kv=256, d=16).trace
    slow = ["pe_math.vector_width=1"]
    first = check_data(replay(trace, policy="strict_fifo", settings=slow)).first_wrong
    assert first.because.fault is Fault.OVERWRITTEN_TOO_EARLY
    assert first.because.hazard is HazardKind.WAR
    assert first.because.label == "S"
    assert first.because.found.verb == "composite gemm, scale"
    assert first.because.found.command > first.because.reader.command
    for policy in ("byte_range", "rw_aware", "serial"):
        assert check_data(replay(trace, policy=policy, settings=slow)).right, policy


def with_tile(topology: Topology, **extents: int) -> Topology:
    tile = topology.pe.tile.model_copy(update=extents)
    return topology.model_copy(update={"pe": topology.pe.model_copy(update={"tile": tile})})


def test_another_tile_rounds_otherwise_and_is_compared_within_the_dtypes_tolerance(decode):
    trace = decode("opt2", "f32").trace
    timeline = replay(trace, topology=with_tile(SINGLE_PE, k=16, n=8))
    (output,) = check_data(timeline).outputs
    assert output.right
    assert output.wrong_elements == 0
    # sums of 64 terms in four parts instead of one
    assert 0 < output.tile_difference < output.tolerance < 1e-4


def test_another_tile_that_changes_too_much_makes_the_output_wrong(decode):
    trace = decode("opt2", "f32").trace
    timeline = replay(trace, topology=with_tile(SINGLE_PE, k=16))
    (output,) = check_data(timeline).outputs
    beyond = replace(output, tolerance=output.tile_difference / 2)
    assert beyond.in_order
    assert not beyond.right


RING = """\
def kernel(x, y, rows, pes, *, tl):
    mine = tl.load(x)
    rank = tl.program_id(0)
    total = tl.copy(mine, dtype="f32")
    passed = mine
    for _ in range(pes - 1):
        tl.overhead(10 * rank)
        if rank < pes - 1:
            tl.send("E", passed)
        if rank > 0:
            passed = tl.recv_async("W", mine.shape, "f16")
            total = total + passed
        else:
            passed = mine
    tl.store(y, tl.cast(total, "f16"))

def launch(rt, rows: int = 300, pes: int = 4):
    by_rows = rt.split(axis=0, over="pe")
    x = rt.random((rows * pes, 16), "f16", placement=by_rows)
    y = rt.output(rt.empty((rows * pes, 16), "f16", placement=by_rows))
    rt.launch(kernel, (pes, 1, 1), x, y, rows, pes)
"""


def test_messages_between_pes_carry_captures_values(captured, tmp_path: Path):
    (tmp_path / "ring.py").write_text(RING)
    # 300 × 16 f16 are 9600 bytes: three fragments of at most 4096 a message
    run = captured(f"{tmp_path}/ring.py:launch", ONE_CUBE)
    assert images_in_program_order(run.trace) == captured_images(run)
    for policy in SOUND:
        (output,) = check_data(replay(run.trace, policy=policy)).outputs
        assert output.right, policy
        assert output.ranks == (0, 1, 2, 3)
        assert output.elements == 4 * 300 * 16
