"""Random streams: the near-linear walk finds what a transitive closure over every event finds."""

from dataclasses import dataclass
from itertools import pairwise
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.replay.hazards import compare_bytes
from kerntape.replay.hazards.held import held_pairs
from kerntape.replay.hazards.potential import check_statically
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.footprints import footprint, shared_bytes
from kerntape.schemas.hazard_policy import Compares, HazardPolicy, Holds
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Command, Trace

AGENTS = (CommandKind.LOAD, CommandKind.COMPOSITE, CommandKind.SEND, CommandKind.RECV_ASYNC)
RECEIVES = (CommandKind.RECV, CommandKind.RECV_ASYNC)
MESSAGES = (CommandKind.SEND, *RECEIVES)
NAMES = ("a", "a_again", "b", "ab", "rows", "gaps", "far", "x", "xy", "other_x", "empty")
USER_POLICIES = {
    "handles_for_all": ("handles", ["RAW", "WAR", "WAW"], "commands", True),
    "bytes_raw": ("bytes", ["RAW"], "composites", False),
    "war_by_handle": ("handles", ["WAR"], "composites", True),
    "order_composites": ("everything", ["RAW", "WAR", "WAW"], "composites", True),
}


def _with_places(tape):
    tape.place("a", 0, 8)
    tape.place("a_again", 0, 8)
    tape.place("b", 8, 8)
    tape.place("ab", 4, 8)
    tape.place("rows", 0, rows=(3, 8, 4))
    tape.place("gaps", 4, rows=(3, 8, 4))
    tape.place("far", 100, 4)
    tape.place("x", 0, 8, tensor=0)
    tape.place("xy", 4, 8, tensor=0)
    tape.place("other_x", 0, 8, tensor=1)
    tape.place("empty", 0, rows=(0, 8, 4))
    return tape


@st.composite
def tapes(draw, new_tape):
    """Streams of up to 14 commands over overlapping places."""
    tape = _with_places(new_tape())
    ops = st.tuples(
        st.lists(st.sampled_from(NAMES), max_size=2).map(tuple),
        st.sampled_from((*NAMES, None)),
    )
    kinds = st.sampled_from([*CommandKind, *[CommandKind.COMPOSITE] * 6])
    for index in range(draw(st.integers(0, 14))):
        kind = draw(kinds)
        composite = kind is CommandKind.COMPOSITE
        earlier = [i for i in range(index) if tape.forms[i].kind in AGENTS]
        waits = draw(st.lists(st.sampled_from(earlier), max_size=1)) if earlier else []
        tape.add(
            kind,
            *draw(st.lists(ops, min_size=1, max_size=3 if composite else 1)),
            rw=tuple(draw(st.lists(st.sampled_from(NAMES), max_size=2))) if composite else (),
            waits=tuple(waits),
            direction=draw(st.sampled_from("EW")) if kind in MESSAGES else "",
        )
    return tape


@dataclass
class Closure:
    """Which events come before which, from the releases between commands: every path, no cleverness."""

    commands: list[Command]
    edges: list[tuple[tuple[str, int], tuple[str, int]]]

    def before(self) -> dict[tuple[str, int], set[tuple[str, int]]]:
        nodes = [(what, i) for i in range(len(self.commands)) for what in "dbfr"]
        reached = {node: {node} for node in nodes}
        changed = True
        while changed:
            changed = False
            for source, target in self.edges:
                grown = reached[target] | reached[source]
                changed |= len(grown) > len(reached[target])
                reached[target] = grown
        return reached

    def ordered(self) -> set[tuple[int, int]]:
        """(earlier, later) where the earlier one's finish comes before the later one's begin."""
        before = self.before()
        return {
            (i, j)
            for j in range(len(self.commands))
            for i in range(j)
            if ("f", i) in before["b", j]
        }


