"""benchmarks/speed.py: it runs, every section of its page is there, and growth is what it says."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


def test_growth_is_the_cost_of_a_stage_against_the_row_before():
    growth = runpy.run_path(str(BENCHMARKS / "measuring.py"))["growth"]
    # 1 s for 10 stages, then 3 s for 20: a stage costs half as much again; then 6 s for 40: as much
    assert growth([1.0, 3.0, 6.0], [10, 20, 40]) == ["", "1.50", "1.00"]


def test_a_short_work_is_measured_seven_times_and_in_turns():
    in_turns = runpy.run_path(str(BENCHMARKS / "measuring.py"))["in_turns"]
    done = []
    in_turns(lambda: done.append("a"), lambda: done.append("b"))
    assert done == ["a", "b"] * 7


@pytest.mark.slow
def test_the_quick_benchmark_prints_every_section_of_the_page():
    printed = subprocess.run(
        [sys.executable, BENCHMARKS / "speed.py", "--quick"],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    ).stdout
    assert [line[3:] for line in printed.splitlines() if line.startswith("## ")] == [
        "Runner against runner",
        "Growth with the tokens, on one PE",
        "Capture",
        "Trace files",
        "Sweeps",
        "Cold start",
    ]
