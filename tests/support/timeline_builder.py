"""Timelines made by hand: exact ones stage by stage, and one that looks like a flash-decode kernel."""

import heapq
from dataclasses import dataclass, field, replace
from itertools import count

import numpy as np
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Geometry, Space, contiguous_strides
from kerntape.schemas.hazard_policy import HazardPolicy
from kerntape.schemas.hazards import HAZARD_COLUMNS, KIND_NUMBERS, HazardKind, Hazards, Outcome
from kerntape.schemas.stages import STAGE_COLUMNS, Block, Engine, StageKind, Stages, Why
from kerntape.schemas.timeline import DurationClass, Status, Timeline
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import (
    PeEntry,
    SourceLine,
    Stream,
    TensorInfo,
    Trace,
    TraceHeader,
)

LANES = (
    (Block.PE_CPU, "", False),
    (Block.PE_SCHEDULER, "", False),
    (Block.PE_DMA, "read", True),
    (Block.PE_DMA, "write", True),
    (Block.PE_TCM, "", True),
    (Block.PE_GEMM, "", True),
    (Block.PE_MATH, "", True),
    (Block.HBM, "", True),
)
"""A PE's engines, in the order in which replay numbers them."""

CPU, SCHED, DMA_READ, DMA_WRITE, TCM, GEMM, MATH, HBM = range(len(LANES))

CALIBRATION = {
    "name": "default",
    "summary": "round numbers",
    "clock_ghz": 1,
    "pe_cpu": {"fixed_cycles": 40, "cycles_per_byte": "0.0625"},
    "pe_scheduler": {"plan_cycles_per_op": 0},
    "pe_dma": {"read_bytes_per_ns": 128, "write_bytes_per_ns": 128},
    "pe_gemm": {"macs_per_cycle": 1024, "fill_cycles": 8},
    "pe_math": {"vector_width": 64},
    "pe_tcm": {"bytes_per_ns": 256},
    "hbm": {"bytes_per_ns": "102.4", "latency_ns": 100},
    "ipcq": {"copy_bytes_per_ns": 128, "credit_latency_ns": 10},
    "noc": {
        "pe_link_bytes_per_ns": 128,
        "pe_hop_latency_ns": 2,
        "cube_link_bytes_per_ns": 64,
        "cube_hop_latency_ns": 10,
        "sip_link_bytes_per_ns": 32,
        "sip_hop_latency_ns": 300,
    },
}

POLICY = {
    "name": "strict_fifo",
    "summary": "by handle",
    "compares": "handles",
    "kinds": ["RAW", "WAW"],
    "holds": "composites",
    "passing": False,
}


def topology(
    *, sips: int = 1, cubes: tuple[int, int] = (1, 1), pes: tuple[int, int] = (1, 1)
) -> Topology:
    """A machine of that many SIPs, CUBEs and PEs, without queues."""
    return Topology.model_validate(
        {
            "name": "single_pe" if (sips, cubes, pes) == (1, (1, 1), (1, 1)) else "many_pes",
            "summary": "for tests",
            "sips": sips,
            "cubes": {"columns": cubes[0], "rows": cubes[1]},
            "pes": {"columns": pes[0], "rows": pes[1]},
            "pe": {
                "tcm_bytes": 1 << 22,
                "scratch_bytes": 1 << 20,
                "hbm_bytes": 1 << 31,
                "tile": {"m": 32, "k": 64, "n": 32},
                "tile_buffers": 2,
                "composites_in_flight": 8,
                "scheduler_queue": 8,
                "composite_cap_bytes": 1024,
            },
            "ipcq": {"depth": 8, "slot_bytes": 4096, "send_depth": 4},
            "directions": {},
        }
    )


@dataclass
class _Stage:
    kind: StageKind
    engine: int
    command: int
    op: int
    tile: int
    duration_ps: int
    releases: list[tuple[int, Why, int, bool]]


