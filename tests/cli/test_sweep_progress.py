"""In a pipe or a log a sweep says what it begins, and now and then how far it is."""

import io

import pytest
from kerntape.cli.progress import CLEAR_LINE
from kerntape.cli.sweep_progress import SweepProgress, start_line
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.planning import plan_sweep


@pytest.fixture
def plan_of(decodes):
    def make(traces, *policies, values="1"):
        paths = [decodes / f"{name}.ktrace" for name in traces]
        return plan_sweep(paths, [parse_vary(f"clock_ghz={values}")], policies=policies)

    return make


def test_the_first_line_counts_what_is_asked(plan_of):
    assert start_line(plan_of(["opt2"], "none"), 0) == "1 point: 1 trace"
    two = plan_of(["opt2", "opt3"], "none", "serial", values="1,2,3")
    assert start_line(two, 0) == ("12 points: 2 traces under 2 policies, 3 combinations of values")
    assert start_line(two, 5) == (
        "12 points: 2 traces under 2 policies, 3 combinations of values, 5 kept from before"
    )


def test_a_pipe_gets_a_line_a_tenth_but_none_within_five_seconds_and_one_a_minute(
    plan_of, monkeypatch
):
    pipe = io.StringIO()
    progress = SweepProgress(plan_of(["opt2"], "none"), pipe)
    told = [
        (0.0, 0),
        (4.9, 15),  # a tenth, too soon
        (5.0, 16),  # said
        (64.9, 19),  # no tenth further, and no minute
        (65.0, 19),  # said
        (70.0, 20),  # a tenth, said
        (75.0, 55),  # several at once are one
        (200.0, 100),  # the answer follows
    ]
    for now, done in told:
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        progress(done, 100)
    progress.clear()
    assert pipe.getvalue().splitlines() == [
        "kerntape: 1 point: 1 trace",
        "kerntape: 16 of 100 points, 0:05",
        "kerntape: 19 of 100 points, 1:05",
        "kerntape: 20 of 100 points, 1:10",
        "kerntape: 55 of 100 points, 1:15",
    ]
    assert (progress.done, progress.total) == (100, 100)


def test_a_terminal_has_the_bar_alone(plan_of):
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    progress = SweepProgress(plan_of(["opt2"], "none"), terminal)
    progress(0, 4)
    progress.clear()
    assert terminal.getvalue() == f"{CLEAR_LINE}[{'.' * 20}] 0 of 4 points{CLEAR_LINE}"
