"""Runs a kernel on a small machine and reads back what was recorded and what it computed."""

import inspect
import linecache
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from kerntape.capture.data import DataStore
from kerntape.capture.runner import Launch, Program, run_kernel
from kerntape.capture.tensors import HbmTensor
from kerntape.schemas.errors import KernelError
from kerntape.schemas.topology import (
    Direction,
    Grid,
    IpcqStructure,
    Level,
    PeStructure,
    Tile,
    Topology,
)
from kerntape.schemas.trace import Command, PeEntry, Trace, TraceHeader
from kerntape.schemas.values import NUMPY_DTYPES, Array

DTYPES = {stored: dtype for dtype, stored in NUMPY_DTYPES.items()}
F16, BF16, F32, I32, BOOL = (NUMPY_DTYPES[name] for name in DTYPES.values())


def machine(
    columns: int = 1,
    rows: int = 1,
    *,
    tcm_bytes: int = 1 << 22,
    scratch_bytes: int = 1 << 20,
    tile: tuple[int, int, int] = (32, 64, 32),
    cap_bytes: int = 1024,
) -> Topology:
    """One CUBE of columns × rows PEs, with queues E, W, N and S between neighbours."""
    steps = {"E": (1, 0), "W": (-1, 0), "S": (0, 1), "N": (0, -1)}
    opposites = {"E": "W", "W": "E", "S": "N", "N": "S"}
    m, k, n = tile
    return Topology(
        name="bench",
        summary="a small machine for tests",
        sips=1,
        cubes=Grid(columns=1, rows=1),
        pes=Grid(columns=columns, rows=rows),
        pe=PeStructure(
            tcm_bytes=tcm_bytes,
            scratch_bytes=scratch_bytes,
            hbm_bytes=1 << 30,
            tile=Tile(m=m, k=k, n=n),
            tile_buffers=2,
            composites_in_flight=8,
            scheduler_queue=8,
            composite_cap_bytes=cap_bytes,
        ),
        ipcq=IpcqStructure(depth=4, slot_bytes=4096, send_depth=2),
        directions={
            name: Direction(level=Level.PE, step=step, opposite=opposites[name])
            for name, step in steps.items()
            if (columns if step[0] else rows) > 1
        },
    )


@dataclass(frozen=True)
class Recorded:
    """A recorded launch. `images[rank, number]` are the tensors' bytes as the kernel left them."""

    trace: Trace
    arrays: tuple[Array, ...]
    images: dict[tuple[int, int], Array]

    def commands(self, pe: int = 0) -> list[Command]:
        """The PE's commands in program order."""
        return list(self.trace.commands(self.trace.streams[self.trace.pes[pe].stream]))

    def ops(self, pe: int = 0) -> list[str]:
        """The kinds of the PE's ops, a composite's joined by +."""
        return ["+".join(command.op_kinds) for command in self.commands(pe)]

    def waits(self, pe: int = 0) -> list[tuple[int, ...]]:
        """What each of the PE's commands waits for."""
        return [command.waits for command in self.commands(pe)]

    def value(self, number: int, pe: int = 0) -> Array:
        """Tensor `number` as the PE sees it at the end, as float64 (bool and i32 as they are)."""
        like = self.arrays[number]
        found = self.images[pe, number].view(like.dtype).reshape(like.shape)
        return found if like.dtype in (I32, BOOL) else found.astype(np.float64)


def record(
    kernel: Callable[..., object],
    *arguments: object,
    topology: Topology | None = None,
    data: bool = True,
    **keywords: object,
) -> Recorded:
    """The kernel on every PE of the topology; arrays become tensors, each PE with its own copy."""
    topology = topology or machine()
    ranks = range(topology.pe_count)
    arrays = tuple(argument for argument in arguments if isinstance(argument, np.ndarray))
    names = [*inspect.signature(kernel).parameters]
    numbers = {place: number for number, place in enumerate(_array_places(arguments))}

    def seen_by(rank: int, place: int, argument: object) -> object:
        if not isinstance(argument, np.ndarray):
            return argument
        dtype = DTYPES[argument.dtype]
        return HbmTensor.whole(rank, numbers[place], names[place], argument.shape, dtype)

    given = {
        rank: tuple(seen_by(rank, place, each) for place, each in enumerate(arguments))
        for rank in ranks
    }
    images = {
        (rank, number): np.array(array, order="C").reshape(-1).view(np.uint8).copy()
        for rank in ranks
        for number, array in enumerate(arrays)
    }
    programs = tuple(Program(rank, (rank, 0, 0), given[rank], keywords) for rank in ranks)
    launch = Launch(kernel, (len(ranks), 1, 1), topology, programs)
    found = run_kernel(launch, DataStore(images) if data else None)
    trace = Trace(
        header=TraceHeader("kernel", {}, {}, launch.grid, "0", {}, ()),
        strings=found.strings,
        geometries=found.geometries,
        forms=found.forms,
        lines=found.lines,
        streams=found.streams,
        pes=tuple(
            PeEntry(rank, stream, (rank,) * len(arrays), (0,) * len(arrays))
            for rank, stream in zip(ranks, found.stream_numbers, strict=True)
        ),
    )
    return Recorded(trace, arrays, images)


def _array_places(arguments: tuple[object, ...]) -> list[int]:
    return [place for place, each in enumerate(arguments) if isinstance(each, np.ndarray)]


def refusal(kernel: Callable[..., object], *arguments: object, **keywords: object) -> str:
    """The message of the KernelError that the kernel meets, without the line that ends it.

    The line must be the kernel's own, marked there with the comment `here`.
    """
    with pytest.raises(KernelError) as caught:
        record(kernel, *arguments, **keywords)
    message = re.fullmatch(r"(.*) \((?:PE \d+, )?([\w.]+):(\d+)\)", str(caught.value), re.DOTALL)
    assert message is not None, str(caught.value)
    text, file, line = message.groups()
    source = kernel.__code__.co_filename
    assert file == Path(source).name
    assert linecache.getline(source, int(line)).rstrip().endswith("# here")
    return text


def normal(*shape: int, dtype: np.dtype = F32, seed: int = 0) -> Array:
    """Random values of no symmetry."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)
