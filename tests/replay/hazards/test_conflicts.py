"""Which conflict of a pair is told, and what each comparison takes for a conflict."""

from collections import Counter

import pytest
from kerntape.replay.hazards.held import held_pairs
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.hazards import KINDS

COMPOSITE, LOAD, MATH = CommandKind.COMPOSITE, CommandKind.LOAD, CommandKind.MATH
SEND, WAIT, STORE = CommandKind.SEND, CommandKind.WAIT, CommandKind.STORE


@pytest.fixture
def rows(machine, policies):
    """The hazards under `none`, as (kind, earlier op, its handle, later op, its handle, bytes)."""

    def find(tape):
        topology = machine()
        trace = tape.trace(topology)
        found = potential_hazards(trace, topology, policies["none"])
        return [
            (
                str(KINDS[found.kind[row]]),
                int(found.earlier_op[row]),
                trace.strings[found.earlier_handle[row]],
                int(found.later_op[row]),
                trace.strings[found.later_handle[row]],
                (int(found.byte_from[row]), int(found.byte_to[row])),
            )
            for row in range(len(found))
        ]

    return find


def test_the_later_commands_first_op_is_told_before_its_second(tape, rows) -> None:
    # Overwriting S and then reading it back is no read of what the earlier one wrote.
    tape.place("S", 0, 8)
    tape.place("q", 64, 8)
    tape.add(COMPOSITE, (("q",), "S"))
    tape.add(COMPOSITE, (("q",), "S"), (("S",), "q"))
    assert rows(tape) == [("WAW", 0, "S", 0, "S", (0, 8))]


def test_then_the_earlier_commands_first_op(tape, rows) -> None:
    tape.place("S", 0, 8)
    tape.place("q", 64, 8)
    tape.add(COMPOSITE, (("S",), "q"), (("q",), "S"))
    tape.add(COMPOSITE, ((), "S"))
    assert rows(tape) == [("WAR", 0, "S", 0, "S", (0, 8))]


def test_then_raw_before_waw_before_war(tape, rows) -> None:
    tape.place("O", 0, 8)
    tape.add(COMPOSITE, (("O",), "O"))
    tape.add(COMPOSITE, (("O",), "O"))
    tape.add(COMPOSITE, ((), "O"))
    assert [row[0] for row in rows(tape)] == ["RAW", "WAW", "WAW"]


def test_two_reads_do_not_conflict(tape, rows) -> None:
    tape.place("q", 0, 8)
    tape.add(COMPOSITE, (("q",), None))
    tape.add(COMPOSITE, (("q",), None))
    assert rows(tape) == []


def test_the_bytes_told_are_the_first_shared_run(tape, rows) -> None:
    # rows: 0–3, 8–11, 16–19; part: 10–17. They meet in 10–11 first.
    tape.place("rows", 0, rows=(3, 8, 4))
    tape.place("part", 10, 8)
    tape.add(COMPOSITE, ((), "rows"))
    tape.add(COMPOSITE, (("part",), None))
    assert rows(tape) == [("RAW", 0, "rows", 0, "part", (10, 12))]


def test_interleaved_rows_do_not_conflict(tape, rows) -> None:
    tape.place("even", 0, rows=(3, 8, 4))
    tape.place("odd", 4, rows=(3, 8, 4))
    tape.add(COMPOSITE, ((), "even"))
    tape.add(COMPOSITE, ((), "odd"))
    assert rows(tape) == []


def test_hbm_bytes_conflict_within_a_tensor_only(tape, rows) -> None:
    tape.place("x", 0, 8, tensor=0)
    tape.place("x_tail", 4, 8, tensor=0)
    tape.place("y", 0, 8, tensor=1)
    tape.place("t", 0, 8)
    tape.add(COMPOSITE, ((), "x"))
    tape.add(LOAD, (("x_tail",), "t"))
    tape.add(COMPOSITE, ((), "y"))
    assert rows(tape) == [("RAW", 0, "x", 0, "x_tail", (4, 8))]


def test_a_pair_that_meets_in_hbm_and_in_tcm_is_told_once_by_the_first_op(tape, rows) -> None:
    tape.place("x", 0, 8, tensor=0)
    tape.place("t", 0, 8)
    tape.add(COMPOSITE, ((), "t"), ((), "x"))
    tape.add(COMPOSITE, (("x",), None), (("t",), None))
    assert rows(tape) == [("RAW", 1, "x", 0, "x", (0, 8))]


def test_waits_and_overheads_access_nothing(tape, rows) -> None:
    tape.place("S", 0, 8)
    tape.add(COMPOSITE, ((), "S"))
    tape.add(WAIT, (("S",), None))
    tape.add(CommandKind.OVERHEAD, (("S",), None))
    assert rows(tape) == []


def test_every_kind_of_agent_counts_as_earlier_and_a_blocking_command_does_not(
    tape, told, machine, policies
) -> None:
    # load 0, send 1 and recv_async 2 may be at work when math 3 writes over what they use;
    # math 3 has finished when store 4 reads it.
    tape.place("x", 0, 8, tensor=0)
    tape.place("loaded", 0, 8)
    tape.place("sent", 8, 8)
    tape.place("received", 16, 8)
    tape.place("all", 0, 24)
    tape.add(LOAD, (("x",), "loaded"))
    tape.add(SEND, (("sent",), None), direction="E")
    tape.add(CommandKind.RECV_ASYNC, ((), "received"), direction="E")
    tape.add(MATH, ((), "all"))
    tape.add(STORE, (("all",), "x"))
    topology = machine()
    found = potential_hazards(tape.trace(topology), topology, policies["none"])
    assert told(found) == [
        ("WAW", 0, 3),
        ("WAR", 1, 3),
        ("WAW", 2, 3),
        ("RAW", 0, 4),
        ("RAW", 2, 4),
    ]


