"""Decode over its own arguments, which need a capture each: `python benchmarks/decode_sweeps.py c`.

    c        CUBEs a KV head, by context length: which is best at which length
    tile     keys a tile on one PE, by context length: where one tile for all beats many
    length   the three variants on a CUBE group, by context length

Prints the makespans as a Markdown table, and which value is best where. `--arg NAME=VALUE` sets other
arguments of gqa_decode, `--calibration` and `--hazards` (one policy) choose the model as `kerntape
replay` does.
`--plot FILE.svg` also draws them, the same bytes every time (needs the extra `plots`).
docs/kernels.md shows all three; `kerntape sweep` is for what is varied in a replay.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import groupby, product
from pathlib import Path

from kerntape.capture.capture import capture
from kerntape.cli.capture import given_arguments
from kerntape.cli.model_options import EVERY_POLICY
from kerntape.replay.calibration import resolve_calibration
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.replay.sweep.local_workers import cores_here
from kerntape.schemas.atomic_file import write_whole
from kerntape.schemas.errors import ConfigError, KernelError, KerntapeError
from kerntape.topologies.loader import resolve_topology


@dataclass(frozen=True, slots=True)
class Sweep:
    """What is varied: an argument of gqa_decode, at each of some context lengths."""

    argument: str
    title: str
    values: tuple[str, ...]
    lengths: tuple[int, ...]
    topology: str
    fixed: Mapping[str, str] = field(default_factory=dict)
    drawn_relative: bool = False
    """Whether the picture shows a makespan as a multiple of the shortest at its length."""


@dataclass(frozen=True, slots=True)
class Model:
    """What all points have in common: other arguments of the kernel, and the replay's model."""

    arguments: Mapping[str, str] = field(default_factory=dict)
    calibration: str | None = None
    policy: str = "strict_fifo"


@dataclass(frozen=True, slots=True)
class Result:
    """Makespans in picoseconds by (length, value); None where the scratch is too small for it."""

    sweep: Sweep
    makespans: Mapping[tuple[int, str], int | None]

    def timed(self, length: int) -> dict[str, int]:
        """The makespans at a length, by value."""
        found = {value: self.makespans.get((length, value)) for value in self.sweep.values}
        return {value: makespan for value, makespan in found.items() if makespan is not None}

    def best(self, length: int) -> str:
        """The value with the least makespan, the first of those where several have it."""
        timed = self.timed(length)
        return min(timed, key=timed.__getitem__)


def _powers(first: int, last: int) -> tuple[int, ...]:
    """The powers of two from 2^first to 2^last."""
    return tuple(1 << exponent for exponent in range(first, last + 1))


ALL_AT_ONCE = "0"
"""The tile that is all of a rank's keys."""

SWEEPS = {
    "c": Sweep(
        "c",
        "CUBEs a KV head",
        ("1", "2", "4", "8", "16"),
        _powers(8, 18),
        "llama70b_4sip",
        {"p": "8"},
    ),
    "tile": Sweep(
        "tile",
        "keys a tile",
        ("16", "32", "64", "128", "256", "512", "1024", ALL_AT_ONCE),
        _powers(4, 14),
        "single_pe",
        drawn_relative=True,
    ),
    "length": Sweep(
        "variant",
        "variant",
        ("opt1", "opt2", "opt3"),
        _powers(8, 20),
        "llama70b_4sip",
        {"c": "8", "p": "8"},
    ),
}


def swept(sweep: Sweep, model: Model, jobs: int = 1) -> Result:
    """Captures and replays every point that says something: no tile is wider than the context."""
    points = [
        (length, value)
        for length, value in product(sweep.lengths, sweep.values)
        if sweep.argument != "tile" or int(value) <= length
    ]
    work = partial(makespan_ps, sweep, model)
    if jobs == 1:
        return Result(sweep, dict(zip(points, map(work, points), strict=True)))
    with ProcessPoolExecutor(jobs) as pool:
        return Result(sweep, dict(zip(points, pool.map(work, points), strict=True)))


def makespan_ps(sweep: Sweep, model: Model, point: tuple[int, str]) -> int | None:
    """One point; None where the kernel says that its TCM is full."""
    length, value = point
    arguments = {**sweep.fixed, **model.arguments, "s_kv": str(length), sweep.argument: value}
    try:
        captured = capture(
            "gqa_decode", resolve_topology(sweep.topology), arguments, with_data=False
        )
    except KernelError as error:
        if "is full" in str(error):
            return None
        raise
    timeline = replay(captured.trace, calibration=model.calibration, policy=model.policy)
    return timeline.makespan_ps


def table(result: Result) -> str:
    """The makespans in nanoseconds as a Markdown table, a row a length; the best value stands last."""
    sweep = result.sweep
    head = ["context", *map(label, sweep.values), "best"]
    rows = [head, ["---:"] * len(head), *(row(result, length) for length in sweep.lengths)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in rows)


