"""Streams written by hand: commands over named places, one byte an element."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm
from kerntape.schemas.dtypes import DType
from kerntape.schemas.footprints import footprint, shared_bytes
from kerntape.schemas.handles import Geometry, Handle, Space
from kerntape.schemas.hazard_policy import HazardPolicy
from kerntape.schemas.hazards import KINDS, Hazards
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Command, PeEntry, SourceLine, Stream, Trace, TraceHeader

Op = tuple[tuple[str, ...], str | None]
"""What an op reads, and what it writes."""

ALL_KINDS = ["RAW", "WAR", "WAW"]
POLICIES = {
    "none": ("nothing", [], "composites", False),
    "rw_handles": ("rw_handles", ALL_KINDS, "composites", False),
    "strict_fifo": ("handles", ["RAW", "WAW"], "composites", False),
    "byte_range": ("bytes", ALL_KINDS, "commands", False),
    "rw_aware": ("bytes", ALL_KINDS, "commands", True),
    "serial": ("everything", ALL_KINDS, "commands", False),
}


@dataclass
class Tape:
    """A stream under construction. A place is named once; every name is one handle."""

    names: list[str] = field(default_factory=list)
    geometries: list[Geometry] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    tensors: list[int] = field(default_factory=list)
    forms: list[CommandForm] = field(default_factory=list)
    slots: list[list[int]] = field(default_factory=list)
    waits: list[tuple[int, ...]] = field(default_factory=list)

    def place(
        self,
        name: str,
        at: int,
        size: int = 0,
        *,
        rows: tuple[int, int, int] | None = None,
        tensor: int = -1,
    ) -> str:
        """`size` dense bytes, or rows (count, stride, bytes); in TCM, or in HBM tensor `tensor`."""
        count, stride, dense = rows or (1, size, size)
        space = Space.TCM if tensor < 0 else Space.HBM
        self.names.append(name)
        self.geometries.append(Geometry((count, dense), (stride, 1), DType.BOOL, space))
        self.addresses.append(at)
        self.tensors.append(tensor)
        return name

    def add(
        self,
        kind: CommandKind,
        *ops: Op,
        rw: tuple[str, ...] = (),
        waits: tuple[int, ...] = (),
        direction: str = "",
    ) -> int:
        """The next command; returns its index."""
        extra = (("cycles", 5),) if kind is CommandKind.OVERHEAD else ()
        forms = tuple(
            OpForm("op", _operands(len(reads)), out is not None, extra) for reads, out in ops
        )
        used = [name for reads, out in ops for name in (*reads, *([out] if out else []))]
        self.forms.append(CommandForm(kind, forms, len(rw), direction))
        self.slots.append([self.names.index(name) for name in (*used, *rw)])
        self.waits.append(waits)
        return len(self.forms) - 1

    def stream(self, forms: list[CommandForm], geometries: list[Geometry]) -> Stream:
        return Stream(
            forms=_column([forms.index(form) for form in self.forms]),
            lines=_column(list(range(len(self.forms)))),
            wait_counts=_column([len(waits) for waits in self.waits]),
            slots=_column([handle for slots in self.slots for handle in slots]),
            waits=_column([wait for waits in self.waits for wait in waits]),
            geometries=_column([geometries.index(one) for one in self.geometries]),
            addresses=np.array(self.addresses, dtype=np.int64),
            tensors=_column(self.tensors),
            labels=_column(list(range(len(self.names)))),
        )

    def trace(self, topology: Topology, ranks: tuple[int, ...] = (0,)) -> Trace:
        """Every rank runs the stream; command i stands on line i + 1 of hand.py."""
        return trace_of([self], topology, [(rank, 0) for rank in ranks])


def trace_of(tapes: list[Tape], topology: Topology, pes: list[tuple[int, int]]) -> Trace:
    """A trace of one stream a tape; `pes` are (rank, stream)."""
    forms = list(dict.fromkeys(form for tape in tapes for form in tape.forms))
    geometries = list(dict.fromkeys(one for tape in tapes for one in tape.geometries))
    longest = max(len(tape.forms) for tape in tapes)
    return Trace(
        header=TraceHeader(
            "hand", {}, topology.model_dump(mode="json"), (len(pes), 1, 1), "0", {}, ()
        ),
        strings=tuple(max((tape.names for tape in tapes), key=len)),
        geometries=tuple(geometries),
        forms=tuple(forms),
        lines=tuple(SourceLine("hand.py", i + 1, "k", "tl") for i in range(longest)),
        streams=tuple(tape.stream(forms, geometries) for tape in tapes),
        pes=tuple(PeEntry(rank, stream, (rank,) * 4, (0,) * 4) for rank, stream in pes),
    )


def _operands(count: int) -> tuple[str, ...]:
    return ("src",) if count == 1 else tuple(f"src_{i}" for i in range(count))


def _column(values: list[int]) -> "np.ndarray[Any, Any]":
    return np.array(values, dtype=np.int32)


@pytest.fixture
def tape() -> Tape:
    return Tape()


@pytest.fixture(scope="session")
def new_tape() -> type[Tape]:
    return Tape


@pytest.fixture(scope="session")
def joined() -> Any:
    return trace_of


@pytest.fixture(scope="session")
def policies() -> dict[str, HazardPolicy]:
    """The shipped policies, written out: what they mean is what is tested here."""
    return {name: make_policy(name, *rest) for name, rest in POLICIES.items()}


def make_policy(
    name: str, compares: str, kinds: list[str], holds: str, passing: bool
) -> HazardPolicy:
    values = {"name": name, "summary": name, "compares": compares, "kinds": kinds}
    return HazardPolicy.model_validate({**values, "holds": holds, "passing": passing})


@pytest.fixture(scope="session")
def policy_of() -> Any:
    return make_policy


@pytest.fixture(scope="session")
def machine() -> Any:
    """Two PEs side by side, by in-flight limit, scheduler queue and send depth."""

    def build(in_flight: int = 8, queue: int = 8, send_depth: int = 4) -> Topology:
        pe = {
            "tcm_bytes": 1 << 20,
            "scratch_bytes": 1 << 19,
            "hbm_bytes": 1 << 30,
            "tile": {"m": 4, "k": 4, "n": 4},
            "tile_buffers": 2,
            "composites_in_flight": in_flight,
            "scheduler_queue": queue,
            "composite_cap_bytes": 1024,
        }
        one, two = {"columns": 1, "rows": 1}, {"columns": 2, "rows": 1}
        ways = {"E": ([1, 0], "W"), "W": ([-1, 0], "E")}
        ipcq = {"depth": 2, "slot_bytes": 64, "send_depth": send_depth}
        return Topology.model_validate(
            {"name": "m", "summary": "m", "sips": 1, "cubes": one, "pes": two}
            | {"pe": pe, "ipcq": ipcq}
            | {
                "directions": {
                    name: {"level": "pe", "step": step, "opposite": opposite}
                    for name, (step, opposite) in ways.items()
                }
            }
        )

    return build


@pytest.fixture(scope="session")
def told() -> Any:
    """Pairs as (kind, earlier, later), in the order of the rows."""

    def tell(pairs: Hazards) -> list[tuple[str, int, int]]:
        return [
            (str(KINDS[kind]), int(earlier), int(later))
            for kind, earlier, later in zip(pairs.kind, pairs.earlier, pairs.later, strict=True)
        ]

    return tell


@pytest.fixture(scope="session")
def opt2() -> Any:
    """The decode pattern: per tile, #1 writes the scores S, #2 reads them and updates m, l and O.

    Every tile has scores and a P of its own by handle; by bytes they rotate through `slots`.
    """

    def build(tiles: int, slots: int) -> Tape:
        tape = Tape()
        tape.place("q", 0, 16)
        for place, name in enumerate(("m", "l", "O")):
            tape.place(name, 16 + 16 * place, 16)
        for tile in range(tiles):
            slot = 1024 + 64 * (tile % slots)
            tape.place(f"K{tile}", 16 * tile, 16, tensor=0)
            tape.place(f"V{tile}", 16 * tile, 16, tensor=1)
            tape.place(f"S{tile}", slot, 32)
            tape.place(f"P{tile}", slot + 32, 32)
            _add_tile(tape, tile)
        return tape

    return build


def _add_tile(tape: Tape, tile: int) -> None:
    scores, weights = f"S{tile}", f"P{tile}"
    tape.add(
        CommandKind.COMPOSITE,
        (("q", f"K{tile}"), scores),
        ((scores,), scores),
    )
    tape.add(
        CommandKind.COMPOSITE,
        ((scores, "m"), weights),
        (("l", weights), "l"),
        (("O",), "O"),
        (("m",), "m"),
        ((weights, f"V{tile}"), "O"),
        rw=("m", "l", "O"),
    )


@pytest.fixture(scope="session")
def byte_kinds() -> Any:
    """The kinds of hazard that two commands' bytes are, access by access."""

    def share(one: Handle, other: Handle) -> bool:
        places = [footprint(handle.geometry, handle.address) for handle in (one, other)]
        return one.tensor == other.tensor and shared_bytes(*places) is not None

    return lambda earlier, later: _kinds(earlier, later, share)