@pytest.fixture
def holds(machine, policies, told):
    def find(tape, policy):
        topology = machine()
        trace = tape.trace(topology)
        chosen = policies[policy] if isinstance(policy, str) else policy
        return trace, held_pairs(trace, trace.streams[0], topology, chosen)

    return find


def test_by_handle_a_view_does_not_meet_what_it_views(tape, holds) -> None:
    tape.place("O", 0, 8)
    tape.place("O_view", 0, 8)
    tape.add(COMPOSITE, ((), "O"))
    tape.add(COMPOSITE, (("O_view",), None))
    assert len(holds(tape, "strict_fifo")[1]) == 0
    assert len(holds(tape, "byte_range")[1]) == 1


def test_by_handle_the_kinds_that_hold_are_the_policys(tape, holds, told) -> None:
    # WAR alone: strict_fifo does not hold it.
    tape.place("q", 0, 8)
    tape.add(COMPOSITE, (("q",), None))
    tape.add(COMPOSITE, ((), "q"))
    assert len(holds(tape, "strict_fifo")[1]) == 0
    assert told(holds(tape, "byte_range")[1]) == [("WAR", 0, 1)]


def test_rw_handles_meet_whatever_the_ops_do_with_them(tape, holds, told) -> None:
    # Both declare m; the ops only read it. The whole commands are told, and all of m.
    tape.place("m", 16, 8)
    tape.add(COMPOSITE, (("m",), None), rw=("m",))
    tape.add(COMPOSITE, (("m",), None), rw=("m",))
    _, pairs = holds(tape, "rw_handles")
    assert told(pairs) == [("RAW", 0, 1)]
    assert (pairs.earlier_op[0], pairs.later_op[0]) == (-1, -1)
    assert (pairs.earlier_handle[0], pairs.later_handle[0]) == (0, 0)
    assert (pairs.byte_from[0], pairs.byte_to[0]) == (16, 24)


def test_rw_handles_do_not_see_an_operand_that_is_not_declared(tape, holds) -> None:
    tape.place("O", 0, 8)
    tape.add(COMPOSITE, (("O",), "O"), rw=("O",))
    tape.add(COMPOSITE, (("O",), None))
    assert len(holds(tape, "rw_handles")[1]) == 0


def test_serial_tells_no_handle_where_no_byte_is_shared(tape, holds) -> None:
    tape.place("a", 0, 8)
    tape.place("b", 8, 8)
    tape.add(COMPOSITE, ((), "a"))
    tape.add(COMPOSITE, ((), "b"))
    _, pairs = holds(tape, "serial")
    row = [column[0] for column in (pairs.earlier_op, pairs.earlier_handle, pairs.later_handle)]
    assert row == [-1, -1, -1]
    assert (pairs.byte_from[0], pairs.byte_to[0]) == (0, 0)


def test_composites_are_held_for_composites_alone_unless_commands_are_held(
    tape, holds, told
) -> None:
    # The load writes what the composite reads; capture did not record a wait.
    tape.place("x", 0, 8, tensor=0)
    tape.place("t", 0, 8)
    tape.add(LOAD, (("x",), "t"))
    tape.add(COMPOSITE, (("t",), None))
    assert len(holds(tape, "strict_fifo")[1]) == 0
    assert told(holds(tape, "rw_aware")[1]) == [("RAW", 0, 1)]


def test_alike_commands_with_other_handle_ids_are_compared_by_their_own_handles(
    tape, holds, told
) -> None:
    # The third composite is like the first (same form, same place), but by handle only it meets.
    for name in ("S0", "S1"):
        tape.place(name, 0, 8)
    tape.place("P", 8, 8)
    tape.add(COMPOSITE, ((), "S0"))
    tape.add(COMPOSITE, ((), "S1"))
    tape.add(COMPOSITE, (("S0",), "P"))
    tape.add(COMPOSITE, (("S1",), "P"))
    trace, pairs = holds(tape, "strict_fifo")
    labels = [trace.strings[handle] for handle in pairs.later_handle]
    assert told(pairs) == [("RAW", 0, 2), ("RAW", 1, 3), ("WAW", 2, 3)]
    assert labels == ["S0", "S1", "P"]


def test_a_stream_without_commands_has_no_hazards(tape, machine, policies) -> None:
    topology = machine()
    trace = tape.trace(topology)
    for policy in policies.values():
        assert len(potential_hazards(trace, topology, policy)) == 0


def test_hazards_of_two_streams_stand_under_their_own_pes(
    new_tape, joined, machine, policies, told
) -> None:
    tapes = []
    for composites in (1, 2):
        tape = new_tape()
        tape.place("O", 0, 8)
        for _ in range(composites):
            tape.add(COMPOSITE, ((), "O"))
        tapes.append(tape)
    topology = machine()
    trace = joined(tapes, topology, [(0, 1), (1, 0)])
    found = potential_hazards(trace, topology, policies["none"])
    assert Counter(found.pe.tolist()) == {0: 1}
