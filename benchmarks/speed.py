"""How fast kerntape is, as ratios measured side by side in one run: `python benchmarks/speed.py`.

Prints Markdown (docs/performance.md is its last output); some five minutes on a machine that does
nothing else. `--quick` leaves the full sizes out. Where two ways are compared, their results are
asserted to be equal first.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from decodes import FULL, KI, LARGEST, LONG, SMALL, Decode, Decodes, Size
from kerntape.replay import compiled_runner, simpy_runner
from kerntape.replay.lower import lower
from kerntape.replay.replay import time as replayed
from kerntape.replay.times import Times
from kerntape.schemas.timeline_file import read_timeline, write_timeline
from kerntape.schemas.trace_file import read_trace, trace_bytes
from measuring import (
    KERNTAPE,
    Spent,
    first_touch,
    growth,
    in_turns,
    kept,
    kerntape,
    machine,
    median_process,
    off_a_line,
    own_peak_mib,
    spent_in_turns,
    table,
)
from sweeping import a_thousand_calibrations, points_per_second

HEAD = """# Performance

The output of `python benchmarks/speed.py`, on {machine}

Times are processor time (user and system), medians of runs that take turns; ratios are of one run.
Where two ways are compared, their results were asserted to be equal. `opt2, 512 PEs, 128 Ki tokens` is
the full-size decode: Llama3-70B's 8 KV heads, each on 8 CUBEs of 8 PEs.
"""


def runners(decodes: Decodes, sizes: Sequence[Size]) -> str:
    """The compiled runner against the SimPy runner, on the same graph."""
    rows = []
    for decode in (decodes[size] for size in sizes):
        graph, lasting = decode.prepared.graph, decode.lasting
        quick: list[Times] = []
        readable: list[Times] = []
        compiled, simpy = in_turns(
            kept(partial(compiled_runner.run, graph, lasting), quick),
            kept(partial(simpy_runner.run, graph, lasting), readable),
        )
        for name in ("ready_ps", "start_ps", "end_ps", "cause"):
            assert np.array_equal(getattr(quick[0], name), getattr(readable[0], name)), name
        speeds = f"{len(graph) / compiled / 1e6:.2f} M/s", f"{len(graph) / simpy / 1e3:.0f} k/s"
        ratio = f"{simpy / compiled:.0f}"
        rows.append([decode.size.title, f"{len(graph):,}", *speeds, ratio])
    return table(["decode", "stages", "compiled", "SimPy", "ratio"], rows)


def trace_files(decodes: Decodes, sizes: Sequence[Size]) -> str:
    """Reading and writing traces, and how large they are before PEs share streams."""
    rows = []
    for decode in (decodes[size] for size in sizes):
        path, trace = decode.path, decode.trace
        reading, writing = in_turns(partial(read_trace, path), partial(trace_bytes, trace))
        size_bytes = path.stat().st_size
        rows.append(
            [
                decode.size.title,
                f"{decode.commands:,}",
                f"{decode.distinct_commands:,}",
                f"{size_bytes:,}",
                f"{size_bytes / decode.distinct_commands:.2f}",
                f"{reading * 1e3:.1f} ms",
                f"{decode.commands / reading / 1e6:.1f} M/s",
                f"{writing * 1e3:.1f} ms",
            ]
        )
    head = ["decode", "commands", "distinct", "bytes", "bytes a distinct command", "read"]
    return table([*head, "commands read", "write"], rows)


def capturing(decodes: Decodes, sizes: Sequence[Size]) -> str:
    """`kerntape capture --no-data`, as a process."""
    rows = []
    for decode in (decodes[size] for size in sizes):
        taken = decode.capture
        rows.append(
            [
                decode.size.title,
                f"{decode.commands:,}",
                f"{taken.processor_s:.2f} s",
                f"{taken.processor_s / decode.commands * 1e6:.1f} µs",
                f"{taken.peak_mib:.0f} MiB",
            ]
        )
    return table(["decode", "commands", "capture --no-data", "a command", "peak"], rows)


def grown(decodes: Decodes, sizes: Sequence[Size]) -> str:
    """The steps of a replay, and `kerntape replay` as a process, from one size to the next."""
    rows, stages, costs = [], [], []
    for decode in (decodes[size] for size in sizes):
        lowering, running, *others = _steps(decode)
        whole = median_process(KERNTAPE, "replay", str(decode.path))
        stages.append(decode.stages)
        costs.append((lowering.user_s, running.user_s, whole.user_s, whole.peak_mib))
        both = (lowering.processor_s, running.processor_s)
        steps = [f"{each * 1e3:,.1f} ms" for each in (*both, *others)]
        process = [f"{whole.processor_s:.2f} s", f"{whole.peak_mib:.0f} MiB"]
        rows.append([decode.size.title, f"{decode.stages:,}", *steps, *process])
    columns = list(zip(*costs, strict=True))
    for column in columns:
        for row, factor in zip(rows, growth(column, stages), strict=True):
            row.append(factor)
    head = ["decode", "stages", "lower", "run", "check, hazards", "write", "map", "verify"]
    grows = ["lower ×", "run ×", "replay ×", "peak ×"]
    off = [f"{off_a_line(column, stages):.0%}" for column in columns[1:]]
    return (
        table([*head, "`kerntape replay`", "peak", *grows], rows)
        + "\n\n"
        + OFF.format(run=off[0], replay=off[1], peak=off[2])
    )


def _steps(decode: Decode) -> tuple[Spent, Spent, float, float, float, float]:
    """What takes: to lower, to run; seconds of the rest of a replay, to write a timeline, map it, read
    and verify it.
    """
    prepared, lasting = decode.prepared, decode.lasting
    timeline = replayed(prepared, decode.costs)
    path = decode.path.with_suffix(".ktimeline")
    write_timeline(path, timeline)
    lowering, running, whole, writing, mapping, verifying = spent_in_turns(
        lambda: lower(decode.trace, decode.machine, decode.policy),
        lambda: compiled_runner.run(prepared.graph, lasting),
        lambda: replayed(prepared, decode.costs),
        lambda: write_timeline(path, timeline),
        lambda: read_timeline(path, verify=False),
        lambda: read_timeline(path),
    )
    path.unlink()
    rest = max(0.0, whole.processor_s - running.processor_s)
    return lowering, running, rest, writing.processor_s, mapping.processor_s, verifying.processor_s


def cold_start() -> str:
    """`kerntape --help` against an interpreter that does nothing."""
    helped, nothing = (
        median_process(KERNTAPE, "--help", rounds=7),
        median_process(sys.executable, "-c", "", rounds=7),
    )
    ratio = f"{helped.elapsed_s / nothing.elapsed_s:.1f}"
    return table(
        ["", "elapsed", "against `python -c ''`"],
        [["`kerntape --help`", f"{helped.elapsed_s:.3f} s", ratio]],
    )


OFF = """Off a straight line, at most: the run alone {run}, `kerntape replay` {replay}, its peak {peak}."""

GROWTH = """A × column is the row's cost over that of the row before, divided by the same ratio of stages:
1.00 is linear, less is better. Below each table stands how far its rows lie off the straight line
a + b × stages (a and b at least 0) that fits them best, as a part of each row's cost: 10 % is one row
a tenth above the line and another a tenth below. Lowering is not told there: alike PEs share it. Of
times both compare the user part alone: system time is mostly the first touch of memory, and here
filling 256 MiB took from {least:.0f} to {most:.0f} ms of it. What a process takes before it begins
(see the first row) hides growth in the small sizes; where a graph outgrows the processor's caches a
stage costs more, and from there on the same.
"""


def growing() -> str:
    """What to know of the columns that tell growth."""
    least, most = first_touch()
    return GROWTH.format(least=least * 1e3, most=most * 1e3)


def main() -> None:
    """Prints the page."""
    parser = argparse.ArgumentParser(description="measure kerntape, print Markdown")
    parser.add_argument("--quick", action="store_true", help="leave the full sizes out")
    quick = parser.parse_args().quick
    kerntape("--help")  # compiles what was not compiled yet
    with tempfile.TemporaryDirectory() as folder:
        print(HEAD.format(machine=machine()))
        for title, text in _sections(Decodes(Path(folder)), quick):
            print(f"## {title}\n\n{text}\n", flush=True)
    print(f"This run's own peak: {own_peak_mib():.0f} MiB.")


def _sections(decodes: Decodes, quick: bool) -> Iterator[tuple[str, str]]:
    """The page's parts, each measured when it is asked for."""
    wide = [] if quick else [FULL]
    yield "Runner against runner", runners(decodes, [SMALL, LONG, *wide])
    tokens = [4 * KI << step for step in (0, 2, 4, 6, 8)]
    if quick:
        sizes = [Size(1, n) for n in tokens[:3]]
        yield "Growth with the tokens, on one PE", growing() + "\n" + grown(decodes, sizes)
    else:
        pes = [Size(n, 2 * KI * min(n, 64)) for n in (1, 8, 64, 512)]
        yield "Growth with the PEs, 2 Ki tokens each", growing() + "\n" + grown(decodes, pes)
        yield "Growth with the tokens, on one PE", grown(decodes, [Size(1, n) for n in tokens])
        yield "Growth with the tokens, on 512 PEs", grown(decodes, [Size(512, n) for n in tokens])
    variants = [Size(512, 128 * KI, variant) for variant in ("opt1", "opt3")]
    largest = [] if quick else [FULL, LARGEST, *variants]
    yield "Capture", capturing(decodes, [SMALL, LONG, *largest])
    distinct = [Size(1, KI * KI), Size(1, KI * KI, "opt3")]
    yield (
        "Trace files",
        trace_files(decodes, [SMALL, LONG, *([] if quick else [FULL, LARGEST, *distinct])]),
    )
    swept = [Size(1, 32 * KI), Size(1, 32 * KI, "opt3")]
    yield "Sweeps", points_per_second(decodes, [*swept, *wide, *([] if quick else variants[1:])])
    if not quick:
        yield "A thousand calibrations", a_thousand_calibrations(decodes[FULL])
    yield "Cold start", cold_start()


if __name__ == "__main__":
    main()
