"""Whichever way a point is evaluated, its figures are a full replay's."""

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay import deadlock
from kerntape.replay.calibration import resolve_calibration
from kerntape.replay.machine import topology_of
from kerntape.replay.op_log import op_log_sha256
from kerntape.replay.parameters import changed
from kerntape.replay.policy import resolve_policy, shipped_policies
from kerntape.replay.replay import prepare, time
from kerntape.replay.summary import summary
from kerntape.replay.sweep.case_run import CaseRun
from kerntape.replay.sweep.figures import COLUMNS
from kerntape.replay.sweep.follower import Follower
from kerntape.replay.sweep.points import Asked, Way
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.config_file import leaves

VARIED = {
    "pe_cpu.fixed_cycles": st.integers(0, 60),
    "hbm.bytes_per_ns": st.integers(1, 200),
    "hbm.latency_ns": st.integers(0, 300),
    "pe_gemm.macs_per_cycle": st.integers(1, 300),
    "pe_math.vector_width": st.integers(1, 64),
}


def asked_of(trace, changes_of_points) -> list[Asked]:
    """A point for each, with the default calibration so changed."""
    costs = resolve_calibration(topology_of(trace))
    return [
        Asked(number, changed(costs, changes)) for number, changes in enumerate(changes_of_points)
    ]


def prepared(trace, policy):
    return prepare(trace, topology_of(trace), resolve_policy(policy))


def evaluated(run: CaseRun, asked: list[Asked]):
    """The results by point; every point has one."""
    found = [result for batch in run.evaluate(asked) for result in batch]
    assert sorted(result.point for result in found) == [each.point for each in asked]
    return {result.point: result for result in found}


def replayed_summary(lowered, asked: Asked, digest: str | None = None):
    """What `replay --json` says, as a sweep's columns."""
    timeline = time(lowered, asked.calibration)
    full = leaves(summary(timeline, trace="", runner="", op_log_sha256=digest or ""))
    kinds = {column: 0 for column in COLUMNS if column.startswith("commands_by_kind.")}
    return {**dict.fromkeys(COLUMNS), **kinds, **full, "op_log_sha256": digest}


def figures_of(result):
    return dict(zip(COLUMNS, result.figures, strict=True))


@st.composite
def sweeps(draw: st.DrawFn) -> list[dict[str, Decimal]]:
    """40 points: neighbours along one number, with values drawn for the others."""
    values = {path: Decimal(draw(each)) for path, each in VARIED.items()}
    path = draw(st.sampled_from(sorted(VARIED)))
    step = Decimal(draw(st.sampled_from(["0.01", "0.5", "3"])))
    return [values | {path: max(values[path], 1) + step * place} for place in range(40)]


@pytest.mark.parametrize("policy", list(shipped_policies()))
@given(points=sweeps())
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_figure_is_that_of_a_full_replay(tiled, policy, points):
    lowered, asked = prepared(tiled, policy), asked_of(tiled, points)
    found = evaluated(CaseRun(lowered, op_logs=False), asked)
    for each in asked:
        expected = replayed_summary(lowered, each)
        assert figures_of(found[each.point]) == {name: expected[name] for name in COLUMNS}


def dispatch_sweep(*cycles: int | str | Decimal) -> list[dict[str, Decimal]]:
    return [{"pe_cpu.fixed_cycles": Decimal(each)} for each in cycles]


def hundredths(count: int) -> list[Decimal]:
    """From 40 cycles a command on in steps of a hundredth: nothing overtakes anything."""
    return [Decimal(4000 + place) / 100 for place in range(count)]


