"""A timeline written by hand over `small_traces.two_pes`: for tests of files, checks and `inspect`."""

from dataclasses import replace
from typing import Any

import numpy as np
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.deadlock import BlockedCommand, Deadlock
from kerntape.schemas.hazard_policy import HazardKind, HazardPolicy
from kerntape.schemas.hazards import HAZARD_COLUMNS, KIND_NUMBERS, Hazards, Outcome
from kerntape.schemas.stages import STAGE_COLUMNS, Block, Engine, StageKind, Stages, Why
from kerntape.schemas.timeline import DurationClass, Status, Timeline
from kerntape.schemas.topology import Topology
from small_traces import PAIR, two_pes

COSTS: dict[str, Any] = {
    "name": "sixteenths",
    "summary": "numbers whose decimals must survive",
    "clock_ghz": "1",
    "pe_cpu": {"fixed_cycles": "40", "cycles_per_byte": "0.0625"},
    "pe_scheduler": {"plan_cycles_per_op": "0"},
    "pe_dma": {"read_bytes_per_ns": "102.4", "write_bytes_per_ns": "102.4"},
    "pe_gemm": {"macs_per_cycle": "1024", "fill_cycles": "8"},
    "pe_math": {"vector_width": "64"},
    "pe_tcm": {"bytes_per_ns": "256"},
    "hbm": {"bytes_per_ns": "102.4", "latency_ns": "100"},
    "ipcq": {"copy_bytes_per_ns": "128", "credit_latency_ns": "10"},
    "noc": {
        "pe_link_bytes_per_ns": "128",
        "pe_hop_latency_ns": "2",
        "cube_link_bytes_per_ns": "64",
        "cube_hop_latency_ns": "10",
        "sip_link_bytes_per_ns": "32",
        "sip_hop_latency_ns": "300",
    },
}
POLICY = {
    "name": "raw_only",
    "summary": "holds a composite for an earlier one that writes what it reads",
    "compares": "handles",
    "kinds": ["RAW"],
    "holds": "composites",
    "passing": False,
}

# kind, engine, PE entry, command, op, tile, duration class, ready, start, end, cause, why
STAGES = (
    (StageKind.DISPATCH, 0, 0, 0, -1, -1, 0, 0, 0, 41_250, -1, Why.NOTHING),
    (StageKind.DMA_READ, 1, 0, 0, 0, -1, 1, 41_250, 41_250, 43_750, 0, Why.DISPATCH),
    (StageKind.DISPATCH, 0, 0, 1, -1, -1, 2, 43_750, 43_750, 87_250, 1, Why.WAITED),
    (StageKind.GEMM, 2, 0, 1, 0, 0, 3, 87_250, 87_250, 91_250, 2, Why.DATA),
    (StageKind.DISPATCH, 3, 1, 0, -1, -1, 0, 0, 0, 41_250, -1, Why.NOTHING),
    (StageKind.GEMM, 4, 1, 2, 2, 0, 3, 41_250, 91_250, 95_250, 3, Why.ENGINE),
)
HAZARDS = (
    (Outcome.HELD, HazardKind.RAW, 0, 1, 0, 3, 2, 0, 3, 4096, 5120, 4_000),
    (Outcome.POTENTIAL, HazardKind.WAR, 1, 1, -1, -1, 2, 3, 7, 0, 0, 0),
)


def two_pes_timeline() -> Timeline:
    """Six stages on five engines, two hazards, 95,250 ps."""
    rows = list(zip(*STAGES, strict=True))
    columns = dict(zip(STAGE_COLUMNS.items(), rows[:7], strict=True))
    ready, start, end, cause, why = rows[7:]
    return Timeline(
        trace=two_pes(),
        topology=Topology.model_validate(PAIR),
        calibration=Calibration.model_validate(COSTS),
        policy=HazardPolicy.model_validate(POLICY),
        status=Status.OK,
        engines=(
            Engine(Block.PE_CPU, 0, "", False),
            Engine(Block.PE_DMA, 0, "read", True),
            Engine(Block.PE_GEMM, 0, "", True),
            Engine(Block.PE_CPU, 1, "", False),
            Engine(Block.NOC, -1, "link 0>1", True),
        ),
        stages=Stages(**{name: np.array(row, item) for (name, item), row in columns.items()}),
        duration_classes=(
            DurationClass("pe_cpu.dispatch", 20),
            DurationClass("pe_dma.read", 256),
            DurationClass("pe_cpu.dispatch", 56),
            DurationClass("pe_gemm.macs", 4096),
        ),
        ready_ps=np.array(ready, np.int64),
        start_ps=np.array(start, np.int64),
        end_ps=np.array(end, np.int64),
        cause=np.array(cause, np.int32),
        why=np.array(why, np.int8),
        hazards=hazards_of(HAZARDS),
    )


def hazards_of(rows: tuple[tuple[Any, ...], ...]) -> Hazards:
    """The rows as columns; a kind is given by name."""
    numbered = [(outcome, KIND_NUMBERS[kind], *rest) for outcome, kind, *rest in rows]
    columns = zip(HAZARD_COLUMNS.items(), zip(*numbered, strict=True), strict=True)
    return Hazards(**{name: np.array(column, item) for (name, item), column in columns})


def deadlocked() -> Timeline:
    """The timeline of a replay that stopped: PE 0 and PE 1 wait for each other."""
    zero = BlockedCommand(0, 4, "recv E", "two_tiles.py:16", "a message", 1, 5)
    one = BlockedCommand(1, 5, "send W", "two_tiles.py:23", "a credit", 0, 4)
    late = BlockedCommand(1, 7, "wait", "two_tiles.py:25", "the command before it", 1, 5)
    return replace(
        two_pes_timeline(),
        status=Status.DEADLOCK,
        deadlock=Deadlock(cycle=(zero, one), tail=(late,), clearing_depth=2),
    )