@pytest.fixture(scope="session")
def handle_kinds() -> Any:
    """The kinds of hazard that two commands' handles are, by id. A read-write handle is read and written."""

    def same(one: Handle, other: Handle) -> bool:
        return one.id == other.id

    return lambda earlier, later: _kinds(earlier, later, same, by_declaration=True)


def _kinds(
    earlier: Command,
    later: Command,
    meet: Callable[[Handle, Handle], bool],
    *,
    by_declaration: bool = False,
) -> set[str]:
    if {earlier.kind, later.kind} & {CommandKind.WAIT, CommandKind.OVERHEAD}:
        return set()
    (old_reads, old_writes), (new_reads, new_writes) = (
        _used(command, by_declaration) for command in (earlier, later)
    )
    cases = (
        ("RAW", old_writes, new_reads),
        ("WAR", old_reads, new_writes),
        ("WAW", old_writes, new_writes),
    )
    return {
        kind
        for kind, before, after in cases
        for one in before
        for other in after
        if meet(one, other)
    }


def _used(command: Command, by_declaration: bool) -> tuple[list[Handle], list[Handle]]:
    """The handles that a command reads, and those that it writes."""
    declared = list(command.rw_handles) if by_declaration else []
    reads, writes = (
        [command.handles[slot] for _, slot in slots]
        for slots in (command.form.read_slots, command.form.write_slots)
    )
    return reads + declared, writes + declared


