"""Deadlocks: found whatever the calibration, told in words, with the depth that clears them."""

import pytest
from kerntape.replay.deadlock import clearing_depth, ends, explain
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.simpy_runner import run
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.deadlock import Deadlock

SEND, RECV = CommandKind.SEND, CommandKind.RECV


@pytest.fixture
def deadlock_of(pair, calibration, nothing_held):
    """The report of a replay of two PEs that cannot end."""

    def explained(here, there) -> Deadlock:
        trace = here.trace(pair, there)
        graph = lower(trace, pair, nothing_held)
        assert not ends(graph)
        times = run(graph, durations(graph, calibration))
        return explain(trace, pair, nothing_held, graph, times)

    return explained


def exchange(build, elements: int, first: CommandKind):
    """Both PEs exchange one message; both send first, or both receive first."""
    here, there = build, type(build)()
    for pe, direction in ((here, "E"), (there, "W")):
        kinds = (SEND, RECV) if first is SEND else (RECV, SEND)
        for kind in kinds:
            pe.message(kind, direction, pe.handle((elements,)))
    return here, there


def test_two_pes_that_both_receive_first_wait_for_each_other(build, deadlock_of):
    found = deadlock_of(*exchange(build, 8, RECV))
    # each recv waits for the fragment that the other sends only after its own recv
    assert [(blocked.rank, blocked.verb) for blocked in found.cycle] == [
        (0, "recv E"),
        (1, "send W"),
        (1, "recv W"),
        (0, "send E"),
    ]
    assert found.tail == ()
    assert found.clearing_depth is None


def test_a_blocked_command_says_where_it_stands_and_what_it_waits_for(build, deadlock_of):
    found = deadlock_of(*exchange(build, 8, RECV))
    assert str(found.cycle[0]) == (
        "PE 0 command 0 recv E (tiny.py:1) waits for a message to arrive: PE 1 command 1"
    )


def test_sends_that_fit_the_queue_do_not_deadlock(build, pair, nothing_held):
    here, there = exchange(build, 64, SEND)
    # 128 bytes are two fragments, two slots
    assert ends(lower(here.trace(pair, there), pair, nothing_held))


def test_three_messages_ahead_of_any_receive_deadlock_on_two_slots_and_need_one_more(
    build, pair, nothing_held, deadlock_of
):
    here, there = build, type(build)()
    for pe, direction in ((here, "E"), (there, "W")):
        for _ in range(5):
            pe.message(SEND, direction, pe.handle((8,)))
        for _ in range(5):
            pe.message(RECV, direction, pe.handle((8,)))
    # two slots are full after two sends; two more are accepted and wait for credit; the fifth needs
    # the third to depart (send depth 2), and so a third slot
    assert deadlock_of(here, there).clearing_depth == 3
    assert clearing_depth(here.trace(pair, there), pair, nothing_held) == 3


def test_a_straggler_is_no_deadlock(build, pair, nothing_held):
    here, there = build, type(build)()
    there.overhead(10**9)
    here.message(SEND, "E", here.handle((8,)))
    there.message(RECV, "W", there.handle((8,)))
    assert ends(lower(here.trace(pair, there), pair, nothing_held))


def test_a_long_run_of_commands_that_wait_for_their_turn_is_one_entry(build, deadlock_of):
    here, there = build, type(build)()
    for pe, direction in ((here, "E"), (there, "W")):
        pe.message(RECV, direction, pe.handle((8,)))
        for _ in range(50):
            pe.overhead(1)
        pe.message(SEND, direction, pe.handle((8,)))
    found = deadlock_of(here, there)
    assert [(blocked.rank, blocked.verb, blocked.for_command) for blocked in found.cycle] == [
        (0, "recv E", 51),
        (1, "send W", 0),
        (1, "recv W", 51),
        (0, "send E", 0),
    ]