def row(result: Result, length: int) -> list[str]:
    """One length's cells: `–` where there is no point, `full` where the scratch is too small."""
    return [
        f"{length:,}",
        *(_cell(result, length, value) for value in result.sweep.values),
        label(result.best(length)),
    ]


def _cell(result: Result, length: int, value: str) -> str:
    if (length, value) not in result.makespans:
        return "–"
    makespan = result.makespans[length, value]
    return "full" if makespan is None else f"{makespan / 1000:,.0f}"


def label(value: str) -> str:
    """A value as people read it."""
    return "all" if value == ALL_AT_ONCE else value


def findings(result: Result) -> Iterator[str]:
    """Which value is best where, one line a stretch of lengths."""
    for value, group in groupby(result.sweep.lengths, result.best):
        first, *more = group
        yield f"{first:,}{f' to {more[-1]:,}' if more else ''}: {label(value)}"


def check(sweep: Sweep, model: Model, plot: Path | None) -> None:
    """Raises KerntapeError for what would fail, or be ignored, only after the computation."""
    for name in ("s_kv", sweep.argument):
        if name in model.arguments:
            raise ConfigError(f"--arg {name} must be left out: it is what this sweep varies")
    if model.policy == EVERY_POLICY:
        raise ConfigError(
            f"--hazards must be one policy, not '{EVERY_POLICY}': the table has one makespan a point"
        )
    resolve_policy(model.policy)
    resolve_calibration(resolve_topology(sweep.topology), model.calibration)
    if plot is not None:
        _check_plot(plot)


def _check_plot(path: Path) -> None:
    if path.suffix != ".svg":
        raise ConfigError(f"--plot must be a file that ends in .svg, not '{path}'")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigError(f"--plot must be a file in a folder that can be written to, not '{path}'")
    if find_spec("matplotlib") is None:
        raise KerntapeError(
            "--plot needs matplotlib: pip install -e '.[plots]' in kerntape's clone"
        )


def draw(result: Result, path: Path) -> None:
    """Writes the picture. Needs matplotlib."""
    import matplotlib
    from matplotlib.figure import Figure

    sweep = result.sweep
    # text stays text, and ids come from this salt: the same bytes every time
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kerntape"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.set_prop_cycle(color=COLOURS)
        for value in sweep.values:
            line = zip(*_line(result, value), strict=True)
            axes.plot(*line, marker="o", markersize=3, label=label(value))
        axes.set_xscale("log", base=2)
        axes.set_xticks(sweep.lengths, [_short(length) for length in sweep.lengths])
        axes.set_xlabel("context length, tokens")
        if sweep.drawn_relative:
            axes.set_ylim(0.95, MOST_DRAWN)
            axes.set_ylabel("makespan ÷ the shortest at its length")
        else:
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.set_ylabel("makespan, µs")
        axes.grid(alpha=0.3)
        axes.legend(title=sweep.title)
        with write_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})


COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7"),
    *("#56b4e9", "#e69f00", "#999999", "#000000"),
)
"""Okabe and Ito's, which tell apart for all eyes."""


MOST_DRAWN = 2.5
"""Where a relative picture ends."""


def _line(result: Result, value: str) -> Iterator[tuple[int, float]]:
    """(length, makespan in microseconds, or relative to the shortest) of a value."""
    for length in result.sweep.lengths:
        timed = result.timed(length)
        if value in timed:
            whole = min(timed.values()) if result.sweep.drawn_relative else 1e6
            yield length, timed[value] / whole


def _short(length: int) -> str:
    for unit, size in (("Mi", 1 << 20), ("Ki", 1 << 10)):
        if length >= size:
            return f"{length // size} {unit}"
    return str(length)


def main(words: Sequence[str] | None = None) -> int:
    """Runs one sweep; 1 where an argument cannot be."""
    parser = argparse.ArgumentParser(
        description="decode over its own arguments", allow_abbrev=False
    )
    parser.add_argument("sweep", choices=SWEEPS)
    parser.add_argument("--arg", dest="given", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--calibration", metavar="C")
    parser.add_argument("--hazards", "--policy", dest="policy", default="strict_fifo", metavar="P")
    parser.add_argument("--plot", type=Path, metavar="FILE.svg")
    arguments = parser.parse_args(words)
    try:
        model = Model(given_arguments(arguments.given), arguments.calibration, arguments.policy)
        check(SWEEPS[arguments.sweep], model, arguments.plot)
        result = swept(SWEEPS[arguments.sweep], model, jobs=cores_here())
        print(table(result))
        print("", f"Best {result.sweep.title}:", *findings(result), sep="\n")
        if arguments.plot is not None:
            draw(result, arguments.plot)
    except KerntapeError as error:
        print(f"decode_sweeps: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