@dataclass
class TimelineBuilder:
    """Commands and stages of one PE, copied to every PE of the machine when built."""

    machine: Topology = field(default_factory=topology)
    launched: int = 1
    arguments: dict = field(default_factory=dict)
    geometries: list[Geometry] = field(default_factory=list)
    placed: list[tuple[int, int, int, str]] = field(default_factory=list)
    commands: list[tuple[CommandForm, list[int], SourceLine]] = field(default_factory=list)
    stages: list[_Stage] = field(default_factory=list)
    hazard_rows: list[dict[str, int]] = field(default_factory=list)
    _address: int = 0

    def handle(
        self,
        label: str,
        shape: tuple[int, ...],
        *,
        dtype: DType = DType.BF16,
        space: Space = Space.TCM,
    ) -> int:
        """A dense handle, placed behind the one before it."""
        geometry = Geometry(shape, contiguous_strides(shape, dtype.size_bytes), dtype, space)
        if geometry not in self.geometries:
            self.geometries.append(geometry)
        in_hbm = sum(placed[2] >= 0 for placed in self.placed)
        tensor = in_hbm if space is Space.HBM else -1
        self.placed.append((self.geometries.index(geometry), self._address, tensor, label))
        self._address += geometry.size_bytes
        return len(self.placed) - 1

    def command(
        self,
        kind: CommandKind,
        ops: tuple[OpForm, ...] = (),
        handles: tuple[int, ...] = (),
        *,
        line: int = 1,
        text: str = "pass",
        rw: tuple[int, ...] = (),
    ) -> int:
        """A command; `handles` fill its ops' slots in order."""
        form = CommandForm(kind, ops, rw_count=len(rw))
        source = SourceLine("decode.py", line, "kernel", text)
        self.commands.append((form, [*handles, *rw], source))
        return len(self.commands) - 1

    def stage(
        self,
        kind: StageKind,
        engine: int,
        ns: float = 0,
        *,
        command: int = 0,
        op: int = -1,
        tile: int = -1,
    ) -> int:
        """A stage that nothing releases yet."""
        duration_ps = round(ns * 1000)
        self.stages.append(_Stage(kind, engine, command, op, tile, duration_ps, []))
        return len(self.stages) - 1

    def release(
        self,
        stage: int,
        by: int,
        why: Why = Why.DATA,
        *,
        lag_ns: float = 0,
        from_start: bool = False,
    ) -> None:
        """`stage` waits for `by`."""
        self.stages[stage].releases.append((by, why, round(lag_ns * 1000), from_start))

    def hazard(
        self,
        outcome: Outcome,
        kind: HazardKind,
        earlier: int,
        later: int,
        handle: int,
        *,
        cost_ns: float = 0,
        pe: int = 0,
    ) -> None:
        """A pair that meets on one handle, all of it shared."""
        geometry, address, _, _ = self.placed[handle]
        row = dict.fromkeys(HAZARD_COLUMNS, 0)
        row |= {"outcome": outcome, "kind": KIND_NUMBERS[kind], "pe": pe}
        row |= {"earlier": earlier, "later": later}
        row |= {"earlier_handle": handle, "later_handle": handle}
        row |= {
            "byte_from": address,
            "byte_to": address + self.geometries[geometry].size_bytes,
            "cost_ps": round(cost_ns * 1000),
        }
        self.hazard_rows.append(row)

    def build(self, *, status: Status = Status.OK) -> Timeline:
        """The timeline under the law of replay (DESIGN's: ready, then the engine's order)."""
        ready, start, end, cause, why = _schedule(self.stages)
        once = {
            "kind": [stage.kind for stage in self.stages],
            "engine": [stage.engine for stage in self.stages],
            "pe": [0 for _ in self.stages],
            "command": [stage.command for stage in self.stages],
            "op": [stage.op for stage in self.stages],
            "tile": [stage.tile for stage in self.stages],
            "duration_class": [0 for _ in self.stages],
        }
        many = range(self.launched)
        shift = {"engine": len(LANES), "pe": 1}
        stages = Stages(
            **{
                name: np.concatenate(
                    [np.array(once[name]) + shift.get(name, 0) * pe for pe in many]
                ).astype(dtype)
                for name, dtype in STAGE_COLUMNS.items()
            }
        )
        causes = np.array(cause, dtype=np.int64)
        shifted = [np.where(causes < 0, -1, causes + pe * len(self.stages)) for pe in many]
        return Timeline(
            trace=self._trace(),
            topology=self.machine,
            calibration=Calibration.model_validate(CALIBRATION),
            policy=HazardPolicy.model_validate(POLICY),
            status=status,
            engines=tuple(
                Engine(block, pe, channel, arbitrates)
                for pe in many
                for block, channel, arbitrates in LANES
            ),
            stages=stages,
            duration_classes=(DurationClass("none", 0),),
            ready_ps=np.tile(np.array(ready, dtype=np.int64), self.launched),
            start_ps=np.tile(np.array(start, dtype=np.int64), self.launched),
            end_ps=np.tile(np.array(end, dtype=np.int64), self.launched),
            cause=np.concatenate(shifted).astype(np.int32),
            why=np.tile(np.array(why, dtype=np.int8), self.launched),
            hazards=Hazards(
                **{
                    name: np.array([row[name] for row in self.hazard_rows], dtype=dtype)
                    for name, dtype in HAZARD_COLUMNS.items()
                }
            ),
        )

    def _trace(self) -> Trace:
        forms = list(dict.fromkeys(form for form, _, _ in self.commands))
        lines = list(dict.fromkeys(line for _, _, line in self.commands))
        strings = list(dict.fromkeys(label for _, _, _, label in self.placed))
        stream = Stream(
            forms=np.array([forms.index(form) for form, _, _ in self.commands], np.int32),
            lines=np.array([lines.index(line) for _, _, line in self.commands], np.int32),
            wait_counts=np.zeros(len(self.commands), np.int32),
            slots=np.array([h for _, handles, _ in self.commands for h in handles], np.int32),
            waits=np.zeros(0, np.int32),
            geometries=np.array([placed[0] for placed in self.placed], np.int32),
            addresses=np.array([placed[1] for placed in self.placed], np.int64),
            tensors=np.array([placed[2] for placed in self.placed], np.int32),
            labels=np.array([strings.index(placed[3]) for placed in self.placed], np.int32),
        )
        tensors = tuple(
            TensorInfo(label, self.geometries[geometry].shape, "bf16", "blocks", is_output=False)
            for geometry, _, tensor, label in self.placed
            if tensor >= 0
        )
        header = TraceHeader(
            kernel="decode",
            arguments=self.arguments,
            topology=self.machine.model_dump(mode="json"),
            grid=(self.launched, 1, 1),
            tool_version="0",
            sources={},
            tensors=tensors,
        )
        count = len(tensors)
        pes = tuple(
            PeEntry(rank, 0, (rank,) * count, (0,) * count) for rank in range(self.launched)
        )
        return Trace(
            header,
            tuple(strings),
            tuple(self.geometries),
            tuple(forms),
            tuple(lines),
            (stream,),
            pes,
        )


