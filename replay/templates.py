"""Command plans as columns: what lowering copies for every command of a shape.

`ClassTable` interns duration and lag classes over a whole trace, in the order of first use.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Int8s, Int16s, Int32s
from ..schemas.commands import CommandKind
from ..schemas.timeline import DurationClass
from ..schemas.topology import Topology
from .command_plan import NO_TIME, CommandPlan, CommandShape, EngineSlot
from .components import (
    hbm,
    noc,
    pe_cpu,
    pe_dma,
    pe_gemm,
    pe_ipcq,
    pe_math,
    pe_scheduler,
    pe_tcm,
)
from .tile_loop import plan_dot
from .ways import FarSlot

PE_ENGINES: tuple[EngineSlot, ...] = (
    pe_cpu.CPU,
    pe_scheduler.SCHEDULER,
    pe_dma.READ,
    pe_dma.WRITE,
    pe_tcm.TCM,
    pe_gemm.GEMM,
    pe_math.MATH,
    pe_ipcq.SEND,
    pe_ipcq.RECEIVE,
    hbm.CHANNEL,
)
"""The servers of one PE, in the order of its lanes."""

LINK_SLOT = len(PE_ENGINES)
"""Stands for the link that the command's direction crosses, which is not one PE's. What follows are
the far slots of the stream.
"""

Planner = Callable[[CommandPlan, CommandShape, int, Topology], None]

PLANNERS: dict[CommandKind, Planner] = {
    CommandKind.LOAD: lambda plan, shape, dispatch, _: pe_dma.plan_load(plan, shape, dispatch),
    CommandKind.STORE: lambda plan, shape, dispatch, _: pe_dma.plan_store(plan, shape, dispatch),
    CommandKind.MATH: lambda plan, shape, dispatch, _: pe_math.plan_math(plan, shape, dispatch),
    CommandKind.DOT: plan_dot,
    CommandKind.COMPOSITE: pe_scheduler.plan_composite,
    CommandKind.SEND: pe_ipcq.plan_send,
    CommandKind.RECV: pe_ipcq.plan_receive,
    CommandKind.RECV_ASYNC: pe_ipcq.plan_receive,
    CommandKind.WAIT: lambda plan, _, dispatch, __: pe_cpu.plan_nothing_more(plan, dispatch),
    CommandKind.OVERHEAD: lambda plan, _, dispatch, __: pe_cpu.plan_nothing_more(plan, dispatch),
}
"""Who plans what follows a command's dispatch."""


class ClassTable:
    """Numbers duration classes in the order in which they are first asked for."""

    def __init__(self) -> None:
        self._numbers: dict[DurationClass, int] = {NO_TIME: 0}

    def number(self, duration: DurationClass) -> int:
        """The class's number; 0 is NO_TIME."""
        return self._numbers.setdefault(duration, len(self._numbers))

    @property
    def classes(self) -> tuple[DurationClass, ...]:
        return tuple(self._numbers)


@dataclass(frozen=True)
class Template:
    """A command's stages and inner releases, numbered from the command's first stage.

    `slot` indexes PE_ENGINES, or is LINK_SLOT, or far slot n as LINK_SLOT + 1 + n. Key stages
    (`begin`, `finish`, `resume`, `admit`, `plan`, `retire`) are as in CommandPlan, NONE where the
    command has none.
    """

    kind: Int16s
    slot: Int32s
    op: Int16s
    tile: Int32s
    duration_class: Int32s
    released: Int32s
    releaser: Int32s
    from_start: Int8s
    lag_class: Int32s
    why: Int8s
    begin: int
    finish: int
    resume: int
    admit: int
    plan: int
    retire: int

    def __len__(self) -> int:
        return len(self.kind)


def plan_command(shape: CommandShape, machine: Topology) -> CommandPlan:
    """The stages of a command of that shape, its dispatch first."""
    plan = CommandPlan()
    dispatch = pe_cpu.add_dispatch(plan, shape)
    PLANNERS[shape.form.kind](plan, shape, dispatch, machine)
    return plan


def freeze(plan: CommandPlan, durations: ClassTable, lags: ClassTable) -> Template:
    """The plan as columns."""
    stages, releases = plan.stages, plan.releases
    return Template(
        kind=np.array([stage.kind for stage in stages], dtype=np.int16),
        slot=np.array([_slot_number(stage.slot) for stage in stages], dtype=np.int32),
        op=np.array([stage.op for stage in stages], dtype=np.int16),
        tile=np.array([stage.tile for stage in stages], dtype=np.int32),
        duration_class=np.array([durations.number(s.duration) for s in stages], dtype=np.int32),
        released=np.array([release.released for release in releases], dtype=np.int32),
        releaser=np.array([release.releaser for release in releases], dtype=np.int32),
        from_start=np.array([release.from_start for release in releases], dtype=np.int8),
        lag_class=np.array([lags.number(release.lag) for release in releases], dtype=np.int32),
        why=np.array([release.why for release in releases], dtype=np.int8),
        begin=plan.begin,
        finish=plan.finish,
        resume=plan.resume,
        admit=plan.admit,
        plan=plan.plan,
        retire=plan.retire,
    )


def _slot_number(slot: EngineSlot | FarSlot) -> int:
    if isinstance(slot, FarSlot):
        return LINK_SLOT + 1 + slot.number
    return LINK_SLOT if slot is noc.LINK else PE_ENGINES.index(slot)
