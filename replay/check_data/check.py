"""Checks the values of a replay: `check_data(timeline)`.

What is right is what the kernel computes in program order, with the same tiles: every difference is
then a matter of time, and is counted bit for bit. With the tile that the trace was captured with,
program order gives capture's own values; with another one they are compared within the dtype's
tolerance besides.
"""

from collections.abc import Callable
from dataclasses import dataclass

from ...schemas.errors import ConfigError, KerntapeError
from ...schemas.timeline import Status, Timeline
from ...schemas.trace import KeptInputs, Trace
from ..lower import lower
from ..machine import topology_of
from .execution import Execution
from .findings import DataCheck, FirstWrong, OutputCheck
from .first_wrong import Case, explain_output, explain_result
from .memory import Memory
from .outputs import Executed, check_outputs
from .program import Program
from .program_order import run_in_program_order
from .shape_checks import check_shapes
from .time_order import run_in_time_order
from .witnesses import Results


@dataclass(frozen=True, slots=True)
class Run:
    """An execution that is over: what lies in memory, and a digest of every stage's result."""

    memory: Memory
    results: dict[int, bytes]


def check_data(timeline: Timeline) -> DataCheck:
    """Executes the timeline's stages on the trace's kept inputs, in both orders, and compares.

    Raises ConfigError for a trace without kept inputs, KerntapeError for a replay that stopped in a
    deadlock and for a trace whose ops have no values.
    """
    inputs = _inputs_of(timeline)
    check_shapes(timeline.trace)
    program = Program(timeline.trace, timeline.topology, timeline.stages)
    ordered = in_program_order(program, inputs)
    timed = _executed(program, inputs, lambda run: run_in_time_order(run, timeline))
    executed = Executed(timed.memory, ordered.memory, _under_captures_tile(timeline, inputs))
    outputs = check_outputs(timeline.trace, executed)
    case = Case(timeline, program, inputs)
    return DataCheck(
        policy=timeline.policy.name,
        outputs=outputs,
        first_wrong=_first_wrong(case, timed.results, ordered.results, outputs),
    )


def in_program_order(program: Program, inputs: KeptInputs) -> Run:
    """The program executed as the kernel means it."""
    return _executed(program, inputs, lambda execution: run_in_program_order(execution, program))


def _executed(program: Program, inputs: KeptInputs, order: Callable[[Execution], None]) -> Run:
    memory = Memory(program.trace, inputs)
    results = Results(memory)
    order(Execution(program, memory, results))
    return Run(memory, results.of_stage)


def _inputs_of(timeline: Timeline) -> KeptInputs:
    if timeline.status is Status.DEADLOCK:
        raise KerntapeError(
            "the replay stopped in a deadlock and has no results to check; clear it first"
        )
    if timeline.trace.inputs is None:
        raise ConfigError(
            f"the trace of {timeline.trace.header.kernel} was captured without its inputs;"
            " capture again with --keep-inputs"
        )
    return timeline.trace.inputs


def _under_captures_tile(timeline: Timeline, inputs: KeptInputs) -> Memory | None:
    """What program order leaves under the trace's own tile; None where the timeline has the same."""
    captured_on = topology_of(timeline.trace)
    if timeline.topology.pe.tile == captured_on.pe.tile:
        return None
    graph = lower(timeline.trace, captured_on, timeline.policy)
    return in_program_order(Program(timeline.trace, captured_on, graph.stages), inputs).memory


def _first_wrong(
    case: Case,
    timed: dict[int, bytes],
    ordered: dict[int, bytes],
    outputs: tuple[OutputCheck, ...],
) -> FirstWrong | None:
    differing = [stage for stage, digest in timed.items() if digest != ordered[stage]]
    if differing:
        return explain_result(case, case.first_of(differing))
    wrong = next((output for output in outputs if not output.in_order), None)
    if wrong is None:
        return None
    return explain_output(case, (_seen_by(case.timeline.trace, wrong), wrong.tensor))


def _seen_by(trace: Trace, wrong: OutputCheck) -> int:
    """A PE (index into Trace.pes) that sees the first of the output's memories that are wrong."""
    seen = (
        place
        for place, pe in enumerate(trace.pes)
        if wrong.tensor < len(pe.owners) and pe.owners[wrong.tensor] == wrong.wrong_ranks[0]
    )
    return next(seen)
