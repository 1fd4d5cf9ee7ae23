"""Values that lie with another PE: who sees what when, and what goes wrong between two PEs.

PE 0 and PE 1 of a row; the tensor x is f16 1, 2, 3 … and lies with PE 1, whoever names it.
"""

from dataclasses import replace

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.check_data.check import check_data
from kerntape.replay.check_data.findings import Fault
from kerntape.replay.check_data.memory import Memory
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import prepare, replay, time
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind
from kerntape.schemas.trace import KeptInputs, PeEntry, TensorInfo
from kerntape.topologies.loader import resolve_topology
from towns import placed, slow_links, town

HBM_READ, HBM_WRITE, FINISH = StageKind.HBM_READ, StageKind.HBM_WRITE, StageKind.FINISH
LATER = 10_000
PAIR = town(pes=(2, 1))
HBM_LATENCY_PS = 100_000


@pytest.fixture
def shared(build, timed):
    """Replays PE 0 and PE 1 with one x, in PE 1's HBM. Gives what `timed` gives."""
    alone = type(build)()
    alone.overhead(1)
    some = timed(alone)

    def shared(*builds):
        trace = placed(builds[0].trace(PAIR, *builds[1:]), [[1], [1]])
        image = np.arange(1, 257).astype(np.float16).tobytes()
        trace = replace(
            trace,
            header=replace(trace.header, tensors=(TensorInfo("x", (256,), "f16", "PE 1", True),)),
            inputs=KeptInputs({(1, 0): image}),
        )
        timeline = time(prepare(trace, PAIR, resolve_policy("none")), slow_links())
        return replace(some, timeline=timeline)

    return shared


def test_a_remote_load_reads_at_the_start_of_the_owners_channel_and_a_store_shows_at_its_arrival(
    build, shared, hbm
):
    # PE 0 stores over x[0:16] and loads it back; nobody has written what it stores
    a, b = build.handle((4, 4)), build.handle((4, 4))
    build.load(hbm(build, (4, 4), 64), a)
    build.wait(0)
    build.store(a, hbm(build, (4, 4), 0))
    build.load(hbm(build, (4, 4), 0), b)
    build.wait(3)
    build.overhead(LATER)
    build.store(b, hbm(build, (4, 4), 256))
    run = shared(build, type(build)())
    arrived = run.end(HBM_WRITE) + HBM_LATENCY_PS
    # the PE that stored knows of it a hop of 3 ns later
    assert run.end(FINISH) == arrived + 3_000
    assert run.moved(HBM_READ, 1, start=arrived).check().right
    early = run.moved(HBM_READ, 1, start=arrived - 1).check()
    assert early.first_wrong.because.fault is Fault.NOT_YET_WRITTEN
    assert early.first_wrong.because.memory == "x of PE 1"
    # x[32:48] is 33 … 48 where 1 … 16 were
    assert early.outputs[0].max_abs_difference == 32


@pytest.fixture
def handed_over(build, shared, hbm):
    """PE 0 stores into x[0:16] and tells PE 1, its owner, which loads that and stores it elsewhere."""

    def handed_over(tells: bool = True):
        owner = type(build)()
        a, told = build.handle((4, 4)), build.handle((4,))
        build.load(hbm(build, (4, 4), 64), a)
        build.wait(0)
        build.store(a, hbm(build, (4, 4), 0))
        b, heard = owner.handle((4, 4)), owner.handle((4,))
        if tells:
            build.message(CommandKind.SEND, "E", told)
            owner.message(CommandKind.RECV, "W", heard)
        owner.load(hbm(owner, (4, 4), 0), b)
        owner.wait(1 if tells else 0)
        owner.overhead(LATER)
        owner.store(b, hbm(owner, (4, 4), 256))
        return shared(build, owner)

    return handed_over


def test_what_a_message_orders_is_right(handed_over):
    check = handed_over().check()
    assert check.right
    assert (check.outputs[0].ranks, check.outputs[0].elements) == ((1,), 256)


def test_a_write_of_another_pe_that_comes_too_late_is_told_with_both_pes(handed_over):
    first = handed_over(tells=False).check().first_wrong
    because = first.because
    assert because.fault is Fault.NOT_YET_WRITTEN
    assert (because.reader.rank, because.reader.verb) == (1, "load")
    assert (because.expected.rank, because.expected.verb) == (0, "store")
    # the tracker compares the commands of one PE
    assert because.hazard is None
    assert because.memory == "x"


@pytest.mark.parametrize("reads", [0, 1])
def test_a_write_of_another_pe_that_comes_too_early_is_told_with_both_pes(
    build, shared, hbm, reads
):
    # one writes x[0:16], loads it back and tells the other, which overwrites it then; moved before
    # the load
    reader, writer = build, type(build)()
    towards, back = ("E", "W") if reads == 0 else ("W", "E")
    a, b = reader.handle((4, 4)), reader.handle((4, 4))
    reader.load(hbm(reader, (4, 4), 64), a)
    reader.wait(0)
    reader.store(a, hbm(reader, (4, 4), 0))
    reader.load(hbm(reader, (4, 4), 0), b)
    reader.wait(3)
    reader.message(CommandKind.SEND, towards, reader.handle((4,)))
    reader.overhead(LATER)
    reader.store(b, hbm(reader, (4, 4), 256))
    writer.message(CommandKind.RECV, back, writer.handle((4,)))
    writer.store(writer.handle((4, 4)), hbm(writer, (4, 4), 0))
    run = shared(*((reader, writer) if reads == 0 else (writer, reader)))
    assert run.check().right
    # of the three writes in the order of PEs, the reader's are two
    early = {"number": 2 - 2 * reads, "end": run.start(HBM_READ, 1) - HBM_LATENCY_PS}
    assert run.moved(HBM_WRITE, **early | {"end": early["end"] + 1}).check().right
    because = run.moved(HBM_WRITE, **early).check().first_wrong.because
    assert because.fault is Fault.OVERWRITTEN_TOO_EARLY
    assert (because.reader.rank, because.found.rank) == (reads, 1 - reads)


