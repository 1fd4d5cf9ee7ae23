"""Captures of gqa_decode over several ranks, and what their PEs say to each other."""

from kerntape.capture.capture import CaptureResult, capture
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Command, Trace
from kerntape.topologies.loader import resolve_topology

VARIANTS = ("opt1", "opt2", "opt3")
SMALL = {"g": 2, "d": 16, "tile": 8, "dtype": "f32"}
MESSAGES = (CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC)


def decoded(
    topology: str | Topology = "llama70b_4sip", *, with_data: bool = False, **arguments: object
) -> CaptureResult:
    """A small decode: 2 query heads of 16, tiles of 8 keys, unless the arguments say otherwise."""
    machine = resolve_topology(topology) if isinstance(topology, str) else topology
    texts = {name: str(value) for name, value in (SMALL | arguments).items()}
    return capture("gqa_decode", machine, texts, with_data=with_data)


def commands(trace: Trace, pe: int) -> list[Command]:
    """The commands of the launch's PE number `pe`, in rank order, from 0."""
    return list(trace.commands(trace.streams[trace.pes[pe].stream]))


def messages(trace: Trace, pe: int) -> list[str]:
    """What the PE receives and sends, in order: `< W` and `> E`, and the label of what moves."""
    return [
        f"{'>' if command.kind is CommandKind.SEND else '<'} {command.form.direction}"
        f" {command.handles[0].label}"
        for command in commands(trace, pe)
        if command.kind in MESSAGES
    ]


def directions(trace: Trace, pe: int) -> list[str]:
    """The same, one word for the three messages of a state, which must stand together in order."""
    found = messages(trace, pe)
    states = [found[first : first + 3] for first in range(0, len(found), 3)]
    for state in states:
        way = state[0].rpartition(" ")[0]
        assert [label.rpartition(" ")[0] for label in state] == [way] * 3, state
    return [state[0].rpartition(" ")[0] for state in states]


def stored_by(trace: Trace) -> list[int]:
    """The PEs that store, one entry a store."""
    return [
        pe
        for pe in range(len(trace.pes))
        for command in commands(trace, pe)
        if command.kind is CommandKind.STORE
    ]
