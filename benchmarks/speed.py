"""How fast kerntape is, as ratios measured side by side in one run: `python benchmarks/speed.py`.

Prints Markdown (docs/performance.md is its last output). Each figure is a median of several runs
that take turns, so that a machine that slows down slows both sides. `--quick` leaves the full sizes
out. Memory is the peak of a process of its own.
"""

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kerntape.capture.capture import capture
from kerntape.replay import compiled_runner, simpy_runner
from kerntape.replay.calibration import resolve_calibration
from kerntape.replay.durations import durations
from kerntape.replay.lower import lower
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import prepare, topology_of
from kerntape.replay.replay import time as replayed
from kerntape.schemas.timeline_file import read_timeline, write_timeline
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import read_trace, write_trace
from kerntape.topologies.loader import resolve_topology

ROUNDS = 5
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Size:
    """A decode step to measure on."""

    title: str
    topology: str
    arguments: tuple[tuple[str, str], ...]

    @property
    def words(self) -> list[str]:
        return [f"--arg={name}={value}" for name, value in self.arguments]


def _decode(title: str, topology: str, **arguments: str) -> Size:
    return Size(title, topology, tuple({"variant": "opt2", **arguments}.items()))


FULL = {"c": "8", "p": "8", "heads": "8"}
SMALL = _decode("1 PE, 4 Ki tokens", "single_pe", s_kv="4096")
LONG = _decode("1 PE, 128 Ki tokens", "single_pe", s_kv="131072")
WIDE = _decode("512 PEs, 128 Ki tokens", "llama70b_4sip", s_kv="131072", **FULL)
LARGEST = _decode("512 PEs, 1 Mi tokens", "llama70b_4sip", s_kv="1048576", **FULL)


