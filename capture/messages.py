"""The queues between PEs while capture runs: unbounded, in order, one per (receiver, its direction).

A queue's n-th receive gets its n-th message, whichever is asked for first. A receive that finds no
message hands control back to the runner until there is one.
"""

from dataclasses import dataclass, field
from math import prod
from typing import Protocol, TypeAlias

from ..schemas.dtypes import DType
from ..schemas.errors import KernelError, did_you_mean
from ..schemas.op_rules import Shape
from ..schemas.topology import Topology
from ..schemas.trace import SourceLine
from ..schemas.values import Array

QueueName: TypeAlias = tuple[int, str]
"""(receiver's rank, the receiver's name for the direction)."""


class UnreceivedMessageError(KernelError):
    """A kernel ended and messages that it sent were never received."""


@dataclass(frozen=True, slots=True)
class Message:
    """What a send put on its way. `payload` is None where no values are computed."""

    shape: Shape
    dtype: DType
    line: SourceLine
    payload: Array | None


@dataclass(slots=True)
class Queue:
    """Messages by position, from the first not yet received on."""

    sender: int
    sent: int = 0
    asked: int = 0
    messages: dict[int, Message] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Awaited:
    """The message that a receive is for: `position` counts from 0 in its queue."""

    receiver: int
    direction: str
    peer: int
    position: int
    shape: Shape
    dtype: DType
    line: SourceLine


class Scheduler(Protocol):
    """Who runs the PEs."""

    def sleep(self, awaited: Awaited, line: SourceLine) -> None:
        """Lets others run until the awaited message has been sent; the PE stands at `line`."""
        ...

    def wake(self, queue: QueueName, position: int) -> None:
        """The message of that position has been sent."""
        ...


class Exchange:
    """All queues of a launch. `ranks` are the launched PEs."""

    def __init__(self, topology: Topology, ranks: tuple[int, ...]) -> None:
        self._topology = topology
        self._ranks = frozenset(ranks)
        self._queues: dict[QueueName, Queue] = {}
        self._peers: dict[QueueName, int] = {}

    def send(self, sender: int, direction: str, message: Message, scheduler: Scheduler) -> None:
        """Appends the message to the peer's queue. Raises KernelError where none is there."""
        receiver = self.peer(sender, direction)
        name = (receiver, self._topology.directions[direction].opposite)
        queue = self._queue(name, sender)
        queue.messages[queue.sent] = message
        queue.sent += 1
        scheduler.wake(name, queue.sent - 1)

    def ask(
        self, receiver: int, direction: str, shape: Shape, dtype: DType, line: SourceLine
    ) -> Awaited:
        """Takes the next place in the queue. Raises KernelError where the direction leads nowhere."""
        peer = self.peer(receiver, direction)
        queue = self._queue((receiver, direction), peer)
        queue.asked += 1
        return Awaited(receiver, direction, peer, queue.asked - 1, shape, dtype, line)

    def take(self, awaited: Awaited, line: SourceLine, scheduler: Scheduler) -> Message:
        """The awaited message, which must have the asked shape and dtype. Raises KernelError where it
        has not.

        `line` is where the receiver stands: at the receive, or where it waits for that.
        """
        messages = self._queue((awaited.receiver, awaited.direction), awaited.peer).messages
        while awaited.position not in messages:
            scheduler.sleep(awaited, line)
        message = messages.pop(awaited.position)
        if (message.shape, message.dtype) != (awaited.shape, awaited.dtype):
            raise _received_as_another(awaited, message, line)
        return message

    def check_all_received(self) -> None:
        """Raises UnreceivedMessageError naming the first message that nobody received."""
        left = [(name, queue) for name, queue in sorted(self._queues.items()) if queue.messages]
        if not left:
            return
        (receiver, direction), queue = left[0]
        message = queue.messages[min(queue.messages)]
        count = sum(len(each.messages) for _, each in left)
        raise UnreceivedMessageError(
            f"{count} message{'s were' if count > 1 else ' was'} sent and never received; the first:"
            f" {list(message.shape)} {message.dtype} from PE {queue.sender} at {message.line},"
            f" which PE {receiver} must receive from '{direction}'"
        )

    def _queue(self, name: QueueName, sender: int) -> Queue:
        queue = self._queues.get(name)
        if queue is None:
            queue = self._queues[name] = Queue(sender)
        return queue

    def peer(self, rank: int, direction: str) -> int:
        peer = self._peers.get((rank, direction))
        if peer is None:
            peer = self._peers[rank, direction] = self._find_peer(rank, direction)
        return peer

    def _find_peer(self, rank: int, direction: str) -> int:
        directions = self._topology.directions
        if direction not in directions:
            raise KernelError(f"no direction '{direction}'{did_you_mean(direction, directions)}")
        peer = self._topology.peer(rank, direction)
        if peer is None:
            place = self._topology.place(rank)
            raise KernelError(
                f"direction '{direction}' leads off the machine from pe {place.pe} of cube"
                f" {place.cube} of sip {place.sip}"
            )
        if peer not in self._ranks:
            raise KernelError(
                f"direction '{direction}' leads to PE {peer}, which is not part of this launch"
            )
        return peer


def _received_as_another(awaited: Awaited, message: Message, line: SourceLine) -> KernelError:
    asked_at = "" if line == awaited.line else f" at {awaited.line}"
    sizes = [(prod(each.shape), each.dtype) for each in (message, awaited)]
    remedy = "; tl.view it then" if sizes[0] == sizes[1] else ""
    return KernelError(
        f"the message from '{awaited.direction}' is {list(message.shape)} {message.dtype}, sent by PE"
        f" {awaited.peer} at {message.line}, and must be received as such, not as"
        f" {list(awaited.shape)} {awaited.dtype}{asked_at}{remedy}"
    )


@dataclass(frozen=True, slots=True)
class Port:
    """One PE's end of the exchange."""

    rank: int
    exchange: Exchange
    scheduler: Scheduler

    def check(self, direction: str) -> None:
        """Raises KernelError where the direction leads to no PE of the launch."""
        self.exchange.peer(self.rank, direction)

    def send(self, direction: str, message: Message) -> None:
        """Sends to the neighbour in that direction."""
        self.exchange.send(self.rank, direction, message, self.scheduler)

    def ask(self, direction: str, shape: Shape, dtype: DType, line: SourceLine) -> Awaited:
        return self.exchange.ask(self.rank, direction, shape, dtype, line)

    def take(self, awaited: Awaited, line: SourceLine) -> Message:
        return self.exchange.take(awaited, line, self.scheduler)
