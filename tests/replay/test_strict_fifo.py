"""Composites that share a handle, in time (DDD-0065 §8 and §10): nothing of the later one starts before
the earlier one is done, and under `none` they interleave.
"""

import pytest
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind, Why

ADMIT, FINISH, MATH, RETIRE = StageKind.ADMIT, StageKind.FINISH, StageKind.MATH, StageKind.RETIRE


def accumulate(build, total: int) -> int:
    """A composite that adds exp(s) to the total, both [4, 4]: two ops of 16 ns."""
    s, p = build.handle((4, 4)), build.handle((4, 4))
    ops = (OpForm("exp", ("src",), True), OpForm("add", ("src", "other"), True))
    return build.command(CommandKind.COMPOSITE, ops, [s, p, total, p, total], rw=[total])


@pytest.fixture
def accumulators(build):
    """Two of them in a row; dispatched at 10 and 20."""
    total = build.handle((4, 4), label="total")
    accumulate(build, total)
    accumulate(build, total)
    return build


@pytest.mark.parametrize("policy", ["rw_handles", "strict_fifo", "byte_range", "rw_aware"])
def test_composites_that_share_a_read_write_handle_complete_in_order(
    accumulators, run_trace, policy
):
    replayed = run_trace(accumulators, policy=resolve_policy(policy))
    assert replayed.rows(MATH) == [
        *(("math", 10, 26), ("math", 26, 42)),
        *(("math", 42, 58), ("math", 58, 74)),
    ]
    assert replayed.rows(ADMIT) == [("admit", 10, 10), ("admit", 42, 42)]
    assert replayed.causes(ADMIT)[1][1] is Why.HAZARD
    assert [end for _, _, end in replayed.rows(RETIRE)] == [42, 74]


def test_under_none_they_interleave(accumulators, run_trace):
    # the second's exp is ready at 20, the first's add at 26, when the engine is free
    replayed = run_trace(accumulators, policy=resolve_policy("none"))
    assert replayed.rows(MATH) == [
        *(("math", 10, 26), ("math", 42, 58)),
        *(("math", 26, 42), ("math", 58, 74)),
    ]


def copy_of(build, source: int) -> int:
    """A composite that copies the source, 16 ns."""
    op = OpForm("copy", ("src",), True)
    return build.command(CommandKind.COMPOSITE, (op,), [source, build.handle((4, 4))])


def writer_and_reader(build, **writer):
    """A GEMM into O, which adds to it what it held, then a composite that reads O."""
    a, b, o = build.handle((4, 4)), build.handle((4, 4)), build.handle((4, 4), label="O")
    build.gemm(4, 4, 4, a, b, o, epilogue=[("add", [o])], rw=[o], **writer)
    copy_of(build, o)
    return build


def test_a_reader_of_o_starts_when_its_writer_has_finished_and_not_before(build, run_trace):
    # fetch 10–74, GEMM 74–138, add 138–154; the reader was dispatched at 20
    replayed = run_trace(writer_and_reader(build), policy=resolve_policy("strict_fifo"))
    assert replayed.rows(FINISH)[0] == ("finish", 154, 154)
    assert replayed.rows(ADMIT)[1] == ("admit", 154, 154)
    assert replayed.rows(MATH)[-1] == ("math", 154, 170)


@pytest.mark.parametrize("policy", ["rw_handles", "none"])
def test_by_the_letter_of_the_tracker_the_reader_does_not_wait(build, run_trace, policy):
    # O is in the writer's rw_handles alone
    replayed = run_trace(writer_and_reader(build), policy=resolve_policy(policy))
    assert replayed.rows(ADMIT)[1] == ("admit", 20, 20)
    assert replayed.rows(MATH)[-1] == ("math", 20, 36)


def test_a_writer_does_not_wait_for_a_reader_of_the_old_value(build, run_trace):
    # WAR: strict_fifo compares what the earlier one writes; byte_range compares this too
    x, o = build.handle((4, 4)), build.handle((4, 4))
    copy_of(build, o)
    op = OpForm("exp", ("src",), True)
    build.command(CommandKind.COMPOSITE, (op,), [x, o])
    fifo, by_bytes = (
        run_trace(build, policy=resolve_policy(policy)).rows(ADMIT)[1]
        for policy in ("strict_fifo", "byte_range")
    )
    # the copy runs 10–26
    assert (fifo, by_bytes) == (("admit", 20, 20), ("admit", 26, 26))


def test_what_both_declare_read_write_is_taken_at_its_word(build, run_trace):
    # the same WAR between the parts of a cut composite: the handle is in rw_handles of both
    x, o = build.handle((4, 4)), build.handle((4, 4))
    copy, exp = OpForm("copy", ("src",), True), OpForm("exp", ("src",), True)
    build.command(CommandKind.COMPOSITE, (copy,), [o, build.handle((4, 4))], rw=[o])
    build.command(CommandKind.COMPOSITE, (exp,), [x, o], rw=[o])
    replayed = run_trace(build, policy=resolve_policy("strict_fifo"))
    assert replayed.rows(ADMIT)[1] == ("admit", 26, 26)


def test_an_independent_composite_waits_behind_a_held_one_unless_the_policy_lets_it_pass(
    build, run_trace
):
    # accumulators at 10 (done at 42) and 20 (held until 42), then a copy of something else at 30
    total = build.handle((4, 4))
    accumulate(build, total)
    accumulate(build, total)
    copy_of(build, build.handle((4, 4)))
    admitted = {
        policy: run_trace(build, policy=resolve_policy(policy), composites_in_flight=8).rows(ADMIT)[
            2
        ]
        for policy in ("strict_fifo", "byte_range", "rw_aware")
    }
    assert admitted == {
        "strict_fifo": ("admit", 42, 42),
        "byte_range": ("admit", 42, 42),
        "rw_aware": ("admit", 30, 30),
    }


def test_handles_in_hbm_are_compared_by_handle_too(build, run_trace):
    # a GEMM whose output is a reference, then one that streams it in
    a, b = build.handle((4, 4)), build.handle((4, 4))
    y = build.handle((4, 4), space=Space.HBM)
    build.gemm(4, 4, 4, a, b, y)
    build.gemm(4, 4, 4, a, y, build.handle((4, 4)))
    replayed = run_trace(build, policy=resolve_policy("strict_fifo"))
    written = replayed.rows(FINISH)[0]
    # fetch 10–74, GEMM 74–138, DMA 138–170, HBM a picosecond behind it, there 100 ns later
    assert written == ("finish", 270.001, 270.001)
    assert replayed.rows(StageKind.HBM_READ) == [("hbm_read", 270.001, 302.001)]