@pytest.fixture(scope="session")
def calibrated() -> Any:
    """A calibration by six costs in nanoseconds: a command, planning an op, an element of MATH, a
    byte of a transfer, HBM's latency, a credit's way."""

    def build(fixed: int, plan: int, element: int, byte: int, latency: int, credit: int) -> Any:
        rate, link = f"{1 / byte:.6f}", {"bytes_per_ns": f"{1 / byte:.6f}", "hop_latency_ns": 1}
        levels = ("pe", "cube", "sip")
        return Calibration.model_validate(
            {
                "name": "drawn",
                "summary": "drawn",
                "clock_ghz": 1,
                "pe_cpu": {"fixed_cycles": fixed, "cycles_per_byte": 0},
                "pe_scheduler": {"plan_cycles_per_op": plan},
                "pe_dma": {"read_bytes_per_ns": rate, "write_bytes_per_ns": rate},
                "pe_gemm": {"macs_per_cycle": 1, "fill_cycles": 0},
                "pe_math": {"vector_width": f"{1 / element:.6f}"},
                "pe_tcm": {"bytes_per_ns": rate},
                "hbm": {"bytes_per_ns": rate, "latency_ns": latency},
                "ipcq": {"copy_bytes_per_ns": rate, "credit_latency_ns": credit},
                "noc": {
                    f"{level}_{key.replace('bytes', 'link_bytes')}": value
                    for level in levels
                    for key, value in link.items()
                },
            }
        )

    return build
