"""What can be checked, which tensors are outputs, and how values are compared."""

from dataclasses import replace
from math import inf, isnan, nan

import numpy as np
import pytest
from kerntape.replay.check_data.check import check_data, in_program_order
from kerntape.replay.check_data.memory import Memory, Region
from kerntape.replay.check_data.outputs import largest_difference, wrong_elements
from kerntape.replay.check_data.program import Program
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.dtypes import DType
from kerntape.schemas.errors import ConfigError, KerntapeError
from kerntape.schemas.handles import Geometry, Handle, Space
from kerntape.schemas.stages import StageKind
from kerntape.schemas.trace import KeptInputs, TensorInfo

OUT_AT = 256


def test_a_trace_without_its_inputs_is_refused(build, topology):
    build.overhead(1)
    with pytest.raises(ConfigError) as refused:
        check_data(replay(build.trace(topology)))
    assert str(refused.value) == (
        "the trace of tiny was captured without its inputs; capture again with --keep-inputs"
    )


def test_a_deadlock_has_no_results(build, pair, timed):
    there = type(build)()
    for pe, direction in ((build, "E"), (there, "W")):
        pe.message(CommandKind.RECV, direction, pe.handle((8,)))
        pe.message(CommandKind.SEND, direction, pe.handle((8,)))
    with pytest.raises(KerntapeError) as refused:
        timed(build, there, machine=pair).check()
    assert str(refused.value) == (
        "the replay stopped in a deadlock and has no results to check; clear it first"
    )


def test_a_message_that_nobody_sends_is_refused(build, pair, timed):
    there = type(build)()
    build.message(CommandKind.SEND, "E", build.handle((8,)))
    there.message(CommandKind.RECV, "W", there.handle((8,)))
    run = timed(build, there, machine=pair)
    kinds = run.timeline.stages.kind.copy()
    kinds[kinds == StageKind.SEND] = StageKind.DISPATCH
    stages = replace(run.timeline.stages, kind=kinds)
    with pytest.raises(KerntapeError) as refused:
        check_data(replace(run.timeline, stages=stages))
    assert str(refused.value) == (
        "PE 1 receives a message that nobody sends: the trace is not whole; capture it again"
    )


@pytest.mark.parametrize(("marked", "names"), [((1,), ["y"]), ((), ["x", "y"])])
def test_outputs_are_the_marked_tensors_or_without_marks_all(build, timed, marked, names):
    build.overhead(1)
    timeline = timed(build).timeline
    tensors = tuple(
        TensorInfo(name, (256,), "f16", "replicated", number in marked)
        for number, name in enumerate("xy")
    )
    trace = timeline.trace
    image = trace.inputs.images[0, 0]
    trace = replace(
        trace,
        header=replace(trace.header, tensors=tensors),
        pes=(trace.pes[0]._replace(owners=(0, 0), bases=(0, 512)),),
        inputs=KeptInputs({(0, 0): image, (0, 1): image[:10]}),
    )
    check = check_data(replace(timeline, trace=trace))
    assert [output.name for output in check.outputs] == names
    # of y only 5 elements lie in this PE's HBM
    assert check.outputs[-1].elements == 5


def test_an_unwritten_value_is_nan_in_both_orders_and_so_is_right(build, timed, hbm):
    build.store(build.handle((4, 4)), hbm(build, (4, 4), OUT_AT))
    (output,) = timed(build).check().outputs
    assert output.right


def test_hbm_beyond_a_kept_image_starts_unwritten(build, topology, hbm):
    build.load(hbm(build, (4,), 508), build.handle((4,)))
    trace = build.trace(topology)
    memory = Memory(trace, KeptInputs({(0, 0): b"\x01" * 512}))
    handle = trace.handle(trace.streams[0], 0)
    assert memory.contents(Region(0, handle)) == b"\x01" * 4 + b"\xff" * 4


def test_an_async_receive_is_delivered_where_it_is_first_waited_for(build, pair, timed, hbm):
    # both ask before they send: in program order with blocking receives nobody could go on
    there = type(build)()
    for pe, direction, at in ((build, "E", 0), (there, "W", 64)):
        source, target = pe.handle((8,)), pe.handle((8,))
        pe.message(CommandKind.RECV_ASYNC, direction, target)
        pe.load(hbm(pe, (8,), at), source)
        pe.wait(1)
        pe.message(CommandKind.SEND, direction, source)
        pe.store(target, hbm(pe, (8,), OUT_AT), waits=[0])
    check = timed(build, there, machine=pair).check()
    assert check.right
    assert check.first_wrong is None


def test_elements_differ_where_a_bit_does():
    one = np.array([0.0, 1.0, nan, 2.0], dtype=np.float16)
    other = np.array([-0.0, 1.0, nan, 3.0], dtype=np.float16)
    assert wrong_elements(one, other) == 2
    assert wrong_elements(one[:0], other[:0]) == 0


@pytest.mark.parametrize(
    ("one", "other", "difference"),
    [
        ([1.0, nan, inf], [1.5, nan, inf], 0.5),
        ([inf], [-inf], inf),
        ([], [], 0.0),
        ([3], [5], 2.0),
        ([True], [False], 1.0),
    ],
)
def test_the_largest_difference_passes_over_equal_nans_and_infinities(one, other, difference):
    assert largest_difference(np.array(one), np.array(other)) == difference


def test_a_nan_where_a_number_should_be_is_a_difference_of_nan():
    assert isnan(largest_difference(np.array([1.0, nan]), np.array([2.0, 0.0])))


@pytest.mark.parametrize(
    ("pick", "run", "places"),
    [
        # [2, 3] f16 at 100, transposed: rows 2 bytes apart, columns 6
        (lambda a: a, None, [100, 101, 106, 107, 112, 113, 102, 103, 108, 109, 114, 115]),
        (lambda a: a[1:, :2], None, [102, 103, 108, 109]),
        (lambda a: a, slice(3, 6), [107, 112, 113]),
        (lambda a: np.broadcast_to(a[:1], (2, 3))[:, 1:2], None, [106, 107, 106, 107]),
    ],
)
def test_a_region_knows_where_each_of_its_bytes_lies(pick, run, places):
    geometry = Geometry((2, 3), (2, 6), DType.F16, Space.TCM)
    region = Region(0, Handle(0, geometry, 100, -1, "h"), pick, run)
    assert region.places().tolist() == places


def test_an_async_receive_is_delivered_before_a_later_command_writes_over_it(
    build, pair, timed, hbm, math
):
    # x is 1, 2, 3 …; the receiver's own copy, written over the message, is what it stores
    there = type(build)()
    source, sent = build.handle((8,)), hbm(build, (8,), 64)
    build.load(sent, source)
    build.wait(0)
    build.message(CommandKind.SEND, "E", source)
    own, target = there.handle((8,)), there.handle((8,))
    there.load(hbm(there, (8,), 0), own)
    there.message(CommandKind.RECV_ASYNC, "W", target)
    math(there, "neg", [own], target, waits=[0])
    there.wait(1)
    there.store(target, hbm(there, (8,), OUT_AT))
    timeline = timed(build, there, machine=pair).timeline
    program = Program(timeline.trace, timeline.topology, timeline.stages)
    memory = in_program_order(program, timeline.trace.inputs).memory
    stored = Region(1, timeline.trace.handle(timeline.trace.streams[1], 3))
    assert memory.read(stored).tolist() == [-1, -2, -3, -4, -5, -6, -7, -8]