def _schedule(
    stages: list[_Stage],
) -> tuple[list[int], list[int], list[int], list[int], list[int]]:
    """(ready, start, end, cause, why) of every stage, by the law: engines serve (ready, id) in order."""
    total = len(stages)
    ready, start, end = [0] * total, [-1] * total, [-1] * total
    cause, why = [-1] * total, [int(Why.NOTHING)] * total
    waiting = [len(stage.releases) for stage in stages]
    followers: list[list[tuple[int, Why, int, bool]]] = [[] for _ in stages]
    for number, stage in enumerate(stages):
        for releaser, reason, lag, from_start in stage.releases:
            followers[releaser].append((number, reason, lag, from_start))
    free_at = [0] * len(LANES)
    last: list[int] = [-1] * len(LANES)
    queues: list[list[tuple[int, int]]] = [[] for _ in LANES]
    order = count()
    events: list[tuple[int, int, int, int, int]] = []

    def begin(number: int, now: int) -> None:
        start[number], end[number] = now, now + stages[number].duration_ps
        for follower, reason, lag, from_start in followers[number]:
            moment = (now if from_start else end[number]) + lag
            heapq.heappush(events, (moment, next(order), follower, number, int(reason)))

    def becomes_ready(number: int, now: int) -> None:
        ready[number] = now
        engine = stages[number].engine
        if LANES[engine][2]:
            heapq.heappush(queues[engine], (now, number))
        else:
            begin(number, now)

    for number in range(total):
        if not waiting[number]:
            becomes_ready(number, 0)
    now = 0
    while True:
        while events and events[0][0] <= now:
            _, _, number, releaser, reason = heapq.heappop(events)
            waiting[number] -= 1
            cause[number], why[number] = releaser, reason
            if not waiting[number]:
                becomes_ready(number, now)
        for engine, queue in enumerate(queues):
            if queue and free_at[engine] <= now:
                moment, number = heapq.heappop(queue)
                begin(number, now)
                free_at[engine] = end[number]
                if now > moment:
                    cause[number], why[number] = last[engine], int(Why.ENGINE)
                last[engine] = number
        upcoming = [events[0][0]] if events else []
        upcoming += [free_at[e] for e, queue in enumerate(queues) if queue and free_at[e] > now]
        if not upcoming:
            return ready, start, end, cause, why
        now = min(upcoming)