def _base_edges(commands: list[Command], topology: Topology, passing: bool):
    """d: dispatch, b: begin, f: finish, r: in-order retirement."""
    edges = []
    for command in commands:
        i = command.index
        edges += [(("d", i), ("b", i)), (("b", i), ("f", i))]
        if command.kind is not CommandKind.COMPOSITE:
            edges.append((("b", i), ("d", i)))  # one event: only a composite is admitted later
        edges += [(("f", wait), ("d", i)) for wait in command.waits]
        if i + 1 < len(commands):
            edges.append((("d", i), ("d", i + 1)))
            if command.kind not in AGENTS:
                edges.append((("f", i), ("d", i + 1)))
    edges += _composite_edges(commands, topology, passing)
    for direction in "EW":
        edges += _queue_edges(commands, direction, topology.ipcq.send_depth)
    return edges


def _queue_edges(commands: list[Command], direction: str, send_depth: int):
    here = [c for c in commands if c.form.direction == direction]
    sends = [c.index for c in here if c.kind is CommandKind.SEND]
    receives = [c.index for c in here if c.kind in RECEIVES]
    edges = [(("f", a), ("f", b)) for a, b in pairwise(receives)]
    for departed, accepted in zip(sends, sends[send_depth:], strict=False):
        if accepted + 1 < len(commands):
            edges.append((("f", departed), ("d", accepted + 1)))
    return edges


def _composite_edges(commands: list[Command], topology: Topology, passing: bool):
    composites = [c.index for c in commands if c.kind is CommandKind.COMPOSITE]
    window, queue = topology.pe.composites_in_flight, topology.pe.scheduler_queue
    edges = [(("f", k), ("r", k)) for k in composites]
    edges += [(("r", a), ("r", b)) for a, b in pairwise(composites)]
    edges += [(("r", a), ("b", b)) for a, b in zip(composites, composites[window:], strict=False)]
    edges += [(("b", a), ("d", b)) for a, b in zip(composites, composites[queue:], strict=False)]
    if not passing:
        edges += [(("b", a), ("b", b)) for a, b in pairwise(composites)]
    return edges


def _conflicts_for(policy, earlier: Command, later: Command, byte_kinds, handle_kinds) -> bool:
    if earlier.kind not in AGENTS:
        return False
    both_composites = earlier.kind is later.kind is CommandKind.COMPOSITE
    if policy.holds is Holds.COMPOSITES and not both_composites:
        return False
    match policy.compares:
        case Compares.NOTHING:
            return False
        case Compares.RW_HANDLES:
            ids = {handle.id for handle in earlier.rw_handles}
            return bool(ids & {handle.id for handle in later.rw_handles})
        case Compares.HANDLES:
            return bool(handle_kinds(earlier, later) & set(policy.kinds))
        case Compares.BYTES:
            return bool(byte_kinds(earlier, later) & set(policy.kinds))
        case Compares.EVERYTHING:
            return True


def _commands(trace: Trace) -> list[Command]:
    return list(trace.commands(trace.streams[0]))


@pytest.fixture(scope="module")
def everything_that_holds(byte_kinds, handle_kinds):
    """Every pair that a policy would hold, whether or not something else orders it."""

    def find(commands: list[Command], policy: HazardPolicy):
        return [
            (one.index, other.index)
            for other in commands
            for one in commands[: other.index]
            if _conflicts_for(policy, one, other, byte_kinds, handle_kinds)
        ]

    return find


def _holding(pairs):
    return [(("f", earlier), ("b", later)) for earlier, later in pairs]


@pytest.fixture(scope="module")
def any_policy(policies, policy_of) -> list[HazardPolicy]:
    theirs = [policy_of(name, *values) for name, values in USER_POLICIES.items()]
    return [*policies.values(), *theirs]


limits = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))


either_way = st.sampled_from([compare_bytes.FEW, 0])
"""Up to how many signatures are compared one by one: so many that none is looked up, or none."""


@given(data=st.data(), limits=limits, few=either_way)
@settings(max_examples=100)
def test_potential_hazards_are_exactly_the_conflicting_pairs_that_no_path_orders(
    data, limits, few, new_tape, any_policy, machine, byte_kinds, everything_that_holds
) -> None:
    policy = data.draw(st.sampled_from(any_policy))
    topology = machine(*limits)
    trace = data.draw(tapes(new_tape)).trace(topology)
    commands = _commands(trace)
    edges = _base_edges(commands, topology, policy.passing)
    held = everything_that_holds(commands, policy)
    ordered = Closure(commands, edges + _holding(held)).ordered()
    expected = {
        (one.index, other.index)
        for other in commands
        for one in commands[: other.index]
        if byte_kinds(one, other) and (one.index, other.index) not in ordered
    }
    with patch.object(compare_bytes, "FEW", few):
        found = check_statically(trace, topology, policy).hazards
    pairs = list(zip(found.earlier.tolist(), found.later.tolist(), strict=True))
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