@pytest.mark.parametrize("policy", ["none", "byte_range"])
def test_a_policy_that_holds_and_one_that_lets_through_are_told_apart(tiled, policy):
    lowered = prepared(tiled, policy)
    asked = asked_of(tiled, dispatch_sweep(*range(20, 60)))
    found = evaluated(CaseRun(lowered, op_logs=False), asked)
    followed = [figures_of(each) for each in found.values() if each.way is Way.FOLLOWED]
    assert followed
    held = policy == "byte_range"
    assert all((each["hazards.held_ps"] > 0) == held for each in followed)
    assert all((each["hazards.violations"] > 0) == (not held) for each in followed)


def test_where_the_order_holds_one_point_of_a_chunk_is_replayed(tiled):
    asked = asked_of(tiled, dispatch_sweep(*hundredths(64)))
    found = evaluated(CaseRun(prepared(tiled, "serial"), op_logs=False), asked)
    assert [each.way for each in found.values()].count(Way.REPLAYED) == 1


def test_an_order_that_is_broken_is_recorded_anew(tiled):
    quick, slow = dispatch_sweep(40), [{"hbm.bytes_per_ns": Decimal(1)}]
    lowered = prepared(tiled, "none")
    asked = asked_of(tiled, quick * 20 + slow * 20)
    found = evaluated(CaseRun(lowered, op_logs=False), asked)
    replayed = [point for point, each in found.items() if each.way is Way.REPLAYED]
    assert replayed == [0, 20]
    for point in (19, 39):
        makespan_ps = replayed_summary(lowered, asked[point])["makespan_ps"]
        assert figures_of(found[point])["makespan_ps"] == makespan_ps


def test_a_recorded_order_serves_the_next_chunk(tiled):
    run = CaseRun(prepared(tiled, "none"), op_logs=False)
    asked = asked_of(tiled, dispatch_sweep(*hundredths(64)))
    evaluated(run, asked[:32])
    assert {each.way for each in evaluated(run, asked[32:]).values()} == {Way.FOLLOWED}


def test_a_few_points_are_not_worth_an_order(tiled):
    asked = asked_of(tiled, dispatch_sweep(*range(40, 48)))
    found = evaluated(CaseRun(prepared(tiled, "none"), op_logs=False), asked)
    assert {each.way for each in found.values()} == {Way.REPLAYED}


def test_where_orders_never_hold_they_are_recorded_ever_more_rarely(tiled, monkeypatch):
    follow, record, recorded_at = Follower.follow, Follower.record, []
    run, asked = CaseRun(prepared(tiled, "none"), op_logs=False), asked_of(tiled, [{}] * 512)
    monkeypatch.setattr(
        Follower,
        "follow",
        lambda *arguments: replace(follow(*arguments), holds=(False,) * len(arguments[2])),
    )
    replayed = []
    monkeypatch.setattr(
        Follower,
        "record",
        lambda *arguments: recorded_at.append(len(replayed)) or record(*arguments),
    )
    for first in range(0, 512, 64):
        for batch in run.evaluate(asked[first : first + 64]):
            replayed += batch
    assert {each.way for each in replayed} == {Way.REPLAYED}
    # every order takes twice the balance of the one before, and a point adds the same to it: so the
    # distances between them grow, and the second half of the points has fewer than the first
    assert 1 < len(recorded_at) < 12
    assert sum(at >= 256 for at in recorded_at) < sum(at < 256 for at in recorded_at)


def test_op_logs_take_a_full_replay_of_every_point(tiled):
    lowered = prepared(tiled, "none")
    asked = asked_of(tiled, dispatch_sweep(*hundredths(32)))
    found = evaluated(CaseRun(lowered, op_logs=True), asked)
    for each in asked:
        digest = op_log_sha256(time(lowered, each.calibration))
        assert found[each.point].way is Way.REPLAYED
        assert figures_of(found[each.point])["op_log_sha256"] == digest


