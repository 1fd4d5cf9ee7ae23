"""The queues between PEs in the stage graph: who sends into which queue, and what releases what.

Fragment f of a queue (counted over all its messages) is received after it has arrived and after
fragment f − 1; it is sent after the pop of fragment f − depth has been credited. These are the only
releases that cross PEs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Int32s
from ..schemas.commands import CommandKind
from ..schemas.errors import KerntapeError
from ..schemas.stages import StageKind, Why
from ..schemas.timeline import DurationClass
from ..schemas.topology import Topology
from ..schemas.trace import Stream, Trace
from .command_plan import NO_TIME
from .components.pe_ipcq import CREDIT

RECEIVES = (CommandKind.RECV, CommandKind.RECV_ASYNC)


@dataclass(frozen=True)
class Port:
    """One PE's end of the queues of one direction: stages in queue order.

    Sending: `sent` and `carried` per fragment, `accepted` and `departed` per message. Receiving
    (from the neighbour in that direction): `received` per fragment.
    """

    direction: str
    sent: Int32s
    carried: Int32s
    accepted: Int32s
    departed: Int32s
    received: Int32s


@dataclass(frozen=True, slots=True)
class Edges:
    """A batch of releases between stages, all by ends, with one lag and for one reason."""

    released: Int32s
    releaser: Int32s
    why: Why
    lag: DurationClass = NO_TIME


def ports_of(
    trace: Trace, stream: Stream, kind: Int32s, command: Int32s, resume: Int32s, finish: Int32s
) -> tuple[Port, ...]:
    """The stream's ports. `kind` and `command` are per stage, `resume` and `finish` per command."""
    directions = sorted({form.direction for form in trace.forms if form.direction})
    number = {direction: place for place, direction in enumerate(["", *directions])}
    form_direction = np.array([number[form.direction] for form in trace.forms], dtype=np.int32)
    direction_of = form_direction[stream.forms] if len(trace.forms) else stream.forms
    sends = trace.form_kinds[stream.forms] == CommandKind.SEND
    ports = []
    for direction in directions:
        here = direction_of == number[direction]
        if not here.any():
            continue
        rows = np.flatnonzero(here & sends)
        stage_here = here[command]
        ports.append(
            Port(
                direction=direction,
                sent=_stages(stage_here & (kind == StageKind.SEND)),
                carried=_stages(stage_here & (kind == StageKind.LINK)),
                accepted=resume[rows],
                departed=finish[rows],
                received=_stages(stage_here & (kind == StageKind.RECV)),
            )
        )
    return tuple(ports)


def _stages(chosen: np.ndarray) -> Int32s:
    return np.flatnonzero(chosen).astype(np.int32)


def own_edges(port: Port, send_depth: int) -> Iterator[Edges]:
    """The releases of a port that stay in its PE."""
    yield Edges(port.accepted[send_depth:], port.departed[:-send_depth], Why.SEND_DEPTH)
    yield Edges(port.received[1:], port.received[:-1], Why.DATA)


def crossing_edges(
    sender: Port, receiver: Port, sender_first: int, receiver_first: int, topology: Topology
) -> Iterator[Edges]:
    """The releases of one queue between two PEs, whose stages count from `…_first`."""
    level = topology.directions[sender.direction].level
    depth = topology.ipcq.depth
    carried, sent = sender.carried + sender_first, sender.sent + sender_first
    received = receiver.received + receiver_first
    hop = DurationClass(f"noc.{level}_hop", 0)
    yield Edges(received, carried, Why.MESSAGE, hop)
    yield Edges(sent[depth:], received[:-depth], Why.CREDIT, CREDIT)


def check_matched(sender_rank: int, sent: int, receiver_rank: int, received: int, way: str) -> None:
    """A queue must give out as many fragments as go in; capture and reading a trace see to it."""
    if sent != received:
        raise KerntapeError(
            f"PE {sender_rank} sends {sent} fragments {way} and PE {receiver_rank} receives"
            f" {received}: the trace is not whole; capture it again"
        )
