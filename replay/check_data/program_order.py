"""Executes a trace as the kernel means it: every command complete before the next of its PE.

A message that is received asynchronously is delivered as in capture: before the first later command
of its PE that waits for it or touches its bytes, or at the PE's end. A PE that needs a fragment that
is not sent yet lets the others go on.
"""

from collections.abc import Iterator

from ...schemas.columns import offsets_of
from ...schemas.commands import CommandKind
from ...schemas.errors import KerntapeError
from ...schemas.footprints import footprint, shared_bytes
from ...schemas.handles import Handle
from ...schemas.stages import StageKind
from ...schemas.trace import Trace
from .execution import Execution
from .program import FragmentName, Program


def run_in_program_order(execution: Execution, program: Program) -> None:
    """Executes every stage. Raises KerntapeError where a message is received and never sent."""
    runs = {pe: _run_pe(execution, program, pe) for pe in range(len(program.trace.pes))}
    awaited: dict[int, FragmentName | None] = dict.fromkeys(runs)
    while awaited:
        able = [pe for pe, name in awaited.items() if name is None or execution.is_sent(name)]
        if not able:
            raise KerntapeError(_never_sent(program.trace, awaited))
        for pe in able:
            name = next(runs[pe], None)
            if name is None:
                del awaited[pe]
            else:
                awaited[pe] = name


def _never_sent(trace: Trace, awaited: dict[int, FragmentName | None]) -> str:
    pe = min(awaited)
    return (
        f"PE {trace.pes[pe].rank} receives a message that nobody sends: the trace is not whole;"
        " capture it again"
    )


def _run_pe(execution: Execution, program: Program, pe: int) -> Iterator[FragmentName]:
    """Executes one PE's commands; yields each fragment that it must wait for."""
    stream = program.trace.streams[program.trace.pes[pe].stream]
    waits, offsets = stream.waits.tolist(), offsets_of(stream.wait_counts).tolist()
    asked: dict[int, None] = {}
    for command in range(stream.command_count):
        awaited = waits[offsets[command] : offsets[command + 1]]
        for arriving in [
            each for each in asked if _comes_first(program, pe, each, command, awaited)
        ]:
            del asked[arriving]
            yield from _run_command(execution, program, pe, arriving)
        if program.form(pe, command).kind is CommandKind.RECV_ASYNC:
            asked[command] = None
        else:
            yield from _run_command(execution, program, pe, command)
    for command in asked:
        yield from _run_command(execution, program, pe, command)


def _comes_first(program: Program, pe: int, receive: int, command: int, awaited: list[int]) -> bool:
    """Whether a receive's message must be there before the command."""
    (target,) = program.handles(pe, receive)
    return receive in awaited or any(
        _share_bytes(target, handle) for handle in program.handles(pe, command)
    )


def _share_bytes(one: Handle, other: Handle) -> bool:
    if one.tensor != other.tensor:
        return False
    places = footprint(one.geometry, one.address), footprint(other.geometry, other.address)
    return shared_bytes(*places) is not None


def _run_command(
    execution: Execution, program: Program, pe: int, command: int
) -> Iterator[FragmentName]:
    for stage in program.stages_of(pe, command):
        if program.kinds[stage] == StageKind.RECV:
            fragment = program.fragment_of[stage]
            if not execution.is_sent(fragment):
                yield fragment
        execution.start(stage)
        execution.end(stage)
