"""Jumps: the cursor to a time, a command, a PE or a kernel line. What is not there is said."""

import re
from dataclasses import replace

import numpy as np

from ...schemas.columns import Int64s
from ...schemas.errors import KerntapeError
from . import times
from .index import NO_STAGE, TimelineIndex
from .lanes import engine_title
from .look import Look, jump, window
from .steps import nearest_in_row
from .text import quoted

_LINE = re.compile(r"(?:(.*?):)?([0-9]{1,9})")


class JumpError(KerntapeError):
    """There is no such place in this timeline."""


def to_time(index: TimelineIndex, look: Look, time_ps: int) -> Look:
    """The row's stage at a time, the time itself in the middle of the window. A time outside the
    timeline is its nearer end (`beyond_words` says so).
    """
    inside = min(max(time_ps, 0), index.timeline.makespan_ps)
    look = window(index, look, inside - look.span_ps // 2, look.span_ps)
    if look.row < 0:
        return look
    stage = nearest_in_row(index, index.tree.rows[look.row], inside)
    return replace(look, stage=stage, at_ps=inside, trail=(), is_placed=True)


def beyond_words(index: TimelineIndex, time_ps: int) -> str:
    """Where the timeline ends or begins, for a time that lies outside; '' for one inside."""
    if time_ps > index.timeline.makespan_ps:
        return f"the timeline ends at {times.exact(index.timeline.makespan_ps)}"
    return "the timeline begins at 0 ps" if time_ps < 0 else ""


def to_command(index: TimelineIndex, look: Look, command: int) -> Look:
    """The dispatch of a command of the cursor's PE. JumpError where it has no stage."""
    return jump(index, look, first_stage(index, _pe(index, look), command))


def first_stage(index: TimelineIndex, pe: int, command: int) -> int:
    """The first stage of a PE's command. JumpError where it has none."""
    position = index.commands.position(pe, command)
    known = index.commands.keys[position : position + 1]
    if not len(known) or int(known[0]) != (pe << 32) + command:
        raise JumpError(f"command {command} has no stage on this PE")
    return index.commands.stages(position)[0]


def to_pe(index: TimelineIndex, look: Look, rank: int) -> Look:
    """The same engine of another PE of the launch, at the same time. JumpError for an unknown rank."""
    ranks = [pe.rank for pe in index.timeline.trace.pes]
    if rank not in ranks:
        raise JumpError(f"PE must be one of the launch (0 to {max(ranks, default=0)}), not {rank}")
    engines = index.timeline.engines
    lanes = [lane for lane in index.tree.row_of_lane if engines[lane].rank == rank]
    if not lanes:
        raise JumpError(f"PE {rank} has no stage")
    wanted = engine_title(index.engine(look.stage)) if look.stage != NO_STAGE else ""
    alike = [lane for lane in lanes if engine_title(engines[lane]) == wanted]
    lane = index.lane((alike or lanes)[0])
    return jump(index, look, int(lane.ids[lane.nearest(look.at_ps)]))


def to_line(index: TimelineIndex, look: Look, text: str) -> Look:
    """The next command of the cursor's PE that a kernel line (`decode.py:118`, `118`) issued.

    Behind the last one the first follows again. JumpError where no command comes from that line.
    """
    pe = _pe(index, look)
    commands = commands_of_line(index, pe, text)
    first = index.commands.position(pe, 0)
    keys = index.commands.keys
    ran = commands[np.isin((pe << 32) + commands, keys[first:])]
    if not len(ran):
        raise JumpError(f"no command of this PE that ran comes from line {text.strip()}")
    here = index.command(look.stage) if look.stage != NO_STAGE else -1
    later = ran[ran > here]
    return to_command(index, look, int(later[0] if len(later) else ran[0]))


def commands_of_line(index: TimelineIndex, pe: int, text: str) -> Int64s:
    """The commands of a PE's stream that a line issued. JumpError for what is no line."""
    match = _LINE.fullmatch(text.strip())
    if match is None:
        raise JumpError(f"a line must be like decode.py:118 or 118, not {quoted(text.strip())}")
    file, number = match[1] or "", int(match[2])
    fits = [
        line.number == number and line.file.endswith(file) for line in index.timeline.trace.lines
    ]
    lines = index.stream(pe).lines
    return np.flatnonzero(np.array([*fits, False], dtype=np.bool_)[lines])


def _pe(index: TimelineIndex, look: Look) -> int:
    return index.pe(look.stage) if look.stage != NO_STAGE else 0
