"""Each rule of the order of commands, on both sides of its edge: ordered by it, and not without."""

import pytest
from kerntape.replay.hazards.held import held_pairs
from kerntape.replay.hazards.potential import check_statically, potential_hazards
from kerntape.schemas.commands import CommandKind

COMPOSITE, LOAD, MATH = CommandKind.COMPOSITE, CommandKind.LOAD, CommandKind.MATH
SEND, RECV, RECV_ASYNC = CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC


@pytest.fixture
def unordered(machine, policies, told):
    """(earlier, later) of the potential hazards."""

    def find(tape, policy="none", **limits):
        topology = machine(**limits)
        chosen = policies[policy] if isinstance(policy, str) else policy
        found = potential_hazards(tape.trace(topology), topology, chosen)
        return [(earlier, later) for _, earlier, later in told(found)]

    return find


def _writers(tape, count):
    """Composites that all write the same bytes, under handles of their own."""
    for number in range(count):
        tape.add(COMPOSITE, ((), tape.place(f"w{number}", 0, 8)))
    return tape


def test_a_recorded_wait_orders(tape, unordered) -> None:
    tape.place("t", 0, 8)
    first = tape.add(COMPOSITE, ((), "t"))
    tape.add(MATH, (("t",), None))
    tape.add(MATH, (("t",), None), waits=(first,))
    tape.add(MATH, (("t",), None))
    assert unordered(tape) == [(0, 1)]


def test_composites_beyond_the_in_flight_limit_have_finished(tape, unordered) -> None:
    # Two in flight: composite k is admitted when k−2 and all before it have retired.
    assert unordered(_writers(tape, 4), in_flight=2) == [(0, 1), (1, 2), (2, 3)]


def test_a_dispatch_knows_what_the_admission_a_queue_before_it_knew(tape, unordered) -> None:
    # One in flight, a queue of two: composite 3 is dispatched after the admission of composite 1,
    # which knows that 0 has finished. The math after it (4) inherits that, and no more.
    _writers(tape, 4)
    tape.add(MATH, ((), "w0"))
    assert unordered(tape, in_flight=1, queue=2) == [(1, 4), (2, 4), (3, 4)]


def test_a_finished_composite_tells_what_its_admission_knew(tape, unordered) -> None:
    # Composite 1 was admitted after 0 had retired; the math waits for 1 alone.
    _writers(tape, 2)
    tape.add(MATH, ((), "w0"), waits=(1,))
    assert unordered(tape, in_flight=1) == []
    assert unordered(tape, in_flight=2) == [(0, 1), (0, 2)]


def test_without_passing_a_composite_waits_for_what_holds_the_one_before_it(
    tape, unordered, policy_of
) -> None:
    # 1 is held for 0 (RAW on a). 2 overwrites a: admitted after 1, so after the finish of 0.
    tape.place("a", 0, 8)
    tape.place("b", 8, 8)
    tape.place("a_again", 0, 8)
    tape.add(COMPOSITE, ((), "a"))
    tape.add(COMPOSITE, (("a",), "b"))
    tape.add(COMPOSITE, ((), "a_again"))
    in_order = policy_of("in_order", "handles", ["RAW"], "composites", False)
    passing = policy_of("passing", "handles", ["RAW"], "composites", True)
    assert unordered(tape, in_order) == [(1, 2)]
    assert unordered(tape, passing) == [(0, 2), (1, 2)]


def test_sends_beyond_the_send_depth_have_departed_before_the_next_dispatch(
    tape, unordered
) -> None:
    # Depth 1: the send 1 is accepted when 0 has departed. Another queue's sends count for themselves.
    tape.place("s", 0, 8)
    for direction in ("E", "E", "W"):
        tape.add(SEND, (("s",), None), direction=direction)
    tape.add(MATH, ((), "s"))
    assert unordered(tape, send_depth=1) == [(1, 3), (2, 3)]
    assert unordered(tape, send_depth=2) == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("last", ["recv", "waited"])
def test_receives_from_one_queue_finish_in_order(tape, unordered, last) -> None:
    tape.place("t", 0, 8)
    tape.place("u", 8, 8)
    tape.add(RECV_ASYNC, ((), "t"), direction="E")
    tape.add(RECV_ASYNC, ((), "t"), direction="W")
    if last == "recv":
        tape.add(RECV, ((), "u"), direction="E")
        tape.add(MATH, (("t",), None))
    else:
        tape.add(RECV_ASYNC, ((), "u"), direction="E")
        tape.add(MATH, (("t",), None), waits=(2,))
    assert unordered(tape) == [(0, 1), (1, 3)]


def test_a_command_that_follows_from_another_hold_is_not_held_for(
    tape, machine, policies, told
) -> None:
    # 2 conflicts with 0 and 1 on O; 1 is held for 0, so the hold for 1 is enough.
    tape.place("O", 0, 8)
    for _ in range(3):
        tape.add(COMPOSITE, (("O",), "O"))
    topology = machine()
    trace = tape.trace(topology)
    holds = held_pairs(trace, trace.streams[0], topology, policies["strict_fifo"])
    assert told(holds) == [("RAW", 0, 1), ("RAW", 1, 2)]


def test_a_command_that_waits_anyway_is_not_held(tape, machine, policies) -> None:
    tape.place("t", 0, 8)
    load = tape.add(LOAD, ((), "t"))
    tape.add(COMPOSITE, (("t",), None), waits=(load,))
    topology = machine()
    trace = tape.trace(topology)
    for policy in policies.values():
        assert len(held_pairs(trace, trace.streams[0], topology, policy)) == 0


def test_pairs_checked_counts_the_unordered_pairs_that_access_memory(
    tape, machine, policies
) -> None:
    # Composite 1 against 0, math 3 against 0 and 1; the overhead 2 accesses nothing.
    for number in range(2):
        tape.add(COMPOSITE, ((), tape.place(f"t{number}", 8 * number, 8)))
    tape.add(CommandKind.OVERHEAD, ((), None))
    tape.add(MATH, (("t0",), None))
    topology = machine()
    checked = check_statically(tape.trace(topology), topology, policies["none"])
    assert checked.pairs_checked == 3
    assert len(checked.hazards) == 1
