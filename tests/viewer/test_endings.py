"""However the browser ends, it ends: its exit code says how, and it leaves no half of a file."""

import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

import pytest
from kerntape.schemas.timeline_file import write_timeline
from kerntape.viewer.endings import Ending

PATIENCE_S = 20

PROGRAM = "import sys; from kerntape.cli.main import run; sys.argv[1:1] = ['view']; run()"

HANGS = """
import threading
from kerntape.viewer import endings, terminal_driver
endings.PATIENCE_S = 0.2
terminal_driver.TerminalDriver.close = lambda driver: threading.Event().wait()
"""

SAVES_FOR_EVER = """
import threading
from kerntape.viewer import csv_file
def parts(columns, rows):
    yield "half of it"
    open("began", "w").close()
    threading.Event().wait()
csv_file._parts = parts
"""

FAILS = """
from kerntape.viewer.screens import timeline
timeline.said = None
"""


class Opened:
    """The browser on a terminal of its own, 100 × 30, past the summary."""

    def __init__(self, folder, timeline, before=""):
        write_timeline(folder / "x.ktimeline", timeline)
        self.folder, self.shown = folder, b""
        self._process, self.terminal = pty.fork()
        if not self._process:
            os.chdir(folder)
            os.execv(sys.executable, [sys.executable, "-c", f"{before}\n{PROGRAM}", "x.ktimeline"])
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.shows(b"is busiest")
        self.type(b"\r")
        self.shows(b"quit")

    def type(self, keys):
        os.write(self.terminal, keys)

    def shows(self, words):
        """Waits until the words have been written since the last ones."""
        self.wait_until(lambda: words in self.shown)
        self.shown = b""

    def wait_until(self, is_so):
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            assert time.monotonic() < until, self.shown
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.shown += os.read(self.terminal, 1 << 16)

    def end_by(self, ending):
        os.kill(self._process, ending)

    def hang_up(self):
        os.close(self.terminal)
        self.terminal = None

    def exit_code(self):
        """As a shell tells it; what is written until then is read."""
        until = time.monotonic() + PATIENCE_S
        while not (ended := os.waitpid(self._process, os.WNOHANG))[0]:
            assert time.monotonic() < until, "it never ends"
            if self.terminal is None:
                time.sleep(0.05)
            elif select.select([self.terminal], [], [], 0.05)[0]:
                self._read_the_last()
        self._process = None
        return os.waitstatus_to_exitcode(ended[1])

    def _read_the_last(self):
        try:
            self.shown += os.read(self.terminal, 1 << 16)
        except OSError:  # a terminal that nobody writes to any more
            time.sleep(0.05)

    def close(self):
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)
        if self.terminal is not None:
            os.close(self.terminal)


@pytest.fixture
def opened(tmp_path, decode):
    all_opened = []

    def open_it(before=""):
        all_opened.append(Opened(tmp_path, decode, before))
        return all_opened[-1]

    yield open_it
    for one in all_opened:
        one.close()


@pytest.mark.parametrize(
    ("ending", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 1)]
)
def test_a_signal_gives_the_screen_back_and_an_exit_code_that_tells_of_it(
    opened, ending, exit_code
):
    browser = opened()
    browser.end_by(ending)
    assert browser.exit_code() == exit_code
    assert b"\x1b[?1049l" in browser.shown  # the screen that was there before


def test_an_interrupt_is_told_as_every_subcommand_tells_it(opened):
    browser = opened()
    browser.end_by(signal.SIGINT)
    browser.exit_code()
    assert browser.shown.endswith(b"kerntape: interrupted\r\n")


def test_a_terminal_that_is_closed_ends_the_browser(opened):
    browser = opened("from kerntape.viewer import endings; endings.PATIENCE_S = 1000")
    browser.hang_up()
    assert browser.exit_code() == 129


def test_a_browser_that_hangs_while_it_is_ended_ends_all_the_same(opened):
    browser = opened(HANGS)
    browser.end_by(signal.SIGTERM)
    assert browser.exit_code() == 143


@pytest.mark.parametrize("besides", ["", HANGS], ids=["", "and it hangs"])
def test_what_was_being_saved_when_a_signal_came_leaves_nothing(opened, besides):
    browser = opened(SAVES_FOR_EVER + besides)
    browser.type(b"E")
    browser.wait_until((browser.folder / "began").exists)
    assert len(list(browser.folder.glob(".kerntape-*.part"))) == 1
    browser.end_by(signal.SIGTERM)
    assert browser.exit_code() == 143
    assert sorted(file.name for file in browser.folder.iterdir()) == ["began", "x.ktimeline"]


def test_who_runs_the_browser_is_not_ended_after_it():
    ending = Ending(lambda: None)
    ending._end(signal.SIGTERM)
    with pytest.raises(SystemExit):
        ending.conclude(0)
    assert ending._last_resort.finished.is_set()


def test_a_browser_that_fails_says_so_by_its_exit_code(opened):
    browser = opened(FAILS)
    browser.type(b".")
    assert browser.exit_code() == 1
    assert b"not callable" in browser.shown


def test_a_byte_that_is_no_text_is_a_key_that_means_nothing(opened):
    browser = opened()
    browser.type(b"\xff")
    browser.shows("� does nothing here".encode())
    browser.type(b"q")
    assert browser.exit_code() == 0
