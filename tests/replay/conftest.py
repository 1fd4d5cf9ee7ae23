"""Small traces and round calibrations, so that a timeline can be worked out in a comment."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
from kerntape.replay.causes import whys
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.sanity import check_physics
from kerntape.replay.simpy_runner import run
from kerntape.replay.stage_graph import StageGraph
from kerntape.replay.times import Times
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Geometry, Space, contiguous_strides
from kerntape.schemas.hazard_policy import HazardPolicy
from kerntape.schemas.stages import StageKind, Why
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import PeEntry, SourceLine, Stream, Trace, TraceHeader

ONE_PE = {
    "name": "tiny",
    "summary": "one PE with a small tile",
    "sips": 1,
    "cubes": {"columns": 1, "rows": 1},
    "pes": {"columns": 1, "rows": 1},
    "pe": {
        "tcm_bytes": 1 << 20,
        "scratch_bytes": 1 << 19,
        "hbm_bytes": 1 << 30,
        "tile": {"m": 4, "k": 4, "n": 4},
        "tile_buffers": 2,
        "composites_in_flight": 2,
        "scheduler_queue": 4,
        "composite_cap_bytes": 1024,
    },
    "ipcq": {"depth": 2, "slot_bytes": 64, "send_depth": 2},
    "directions": {},
}

ROUND_NUMBERS = {
    "name": "round",
    "summary": "10 ns a dispatch, 1 byte, MAC or element a nanosecond, 100 ns to HBM",
    "clock_ghz": 1,
    "pe_cpu": {"fixed_cycles": 10, "cycles_per_byte": 0},
    "pe_scheduler": {"plan_cycles_per_op": 0},
    "pe_dma": {"read_bytes_per_ns": 1, "write_bytes_per_ns": 1},
    "pe_gemm": {"macs_per_cycle": 1, "fill_cycles": 0},
    "pe_math": {"vector_width": 1},
    "pe_tcm": {"bytes_per_ns": 1},
    "hbm": {"bytes_per_ns": 1, "latency_ns": 100},
    "ipcq": {"copy_bytes_per_ns": 1, "credit_latency_ns": 10},
    "noc": {
        "pe_link_bytes_per_ns": 1,
        "pe_hop_latency_ns": 1,
        "cube_link_bytes_per_ns": 1,
        "cube_hop_latency_ns": 1,
        "sip_link_bytes_per_ns": 1,
        "sip_hop_latency_ns": 1,
    },
}


@dataclass
class TraceBuilder:
    """Writes one PE's commands; handles are numbers that it gave out."""

    rows: list[tuple[CommandForm, list[int], list[int]]] = field(default_factory=list)
    placed: list[tuple[Geometry, int, int, str]] = field(default_factory=list)
    _next_address: int = 0

    def handle(
        self,
        shape: tuple[int, ...],
        *,
        space: Space = Space.TCM,
        dtype: DType = DType.F16,
        at: int | None = None,
        label: str = "h",
        tensor: int = 0,
    ) -> int:
        """A dense handle; TCM ones lie one after the other unless `at` places them.

        `tensor` is the number of an HBM one's tensor.
        """
        geometry = Geometry(shape, contiguous_strides(shape, dtype.size_bytes), dtype, space)
        address = self._next_address if at is None else at
        self._next_address = max(self._next_address, address + geometry.size_bytes)
        number = tensor if space is Space.HBM else -1
        self.placed.append((geometry, address, number, label))
        return len(self.placed) - 1

    def command(
        self,
        kind: CommandKind,
        ops: tuple[OpForm, ...],
        handles: list[int],
        *,
        waits: list[int] | None = None,
        rw: list[int] | None = None,
        direction: str = "",
    ) -> int:
        form = CommandForm(kind, ops, rw_count=len(rw or []), direction=direction)
        self.rows.append((form, handles + (rw or []), waits or []))
        return len(self.rows) - 1

    def load(self, source: int, target: int) -> int:
        return self.command(CommandKind.LOAD, (OpForm("load", ("src",), True),), [source, target])

    def store(self, source: int, target: int, *, waits: list[int] | None = None) -> int:
        op = OpForm("store", ("src",), True)
        return self.command(CommandKind.STORE, (op,), [source, target], waits=waits)

    def math(
        self, kind: str, sources: list[int], out: int, *, waits: list[int] | None = None
    ) -> int:
        names = ("src_a", "src_b", "src_c")[: len(sources)] if len(sources) > 1 else ("src",)
        op = OpForm(kind, names, True)
        return self.command(CommandKind.MATH, (op,), [*sources, out], waits=waits)

    def gemm(
        self,
        m: int,
        k: int,
        n: int,
        a: int,
        b: int,
        out: int,
        *,
        prologue: list[tuple[str, list[int], int]] | None = None,
        epilogue: list[tuple[str, list[int]]] | None = None,
        kind: CommandKind = CommandKind.COMPOSITE,
        waits: list[int] | None = None,
        rw: list[int] | None = None,
    ) -> int:
        """A composite (or dot): prologue ops (kind, sources, out), GEMM, OUTPUT_TILE ops (kind, others)."""
        ops: list[OpForm] = []
        handles: list[int] = []
        for op_kind, sources, op_out in prologue or []:
            ops.append(OpForm(op_kind, tuple(f"src_{i}" for i in range(len(sources))), True))
            handles += [*sources, op_out]
        extra = (("m", m), ("k", k), ("n", n))
        ops.append(OpForm("gemm", ("a", "b"), True, extra))
        handles += [a, b, out]
        for op_kind, others in epilogue or []:
            names = ("src", *(f"other_{i}" for i in range(len(others))))
            ops.append(OpForm(op_kind, names, True, scope=Scope.OUTPUT_TILE))
            handles += [out, *others, out]
        return self.command(kind, tuple(ops), handles, waits=waits, rw=rw)

    def message(self, kind: CommandKind, direction: str, handle: int) -> int:
        """A send, recv or recv_async of a handle."""
        sends = kind is CommandKind.SEND
        op = OpForm(kind.name.lower(), ("src",) if sends else (), not sends)
        return self.command(kind, (op,), [handle], direction=direction)

    def overhead(self, cycles: int) -> int:
        op = OpForm("overhead", (), False, (("cycles", cycles),))
        return self.command(CommandKind.OVERHEAD, (op,), [])

    def wait(self, *commands: int) -> int:
        return self.command(
            CommandKind.WAIT, (OpForm("wait", (), False),), [], waits=list(commands)
        )

    def trace(self, topology: Topology, *others: "TraceBuilder") -> Trace:
        """The finished trace: rank 0 runs this stream, the next ranks those of `others`."""
        builders = (self, *others)
        rows = [row for builder in builders for row in builder.rows]
        placed = [handle for builder in builders for handle in builder.placed]
        forms = tuple(dict.fromkeys(form for form, _, _ in rows))
        geometries = tuple(dict.fromkeys(geometry for geometry, _, _, _ in placed))
        labels = tuple(dict.fromkeys(label for _, _, _, label in placed)) or ("",)
        return Trace(
            header=TraceHeader(
                "tiny", {}, topology.model_dump(mode="json"), (len(builders), 1, 1), "0", {}, ()
            ),
            strings=labels,
            geometries=geometries,
            forms=forms,
            lines=(SourceLine("tiny.py", 1, "tiny", "tl.do()"),),
            streams=tuple(builder._stream(forms, geometries, labels) for builder in builders),
            pes=tuple(PeEntry(rank, rank, (rank,), (0,)) for rank in range(len(builders))),
        )

    def _stream(
        self,
        forms: tuple[CommandForm, ...],
        geometries: tuple[Geometry, ...],
        labels: tuple[str, ...],
    ) -> Stream:
        return Stream(
            forms=_column([forms.index(form) for form, _, _ in self.rows]),
            lines=_column([0] * len(self.rows)),
            wait_counts=_column([len(waits) for _, _, waits in self.rows]),
            slots=_column([handle for _, handles, _ in self.rows for handle in handles]),
            waits=_column([wait for _, _, waits in self.rows for wait in waits]),
            geometries=_column([geometries.index(geometry) for geometry, _, _, _ in self.placed]),
            addresses=np.array([address for _, address, _, _ in self.placed], dtype=np.int64),
            tensors=_column([tensor for _, _, tensor, _ in self.placed]),
            labels=_column([labels.index(label) for _, _, _, label in self.placed]),
        )