@given(data=st.data(), limits=limits)
@settings(max_examples=100)
def test_held_pairs_order_all_that_the_policy_holds_and_none_follows_from_the_rest(
    data, limits, new_tape, any_policy, machine, everything_that_holds
) -> None:
    policy = data.draw(st.sampled_from(any_policy))
    topology = machine(*limits)
    trace = data.draw(tapes(new_tape)).trace(topology)
    commands = _commands(trace)
    edges = _base_edges(commands, topology, policy.passing)
    holds = held_pairs(trace, trace.streams[0], topology, policy)
    held = list(zip(holds.earlier.tolist(), holds.later.tolist(), strict=True))
    everything = everything_that_holds(commands, policy)
    assert set(held) <= set(everything)
    ordered = Closure(commands, edges + _holding(held)).ordered()
    assert ordered == Closure(commands, edges + _holding(everything)).ordered()
    for pair in held:
        others = [other for other in held if other != pair]
        assert pair not in Closure(commands, edges + _holding(others)).ordered()


@given(data=st.data(), limits=limits)
@settings(max_examples=60)
def test_byte_range_rw_aware_and_serial_leave_no_potential_hazard_on_any_stream(
    data, limits, new_tape, policies, machine
) -> None:
    topology = machine(*limits)
    trace = data.draw(tapes(new_tape)).trace(topology)
    for name in ("byte_range", "rw_aware", "serial"):
        assert not len(check_statically(trace, topology, policies[name]).hazards)


@given(data=st.data(), limits=limits)
@settings(max_examples=60)
def test_signatures_that_are_looked_up_give_the_pairs_of_those_compared_one_by_one(
    data, limits, new_tape, any_policy, machine
) -> None:
    policy = data.draw(st.sampled_from(any_policy))
    topology = machine(*limits)
    trace = data.draw(tapes(new_tape)).trace(topology)
    found = []
    for few in (0, 1, compare_bytes.FEW):
        with patch.object(compare_bytes, "FEW", few):
            checked = check_statically(trace, topology, policy)
            held = held_pairs(trace, trace.streams[0], topology, policy)
        columns = [vars(checked.hazards), vars(held)]
        found.append([{name: each.tolist() for name, each in one.items()} for one in columns])
    assert found[0] == found[1] == found[2]


@given(data=st.data(), limits=limits)
@settings(max_examples=60)
def test_every_row_names_ops_handles_and_bytes_that_really_meet(
    data, limits, new_tape, policies, machine, told
) -> None:
    topology = machine(*limits)
    trace = data.draw(tapes(new_tape)).trace(topology)
    found = check_statically(trace, topology, policies["none"]).hazards
    for row, (kind, earlier, later) in enumerate(told(found)):
        one, other = (
            trace.command(trace.streams[0], earlier),
            trace.command(trace.streams[0], later),
        )
        before = trace.handle(trace.streams[0], int(found.earlier_handle[row]))
        after = trace.handle(trace.streams[0], int(found.later_handle[row]))
        assert before.tensor == after.tensor
        assert shared_bytes(
            footprint(before.geometry, before.address), footprint(after.geometry, after.address)
        ) == (found.byte_from[row], found.byte_to[row])
        uses = {"R": "op_operands", "W": "op_out"}
        assert before in _used(one, int(found.earlier_op[row]), uses[kind[2]])
        assert after in _used(other, int(found.later_op[row]), uses[kind[0]])


def _used(command: Command, op: int, use: str):
    if use == "op_out":
        return [command.op_out(op)]
    first, names = command.form.op_slots[op], command.form.ops[op].operands
    return [command.handles[slot] for slot in first[: len(names)]]
