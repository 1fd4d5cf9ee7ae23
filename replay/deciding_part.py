"""The part of a trace that decides whether its replay can end, small however long the trace is.

Within a PE every release leads from a command to itself or to a later one, so a cycle of the stage
graph passes through the queues of two PEs at least. What a PE does before its first message has
always happened, and what it does after its last holds nobody else up: both are left out. Into how
many tiles a GEMM is cut does not matter either, since others are released by its command's finish
alone.
"""

from dataclasses import dataclass, replace

import numpy as np

from ..schemas.columns import Bools, Int64s
from ..schemas.deadlock import BlockedCommand, Deadlock
from ..schemas.topology import Topology
from ..schemas.trace import Stream, Trace

WHOLE_GEMM = dict.fromkeys("mkn", 1 << 20)
"""A tile that no GEMM exceeds."""


@dataclass(frozen=True)
class DecidingPart:
    """`trace` has, of each stream, the commands from its first message to its last.

    `first[s]` is the number that the first of them has in the whole stream s.
    """

    trace: Trace
    first: tuple[int, ...]

    def in_whole_trace(self, deadlock: Deadlock) -> Deadlock:
        """The deadlock of this part with the commands' numbers in the whole trace."""
        first = {pe.rank: self.first[pe.stream] for pe in self.trace.pes}

        def numbered(blocked: BlockedCommand) -> BlockedCommand:
            return replace(
                blocked,
                command=blocked.command + first[blocked.rank],
                for_command=blocked.for_command + first[blocked.for_rank],
            )

        cycle, tail = (tuple(map(numbered, part)) for part in (deadlock.cycle, deadlock.tail))
        return replace(deadlock, cycle=cycle, tail=tail)


def deciding_part(trace: Trace) -> DecidingPart:
    """That part of the trace."""
    is_message = np.array([form.direction != "" for form in trace.forms], dtype=np.bool_)
    spans = [_span(stream, is_message) for stream in trace.streams]
    streams = tuple(
        _cut(stream, span, trace.slot_offsets(stream))
        for stream, span in zip(trace.streams, spans, strict=True)
    )
    return DecidingPart(replace(trace, streams=streams), tuple(span.start for span in spans))


def with_whole_gemms(topology: Topology) -> Topology:
    """The machine, but that it does every GEMM in one tile."""
    tile = topology.pe.tile.model_copy(update=WHOLE_GEMM)
    return topology.model_copy(update={"pe": topology.pe.model_copy(update={"tile": tile})})


def _span(stream: Stream, is_message: Bools) -> range:
    """The commands from the first message to the last; none where there is no message."""
    messages = np.flatnonzero(is_message[stream.forms])
    return range(int(messages[0]), int(messages[-1]) + 1) if len(messages) else range(0)


def _cut(stream: Stream, span: range, slot_offsets: Int64s) -> Stream:
    """These commands of the stream. Their waits for earlier ones are left out."""
    commands = slice(span.start, span.stop)
    waiting = np.repeat(np.arange(stream.command_count), stream.wait_counts)
    kept = (waiting >= span.start) & (waiting < span.stop) & (stream.waits >= span.start)
    counts = np.bincount(waiting[kept] - span.start, minlength=len(span))
    return replace(
        stream,
        forms=stream.forms[commands],
        lines=stream.lines[commands],
        wait_counts=counts.astype(np.int32),
        slots=stream.slots[slot_offsets[span.start] : slot_offsets[span.stop]],
        waits=(stream.waits[kept] - span.start).astype(np.int32),
    )