def test_a_pair_of_two_pes_is_not_told_as_one_pes_hazard_of_the_same_commands(build, shared, hbm):
    # PE 0's commands 0 and 2 go wrong between themselves: the store does not wait for the load. What
    # goes wrong first is PE 1's command 0, which comes before PE 0's command 2
    owner = type(build)()
    a = build.handle((4, 4))
    build.load(hbm(build, (4, 4), 64), a)
    build.overhead(1)
    build.store(a, hbm(build, (4, 4), 0))
    owner.load(hbm(owner, (4, 4), 0), owner.handle((4, 4)))
    run = shared(build, owner)
    hazards = run.timeline.hazards
    assert (0, 0, 2) in zip(hazards.pe, hazards.earlier, hazards.later, strict=True)
    because = run.check().first_wrong.because
    assert (because.expected.rank, because.expected.command) == (0, 2)
    assert (because.reader.rank, because.reader.command) == (1, 0)
    assert because.hazard is None


# -- memories by their homes


def test_a_tensor_that_two_pes_see_is_one_memory(build, hbm):
    build.load(hbm(build, (4,), 0), build.handle((4,)))
    other = type(build)()
    other.load(hbm(other, (8,), 0), other.handle((8,)))
    trace = placed(build.trace(PAIR, other), [[1], [1]])
    memory = Memory(trace, KeptInputs({(1, 0): b"\x01" * 4}))
    # PE 1's handle reaches 16 bytes
    assert memory.image((0, 0)).tolist() == [1] * 4 + [255] * 12
    memory.image((1, 0))[2] = 9
    assert memory.image((0, 0))[2] == 9
    assert memory.home((0, 0)) == memory.home((1, 0)) == (1, 0)


def test_an_empty_tensor_at_the_address_of_the_next_is_not_mistaken_for_it(build, hbm):
    build.load(build.handle((4,), space=Space.HBM, at=0, tensor=1), build.handle((4,)))
    trace = build.trace(PAIR)
    trace = replace(trace, pes=(PeEntry(0, 0, (0, 0), (64, 64)),))
    memory = Memory(trace, KeptInputs({(0, 1): b"\x07" * 8, (0, 0): b""}))
    assert len(memory.image((0, 0))) == 0
    assert memory.image((0, 1)).tolist() == [7] * 8


# -- captured kernels


KERNELS = {
    "add_next": """
import numpy as np


def kernel(x, y, *, tl):
    there = tl.part_of(x, pe=(tl.program_id(0) + 1) % tl.num_programs(0))
    tl.store(y, tl.load(x) + tl.load(there))


def launch(rt):
    split = rt.split(axis=0, over="pe")
    x, y = (make((32, 16), "f32", placement=split) for make in (rt.random, rt.empty))
    rt.output(y, reference=lambda: x.values + np.roll(x.values, -8, axis=0))
    rt.launch(kernel, (4, 1, 1), x, y)
""",
    "push": """
import numpy as np


def kernel(x, y, *, tl):
    tl.store(tl.part_of(y, pe=(tl.program_id(0) + 1) % tl.num_programs(0)), tl.load(x))


def launch(rt):
    split = rt.split(axis=0, over="pe")
    x, y = (make((32, 16), "f32", placement=split) for make in (rt.random, rt.empty))
    rt.output(y, reference=lambda: np.roll(x.values, 8, axis=0))
    rt.launch(kernel, (4, 1, 1), x, y)
""",
    "shared_weights": """
def kernel(x, w, y, *, tl):
    tl.composite(op="gemm", a=tl.load(x), b=tl.ref(w), out=tl.ref(y))
    tl.wait()


def launch(rt):
    split = rt.split(axis=0, over="pe")
    x = rt.random((32, 96), placement=split)
    w = rt.random((96, 40), placement=rt.owned_by(pe=7))
    y = rt.empty((32, 40), placement=split)
    rt.output(y, reference=lambda: x.values @ w.values)
    rt.launch(kernel, (4, 1, 1), x, w, y)
""",
    "one_output": """
import numpy as np


def kernel(x, y, *, tl):
    me = tl.program_id(0)
    tl.store(y[8 * me : 8 * me + 8], tl.exp(tl.load(x)))


def launch(rt):
    x = rt.random((32, 16), "f32", placement=rt.split(axis=0, over="pe"))
    y = rt.empty((32, 16), "f32", placement=rt.owned_by(pe=2))
    rt.output(y, reference=lambda: np.exp(x.values))
    rt.launch(kernel, (4, 1, 1), x, y)
""",
}


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("runner", ["compiled", "simpy"])
def test_a_replay_in_time_order_gives_captures_bits(name, runner, tmp_path):
    (tmp_path / f"{name}.py").write_text(KERNELS[name])
    found = capture(f"{tmp_path}/{name}.py", resolve_topology("one_cube"), {}, keep_inputs=True)
    assert found.outputs["y"].is_right
    timeline = replay(found.trace, runner=runner)
    check = check_data(timeline)
    assert check.right
    assert [output.name for output in check.outputs] == ["y"]
    # every element of y once, whoever holds it
    assert check.outputs[0].elements == np.prod(found.outputs["y"].shape)
