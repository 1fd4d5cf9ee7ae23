"""How the benchmarks measure: processor time, medians of works that take turns, processes with their peak.

Processor time (user and system) is what a work costs, whatever else the machine does meanwhile;
caches and memory are shared all the same, so figures come from a machine that does nothing else.
User time is the part of it that is the program's own; system time is mostly the kernel's giving of
memory, which under a virtual machine waits for the host's (see first_touch).
"""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

MIB = 1 << 20

LEAST_S = 0.03
"""What is measured takes at least this long: user time and system time are told apart in steps."""

Result = TypeVar("Result")
KERNTAPE = str(Path(sys.executable).with_name("kerntape"))


@dataclass(frozen=True, slots=True)
class Process:
    """What a whole process took. `peak_mib` is the most memory that it held at once."""

    elapsed_s: float
    user_s: float
    processor_s: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Spent:
    """What a work took, in a process that does other things too."""

    user_s: float
    processor_s: float


def in_turns(*works: Callable[[], object], rounds: int = 0) -> list[float]:
    """The median processor seconds of each work, all of them taking turns."""
    return [each.processor_s for each in spent_in_turns(*works, rounds=rounds)]


def spent_in_turns(*works: Callable[[], object], rounds: int = 0) -> list[Spent]:
    """The medians of each work, all of them taking turns.

    Without `rounds`, each work runs once if it takes more than three seconds, else three times, or
    seven if it takes less than 0.3. One that is too short for the system's clock runs several times in
    a row.
    """
    rows, first = zip(*map(_long_enough, works), strict=True)
    taken = [[spent] for spent in first]
    wanted = [rounds or _rounds(spent.processor_s) for spent in first]
    for number in range(1, max(wanted)):
        for work, row, runs, count in zip(works, rows, taken, wanted, strict=True):
            if number < count:
                runs.append(_spent(work, row))
    return [
        Spent(
            statistics.median(run.user_s for run in runs),
            statistics.median(run.processor_s for run in runs),
        )
        for runs in taken
    ]


def _rounds(seconds: float) -> int:
    return 1 if seconds > 3 else 3 if seconds > 0.3 else 7


def _long_enough(work: Callable[[], object]) -> tuple[int, Spent]:
    """How often in a row the work takes LEAST_S at least, and its part of that."""
    row, spent = 1, _spent(work, 1)
    while spent.processor_s * row < LEAST_S:
        row *= 2
        spent = _spent(work, row)
    return row, spent


def _spent(work: Callable[[], object], row: int) -> Spent:
    """The work's part of so many in a row."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    for _ in range(row):
        work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    user_s = after.ru_utime - before.ru_utime
    return Spent(user_s / row, (user_s + after.ru_stime - before.ru_stime) / row)


def first_touch(rounds: int = 5, size_mib: int = 256) -> tuple[float, float]:
    """The least and the most system seconds that filling memory not used before took."""
    taken = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_stime
        np.empty(size_mib * MIB, dtype=np.uint8).fill(1)
        taken.append(resource.getrusage(resource.RUSAGE_SELF).ru_stime - before)
    return min(taken), max(taken)


_ALONE = """
import json, resource, subprocess, sys, time
began = time.perf_counter()
answer = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
seconds = time.perf_counter() - began
print(json.dumps([answer.returncode, seconds, used.ru_utime, used.ru_stime, used.ru_maxrss]))
"""


def process(*command: str) -> Process:
    """Runs a command once, silent, in a process of its own. Raises RuntimeError where it fails."""
    printed = subprocess.run(
        [sys.executable, "-c", _ALONE, *command], check=True, capture_output=True, text=True
    ).stdout
    code, elapsed_s, user_s, system_s, peak_kib = json.loads(printed)
    if code != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {code}")
    return Process(elapsed_s, user_s, user_s + system_s, peak_kib * 1024 / MIB)


def median_process(*command: str, rounds: int = 3) -> Process:
    """The run of median processor time."""
    runs = sorted((process(*command) for _ in range(rounds)), key=lambda run: run.processor_s)
    return runs[rounds // 2]


def kerntape(*words: str) -> Process:
    """Runs kerntape's command line once."""
    return process(KERNTAPE, *words)


def kept(work: Callable[[], Result], results: list[Result]) -> Callable[[], None]:
    """The work, which leaves its last result, and only that, in the list."""

    def keep() -> None:
        results.clear()
        results.append(work())

    return keep


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def growth(times: Sequence[float], sizes: Sequence[int]) -> list[str]:
    """Per row, how many times the row before's cost, as a multiple of how many times its size: 1.00 is
    linear, less is better than linear. The first row has none."""
    costs = [seconds / size for seconds, size in zip(times, sizes, strict=True)]
    return ["", *(f"{own / before:.2f}" for before, own in pairwise(costs))]


def off_a_line(costs: Sequence[float], sizes: Sequence[int]) -> float:
    """How far off, as a part of the cost, a straight line is that is nowhere further off than it must be.

    The line is a + b × size with a and b at least 0: what every run takes, and what each stage adds.
    There are three points at least, `sizes` ascend, costs are above 0. By the theorem of de la
    Vallée-Poussin the least worst deviation is the greatest among those of any three points; where
    their line has a or b below 0, the best one that has not has one of them 0.
    """
    points = list(zip(costs, sizes, strict=True))
    worst, begin, slope = max(_off_of_three(*three) for three in combinations(points, 3))
    if begin >= 0 and slope >= 0:
        return worst
    return min(_off_of_one(costs), _off_of_one([cost / size for cost, size in points]))


def _off_of_three(*points: tuple[float, int]) -> tuple[float, float, float]:
    """The deviation that three points' best line has at each of them in turn, where it begins, and how
    it rises.
    """
    rows = [
        (1 / cost, size / cost, side) for (cost, size), side in zip(points, (1, -1, 1), strict=True)
    ]
    begin, slope, deviation = np.linalg.solve(np.array(rows), np.ones(3))
    return abs(float(deviation)), float(begin), float(slope)


def _off_of_one(costs: Sequence[float]) -> float:
    """How far off, as a part of each, the one number is that fits them best."""
    return (max(costs) - min(costs)) / (max(costs) + min(costs))


def machine() -> str:
    """The machine, as far as it matters here."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text("utf-8").splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores of {model}, Python {platform.python_version()}, {platform.system()}."


def own_peak_mib() -> float:
    """The most memory that this process held at once."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MIB
