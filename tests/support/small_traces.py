"""Traces written by hand, small enough to know by heart: for tests of files, checks and `inspect`."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm, Scope
from kerntape.schemas.dtypes import DType
from kerntape.schemas.handles import Geometry, Space, contiguous_strides
from kerntape.schemas.trace import (
    KeptInputs,
    PeEntry,
    SourceLine,
    Stream,
    TensorInfo,
    Trace,
    TraceHeader,
)

PAIR: dict[str, Any] = {
    "name": "pair",
    "summary": "two PEs side by side",
    "sips": 1,
    "cubes": {"columns": 1, "rows": 1},
    "pes": {"columns": 2, "rows": 1},
    "pe": {
        "tcm_bytes": 8192,
        "scratch_bytes": 2048,
        "hbm_bytes": 1 << 20,
        "tile": {"m": 32, "k": 64, "n": 32},
        "tile_buffers": 2,
        "composites_in_flight": 8,
        "scheduler_queue": 8,
        "composite_cap_bytes": 1024,
    },
    "ipcq": {"depth": 4, "slot_bytes": 256, "send_depth": 2},
    "directions": {
        "E": {"level": "pe", "step": [1, 0], "opposite": "W"},
        "W": {"level": "pe", "step": [-1, 0], "opposite": "E"},
    },
    "pe_cost_model": {"pe_cpu": {"fixed_cycles": "40", "cycles_per_byte": "0.0625"}},
}

HEADER = TraceHeader(
    kernel="two_tiles",
    arguments={"s_kv": 64, "scale": 0.25, "variant": "opt2", "mask": None, "causal": False},
    topology=PAIR,
    grid=(2, 1, 1),
    tool_version="0.1.0",
    sources={"two_tiles.py": "5e" * 32},
    tensors=(
        TensorInfo("q", (8, 16), "f16", "replicated", False),
        TensorInfo("k", (16, 64), "f16", "columns over pes", False),
        TensorInfo("v", (64, 16), "f16", "rows over pes", False),
        TensorInfo("o", (8, 16), "f32", "on rank 0", True),
    ),
)
Q, K, V, O = range(4)  # noqa: E741 - the tensors' names in the kernel

LOAD = OpForm("load", ("src",), True)
STORE = OpForm("store", ("src",), True)
SEND = OpForm("send", ("src",), False)
RECV = OpForm("recv", (), True)
WAIT = OpForm("wait", (), False)
ADD = OpForm("add", ("src_a", "src_b"), True)
SCALE = OpForm("scale", ("src",), True, (("factor", 0.25),), Scope.OUTPUT_TILE)


def gemm(m: int, k: int, n: int) -> OpForm:
    """A gemm of these extents."""
    return OpForm("gemm", ("a", "b"), True, (("m", m), ("k", k), ("n", n)))


SCORES = CommandForm(CommandKind.COMPOSITE, (gemm(8, 16, 32), SCALE))
MERGE = CommandForm(
    CommandKind.COMPOSITE,
    (
        OpForm("rmax", ("src",), True, (("reduce_axis", -1),)),
        OpForm("exp_diff", ("src_a", "src_b"), True, (("bcast_axis", 0),)),
        gemm(8, 32, 16),
        OpForm("add", ("src", "other"), True, scope=Scope.OUTPUT_TILE),
    ),
    rw_count=2,
)


def single(kind: CommandKind, op: OpForm, direction: str = "") -> CommandForm:
    """The form of a command of one op."""
    return CommandForm(kind, (op,), direction=direction)


@dataclass
class Tables:
    """What the PEs of a trace share. Each entry is kept once."""

    strings: list[str] = field(default_factory=list)
    geometries: list[Geometry] = field(default_factory=list)
    forms: list[CommandForm] = field(default_factory=list)
    lines: list[SourceLine] = field(default_factory=list)

    @staticmethod
    def number(table: list[Any], entry: Any) -> int:
        """The entry's place in its table, which grows where it is new."""
        if entry not in table:
            table.append(entry)
        return table.index(entry)

    def trace_fields(self) -> dict[str, tuple[Any, ...]]:
        """The tables as a trace has them, by the names of its fields."""
        return {name: tuple(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass
class StreamBuilder:
    """Writes one PE's stream command by command; handles are numbers it gave out."""

    tables: Tables
    columns: dict[str, list[int]] = field(
        default_factory=lambda: {name: [] for name in Stream.__dataclass_fields__}
    )

    def handle(
        self,
        label: str,
        shape: tuple[int, ...],
        dtype: DType,
        address: int,
        *,
        tensor: int = -1,
        strides: tuple[int, ...] | None = None,
    ) -> int:
        """A handle in TCM, or in HBM where a tensor is given; dense unless strides are."""
        geometry = Geometry(
            shape,
            strides or contiguous_strides(shape, dtype.size_bytes),
            dtype,
            Space.TCM if tensor < 0 else Space.HBM,
        )
        self.columns["geometries"].append(Tables.number(self.tables.geometries, geometry))
        self.columns["addresses"].append(address)
        self.columns["tensors"].append(tensor)
        self.columns["labels"].append(Tables.number(self.tables.strings, label))
        return len(self.columns["labels"]) - 1

    def command(
        self, line: int, form: CommandForm, handles: list[int], waits: tuple[int, ...] = ()
    ) -> int:
        """A command issued by that line of two_tiles.py."""
        source = SourceLine("two_tiles.py", line, "kernel", f"line {line}")
        self.columns["forms"].append(Tables.number(self.tables.forms, form))
        self.columns["lines"].append(Tables.number(self.tables.lines, source))
        self.columns["wait_counts"].append(len(waits))
        self.columns["slots"] += handles
        self.columns["waits"] += waits
        return len(self.columns["forms"]) - 1

    def stream(self) -> Stream:
        """The stream written so far."""
        columns: dict[str, Any] = {
            name: np.array(column, np.int64 if name == "addresses" else np.int32)
            for name, column in self.columns.items()
        }
        return Stream(**columns)


def tile(build: StreamBuilder, rank: int) -> int:
    """What both PEs do first: load q, #1 = q·K scaled, #2 = softmax-like merge and P·V. Returns O."""
    q_hbm = build.handle("q", (8, 16), DType.F16, 0, tensor=Q)
    q = build.handle("q", (8, 16), DType.F16, 0)
    build.command(10, single(CommandKind.LOAD, LOAD), [q_hbm, q])
    k = build.handle("k", (16, 32), DType.F16, 64 * rank, tensor=K, strides=(128, 2))
    s = build.handle("s", (8, 32), DType.F32, 4096)
    build.command(12, SCORES, [q, k, s, s, s], waits=(0,))
    m = build.handle("m", (8,), DType.F32, 512)
    p = build.handle("p", (8, 32), DType.F16, 5120)
    v = build.handle("v", (32, 16), DType.F16, 1024 * rank, tensor=V)
    o = build.handle("o", (8, 16), DType.F32, 1024)
    build.command(13, MERGE, [s, m, s, m, p, p, v, o, o, o, o, m, o])
    build.command(14, single(CommandKind.WAIT, WAIT), [], waits=(2,))
    return o


def receiver(tables: Tables) -> StreamBuilder:
    """PE 0: its tile, then the neighbour's partial result, added, acknowledged and stored."""
    build = StreamBuilder(tables)
    o = tile(build, 0)
    partial = build.handle("partial", (8, 16), DType.F32, 1536)
    build.command(16, single(CommandKind.RECV, RECV, "E"), [partial])
    build.command(17, single(CommandKind.MATH, ADD), [o, partial, o])
    flag = build.handle("flag", (1,), DType.I32, 2048)
    build.command(18, single(CommandKind.SEND, SEND, "E"), [flag])
    cycles = OpForm("overhead", (), False, (("cycles", 12),))
    build.command(19, single(CommandKind.OVERHEAD, cycles), [])
    o_hbm = build.handle("o", (8, 16), DType.F32, 0, tensor=O)
    build.command(20, single(CommandKind.STORE, STORE), [o, o_hbm])
    return build


def sender(tables: Tables) -> StreamBuilder:
    """PE 1: its tile, sent to PE 0; a small product while it waits for the answer."""
    build = StreamBuilder(tables)
    o = tile(build, 1)
    flag = build.handle("flag", (1,), DType.I32, 2048)
    posted = build.command(22, single(CommandKind.RECV_ASYNC, RECV, "W"), [flag])
    build.command(23, single(CommandKind.SEND, SEND, "W"), [o])
    ones = build.handle("ones", (16, 4), DType.F32, 2052, strides=(0, 0))
    small = build.handle("small", (8, 4), DType.F32, 2064)
    build.command(24, single(CommandKind.DOT, gemm(8, 16, 4)), [o, ones, small])
    build.command(25, single(CommandKind.WAIT, WAIT), [], waits=(posted,))
    return build


def two_pes() -> Trace:
    """Two PEs with different streams: 9 and 8 commands, one of each kind at least."""
    tables = Tables()
    streams = (receiver(tables).stream(), sender(tables).stream())
    return Trace(
        header=HEADER,
        **tables.trace_fields(),
        streams=streams,
        pes=(
            PeEntry(0, 0, (0, 0, 0, 0), (0, 4096, 8192, 16384)),
            PeEntry(1, 1, (0, 1, 1, 0), (0, 4096, 8192, 16384)),
        ),
    )


Program = Sequence[tuple[CommandForm, int]]
"""Commands of one handle in TCM, each with that handle's f32 elements."""

SQUARE = PAIR | {
    "pes": {"columns": 2, "rows": 2},
    "directions": PAIR["directions"]
    | {
        "S": {"level": "pe", "step": [0, 1], "opposite": "N"},
        "N": {"level": "pe", "step": [0, -1], "opposite": "S"},
    },
}


def programmed(topology: dict[str, Any], programs: Sequence[Program]) -> Trace:
    """The PEs 0, 1, … with a program each and no tensors; those with equal ones share a stream."""
    tables = Tables()
    distinct: list[Program] = []
    for program in programs:
        Tables.number(distinct, program)
    builders = [StreamBuilder(tables) for _ in distinct]
    for program, build in zip(distinct, builders, strict=True):
        for form, elements in program:
            build.command(10, form, [build.handle("x", (elements,), DType.F32, 0)])
    return Trace(
        header=replace(HEADER, topology=topology, grid=(len(programs), 1, 1), tensors=()),
        **tables.trace_fields(),
        streams=tuple(build.stream() for build in builders),
        pes=tuple(
            PeEntry(rank, distinct.index(program), (), ()) for rank, program in enumerate(programs)
        ),
    )


def with_inputs(trace: Trace) -> Trace:
    """The trace with two kept images."""
    return replace(trace, inputs=KeptInputs({(0, Q): b"\x00\x3c" * 128, (1, K): bytes(2048)}))


def tile_loop(tiles: int, pes: int = 1) -> Trace:
    """`pes` alike PEs, each `tiles` times: scores and merge, new handles every time (as opt2 has)."""
    tables = Tables()
    build = StreamBuilder(tables)
    q_hbm = build.handle("q", (8, 16), DType.F16, 0, tensor=Q)
    q = build.handle("q", (8, 16), DType.F16, 0)
    build.command(10, single(CommandKind.LOAD, LOAD), [q_hbm, q])
    m = build.handle("m", (8,), DType.F32, 512)
    o = build.handle("o", (8, 16), DType.F32, 1024)
    hbm_tile = 32 * 2
    for step in range(tiles):
        scratch = 4096 + 2048 * (step % 2)
        k = build.handle(
            "k", (16, 32), DType.F16, step * hbm_tile, tensor=K, strides=(tiles * hbm_tile, 2)
        )
        s = build.handle("s", (8, 32), DType.F32, scratch)
        build.command(12, SCORES, [q, k, s, s, s], waits=(0,) if step == 0 else ())
        p = build.handle("p", (8, 32), DType.F16, scratch + 1024)
        v = build.handle("v", (32, 16), DType.F16, step * 1024, tensor=V)
        local = build.handle("m_local", (8,), DType.F32, scratch + 1536)
        build.command(13, MERGE, [s, local, s, local, p, p, v, o, o, o, o, m, o])
    topology = PAIR | {
        "name": "row",
        "summary": "PEs in a row",
        "pes": {"columns": pes, "rows": 1},
        "directions": {},
        "pe": PAIR["pe"] | {"hbm_bytes": 1 << 40},
    }
    v_bytes = tiles * 1024
    return Trace(
        header=replace(HEADER, topology=topology, grid=(pes, 1, 1)),
        **tables.trace_fields(),
        streams=(build.stream(),),
        pes=tuple(
            PeEntry(
                rank,
                0,
                (0, rank, rank, 0),
                (0, 4096, 4096 + v_bytes, 4096 + 2 * v_bytes + 512 * rank),
            )
            for rank in range(pes)
        ),
    )
