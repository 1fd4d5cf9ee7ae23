"""Which commands are known to have finished when another begins, whatever the calibration.

The order that lowering builds into every stage graph (DESIGN: releases between commands):

- PE_CPU dispatches in program order; a blocking command has finished before the next dispatch, and
  a command's recorded waits before its own. Of the sends into one queue, all but the last
  `send_depth` have departed before the dispatch after a send. Receives from one queue finish in
  order.
- A composite is admitted after its dispatch, after the in-order retirement of the composite
  `composites_in_flight` before it and, unless composites may pass, after the admission of the one
  before it. It is dispatched after the admission of the composite `scheduler_queue` before it.
- What a policy holds begins (a composite: is admitted) after the finish of what it is held for.
- What is known when a command begins is known when it has finished.

Only *agents* (loads, composites, sends, recv_asyncs) can be unfinished when a later command is
dispatched. `CommandOrder` is walked command by command and keeps the unfinished ones, so a step
costs what is in flight and not what has been. Paths through other PEs are not followed.
"""

from collections import deque

from ...schemas.commands import CommandKind
from ...schemas.topology import Topology
from .accesses import AGENTS, StreamAccesses
from .signatures import NO_SIGNATURE


class Unfinished:
    """A set of commands, findable by kind, by signature and by whether they touch HBM."""

    def __init__(self, accesses: StreamAccesses) -> None:
        self._accesses = accesses
        self.commands: set[int] = set()
        self.composites: set[int] = set()
        self.by_signature: dict[int, dict[int, None]] = {}
        self.touching_hbm: dict[int, None] = {}

    def add(self, command: int) -> None:
        """The command is at work from now on."""
        self.commands.add(command)
        if self._accesses.kinds[command] == CommandKind.COMPOSITE:
            self.composites.add(command)
        signature = self._accesses.signatures[command]
        if signature != NO_SIGNATURE:
            self.by_signature.setdefault(signature, {})[command] = None
        if self._accesses.touches_hbm[command]:
            self.touching_hbm[command] = None

    def remove(self, command: int) -> None:
        """The command, which must be here, has finished."""
        self.commands.remove(command)
        self.composites.discard(command)
        self.touching_hbm.pop(command, None)
        signature = self._accesses.signatures[command]
        if signature != NO_SIGNATURE:
            alike = self.by_signature[signature]
            del alike[command]
            if not alike:
                del self.by_signature[signature]


class CommandOrder:
    """Walks a stream in program order: for each command `begin`, then any `hold`s, then `issue`.

    `unfinished` are the earlier agents not known to have finished when the command is dispatched.
    """

    def __init__(self, accesses: StreamAccesses, topology: Topology, passing: bool) -> None:
        self.unfinished = Unfinished(accesses)
        self._accesses = accesses
        self._in_flight = topology.pe.composites_in_flight
        self._queue = topology.pe.scheduler_queue
        self._send_depth = topology.ipcq.send_depth
        self._passing = passing
        self._admitted: list[int] = []
        self._sent: dict[str, deque[int]] = {}
        self._receiving: dict[str, deque[int]] = {}
        self._known_at_admission: dict[int, set[int]] = {}
        self._known_at_retirement: set[int] = set()

    def begin(self, command: int) -> set[int]:
        """Takes the next command to its begin. Returns the members of `unfinished` that are known to
        have finished there all the same (a composite's admission comes after its dispatch)."""
        for waited in self._accesses.waits(command):
            self._learn(self._known_by_finish(waited))
        if self._accesses.kinds[command] != CommandKind.COMPOSITE:
            return set()
        ordinal = len(self._admitted)
        if ordinal >= self._queue:
            self._learn(self._known_at_admission[self._admitted[ordinal - self._queue]])
        return self._admit(ordinal)

    def hold(self, command: int, earlier: int, known: set[int]) -> None:
        """The command begins after `earlier` has finished: adds what follows to what is known."""
        finished = self._known_by_finish(earlier)
        if self._accesses.kinds[command] == CommandKind.COMPOSITE:
            known |= finished & self.unfinished.commands
        else:
            self._learn(finished)

    def issue(self, command: int, known: set[int]) -> None:
        """Leaves the command behind: what it does may be unfinished from now on."""
        kind = self._accesses.kinds[command]
        if kind in AGENTS:
            self.unfinished.add(command)
        match kind:
            case CommandKind.COMPOSITE:
                self._remember_admission(command, known)
            case CommandKind.SEND:
                self._accept(command)
            case CommandKind.RECV_ASYNC:
                self._receiving_like(command).append(command)
            case CommandKind.RECV:
                self._learn(self._known_by_finish(command))

    def _admit(self, ordinal: int) -> set[int]:
        known: set[int] = set()
        if ordinal and not self._passing:
            known |= self._known_at_admission[self._admitted[ordinal - 1]]
        if ordinal >= self._in_flight:
            known |= self._retire(self._admitted[ordinal - self._in_flight])
        known &= self.unfinished.commands
        return known

    def _retire(self, composite: int) -> set[int]:
        """What is known when the composite has retired, and with it all composites before it."""
        retired = self._known_at_retirement
        retired |= self._known_by_finish(composite)
        retired &= self.unfinished.commands
        return retired

    def _remember_admission(self, composite: int, known: set[int]) -> None:
        self._known_at_admission[composite] = known
        self._admitted.append(composite)
        forgotten = len(self._admitted) - 1 - self._in_flight - self._queue
        if forgotten >= 0:
            # the dispatch of this composite knew all that the forgotten one's finish can tell
            del self._known_at_admission[self._admitted[forgotten]]

    def _accept(self, send: int) -> None:
        sent = self._sent.setdefault(self._accesses.form(send).direction, deque())
        sent.append(send)
        if len(sent) > self._send_depth:
            self._learn({sent.popleft()})

    def _receiving_like(self, receive: int) -> deque[int]:
        """The unfinished receives from the same queue, in order."""
        queue = self._receiving.setdefault(self._accesses.form(receive).direction, deque())
        while queue and queue[0] not in self.unfinished.commands:
            queue.popleft()
        return queue

    def _known_by_finish(self, command: int) -> set[int]:
        """What has finished when the command has, as far as its dispatch did not know it: itself,
        what its admission knew, or the receives before it in its queue."""
        match self._accesses.kinds[command]:
            case CommandKind.COMPOSITE:
                return self._known_at_admission.get(command, set()) | {command}
            case CommandKind.RECV | CommandKind.RECV_ASYNC:
                receiving = self._receiving_like(command)
                return {one for one in receiving if one <= command}
        return {command}

    def _learn(self, finished: set[int]) -> None:
        for command in finished & self.unfinished.commands:
            self.unfinished.remove(command)
