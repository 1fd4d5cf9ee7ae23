"""The decode steps that are measured, from 4 Ki tokens on one PE to 1 Mi on 512, captured to files."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from kerntape.replay.calibration import resolve_calibration
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.machine import topology_of
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import Prepared
from kerntape.replay.stage_graph import Durations
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.hazard_policy import HazardPolicy
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import read_trace
from measuring import Process, kerntape

KI = 1 << 10


@dataclass(frozen=True, slots=True)
class Size:
    """A decode step: the PEs that take part, the keys, the variant."""

    pes: int
    tokens: int
    variant: str = "opt2"

    @property
    def title(self) -> str:
        tokens = f"{self.tokens // KI} Ki" if self.tokens < KI * KI else "1 Mi"
        return f"{self.variant}, {self.pes} PE{'s' * (self.pes > 1)}, {tokens} tokens"

    @property
    def words(self) -> list[str]:
        """The command line's. 64 PEs are a KV head's group of 8 CUBEs; 512 are 8 such heads."""
        topology, shape = _MACHINES[self.pes]
        arguments = {"variant": self.variant, "s_kv": self.tokens, **shape}
        given = [f"--arg={name}={value}" for name, value in arguments.items()]
        return ["gqa_decode", "--topology", topology, "--no-data", *given]


_MACHINES: Mapping[int, tuple[str, Mapping[str, int]]] = {
    1: ("single_pe", {}),
    8: ("one_cube", {"p": 8}),
    64: ("llama70b_4sip", {"c": 8, "p": 8}),
    512: ("llama70b_4sip", {"c": 8, "p": 8, "heads": 8}),
}

SMALL, LONG = Size(1, 4 * KI), Size(1, 128 * KI)
FULL, LARGEST = Size(512, 128 * KI), Size(512, KI * KI)


@dataclass(frozen=True)
class Decode:
    """A captured step, and what a replay with the defaults needs of it, worked out when asked for."""

    size: Size
    path: Path
    capture: Process
    policy: HazardPolicy = field(default_factory=lambda: resolve_policy("strict_fifo"))

    @cached_property
    def trace(self) -> Trace:
        return read_trace(self.path)

    @cached_property
    def machine(self) -> Topology:
        return topology_of(self.trace)

    @cached_property
    def costs(self) -> Calibration:
        return resolve_calibration(self.machine)

    @cached_property
    def prepared(self) -> Prepared:
        graph = lower(self.trace, self.machine, self.policy)
        return Prepared(self.trace, self.machine, self.policy, graph)

    @cached_property
    def lasting(self) -> Durations:
        return durations(self.prepared.graph, self.costs)

    @property
    def stages(self) -> int:
        return len(self.prepared.graph)

    @property
    def commands(self) -> int:
        return self.trace.command_count

    @property
    def distinct_commands(self) -> int:
        """Those of the streams, before PEs share them."""
        return sum(stream.command_count for stream in self.trace.streams)


class Decodes:
    """Captures each size once, in a process of its own, into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._captured: dict[Size, Decode] = {}

    def __getitem__(self, size: Size) -> Decode:
        """The step; what was read of it before is forgotten, so that one is in memory at a time."""
        if size not in self._captured:
            path = self._folder / f"{size.variant}-{size.pes}-{size.tokens}.ktrace"
            taken = kerntape("capture", *size.words, "-o", str(path))
            self._captured[size] = Decode(size, path, taken)
        known = self._captured[size]
        return Decode(size, known.path, known.capture)