def _column(values: list[int]) -> np.ndarray:
    return np.array(values, dtype=np.int32)


@pytest.fixture
def build() -> TraceBuilder:
    return TraceBuilder()


@pytest.fixture(scope="session")
def new_build() -> type[TraceBuilder]:
    """For tests that build many traces."""
    return TraceBuilder


@pytest.fixture
def topology() -> Topology:
    return Topology.model_validate(ONE_PE)


@pytest.fixture
def pair() -> Topology:
    """Two PEs side by side: 0 sends E to 1, 1 sends W to 0; queues of 2 slots of 64 bytes."""
    directions = {
        "E": {"level": "pe", "step": [1, 0], "opposite": "W"},
        "W": {"level": "pe", "step": [-1, 0], "opposite": "E"},
    }
    pes = {"columns": 2, "rows": 1}
    return Topology.model_validate({**ONE_PE, "pes": pes, "directions": directions})


@pytest.fixture
def calibration() -> Calibration:
    return Calibration.model_validate(ROUND_NUMBERS)


@pytest.fixture
def nothing_held() -> HazardPolicy:
    return HazardPolicy.model_validate(
        {
            "name": "none",
            "summary": "holds nothing",
            "compares": "nothing",
            "kinds": [],
            "holds": "composites",
            "passing": False,
        }
    )


@dataclass(frozen=True)
class Replayed:
    """A graph with its times, and rows to compare with a hand-worked timeline."""

    graph: StageGraph
    times: Times

    def rows(self, *kinds: StageKind) -> list[tuple[str, float, float]]:
        """(stage kind, start, end) in nanoseconds, in stage order; of some kinds only, if named."""
        return [
            (
                StageKind(kind).title,
                int(self.times.start_ps[stage]) / 1000,
                int(self.times.end_ps[stage]) / 1000,
            )
            for stage, kind in enumerate(self.graph.stages.kind)
            if not kinds or kind in kinds
        ]

    def causes(self, kind: StageKind) -> list[tuple[int, Why]]:
        """(cause stage, why) of every stage of a kind."""
        reasons = whys(self.graph, self.times)
        return [
            (int(self.times.cause[stage]), Why(reasons[stage]))
            for stage in np.flatnonzero(self.graph.stages.kind == kind)
        ]


Replay = Callable[..., Replayed]


@pytest.fixture
def run_trace(topology: Topology, calibration: Calibration, nothing_held: HazardPolicy) -> Replay:
    """Lowers, times and physics-checks a built trace."""

    def replayed(
        *builds: TraceBuilder,
        machine: Topology = topology,
        calibration: Calibration = calibration,
        policy: HazardPolicy = nothing_held,
        **pe: int,
    ) -> Replayed:
        machine = machine.model_copy(update={"pe": machine.pe.model_copy(update=pe)})
        graph = lower(builds[0].trace(machine, *builds[1:]), machine, policy)
        lasting = durations(graph, calibration)
        times = run(graph, lasting)
        check_physics(graph, lasting, times)
        return Replayed(graph, times)

    return replayed
