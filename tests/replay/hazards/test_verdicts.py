"""What each policy makes of one pair: the worked example of decode opt2, pair by pair."""

import pytest
from kerntape.replay.hazards.held import held_pairs
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.hazards.verdicts import Verdict, verdict

HELD, ORDERED, UNORDERED = Verdict.HELD, Verdict.ORDERED, Verdict.UNORDERED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("none", UNORDERED),
        ("rw_handles", UNORDERED),
        ("strict_fifo", UNORDERED),
        ("byte_range", HELD),
        ("rw_aware", HELD),
        ("serial", HELD),
    ],
)
def test_with_one_slot_the_next_scores_overwrite_those_still_read(
    name, expected, opt2, machine, policies
) -> None:
    """WAR: #2 of tile 0 (command 1) reads the bytes that #1 of tile 1 (command 2) writes, under
    another handle: only a policy that compares bytes, or everything, sees it."""
    topology = machine(in_flight=8, queue=8)
    trace = opt2(8, 1).trace(topology)
    assert verdict(trace, topology, policies[name], 0, (1, 2)) is expected


def test_what_follows_from_another_hold_is_ordered_anyway(opt2, machine, policies) -> None:
    """#2 of tile 2 (command 5) is held for #2 of tile 1, which was held for #2 of tile 0."""
    topology = machine(in_flight=8, queue=8)
    trace = opt2(8, 1).trace(topology)
    assert verdict(trace, topology, policies["strict_fifo"], 0, (3, 5)) is HELD
    assert verdict(trace, topology, policies["strict_fifo"], 0, (1, 5)) is ORDERED


@pytest.mark.parametrize("name", ["none", "rw_handles", "strict_fifo", "byte_range", "serial"])
def test_a_verdict_agrees_with_the_tables_of_all_pairs(name, opt2, machine, policies) -> None:
    topology = machine(in_flight=8, queue=8)
    trace = opt2(4, 1).trace(topology)
    policy = policies[name]
    held = held_pairs(trace, trace.streams[0], topology, policy)
    for pair in zip(held.earlier.tolist(), held.later.tolist(), strict=True):
        assert verdict(trace, topology, policy, 0, pair) is HELD
    open_ = potential_hazards(trace, topology, policy)
    for pair in zip(open_.earlier.tolist(), open_.later.tolist(), strict=True):
        assert verdict(trace, topology, policy, 0, pair) is UNORDERED


def test_a_command_that_the_stream_has_not_is_refused(opt2, machine, policies) -> None:
    topology = machine(in_flight=8, queue=8)
    with pytest.raises(IndexError, match="the stream has no command 99"):
        verdict(opt2(2, 1).trace(topology), topology, policies["none"], 0, (0, 99))
