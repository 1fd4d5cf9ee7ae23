"""decode opt2, 8 tiles, a window of 8: the example that docs/hazards.md tells."""

from collections import Counter

import pytest
from kerntape.replay.hazards.held import held_pairs
from kerntape.replay.hazards.potential import check_statically, potential_hazards


def _kinds(told, tape, machine, policy) -> Counter:
    topology = machine(in_flight=8, queue=8)
    found = potential_hazards(tape.trace(topology), topology, policy)
    return Counter(kind for kind, _, _ in told(found))


def test_strict_fifo_with_one_slot_lets_the_next_scores_overwrite_those_still_read(
    told, opt2, machine, policies
) -> None:
    # command 2t is #1 of tile t, 2t+1 its #2. #1 of tile t+1 has its scores under another handle, so
    # nothing holds it for #2 of tile t, which may still read the same bytes: 7 tiles have a next one.
    # The tile after that is ordered: #1 (t+2) is admitted after #2 (t+1), which is held for O by #2 t.
    topology = machine(in_flight=8, queue=8)
    found = potential_hazards(opt2(8, 1).trace(topology), topology, policies["strict_fifo"])
    assert told(found) == [("WAR", 2 * t + 1, 2 * t + 2) for t in range(7)]
    assert (found.byte_from[0], found.byte_to[0]) == (1024, 1056)


def test_strict_fifo_with_two_slots_orders_everything(told, opt2, machine, policies) -> None:
    assert not _kinds(told, opt2(8, 2), machine, policies["strict_fifo"])


def test_rw_handles_lets_2_read_scores_before_1_has_written_them(
    told, opt2, machine, policies
) -> None:
    # Composite k knows that k−8 and all before it have finished (the in-flight limit), and every #2
    # that the one before it has. No #1 is known otherwise, so with one slot:
    # RAW #1 t → #2 u, u ≥ t:      2(u−t)+1 < 8, u−t ≤ 3: 8+7+6+5 = 26
    # WAW #1 t → #1 u, u > t:      2(u−t) < 8, u−t ≤ 3: 7+6+5 = 18
    # WAR #2 t → #1 t+1:           7 (later ones know #2 t from the chain over m, l, O)
    counts = _kinds(told, opt2(8, 1), machine, policies["rw_handles"])
    assert counts == {"RAW": 26, "WAW": 18, "WAR": 7}


def test_rw_handles_with_two_slots_still_lets_2_read_too_early(
    told, opt2, machine, policies
) -> None:
    # Tiles meet every second one: RAW u−t in {0, 2}: 8+6; WAW u−t = 2: 6; WAR t → t+2 is ordered.
    counts = _kinds(told, opt2(8, 2), machine, policies["rw_handles"])
    assert counts == {"RAW": 14, "WAW": 6}


@pytest.mark.parametrize("name", ["byte_range", "rw_aware", "serial"])
@pytest.mark.parametrize("slots", [1, 2, 3])
def test_sound_policies_leave_nothing_unordered(name, slots, told, opt2, machine, policies) -> None:
    assert not _kinds(told, opt2(8, slots), machine, policies[name])


def test_none_orders_nothing_within_the_window(told, opt2, machine, policies) -> None:
    # As rw_handles, and every pair of #2s and of #2 → #1 in the window is open too. One slot:
    # RAW #1 t → #2 u 26;  WAR #2 t → #1 u, 2(u−t)−1 < 8, u−t ≤ 4: 7+6+5+4 = 22
    # WAW #1 → #1 18, and #2 t → #2 u 18: told by their first ops, which both write P
    counts = _kinds(told, opt2(8, 1), machine, policies["none"])
    assert counts == {"RAW": 26, "WAW": 36, "WAR": 22}


def test_strict_fifo_holds_2_for_its_scores_and_knows_the_rest(
    told, opt2, machine, policies
) -> None:
    # #2 t: held for #1 t (scores); #2 (t−1) is not implied by that (#1 t is not held for it), so it
    # is held for #2 (t−1) as well.
    topology = machine(in_flight=8, queue=8)
    trace = opt2(3, 2).trace(topology)
    holds = held_pairs(trace, trace.streams[0], topology, policies["strict_fifo"])
    assert told(holds) == [
        ("RAW", 0, 1),
        ("RAW", 1, 3),
        ("RAW", 2, 3),
        ("RAW", 3, 5),
        ("RAW", 4, 5),
    ]
    names = [trace.strings[handle] for handle in holds.later_handle]
    assert names == ["S0", "m", "S1", "m", "S2"]


def test_serial_holds_every_command_for_the_one_before_it_alone(
    told, opt2, machine, policies
) -> None:
    topology = machine(in_flight=8, queue=8)
    trace = opt2(3, 2).trace(topology)
    holds = held_pairs(trace, trace.streams[0], topology, policies["serial"])
    assert [(earlier, later) for _, earlier, later in told(holds)] == [(i, i + 1) for i in range(5)]


def test_pes_that_share_a_stream_are_checked_once_and_counted_each(opt2, machine, policies) -> None:
    topology = machine(in_flight=8, queue=8)
    one = check_statically(opt2(8, 1).trace(topology), topology, policies["strict_fifo"])
    three = check_statically(
        opt2(8, 1).trace(topology, ranks=(0, 1, 2)), topology, policies["strict_fifo"]
    )
    assert three.pairs_checked == 3 * one.pairs_checked
    assert three.hazards.pe.tolist() == [0] * 7 + [1] * 7 + [2] * 7
    assert three.hazards.later.tolist() == one.hazards.later.tolist() * 3
