"""Every message has two ends: found wherever one has not, and nowhere else."""

from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from kerntape.schemas.commands import CommandKind, OpForm
from kerntape.schemas.errors import FileError
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_checks import check_trace
from small_traces import PAIR, RECV, SEND, SQUARE, programmed, single

SENDS, RECEIVES = (CommandKind.SEND, SEND), (CommandKind.RECV, RECV)
POSTS = (CommandKind.RECV_ASYNC, RECV)
FILLS = (CommandKind.MATH, OpForm("fill", (), True), "")


def pair_of(*programs: list[tuple[CommandKind, OpForm, str]]) -> Trace:
    """PEs 0 and 1 of the pair with these commands, each of 32 bytes."""
    return programmed(PAIR, [[(single(*each), 8) for each in program] for program in programs])


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        # no end sends, so none is found wanting but those that receive
        (
            pair_of([(*RECEIVES, "E")], [FILLS]),
            "PE 0, command 0: receives from E for the 1st time, and PE 1 sends there never",
        ),
        # one end sends and one receives, but not each other's
        (
            pair_of([(*SENDS, "E")], [(*RECEIVES, "E")]),
            "PE 0, command 0: sends to E for the 1st time, and PE 1 receives there never",
        ),
        (
            pair_of([(*POSTS, "W")], [(*SENDS, "E")]),
            "PE 0, command 0: direction W must lead to a PE of the launch, not where no PE is",
        ),
        (
            pair_of([(*SENDS, "E")], [(*SENDS, "W")]),
            "PE 0, command 0: sends to E for the 1st time, and PE 1 receives there never",
        ),
        (
            pair_of([(*SENDS, "E"), (*RECEIVES, "W")], [(*RECEIVES, "W"), (*SENDS, "W")]),
            "PE 0, command 1: direction W must lead to a PE of the launch, not where no PE is",
        ),
        (
            pair_of([(*SENDS, "W")], [(*RECEIVES, "E")]),
            "PE 0, command 0: direction W must lead to a PE of the launch, not where no PE is",
        ),
    ],
)
def test_as_many_ends_that_receive_as_send_are_not_yet_matched(trace: Trace, message: str) -> None:
    with pytest.raises(FileError) as caught:
        check_trace(trace)
    assert str(caught.value) == message


def test_a_message_and_one_posted_for_it_match_whichever_way_it_goes() -> None:
    check_trace(pair_of([(*SENDS, "E")], [(*RECEIVES, "W")]))
    check_trace(pair_of([(*POSTS, "E")], [(*SENDS, "W")]))


def test_a_form_of_messages_that_no_command_has_needs_no_other_end() -> None:
    trace = pair_of([FILLS], [FILLS])
    check_trace(replace(trace, forms=(*trace.forms, single(CommandKind.SEND, SEND, "W"))))


MACHINE = Topology.model_validate(SQUARE)
Message = tuple[bool, str, int]
"""(whether it is sent, the direction, its elements)."""


def square(programs: list[list[Message]]) -> Trace:
    """PEs 0 to 3 in a square, each with these messages."""
    return programmed(
        SQUARE,
        [
            [
                (single(*(SENDS if is_sent else RECEIVES), direction), elements)
                for is_sent, direction, elements in messages
            ]
            for messages in programs
        ],
    )


def all_match(programs: list[list[Message]]) -> bool:
    """Whether each PE's messages of a direction are its peer's on the other side, one by one."""

    def of(rank: int, sends: bool, direction: str) -> list[int]:
        return [size for sent, way, size in programs[rank] if (sent, way) == (sends, direction)]

    for rank in range(4):
        for direction, wire in MACHINE.directions.items():
            for sends in (True, False):
                peer = MACHINE.peer(rank, direction)
                there = [] if peer is None else of(peer, not sends, wire.opposite)
                if of(rank, sends, direction) != there:
                    return False
    return True


EXCHANGES = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from("EWNS"), st.sampled_from([8, 16])), max_size=6
)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 3),
        st.sampled_from([None, 8, 16]),
        st.booleans(),
        st.sampled_from("EWNS"),
    ),
    max_size=2,
)


@settings(max_examples=150)
@given(EXCHANGES, CHANGES)
@example([(0, "E", 8)], [])
@example([(0, "E", 8), (1, "S", 8)], [(3, 0, None, False, "N")])  # one that is not received
@example([(0, "E", 8)], [(3, 0, 8, False, "N")])  # one that is not sent
def test_a_trace_is_refused_exactly_where_a_message_has_not_two_ends(
    exchanges: list[tuple[int, str, int]], changes: list[tuple[int, int, int | None, bool, str]]
) -> None:
    programs: list[list[Message]] = [[], [], [], []]
    for rank, direction, elements in exchanges:
        peer = MACHINE.peer(rank, direction)
        if peer is not None:
            programs[rank].append((True, direction, elements))
            programs[peer].append((False, MACHINE.directions[direction].opposite, elements))
    for rank, place, put, sends, direction in changes:
        if put is not None:
            programs[rank].insert(place, (sends, direction, put))
        elif place < len(programs[rank]):
            del programs[rank][place]
    if all_match(programs):
        check_trace(square(programs))
    else:
        with pytest.raises(FileError):
            check_trace(square(programs))