SOFTMAX_MERGE = (
    ("rmax", ("s",), "m_loc"),
    ("max_elem", ("m", "m_loc"), "m_new"),
    ("exp_diff", ("m", "m_new"), "corr"),
    ("exp_diff", ("s", "m_new"), "P"),
    ("rsum", ("P",), "l_loc"),
    ("fma", ("l", "corr", "l_loc"), "l"),
    ("mul_bcast", ("O", "corr"), "O"),
    ("copy", ("m_new",), "m"),
)
SHAPES = {"s": (8, 64), "P": (8, 64), "O": (8, 128)}
GEMM_NS = 24


@dataclass
class DecodeLike:
    """A flash-decode loop of `tiles` tiles, two composites each, as decode opt2 has them."""

    tiles: int
    builder: TimelineBuilder
    held_by: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.builder.arguments |= {"s_kv": 64 * self.tiles, "tile": 64, "variant": "opt2"}
        names = ("m", "l", "O", "m_loc", "m_new", "corr", "l_loc", "P", "s")
        self.handles = {
            name: self.builder.handle(name, SHAPES.get(name, (8,)), dtype=DType.F32)
            for name in names
        }
        self.handles["q"] = self.builder.handle("q", (8, 128))
        for name, shape in (
            ("q_hbm", (8, 128)),
            ("K", (128, 64)),
            ("V", (64, 128)),
        ):
            self.handles[name] = self.builder.handle(name, shape, space=Space.HBM)
        self.handles["out"] = self.builder.handle(
            "out", SHAPES["O"], dtype=DType.F32, space=Space.HBM
        )

    def build(self) -> Timeline:
        """Loads q, loops, divides and stores."""
        dispatch = self._load()
        retire = finish = -1
        for _ in range(self.tiles):
            dispatch, retire, finish = self._composite(dispatch, retire, scores=True, after=-1)
            dispatch, retire, finish = self._composite(dispatch, retire, scores=False, after=finish)
        self._store(dispatch, finish)
        timeline = self.builder.build()
        self._measure_holds(timeline)
        return self.builder.build()

    def _dispatch(self, command: int, ns: float, after: int, why: Why) -> int:
        stage = self.builder.stage(StageKind.DISPATCH, CPU, ns, command=command)
        if after >= 0:
            self.builder.release(stage, after, why)
        return stage

    def _load(self) -> int:
        handles = (self.handles["q_hbm"], self.handles["q"])
        form = (OpForm("load", ("src",), True),)
        command = self.builder.command(
            CommandKind.LOAD, form, handles, line=81, text="q = tl.load(q_ptr)"
        )
        dispatch = self._dispatch(command, 41, -1, Why.NOTHING)
        read = self._read(command, 0, -1, 20)
        self.builder.release(read - 1, dispatch, Why.DISPATCH)
        return dispatch

    def _read(self, command: int, op: int, tile: int, ns: float) -> int:
        channel = self.builder.stage(StageKind.HBM_READ, HBM, ns, command=command, op=op, tile=tile)
        arrival = self.builder.stage(
            StageKind.DMA_READ, DMA_READ, ns, command=command, op=op, tile=tile
        )
        self.builder.release(arrival, channel, Why.DATA, lag_ns=100, from_start=True)
        return arrival

    def _composite(
        self, before: int, retired: int, *, scores: bool, after: int
    ) -> tuple[int, int, int]:
        command = self._scores_command() if scores else self._merge_command()
        ns = 44.375 if scores else 60.125
        dispatch = self._dispatch(command, ns, before, Why.PROGRAM_ORDER)
        builder = self.builder
        admit = builder.stage(StageKind.ADMIT, SCHED, command=command)
        builder.release(admit, dispatch, Why.DISPATCH)
        if after >= 0:
            builder.release(admit, after, Why.HAZARD)
        plan = builder.stage(StageKind.PLAN, SCHED, command=command)
        builder.release(plan, admit, Why.ADMISSION)
        ends = self._score_tiles(command, plan) if scores else self._merge_tiles(command, plan)
        finish = builder.stage(StageKind.FINISH, SCHED, command=command)
        for end in ends:
            builder.release(finish, end)
        retire = builder.stage(StageKind.RETIRE, SCHED, command=command)
        builder.release(retire, finish)
        if retired >= 0:
            builder.release(retire, retired, Why.RETIREMENT)
        if after >= 0:
            self.held_by[admit] = command - 1
        return dispatch, retire, finish

    def _scores_command(self) -> int:
        ops = (
            OpForm("gemm", ("a", "b"), True, (("m", 8), ("k", 128), ("n", 64))),
            OpForm("scale", ("src",), True, (("factor", 0.088),), Scope.OUTPUT_TILE),
        )
        handles = tuple(self.handles[name] for name in ("q", "K", "s", "s", "s"))
        text = 's = tl.composite("gemm", a=q, b=tl.ref(k_tile), epilogue=[scale])'
        return self.builder.command(CommandKind.COMPOSITE, ops, handles, line=86, text=text)

    def _merge_command(self) -> int:
        ops = tuple(
            OpForm(kind, tuple(f"src_{i}" for i in range(len(reads))), True)
            for kind, reads, _ in SOFTMAX_MERGE
        )
        ops += (
            OpForm("gemm", ("a", "b"), True, (("m", 8), ("k", 64), ("n", 128))),
            OpForm("add", ("src", "other"), True, (), Scope.OUTPUT_TILE),
        )
        names = [name for _, reads, out in SOFTMAX_MERGE for name in (*reads, out)]
        names += ["P", "V", "O", "O", "O", "O"]
        handles = tuple(self.handles[name] for name in names)
        rw = tuple(self.handles[name] for name in ("m", "l", "O"))
        text = 'tl.composite("gemm", b=tl.ref(v_tile), out=O, prologue=[softmax_merge], epilogue=[add])'
        return self.builder.command(CommandKind.COMPOSITE, ops, handles, line=88, text=text, rw=rw)

    def _score_tiles(self, command: int, plan: int) -> list[int]:
        return self._gemm_tiles(command, 0, plan, last_k=(1, 3))

    def _merge_tiles(self, command: int, plan: int) -> list[int]:
        before = plan
        for op, (kind, _, _) in enumerate(SOFTMAX_MERGE):
            ns = 8 if kind in ("rmax", "rsum", "exp_diff") else 16 if kind == "mul_bcast" else 1
            math = self.builder.stage(StageKind.MATH, MATH, ns, command=command, op=op)
            self.builder.release(math, before)
            before = math
        return self._gemm_tiles(command, 8, before, last_k=(0, 1, 2, 3))

    def _gemm_tiles(self, command: int, op: int, after: int, last_k: tuple[int, ...]) -> list[int]:
        builder, gemms, ends = self.builder, [], []
        for tile in range(4):
            read = self._read(command, op, tile, 40)
            if tile < 2:
                builder.release(read - 1, after)
            else:
                builder.release(read - 1, gemms[tile - 2], Why.BUFFER)
            fetch = builder.stage(StageKind.FETCH, TCM, 20, command=command, op=op, tile=tile)
            builder.release(fetch, read)
            gemm = builder.stage(StageKind.GEMM, GEMM, GEMM_NS, command=command, op=op, tile=tile)
            builder.release(gemm, fetch)
            gemms.append(gemm)
            if tile in last_k:
                done = builder.stage(StageKind.MATH, MATH, 4, command=command, op=op + 1, tile=tile)
                builder.release(done, gemm)
                ends.append(done)
        return ends

    def _store(self, before: int, finish: int) -> None:
        builder = self.builder
        form = (OpForm("store", ("src",), True),)
        handles = (self.handles["O"], self.handles["out"])
        command = builder.command(
            CommandKind.STORE, form, handles, line=91, text="tl.store(out_ptr, O)"
        )
        dispatch = self._dispatch(command, 41.25, before, Why.PROGRAM_ORDER)
        builder.release(dispatch, finish, Why.WAITED)
        write = builder.stage(StageKind.DMA_WRITE, DMA_WRITE, 32, command=command, op=0)
        builder.release(write, dispatch, Why.DISPATCH)
        channel = builder.stage(StageKind.HBM_WRITE, HBM, 40, command=command, op=0)
        builder.release(channel, write, lag_ns=0.001, from_start=True)
        done = builder.stage(StageKind.FINISH, CPU, command=command)
        builder.release(done, channel, lag_ns=100)

    def _measure_holds(self, timeline: Timeline) -> None:
        """A composite was held from its dispatch's end until the finish that it waited for."""
        for admit, earlier in self.held_by.items():
            held_ns = (int(timeline.start_ps[admit]) - int(timeline.end_ps[admit - 1])) / 1000
            if held_ns > 0:
                later = self.builder.stages[admit].command
                self.builder.hazard(
                    Outcome.HELD, HazardKind.RAW, earlier, later, self.handles["s"], cost_ns=held_ns
                )


