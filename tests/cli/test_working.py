"""The line of long work: on a terminal only, and gone when the work is over."""

import io
import time

import pytest
from kerntape.cli import working as module
from kerntape.cli.progress import CLEAR_LINE
from kerntape.cli.working import working, working_line


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def hasty(monkeypatch):
    """The line comes at once, so that no test waits a second."""
    monkeypatch.setattr(module, "SECONDS_TO_FIRST_LINE", 0)


def drawn(terminal: Terminal) -> None:
    """Returns once the line is there; fails if it never comes."""
    for _ in range(1000):
        if terminal.getvalue():
            return
        time.sleep(0.01)
    raise AssertionError("no line was drawn")


def test_the_line_says_what_is_done_and_for_how_long():
    assert working_line("capturing", 3) == "capturing … 0:03"
    assert working_line("capturing", 125) == "capturing … 2:05"


def test_the_line_is_cleared_when_the_work_is_over(hasty):
    terminal = Terminal()
    with working("capturing", terminal):
        drawn(terminal)
    assert terminal.getvalue() == f"{CLEAR_LINE}capturing … 0:00{CLEAR_LINE}"


def test_the_line_is_cleared_when_the_work_fails(hasty):
    terminal = Terminal()

    def fails():
        with working("replaying", terminal):
            drawn(terminal)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fails()
    assert terminal.getvalue().endswith(CLEAR_LINE)


def test_what_is_done_within_a_second_draws_nothing():
    terminal = Terminal()
    with working("capturing", terminal):
        pass
    assert terminal.getvalue() == ""


def test_a_pipe_gets_nothing(hasty):
    pipe = io.StringIO()
    with working("capturing", pipe):
        time.sleep(0.05)
    assert pipe.getvalue() == ""
