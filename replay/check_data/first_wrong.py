"""Why the first wrong value is wrong: what was read wrong, and which write came too early or too late.

Both orders are executed once more, noting who wrote every byte last. All results before the first
wrong one are right, so it can only have read right values at the wrong time: bytes that in program
order another stage had written last.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...schemas.columns import Bools, Int32s, Int64s
from ...schemas.errors import SanityError
from ...schemas.hazard_policy import HazardKind
from ...schemas.hazards import KINDS, Outcome
from ...schemas.stages import StageKind
from ...schemas.timeline import Timeline
from ...schemas.trace import KeptInputs
from .execution import Execution
from .findings import CommandName, Fault, FirstWrong, WrongBytes
from .memory import Memory, MemoryName
from .names import (
    command_name,
    memory_name,
    op_index,
    op_kind,
    operand_name,
    written_handle,
)
from .program import Program
from .program_order import run_in_program_order
from .time_order import appears_ps, run_in_time_order
from .witnesses import NOBODY, Authors, Sighting


@dataclass(frozen=True)
class Case:
    """A timeline whose values went wrong, and its stages as a program."""

    timeline: Timeline
    program: Program
    inputs: KeptInputs

    @cached_property
    def appears_ps(self) -> Int64s:
        return appears_ps(self.timeline)

    @cached_property
    def _commands(self) -> Int64s:
        """Per stage a number of its PE's command; the last entry, NOBODY's, is NOBODY."""
        stages = self.timeline.stages
        of_stage = (stages.pe.astype(np.int64) << 32) + stages.command
        return np.append(of_stage, np.int64(NOBODY))

    def commands_of(self, writers: Int32s) -> Int64s:
        """Of which commands the stages are that wrote bytes: equal for one command's."""
        commands: Int64s = self._commands[writers]
        return commands

    def pe(self, stage: int) -> int:
        """The PE (index into Trace.pes) whose command the stage belongs to."""
        return self.program.pes[stage]

    def name(self, stage: int) -> CommandName | None:
        """The command of the stage, None for NOBODY."""
        return None if stage == NOBODY else command_name(self.program, stage)

    def authors(
        self, watched: Collection[int] = (), through: int | None = None
    ) -> tuple[Authors, Authors]:
        """Who wrote what in program order, and in time order through the stage's result."""
        ordered, timed = (Memory(self.program.trace, self.inputs) for _ in range(2))
        meant, found = Authors(ordered, watched), Authors(timed, watched)
        run_in_program_order(Execution(self.program, ordered, meant), self.program)
        run_in_time_order(Execution(self.program, timed, found), self.timeline, through)
        return meant, found

    def first_of(self, stages: Collection[int]) -> int:
        """The stage whose result appears first, the least id on a tie."""
        return min(stages, key=lambda stage: (self.appears_ps[stage], stage))


def explain_result(case: Case, stage: int) -> FirstWrong:
    """Why the stage, the first of those whose result is wrong, computed something else."""
    program = case.program
    watched = set(_sources(program, stage))
    meant, found = case.authors(watched, through=stage)
    for reader, slot in _in_time_order(found, case.timeline.start_ps):
        before, now = meant.sightings[reader, slot], found.sightings[reader, slot]
        if not np.array_equal(before.contents, now.contents) and _meets(
            program, reader, slot, stage
        ):
            because = _wrong_read(case, (reader, slot), before, now, meant.turns)
            return _finding(case, stage, because)
    raise SanityError(
        f"stage {stage} read the same values in both orders and computed different ones:"
        " a bug in kerntape, please report it with the trace"
    )


def explain_output(case: Case, name: MemoryName) -> FirstWrong:
    """Why an output is wrong though every result is right: its last writes came in the wrong order."""
    meant, found = (authors.image(name) for authors in case.authors())
    authorship = _first_difference(case, meant, found)
    stage = authorship.found
    handle = written_handle(case.program, stage)
    because = WrongBytes(
        fault=Fault.OVERWRITTEN_TOO_LATE,
        at_ps=case.timeline.makespan_ps,
        reader=None,
        operand="",
        label=handle.label,
        memory=memory_name(case.program, *name),
        byte_from=authorship.byte_from,
        byte_to=authorship.byte_to,
        expected=case.name(authorship.expected),
        found=case.name(stage),
        hazard=_violated(case, stage, authorship.expected),
    )
    return _finding(case, stage, because)


def _finding(case: Case, stage: int, because: WrongBytes) -> FirstWrong:
    return FirstWrong(
        time_ps=int(case.appears_ps[stage]),
        stage=stage,
        writer=command_name(case.program, stage),
        op=op_index(case.program, stage),
        op_kind=op_kind(case.program, stage),
        label=written_handle(case.program, stage).label,
        because=because,
    )


