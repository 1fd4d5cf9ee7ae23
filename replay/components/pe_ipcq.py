"""PE_IPCQ: queues between neighbouring PEs, with a sending and a receiving copy engine each.

A message is max(1, ⌈bytes / slot_bytes⌉) fragments. Per fragment:

    send:     bytes / copy_bytes_per_ns at the sender; waits for a credit: the pop of the fragment
              `depth` before it in the queue, plus credit_latency_ns
    link:     the direction's link, from the send's first bytes on (noc)
    receive:  bytes / copy_bytes_per_ns at the receiver, into TCM; waits for the fragment to arrive,
              for its receive command, and for the fragment before it. Its end is the pop.

A send holds PE_CPU until it is accepted: until the send `send_depth` before it in the same queue has
departed (its last fragment is out). Its source is free when it has departed itself.
"""

from collections.abc import Iterator
from fractions import Fraction

from ...schemas.calibration import Calibration
from ...schemas.commands import CommandKind
from ...schemas.errors import KerntapeError
from ...schemas.stages import Block, StageKind, Why
from ...schemas.timeline import DurationClass
from ...schemas.topology import IpcqStructure, Topology
from ..command_plan import CommandPlan, CommandShape, EngineSlot
from .noc import LINK
from .pe_cpu import CPU

SEND = EngineSlot(Block.PE_IPCQ, "send", arbitrates=True)
RECEIVE = EngineSlot(Block.PE_IPCQ, "receive", arbitrates=True)

MAX_FRAGMENTS = 1 << 20
"""Of one message."""

HANDOVER = DurationClass("pe_ipcq.handover", 0)
CREDIT = DurationClass("pe_ipcq.credit", 0)


def copy_ns(calibration: Calibration, size_bytes: int) -> Fraction:
    """Between TCM and a queue. Source: assumption; ADR-0060 §0 gives the queues without a rate."""
    return size_bytes / Fraction(calibration.ipcq.copy_bytes_per_ns)


def credit_ns(calibration: Calibration, _: int) -> Fraction:
    """A freed slot's way back to the sender."""
    return Fraction(calibration.ipcq.credit_latency_ns)


def handover_ns(_: Calibration, __: int) -> Fraction:
    """From the copy's first bytes to the link: the shortest lag there is (1 ps)."""
    return Fraction(1, 1000)


EQUATIONS = {
    "pe_ipcq.copy": copy_ns,
    "pe_ipcq.credit": credit_ns,
    "pe_ipcq.handover": handover_ns,
}


def fragments(size_bytes: int, ipcq: IpcqStructure) -> Iterator[int]:
    """The bytes of each fragment of a message; an empty message is one empty fragment.

    Raises KerntapeError where one message has more fragments than one command can be planned in.
    """
    count = -(-size_bytes // ipcq.slot_bytes)
    if count > MAX_FRAGMENTS:
        raise KerntapeError(
            f"a message of {size_bytes:,} bytes is {count:,} fragments; it must be at most"
            f" {MAX_FRAGMENTS:,}: send it in parts, or raise ipcq.slot_bytes"
        )
    yield min(size_bytes, ipcq.slot_bytes)
    for first in range(ipcq.slot_bytes, size_bytes, ipcq.slot_bytes):
        yield min(size_bytes - first, ipcq.slot_bytes)


def plan_send(plan: CommandPlan, shape: CommandShape, dispatch: int, machine: Topology) -> None:
    """PE_CPU goes on when the send is accepted; it has finished when its last fragment has departed."""
    plan.resume = plan.add(StageKind.ACCEPT, CPU, after=(dispatch,), why=Why.DISPATCH)
    level = machine.directions[shape.form.direction].level
    for number, size_bytes in enumerate(
        fragments(shape.operand(0, "src").size_bytes, machine.ipcq)
    ):
        copy = DurationClass("pe_ipcq.copy", size_bytes)
        plan.finish = plan.add(StageKind.SEND, SEND, copy, after=(plan.resume,), op=0, tile=number)
        crossing = DurationClass(f"noc.{level}_link", size_bytes)
        link = plan.add(StageKind.LINK, LINK, crossing, op=0, tile=number)
        plan.release(link, plan.finish, Why.DATA, from_start=True, lag=HANDOVER)


def plan_receive(plan: CommandPlan, shape: CommandShape, dispatch: int, machine: Topology) -> None:
    """A recv blocks until the last fragment is in TCM; a recv_async returns at once."""
    out = shape.out(0)
    assert out is not None, "a receive writes the handle that it receives into"
    for number, size_bytes in enumerate(fragments(out.size_bytes, machine.ipcq)):
        copy = DurationClass("pe_ipcq.copy", size_bytes)
        plan.finish = plan.add(
            StageKind.RECV, RECEIVE, copy, after=(dispatch,), why=Why.DISPATCH, op=0, tile=number
        )
    plan.resume = dispatch if shape.form.kind is CommandKind.RECV_ASYNC else plan.finish
