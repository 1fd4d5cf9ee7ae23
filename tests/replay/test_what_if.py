"""What a number and a faster engine are worth, measured by replaying."""

from decimal import Decimal
from fractions import Fraction

import pytest
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.what_if import Effect, blocks_at_work, effect, makespan_ps, sped_up_ps
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.stages import Block


@pytest.fixture
def one_math(build, topology, nothing_held):
    """Dispatch 10 ns, then MATH over 20 elements: 20 ns."""
    x = build.handle((20,))
    build.math("exp", [x], x)
    return lower(build.trace(topology), topology, nothing_held)


def test_ten_percent_of_a_cost_is_ten_percent_of_its_stages(one_math, calibration):
    # 11 + 20 and 9 + 20 against 10 + 20
    assert effect(one_math, calibration, "pe_cpu.fixed_cycles") == Effect(1000, -1000)


def test_ten_percent_of_a_rate_is_not(one_math, calibration):
    # 20 elements at 1.1 a cycle: ⌈18.18⌉ = 19 cycles; at 0.9: ⌈22.2⌉ = 23
    assert effect(one_math, calibration, "pe_math.vector_width") == Effect(-1000, 3000)


def test_a_number_at_its_limit_has_no_effect_beyond(one_math, calibration):
    widest = calibration.model_copy(
        update={"pe_math": calibration.pe_math.model_copy(update={"vector_width": Decimal(10**12)})}
    )
    assert effect(one_math, widest, "pe_math.vector_width") == Effect(None, 0)


def test_a_block_made_faster_takes_its_share_of_the_time(one_math, calibration):
    lasting = durations(one_math, calibration)
    assert makespan_ps(one_math, lasting) == 30_000
    assert blocks_at_work(one_math, lasting) == (Block.PE_CPU, Block.PE_MATH)
    assert sped_up_ps(one_math, lasting, Block.PE_MATH, Fraction(2)) == 20_000
    assert sped_up_ps(one_math, lasting, Block.PE_CPU, Fraction(3, 2)) == 26_667  # 10 / 1.5, up


def test_a_faster_engine_can_make_the_run_longer(build, topology, calibration, nothing_held):
    """In ns, with 64 bytes to fetch and 64 MACs a tile:

    composite 0   dispatch 0–10 · fetch 10–74 · GEMM 74–138 · then MATH over 1600 elements
    overhead      10–100
    composite 1   dispatch 100–110 · MATH 16 · fetch 64 · GEMM 64

    As it is, composite 1's MATH is ready first: 110–126, and all is over when the long one is:
    138–1738. With a TCM four times as fast the long one is ready at 10 + 16 + 64 = 90 and goes
    first: 90–1690; composite 1 follows: MATH 1690–1706, fetch –1722, GEMM –1786.
    """
    a, b, out, wide, x = (
        build.handle(shape) for shape in ((4, 4), (4, 4), (4, 4), (40, 40), (4, 4))
    )
    c, d, other = build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4))
    sizes = (("m", 4), ("k", 4), ("n", 4))
    gemm, exp = OpForm("gemm", ("a", "b"), True, sizes), OpForm("exp", ("src",), True)
    build.command(CommandKind.COMPOSITE, (gemm, exp), [a, b, out, wide, wide])
    build.overhead(90)
    build.command(CommandKind.COMPOSITE, (exp, gemm), [x, x, c, d, other])
    graph = lower(build.trace(topology), topology, nothing_held)
    lasting = durations(graph, calibration)
    assert makespan_ps(graph, lasting) == 1_738_000
    assert sped_up_ps(graph, lasting, Block.PE_TCM, Fraction(4)) == 1_786_000


def test_no_two_blocks_share_a_class_that_lasts(calibration):
    from kerntape.capture.capture import capture
    from kerntape.replay.policy import resolve_policy
    from kerntape.topologies.loader import resolve_topology

    machine = resolve_topology("one_cube")
    arguments = {"p": "8", "s_kv": "1024"}
    trace = capture("gqa_decode", machine, arguments, with_data=False).trace
    graph = lower(trace, machine, resolve_policy())
    lasting = durations(graph, calibration)
    blocks = {}
    for stage, number in enumerate(graph.stages.duration_class.tolist()):
        if lasting.stage_ps[number]:
            block = graph.engines[graph.stages.engine[stage]].block
            blocks.setdefault(number, set()).add(block)
    assert all(len(found) == 1 for found in blocks.values())