def _sources(program: Program, writer: int) -> Iterator[int]:
    """The stages that can have read what the writer's result is made of."""
    if program.kinds[writer] == StageKind.RECV:
        fragment = program.fragment_of[writer]
        yield from (
            stage
            for stage, name in program.fragment_of.items()
            if name == fragment and program.kinds[stage] == StageKind.SEND
        )
    elif program.kinds[writer] == StageKind.MATH and program.runs_once(writer):
        yield writer
    else:
        once = program.runs_once(writer)
        alike = program.stages_of(*program.at(writer))
        yield from (stage for stage in alike if program.runs_once(stage) is once)


def _meets(program: Program, reader: int, slot: int, writer: int) -> bool:
    """Whether what a source read in a slot is part of the writer's result: same rows and columns."""
    if program.kinds[writer] == StageKind.RECV or program.runs_once(writer):
        return True
    read, written = program.step(reader), program.step(writer)
    for_all_rows = slot == program.loop(writer).slots["b"]
    return read.n_from == written.n_from and (for_all_rows or read.m_from == written.m_from)


def _in_time_order(authors: Authors, start_ps: Int64s) -> list[tuple[int, int]]:
    return sorted(authors.sightings, key=lambda read: (start_ps[read[0]], read))


def _wrong_read(
    case: Case, read: tuple[int, int], before: Sighting, now: Sighting, turns: dict[int, int]
) -> WrongBytes:
    """What a stage read wrong in a slot; `turns` are those of program order."""
    program, (reader, slot) = case.program, read
    authorship = _first_difference(case, before, now)
    at_ps = int(case.timeline.start_ps[reader])
    fault = _fault(case, authorship, reader, turns)
    handle = program.handle(reader, slot)
    return WrongBytes(
        fault=fault,
        at_ps=at_ps,
        reader=command_name(program, reader),
        operand=operand_name(program, reader, slot),
        label=handle.label,
        memory=memory_name(program, case.pe(reader), handle.tensor),
        byte_from=authorship.byte_from,
        byte_to=authorship.byte_to,
        expected=case.name(authorship.expected),
        found=case.name(authorship.found),
        hazard=_violated(case, *_pair(fault, authorship, reader)),
    )


@dataclass(frozen=True, slots=True)
class _Authorship:
    """A run of bytes whose last writer should have been `expected` and was `found` (stages)."""

    expected: int
    found: int
    byte_from: int
    byte_to: int


def _first_difference(case: Case, before: Sighting, now: Sighting) -> _Authorship:
    """From the first byte that differs: all bytes that two commands' stages are mixed up in."""
    first = int(np.flatnonzero(before.contents != now.contents)[0])
    mixed_up = (
        (before.writers != now.writers)
        & _by_command_at(case.commands_of(before.writers), first)
        & _by_command_at(case.commands_of(now.writers), first)
    )
    places = np.unique(before.places[mixed_up])
    gaps = np.flatnonzero(np.diff(places) > 1)
    last = places[gaps[0]] if len(gaps) else places[-1]
    expected, found = int(before.writers[first]), int(now.writers[first])
    return _Authorship(expected, found, int(places[0]), int(last) + 1)


def _by_command_at(commands: Int64s, place: int) -> Bools:
    same: Bools = commands == commands[place]
    return same


def _fault(case: Case, authorship: _Authorship, reader: int, turns: dict[int, int]) -> Fault:
    is_later = turns.get(authorship.found, NOBODY) > turns[reader]
    if authorship.expected == NOBODY or is_later:
        return Fault.OVERWRITTEN_TOO_EARLY
    if case.appears_ps[authorship.expected] <= case.timeline.start_ps[reader]:
        return Fault.OVERWRITTEN_TOO_LATE
    return Fault.NOT_YET_WRITTEN


def _pair(fault: Fault, authorship: _Authorship, reader: int) -> tuple[int, int]:
    """The two stages that came in the wrong order."""
    match fault:
        case Fault.NOT_YET_WRITTEN:
            return authorship.expected, reader
        case Fault.OVERWRITTEN_TOO_EARLY:
            return reader, authorship.found
        case Fault.OVERWRITTEN_TOO_LATE:
            return authorship.found, authorship.expected


def _violated(case: Case, one: int, other: int) -> HazardKind | None:
    """The kind under which the timeline lists the pair of commands as gone wrong; None if it does not,
    as it does for no pair of two PEs.
    """
    if case.pe(one) != case.pe(other):
        return None
    hazards = case.timeline.hazards
    earlier, later = sorted(case.program.commands[stage] for stage in (one, other))
    rows = np.flatnonzero(
        (hazards.outcome == Outcome.VIOLATED)
        & (hazards.pe == case.program.pes[one])
        & (hazards.earlier == earlier)
        & (hazards.later == later)
    )
    return KINDS[int(hazards.kind[rows[0]])] if len(rows) else None
