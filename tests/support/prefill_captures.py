"""Captures of gqa_prefill on a small machine, and what their commands say."""

from pathlib import Path

from kerntape.capture.capture import CaptureResult, capture
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Command, Trace
from kerntape.topologies.loader import resolve_topology

VARIANTS = ("opt1", "opt2", "opt3")
RING_OF_EIGHT = resolve_topology(str(Path(__file__).with_name("ring_of_eight.yaml")))
SMALL = {"g": 2, "d": 16, "tile": 8, "dtype": "f32"}


def prefilled(
    topology: Topology = RING_OF_EIGHT, *, with_data: bool = False, **arguments: object
) -> CaptureResult:
    """A small prefill: 2 query heads of 16, tiles of 8 keys, unless the arguments say otherwise."""
    texts = {name: str(value) for name, value in (SMALL | arguments).items()}
    return capture("gqa_prefill", topology, texts, with_data=with_data)


def commands(trace: Trace, pe: int = 0) -> list[Command]:
    """The commands of the launch's PE number `pe`, in rank order, from 0."""
    return list(trace.commands(trace.streams[trace.pes[pe].stream]))


def score_composites(trace: Trace, pe: int = 0) -> list[Command]:
    """The Q·Kᵀ of every tile: the GEMM, the scale, and the mask's add where there is one."""
    return [command for command in commands(trace, pe) if command.op_kinds[:2] == ("gemm", "scale")]


def messages(trace: Trace, pe: int = 0) -> list[str]:
    """What the PE sends and receives, in order: `> cube_E K` and `< cube_W V`."""
    kinds = {CommandKind.SEND: ">", CommandKind.RECV: "<", CommandKind.RECV_ASYNC: "<"}
    return [
        f"{kinds[command.kind]} {command.form.direction} {command.handles[0].label}"
        for command in commands(trace, pe)
        if command.kind in kinds
    ]
