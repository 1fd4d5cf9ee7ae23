"""benchmarks/speed.py: it runs, every section of its page is there, and growth is what it says."""

import runpy
import subprocess
import sys
import time
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
MEASURING = runpy.run_path(str(BENCHMARKS / "measuring.py"))


def test_growth_is_the_cost_of_a_stage_against_the_row_before():
    growth = MEASURING["growth"]
    # 1 s for 10 stages, then 3 s for 20: a stage costs half as much again; then 6 s for 40: as much
    assert growth([1.0, 3.0, 6.0], [10, 20, 40]) == ["", "1.50", "1.00"]


def test_costs_of_a_start_and_so_much_a_stage_lie_on_a_line():
    off_a_line = MEASURING["off_a_line"]
    assert off_a_line([2 + 3 * n for n in (1, 10, 100, 1000)], [1, 10, 100, 1000]) < 1e-12
    assert off_a_line([5.0, 5.0, 5.0], [1, 2, 3]) < 1e-12  # 5 and nothing a stage


def test_a_line_is_off_by_what_no_other_line_undercuts():
    off_a_line = MEASURING["off_a_line"]
    # 2 + 1 × stages a tenth above, a tenth below, a tenth above: 2 + stages = 0.9, 1.1, 0.9 of them
    costs = [(2 + 1) / 0.9, (2 + 8) / 1.1, (2 + 18) / 0.9]
    assert off_a_line(costs, [1, 8, 18]) == pytest.approx(0.1)


def test_a_line_never_begins_below_nothing():
    off_a_line = MEASURING["off_a_line"]
    # a stage costs 1, then 2, then 3: 1.5 × stages is half too much of the first, half short of the last
    assert off_a_line([1.0, 20.0, 300.0], [1, 10, 100]) == pytest.approx((3 - 1) / (3 + 1))


def test_a_line_never_falls():
    off_a_line = MEASURING["off_a_line"]
    # 3 - stages, 2 - stages, … would fit; of those that do not fall 1.5 is half too much, half short
    assert off_a_line([3.0, 2.0, 1.0], [1, 2, 3]) == pytest.approx((3 - 1) / (3 + 1))


def test_a_work_is_measured_in_turns_and_a_short_one_seven_times():
    in_turns = MEASURING["in_turns"]
    done = []

    def work(name):
        done.append(name)
        end = time.process_time() + 0.04  # more than is told apart
        while time.process_time() < end:
            pass

    taken = in_turns(lambda: work("a"), lambda: work("b"))
    assert done == ["a", "b"] * 7
    assert min(taken) >= 0.03


def test_a_work_too_short_for_the_clock_takes_a_time_all_the_same():
    in_turns = MEASURING["in_turns"]
    done = []
    (taken,) = in_turns(lambda: done.append(1), rounds=1)
    assert 0 < taken < 0.001
    assert len(done) > 1000


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
