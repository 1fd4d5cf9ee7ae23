"""Names for people: of stages, commands and handles, and labels short enough to stand on a bar."""

from ...schemas.commands import CommandKind
from ...schemas.handles import Handle, Space
from ...schemas.stages import StageKind
from .index import TimelineIndex
from .text import printable

KIND_WORDS = {
    StageKind.DISPATCH: "dispatch",
    StageKind.ADMIT: "admission",
    StageKind.PLAN: "planning",
    StageKind.HBM_READ: "HBM read",
    StageKind.DMA_READ: "DMA read",
    StageKind.FETCH: "fetch",
    StageKind.GEMM: "GEMM",
    StageKind.MATH: "MATH",
    StageKind.DMA_WRITE: "DMA write",
    StageKind.HBM_WRITE: "HBM write",
    StageKind.FINISH: "finish",
    StageKind.RETIRE: "retirement",
    StageKind.ACCEPT: "acceptance",
    StageKind.SEND: "send",
    StageKind.LINK: "link",
    StageKind.RECV: "receive",
}

MAX_OPS_NAMED = 3


def kind_words(index: TimelineIndex, stage: int) -> str:
    """What kind of stage it is; a MATH stage with its op: `MATH exp_diff`."""
    kind = index.kind(stage)
    words = KIND_WORDS[kind]
    op = index.op(stage)
    if kind is StageKind.MATH and op >= 0:
        ops = index.form(index.pe(stage), index.command(stage)).ops
        return f"{words} {printable(ops[op].kind)}"
    return words


def stage_name(index: TimelineIndex, stage: int, beside: int = -1) -> str:
    """`GEMM tile 3 of command 31`; without what it shares with the stage `beside` it."""
    name = kind_words(index, stage)
    if index.tile(stage) >= 0:
        name += f" tile {index.tile(stage) + 1}"
    if beside >= 0 and index.command_position(beside) == index.command_position(stage):
        return name
    name += f" of command {index.command(stage)}"
    if beside >= 0 and index.pe(beside) != index.pe(stage):
        name += f" on {index.pe_names[index.pe(stage)]}"
    return name


def tile_words(index: TimelineIndex, stage: int) -> str:
    """`tile 3 of 4`: counted among the command's stages of that kind and op; empty for none."""
    if index.tile(stage) < 0:
        return ""
    alike = index.commands.stages(index.command_position(stage))
    stages = index.timeline.stages
    mine = slice(alike.start, alike.stop)
    same = (stages.kind[mine] == stages.kind[stage]) & (stages.op[mine] == stages.op[stage])
    count = int(stages.tile[mine][same].max()) + 1
    return f"tile {index.tile(stage) + 1} of {count}"


def command_words(index: TimelineIndex, pe: int, command: int) -> str:
    """`composite: rmax, gemm, add`; of a long one the first ops, and how many more there are."""
    form = index.form(pe, command)
    verb = form.kind.name.lower()
    ops = [printable(op.kind) for op in form.ops]
    if form.kind in (CommandKind.MATH, CommandKind.COMPOSITE):
        named = ", ".join(ops[:MAX_OPS_NAMED])
        more = f" +{len(ops) - MAX_OPS_NAMED}" if len(ops) > MAX_OPS_NAMED else ""
        return f"{verb} {named}{more}"
    return f"{verb} {form.direction}".rstrip()


def handle_name(handle: Handle) -> str:
    """The handle's label, or its number where it has none."""
    return printable(handle.label) or f"handle {handle.id}"


def shape_words(handle: Handle) -> str:
    """`8×64 bf16`."""
    shape = "×".join(map(str, handle.geometry.shape)) or "scalar"
    return f"{shape} {handle.geometry.dtype.value}"


def place_words(index: TimelineIndex, pe: int, handle: Handle) -> str:
    """`tcm 0x4a00 1024 B`, `hbm K+0x1000 8192 B`: a TCM address, or an offset in an HBM tensor."""
    size = f"{handle.geometry.size_bytes} B"
    if handle.geometry.space is Space.TCM:
        return f"tcm {handle.address:#x} {size}"
    trace = index.timeline.trace
    name = printable(trace.tensor_name(trace.pes[pe], handle.tensor))
    return f"hbm {name}+{handle.address:#x} {size}"


def bar_labels(index: TimelineIndex, stage: int) -> tuple[str, ...]:
    """What may be written on a stage's bar, the longest first."""
    kind = index.kind(stage)
    command = index.command(stage)
    if kind is StageKind.DISPATCH:
        verb = index.form(index.pe(stage), command).kind.name.lower()
        return f"#{command} {verb}", f"#{command}"
    if kind is StageKind.MATH:
        op = kind_words(index, stage).removeprefix("MATH ")
        return f"{op} #{command}", op
    tile = f"{index.tile(stage) + 1}" if index.tile(stage) >= 0 else ""
    if kind in (StageKind.HBM_READ, StageKind.DMA_READ):
        moved = _moved(index, stage)
        return f"{moved} {tile}".strip(), moved or tile
    return f"#{command}.{tile}" if tile else f"#{command}", tile or f"#{command}"


def _moved(index: TimelineIndex, stage: int) -> str:
    """What a read moves: the op's operands that lie in HBM."""
    handles = op_reads(index, stage)
    return " ".join(handle_name(h) for h in handles if h.geometry.space is Space.HBM)


def op_reads(index: TimelineIndex, stage: int) -> list[Handle]:
    """What the stage's op reads, or the whole command where the stage has no op; each handle once."""
    pe, command, op = index.pe(stage), index.command(stage), index.op(stage)
    form, handles = index.form(pe, command), index.handles(pe, command)
    return list(dict.fromkeys(handles[slot] for at, slot in form.read_slots if op in (at, -1)))


def op_writes(index: TimelineIndex, stage: int) -> list[Handle]:
    """What the stage's op writes, or the whole command where the stage has no op; each handle once."""
    pe, command, op = index.pe(stage), index.command(stage), index.op(stage)
    form, handles = index.form(pe, command), index.handles(pe, command)
    return list(dict.fromkeys(handles[slot] for at, slot in form.write_slots if op in (at, -1)))