def decode_like(tiles: int = 4, *, launched: int = 1, machine: Topology | None = None) -> Timeline:
    """The timeline of a flash-decode loop on each of `launched` PEs."""
    builder = TimelineBuilder(machine or topology(), launched)
    return DecodeLike(tiles, builder).build()


def two_commands() -> TimelineBuilder:
    """A dot of two tiles and a math command, in ns:

    command 0   0 dispatch 0–10 · 1, 2 fetch 10–30, 30–50 · 3, 4 GEMM 30–54, 54–78 · 5 finish 78
    command 1   6 dispatch 78–88 · 7 MATH exp 88–96

    Fetch 2 is ready at 10 and GEMM 4 at 50: both wait for their engine.
    """
    builder = TimelineBuilder()
    q = builder.handle("q", (8, 64))
    k = builder.handle("K", (64, 32))
    s = builder.handle("s", (8, 32), dtype=DType.F32)
    dot = OpForm("gemm", ("a", "b"), True, (("m", 8), ("k", 64), ("n", 32)))
    builder.command(CommandKind.DOT, (dot,), (q, k, s), line=7, text="s = tl.dot(q, k)")
    builder.command(
        CommandKind.MATH, (OpForm("exp", ("src",), True),), (s, s), line=8, text="tl.exp(s)"
    )
    dispatch = builder.stage(StageKind.DISPATCH, CPU, 10)
    fetches = [builder.stage(StageKind.FETCH, TCM, 20, op=0, tile=tile) for tile in range(2)]
    gemms = [builder.stage(StageKind.GEMM, GEMM, 24, op=0, tile=tile) for tile in range(2)]
    for fetch, gemm in zip(fetches, gemms, strict=True):
        builder.release(fetch, dispatch, Why.DISPATCH)
        builder.release(gemm, fetch, Why.DATA)
    finish = builder.stage(StageKind.FINISH, CPU)
    builder.release(finish, gemms[1], Why.DATA)
    dispatch = builder.stage(StageKind.DISPATCH, CPU, 10, command=1)
    builder.release(dispatch, finish, Why.BLOCKED)
    math = builder.stage(StageKind.MATH, MATH, 8, command=1, op=0)
    builder.release(math, dispatch, Why.DISPATCH)
    return builder


def timeline_of_intervals(
    start_ps: list[int], end_ps: list[int], *, engine: int = GEMM, kind: StageKind = StageKind.GEMM
) -> Timeline:
    """Stages of one engine at given times, each caused by the one before, of one command."""
    builder = TimelineBuilder()
    command = builder.command(CommandKind.DOT, (OpForm("gemm", (), False),))
    builder.stage(kind, engine, command=command)
    one, count = builder.build(), len(start_ps)
    columns = {name: np.repeat(getattr(one.stages, name), count) for name in STAGE_COLUMNS}
    why = np.full(count, Why.ENGINE, dtype=np.int8)
    why[:1] = Why.NOTHING
    return replace(
        one,
        stages=Stages(**columns),
        ready_ps=np.array(start_ps, dtype=np.int64),
        start_ps=np.array(start_ps, dtype=np.int64),
        end_ps=np.array(end_ps, dtype=np.int64),
        cause=np.arange(-1, count - 1, dtype=np.int32),
        why=why,
    )