def in_turns(rounds: int, *works: Callable[[], object]) -> list[float]:
    """The median seconds of each work, all of them taking turns."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, seconds in zip(works, taken, strict=True):
            began = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - began)
    return [statistics.median(seconds) for seconds in taken]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def traced(size: Size) -> Trace:
    machine = resolve_topology(size.topology)
    return capture("gqa_decode", machine, dict(size.arguments), with_data=False).trace


def runners(sizes: Sequence[Size]) -> str:
    """The compiled runner against the SimPy runner, on the same graph."""
    rows = []
    for size in sizes:
        trace = traced(size)
        machine = topology_of(trace)
        graph = lower(trace, machine, resolve_policy("strict_fifo"))
        lasting = durations(graph, resolve_calibration(machine))
        rounds = ROUNDS if len(graph) < 100_000 else 1
        quick, readable = in_turns(
            rounds,
            lambda graph=graph, lasting=lasting: compiled_runner.run(graph, lasting),
            lambda graph=graph, lasting=lasting: simpy_runner.run(graph, lasting),
        )
        rows.append(
            [
                size.title,
                f"{len(graph):,}",
                f"{len(graph) / quick / 1e6:.2f} M/s",
                f"{len(graph) / readable / 1e6:.3f} M/s",
                f"{readable / quick:.0f}",
            ]
        )
    return table(["decode opt2", "stages", "compiled", "SimPy", "ratio"], rows)


def steps(sizes: Sequence[Size]) -> str:
    """What a replay is made of, and its files."""
    rows = [_steps_of(size) for size in sizes]
    head = ["decode opt2", "commands", "streams", "stages", "read", "lower", "run, check, hazards"]
    return table([*head, "write timeline", "map timeline", "bytes a stage"], rows)


def _steps_of(size: Size) -> list[str]:
    trace = traced(size)
    machine = topology_of(trace)
    policy, costs = resolve_policy("strict_fifo"), resolve_calibration(machine)
    prepared = prepare(trace, machine, policy)
    timeline = replayed(prepared, costs)
    with tempfile.TemporaryDirectory() as folder:
        trace_path, timeline_path = Path(folder, "x.ktrace"), Path(folder, "x.ktimeline")
        write_trace(trace_path, trace)
        write_timeline(timeline_path, timeline)
        seconds = in_turns(
            3,
            lambda: read_trace(trace_path),
            lambda: lower(trace, machine, policy),
            lambda: replayed(prepared, costs),
            lambda: write_timeline(timeline_path, timeline),
            lambda: read_timeline(timeline_path, verify=False),
        )
        size_bytes = timeline_path.stat().st_size
    return [
        size.title,
        f"{trace.command_count:,}",
        str(len(trace.streams)),
        f"{len(timeline.stages):,}",
        *(f"{each:.3f} s" for each in seconds),
        f"{size_bytes / len(timeline.stages):.0f}",
    ]


def processes(sizes: Sequence[Size]) -> str:
    """Whole processes, as a user starts them: seconds, peak memory, and what a command costs."""
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "x.ktrace"))
            where = ["--topology", size.topology, "--no-data", "-o", path]
            captured = _process(["capture", "gqa_decode", *where, *size.words])
            commands = read_trace(Path(path)).command_count
            replay_seconds, replay_mib = _process(["replay", path])
            trace_bytes = Path(path).stat().st_size
        rows.append(
            [
                size.title,
                f"{captured[0]:.2f} s",
                f"{captured[0] / commands * 1e6:.1f}",
                f"{trace_bytes:,}",
                f"{replay_seconds:.2f} s",
                f"{replay_mib:.0f} MiB",
            ]
        )
    head = ["decode opt2", "capture --no-data", "µs a command", "trace bytes", "replay", "peak"]
    return table(head, rows)


def _process(words: list[str]) -> tuple[float, float]:
    """Median seconds of three runs of `kerntape`, and the peak memory in MiB."""
    script = (
        "import resource, subprocess, sys;"
        "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    kerntape = str(Path(sys.executable).with_name("kerntape"))
    seconds, peaks = [], []
    for _ in range(3):
        began = time.perf_counter()
        printed = subprocess.run(
            [sys.executable, "-c", script, kerntape, *words],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        seconds.append(time.perf_counter() - began)
        peaks.append(int(printed) * 1024 / MIB)
    return statistics.median(seconds), max(peaks)


def cold_start() -> str:
    """`kerntape --help` against an interpreter that does nothing."""
    kerntape = str(Path(sys.executable).with_name("kerntape"))
    seconds = in_turns(
        ROUNDS,
        lambda: subprocess.run([kerntape, "--help"], check=True, stdout=subprocess.DEVNULL),
        lambda: subprocess.run([sys.executable, "-c", ""], check=True),
    )
    return table(
        ["", "seconds", "against python -c ''"],
        [["kerntape --help", f"{seconds[0]:.3f}", f"{seconds[0] / seconds[1]:.1f}"]],
    )


def machine() -> str:
    """The machine, as far as it matters here."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text("utf-8").splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    python = platform.python_version()
    return f"{os.cpu_count()} cores of {model}, Python {python}, {platform.system()}."


def main() -> None:
    """Prints the page."""
    parser = argparse.ArgumentParser(description="measure kerntape, print Markdown")
    parser.add_argument("--quick", action="store_true", help="leave the full sizes out")
    quick = parser.parse_args().quick
    sizes = [SMALL, LONG] if quick else [SMALL, LONG, WIDE, LARGEST]
    print("# Performance\n")
    print("The output of `python benchmarks/speed.py`; ratios are of one run on one machine.\n")
    print(f"Measured on {machine()}\n")
    print("## Runner against runner\n")
    print(runners([SMALL, LONG] if quick else [SMALL, LONG, WIDE]), flush=True)
    print("\n## The steps of a replay\n")
    print(steps(sizes), flush=True)
    print("\n## Whole processes\n")
    print(processes(sizes), flush=True)
    print("\n## Cold start\n")
    print(cold_start())
    own_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
    print(f"\nThis run's own peak: {own_mib:.0f} MiB.")


if __name__ == "__main__":
    main()
