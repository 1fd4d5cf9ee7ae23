"""Bytes over links: they add up, whatever lies where, and both runners agree on when they crossed."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kerntape.replay import compiled_runner, simpy_runner
from kerntape.replay.durations import durations
from kerntape.replay.op_log import op_log_chunks
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import prepare, time
from kerntape.replay.summary import summary
from kerntape.replay.traffic import Accesses, LinkUse, link_uses, remote_reads, remote_writes
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.handles import Space
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from towns import links_between, placed, slow_links, town

ROW_OF_3 = town(pes=(3, 1))


def timeline_of(trace: Trace, machine: Topology, policy: str = "none") -> Any:
    return time(prepare(trace, machine, resolve_policy(policy)), slow_links())


@pytest.fixture
def crossing(build) -> Any:
    """PE 2 reads 16 bytes of PE 0 and writes 32 there; PE 0 sends 96 bytes to PE 1."""
    middle, far = type(build)(), type(build)()
    build.message(CommandKind.SEND, "E", build.handle((48,)))
    middle.message(CommandKind.RECV, "W", middle.handle((48,)))
    far.load(far.handle((8,), space=Space.HBM, at=0), far.handle((8,)))
    far.store(far.handle((16,)), far.handle((16,), space=Space.HBM, at=64))
    return timeline_of(placed(build.trace(ROW_OF_3, middle, far), [[0], [1], [0]]), ROW_OF_3)


def test_every_link_counts_its_bytes_transfers_and_time(crossing):
    # 0>1 has two fragments of 64 and 32 bytes, and the read; at 1/2 byte a ns they take 128, 64, 32 ns
    makespan_ps = crossing.makespan_ps
    assert link_uses(crossing) == {
        "pe.0>1": LinkUse(112, 3, 224_000, round(224_000 / makespan_ps, 6)),
        "pe.1>0": LinkUse(32, 1, 64_000, round(64_000 / makespan_ps, 6)),
        "pe.1>2": LinkUse(16, 1, 32_000, round(32_000 / makespan_ps, 6)),
        "pe.2>1": LinkUse(32, 1, 64_000, round(64_000 / makespan_ps, 6)),
    }


def test_reads_and_writes_of_other_pes_are_counted_apart_from_their_own(crossing):
    assert remote_reads(crossing) == Accesses(1, 16)
    assert remote_writes(crossing) == Accesses(1, 32)


def test_the_summary_has_the_links_and_the_remote_accesses(crossing):
    figures = summary(crossing, trace="x", runner="compiled", op_log_sha256="0")
    assert list(figures["links"]) == ["pe.0>1", "pe.1>0", "pe.1>2", "pe.2>1"]
    assert figures["links"]["pe.1>2"] == {
        "bytes": 16,
        "transfers": 1,
        "busy_ps": 32_000,
        "utilisation": round(32_000 / crossing.makespan_ps, 6),
    }
    counted = [
        figures[f"remote_{name}"] for name in ("reads", "read_bytes", "writes", "write_bytes")
    ]
    assert counted == [1, 16, 1, 32]


def test_the_op_log_says_whose_hbm_channel_it_was(crossing):
    lines = "".join(op_log_chunks(crossing)).splitlines()
    hbm = [line for line in lines if "kind=hbm" in line]
    assert ["engine=hbm@0" in line and "pe=2" in line for line in hbm] == [True, True]


def test_a_machine_without_traffic_has_no_links(build):
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    timeline = timeline_of(build.trace(ROW_OF_3), ROW_OF_3)
    assert link_uses(timeline) == {}
    assert (remote_reads(timeline), remote_writes(timeline)) == (Accesses(0, 0), Accesses(0, 0))


# -- whatever lies where

SIZES = st.tuples(st.integers(1, 2), st.integers(1, 2))


@dataclass(frozen=True)
class Placed:
    """A trace on a machine, and its bytes times links, counted command by command."""

    trace: Trace
    machine: Topology
    byte_links: int


@st.composite
def placements(draw: st.DrawFn, new_build: Any) -> Placed:
    """A few PEs of a machine that load, store, stream and send, their tensors with anybody."""
    machine = town(draw(st.integers(1, 2)), draw(SIZES), draw(SIZES))
    anybody = st.integers(0, machine.pe_count - 1)
    ranks = sorted(draw(st.sets(anybody, min_size=1, max_size=4)))
    builds = [new_build() for _ in ranks]
    owners = [[draw(anybody), draw(anybody)] for _ in ranks]
    crossed = 0
    for place, build in enumerate(builds):
        apart = [links_between(machine, ranks[place], owner) for owner in owners[place]]
        for _ in range(draw(st.integers(0, 5))):
            tensor, elements = draw(st.integers(0, 1)), draw(st.integers(1, 40))
            what = draw(st.sampled_from(["load", "store", "stream", "own"]))
            crossed += _add(build, what, tensor, elements) * apart[tensor]
    crossed += _add_messages(draw, machine, ranks, builds)
    trace = builds[0].trace(machine, *builds[1:])
    return Placed(placed(trace, owners, dict(enumerate(ranks))), machine, crossed)


def _add(build: Any, what: str, tensor: int, elements: int) -> int:
    """Adds a command; returns the bytes that it moves from or to the tensor."""
    if what == "own":
        build.overhead(elements)
        return 0
    if what == "stream":
        b = build.handle((8, 4), space=Space.HBM, at=0, tensor=tensor)
        build.gemm(4, 8, 4, build.handle((4, 8)), b, build.handle((4, 4)))
        return 8 * 4 * 2
    there = build.handle((elements,), space=Space.HBM, at=0, tensor=tensor)
    here = build.handle((elements,))
    if what == "load":
        build.load(there, here)
    else:
        build.store(here, there)
    return elements * 2


def _add_messages(draw: st.DrawFn, machine: Topology, ranks: list[int], builds: list[Any]) -> int:
    """Sends to launched neighbours; returns their bytes."""
    moved = 0
    for place, rank in enumerate(ranks):
        for direction, wire in machine.directions.items():
            peer = machine.peer(rank, direction)
            if peer in ranks and draw(st.booleans()):
                elements = draw(st.integers(0, 80))
                build, other = builds[place], builds[ranks.index(peer)]
                build.message(CommandKind.SEND, direction, build.handle((elements,)))
                other.message(CommandKind.RECV_ASYNC, wire.opposite, other.handle((elements,)))
                moved += elements * 2
    return moved


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_over_links_are_those_of_messages_and_remote_accesses_times_their_links(
    new_build, data
):
    drawn = data.draw(placements(new_build))
    timeline = timeline_of(drawn.trace, drawn.machine)
    assert sum(use.bytes for use in link_uses(timeline).values()) == drawn.byte_links


@pytest.mark.parametrize("policy", ["none", "strict_fifo", "byte_range"])
@given(data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_runners_give_the_same_times_whatever_lies_where(new_build, policy, data):
    drawn = data.draw(placements(new_build))
    graph = prepare(drawn.trace, drawn.machine, resolve_policy(policy)).graph
    lasting = durations(graph, slow_links())
    one, other = compiled_runner.run(graph, lasting), simpy_runner.run(graph, lasting)
    for column in ("ready_ps", "start_ps", "end_ps", "cause"):
        assert getattr(one, column).tolist() == getattr(other, column).tolist()
    assert (one.end_ps >= 0).all()
