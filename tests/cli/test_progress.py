"""The progress bar: how far, how fast and how long still, on a terminal alone."""

import io

import pytest
from kerntape.cli.progress import CLEAR_LINE, Progress, progress_line


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        # nothing done in this run: no rate yet
        (progress_line(500, 2000, "points", 0, 3.0), "[#####...............] 500 of 2,000 points"),
        # 400 in 20 s are 20/s; the other 1,600 take 80 s
        (
            progress_line(400, 2000, "points", 400, 20.0),
            "[####................] 400 of 2,000 points, 20/s, 1:20 left",
        ),
        # 1 in 8 s, of which the other 3 take 24 s
        (
            progress_line(5, 8, "points", 1, 8.0),
            "[############........] 5 of 8 points, 0.12/s, 0:24 left",
        ),
        (
            progress_line(8, 8, "points", 8, 4.0),
            "[####################] 8 of 8 points, 2/s, 0:00 left",
        ),
        (progress_line(0, 0, "points", 0, 0.0), "[....................] 0 of 0 points"),
    ],
)
def test_the_line_counts_what_this_run_did_and_expects_as_much_of_the_rest(line, expected):
    assert line == expected


def test_a_terminal_gets_one_line_that_is_drawn_over_and_cleared():
    terminal = Terminal()
    progress = Progress("points", terminal)
    progress(3, 10)
    progress.clear()
    expected = f"{CLEAR_LINE}[######..............] 3 of 10 points{CLEAR_LINE}"
    assert terminal.getvalue() == expected


def test_the_rate_is_of_this_run_and_from_its_first_points_on(monkeypatch):
    # 900 were kept. The first 10 take 8 s, in which workers begin; 5 in the next half second are too
    # short a time to count; 20 in the first 2 s after them are 10/s, the other 70 take 7 s
    terminal = Terminal()
    progress = Progress("points", terminal)
    drawn = []
    for now, done in [(100.0, 900), (108.0, 910), (108.5, 915), (110.0, 930)]:
        monkeypatch.setattr("time.monotonic", lambda now=now: now)
        progress(done, 1000)
        drawn.append(terminal.getvalue().split(CLEAR_LINE)[-1])
    assert drawn == [
        "[##################..] 900 of 1,000 points",
        "[##################..] 910 of 1,000 points",
        "[##################..] 915 of 1,000 points",
        "[##################..] 930 of 1,000 points, 10/s, 0:07 left",
    ]


def test_a_pipe_gets_nothing_and_the_counts_are_kept():
    pipe = io.StringIO()
    progress = Progress("points", pipe)
    progress(3, 10)
    progress.clear()
    assert pipe.getvalue() == ""
    assert (progress.done, progress.total) == (3, 10)