def test_a_deadlock_is_found_once_and_holds_for_every_point(deadlocked, monkeypatch):
    explained = []
    monkeypatch.setattr(
        "kerntape.replay.replay.explain",
        lambda *arguments: explained.append(1) or deadlock.explain(*arguments),
    )
    asked = asked_of(deadlocked, dispatch_sweep(*range(40, 60)))
    found = evaluated(CaseRun(prepared(deadlocked, "none"), op_logs=False), asked)
    assert len(explained) == 1
    assert {each.way for each in found.values()} == {Way.DEADLOCKED}
    assert figures_of(found[19]) == {**dict.fromkeys(COLUMNS), "status": "deadlock"}


AEONS = {"clock_ghz": Decimal("1e-12"), "pe_cpu.fixed_cycles": Decimal(10**6)}
"""A dispatch of 10^21 ps, beyond 2^62."""


@pytest.mark.parametrize("place", [0, 1, 20, 63])
def test_a_point_whose_times_could_overflow_is_impossible_and_holds_nobody_up(tiled, place):
    changes = dispatch_sweep(*hundredths(64))
    asked = asked_of(tiled, [*changes[:place], AEONS, *changes[place + 1 :]])
    run = CaseRun(prepared(tiled, "none"), op_logs=False)
    found = evaluated(run, asked)
    assert figures_of(found[place]) == {**dict.fromkeys(COLUMNS), "status": "impossible"}
    ways = [each.way for each in found.values()]
    assert (ways.count(Way.IMPOSSIBLE), ways.count(Way.REPLAYED)) == (1, 1)
    # again, with an order recorded and the impossible alone in the first batch
    again = evaluated(run, asked)
    assert [each.figures for _, each in sorted(again.items())] == [
        each.figures for _, each in sorted(found.items())
    ]
    assert Way.REPLAYED not in {each.way for each in again.values()}


@pytest.mark.parametrize("place", [0, 2])
def test_what_a_point_is_depends_on_no_other_where_all_deadlock(deadlocked, place):
    changes = dispatch_sweep(40, 41, 42)
    changes[place] = AEONS
    run = CaseRun(prepared(deadlocked, "none"), op_logs=False)
    found = evaluated(run, asked_of(deadlocked, changes))
    assert {point for point, each in found.items() if each.way is Way.IMPOSSIBLE} == {place}


def test_what_is_held_at_once_is_summed_exactly_beyond_64_bits(build, topology):
    # a GEMM of 4·64·16 MACs at 10^15 ps each lasts 4.1·10^18 ps, just below 2^62; four composites, each
    # of which overwrites some of its operand, wait for its end all at once
    machine = topology.model_copy(
        update={"pe": topology.pe.model_copy(update={"composites_in_flight": 8})}
    )
    a, w, o = build.handle((4, 64)), build.handle((64, 16)), build.handle((4, 16))
    build.gemm(4, 64, 16, a, w, o)
    for place in range(4):
        some = build.handle((4,), at=64 * place)
        exp = OpForm("exp", ("src",), True)
        build.command(CommandKind.COMPOSITE, (exp,), [some, some])
    trace = build.trace(machine)
    lowered = prepare(trace, machine, resolve_policy("rw_aware"))
    slow = {"pe_gemm.macs_per_cycle": Decimal("1e-12"), "pe_gemm.fill_cycles": Decimal(0)}
    asked = asked_of(trace, [slow] * 64)
    found = evaluated(CaseRun(lowered, op_logs=False), asked)
    held_ps = time(lowered, asked[0].calibration).hazards.cost_ps.tolist()
    assert len(held_ps) == 4
    assert sum(held_ps) > 1 << 63
    assert {figures_of(each)["hazards.held_ps"] for each in found.values()} == {sum(held_ps)}
    assert {each.way for each in found.values()} == {Way.REPLAYED}


def test_a_block_that_the_machine_has_not_has_no_figures(tiled):
    asked = asked_of(tiled, dispatch_sweep(*range(20, 60)))
    found = evaluated(CaseRun(prepared(tiled, "none"), op_logs=False), asked)
    assert {figures_of(each)["engines.noc.busy_ps"] for each in found.values()} == {None}
