"""Names for people: of a stage's command, op and handles."""

from ...schemas.commands import CommandForm, CommandKind
from ...schemas.handles import Handle
from ...schemas.trace import Trace
from .findings import CommandName
from .memory import TCM
from .program import Program

MAX_OPS_NAMED = 3


def command_name(program: Program, stage: int) -> CommandName:
    """The stage's command."""
    return name_of_command(program.trace, *program.at(stage))


def name_of_command(trace: Trace, pe: int, command: int) -> CommandName:
    """The command of that index in the stream of a PE (index into Trace.pes)."""
    entry = trace.pes[pe]
    stream = trace.streams[entry.stream]
    line = trace.lines[int(stream.lines[command])]
    verb = _verb(trace.forms[int(stream.forms[command])])
    return CommandName(entry.rank, command, verb, str(line))


def _verb(form: CommandForm) -> str:
    """`load`, `send E`, `math exp`, `composite rmax, max_elem, exp_diff +6`."""
    kind = form.kind.name.lower()
    if form.kind not in (CommandKind.MATH, CommandKind.COMPOSITE):
        return f"{kind} {form.direction}".rstrip()
    named = ", ".join(op.kind for op in form.ops[:MAX_OPS_NAMED])
    more = f" +{len(form.ops) - MAX_OPS_NAMED}" if len(form.ops) > MAX_OPS_NAMED else ""
    return f"{kind} {named}{more}"


def op_index(program: Program, stage: int) -> int:
    """The op that the stage belongs to: one that reads or writes has one."""
    return program.ops[stage]


def op_kind(program: Program, stage: int) -> str:
    """What that op is called."""
    return program.form_of(stage).ops[op_index(program, stage)].kind


def written_handle(program: Program, stage: int) -> Handle:
    """The output of the stage's op."""
    return program.handle(stage, program.form_of(stage).op_slots[op_index(program, stage)][-1])


def operand_name(program: Program, stage: int, slot: int) -> str:
    """What the stage's op calls the handle in a slot."""
    form, index = program.form_of(stage), op_index(program, stage)
    return form.ops[index].operands[slot - form.op_slots[index].start]


def memory_name(program: Program, pe: int, tensor: int) -> str:
    """`tcm`, or the HBM tensor's name as the trace tells it of a PE (index into Trace.pes)."""
    return "tcm" if tensor == TCM else program.trace.tensor_name(program.trace.pes[pe], tensor)
