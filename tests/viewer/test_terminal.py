"""The main path in a real terminal."""

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from kerntape.schemas.timeline_file import write_timeline

SNAPSHOTS = Path(__file__).parent / "snapshots"
PATIENCE_S = 20

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A tmux session of its own, 100 × 30."""

    def __init__(self, folder, command="sh"):
        self._server = ["tmux", "-L", f"kerntape-{uuid.uuid4().hex[:8]}", "-u", "-f", os.devnull]
        ours = ("TMUX", "COLUMNS", "LINES")  # the session and the size that we may be in ourselves
        environment = {key: value for key, value in os.environ.items() if key not in ours}
        self._environment = environment | {"LC_ALL": "C.UTF-8", "PS1": "$ "}
        self._run("new-session", "-d", "-x", "100", "-y", "30", "-c", str(folder), command)

    def _run(self, *arguments):
        done = subprocess.run(
            [*self._server, *arguments],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=True,
        )
        return done.stdout

    def type(self, *keys):
        self._run("send-keys", *keys)

    def screen(self):
        lines = self._run("capture-pane", "-p").split("\n")[:30]
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def modes(self):
        """Whether the other screen is on, the cursor is shown, and the mouse is listened to."""
        flags = "#{alternate_on} #{cursor_flag} #{mouse_any_flag}"
        return self._run("display-message", "-p", flags).split()

    def resize(self, columns, lines):
        self._run("resize-window", "-x", str(columns), "-y", str(lines))

    def shows(self, words):
        """Waits until the words stand on the screen, and checks that they do."""
        assert words in self.wait_for(lambda shown: words in shown)

    def wait_for(self, is_there):
        """The screen as soon as it is as wanted; what it was in the end, if it never is."""
        until = time.monotonic() + PATIENCE_S
        while not is_there(shown := self.screen()) and time.monotonic() < until:
            time.sleep(0.05)
        return shown

    def close(self):
        self._run("kill-server")


@pytest.fixture
def terminal(tmp_path):
    opened = Terminal(tmp_path)
    yield opened
    opened.close()


PROGRAM = "import sys; from kerntape.cli.main import run; sys.argv[1:1] = ['view']; run()"


def launcher(folder):
    """A script that runs `kerntape view` on its argument and says with which exit code it ended."""
    script = folder / "view.sh"
    script.write_text(f'{sys.executable} -c "{PROGRAM}" "$1"\necho left with $?\n')


def is_as_it_was(terminal):
    """The shell is back: its own screen, with a cursor, without the mouse, and it takes keys."""
    left = terminal.wait_for(lambda shown: "left with" in shown)
    assert "left with 0" in left
    assert "why" not in left
    assert terminal.modes() == ["0", "1", "0"]
    terminal.type("echo typed", "Enter")
    terminal.shows("\ntyped\n")


def test_a_timeline_is_opened_walked_and_left_with_the_terminal_as_it_was(
    terminal, decode, tmp_path
):
    write_timeline(tmp_path / "decode.ktrace", decode)
    launcher(tmp_path)

    terminal.type("sh view.sh decode.ktrace", "Enter")
    summary = (SNAPSHOTS / "summary-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == summary) == summary
    assert terminal.modes() == ["1", "0", "1"]

    terminal.type("Enter")
    first = (SNAPSHOTS / "first_look-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == first) == first

    terminal.type("j", "j", "j", "j", "j", ".", ".", ".", ".", ".", ".", "W", "W", "W", "[", "[")
    causes = (SNAPSHOTS / "causes-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == causes) == causes

    terminal.type("Tab")
    terminal.shows("── hazards")
    terminal.type("Tab", "q")
    is_as_it_was(terminal)


def test_from_the_summary_through_every_panel_and_screen_and_out(terminal, opt2, tmp_path):
    write_timeline(tmp_path / "opt2.ktimeline", opt2)
    launcher(tmp_path)

    terminal.type("sh view.sh opt2.ktimeline", "Enter")
    terminal.shows("is busiest")
    terminal.type("Down", "Down", "Enter")
    terminal.shows("HBM read")
    terminal.type("Tab")
    terminal.shows("── hazards · ")
    terminal.type("Enter")
    terminal.shows(" was held ")
    terminal.type("c")
    terminal.shows("pe_cpu.fixed_cycles")
    terminal.type("Down", "Down", "Right")  # past the policy and the clock
    terminal.shows("default + pe_cpu.fixed_cycles=44")
    terminal.type("x")
    terminal.shows("stage by stage")
    terminal.type("n")
    terminal.shows(" › CPU dispatch")
    terminal.type("x", "g")
    terminal.shows("busiest engine over")
    terminal.resize(80, 24)
    terminal.shows("g back\n")
    terminal.type("Enter")
    terminal.shows(" . stage")
    terminal.type("?", "s", "u", "m", "m", "a", "r", "y", "Enter")
    terminal.shows("is busiest")
    terminal.type("q", "q")
    is_as_it_was(terminal)


def test_a_terminal_that_has_grown_meanwhile_keeps_nothing_of_the_screen(decode, tmp_path):
    write_timeline(tmp_path / "decode.ktimeline", decode)
    launcher(tmp_path)
    terminal = Terminal(tmp_path, "sh view.sh decode.ktimeline; sleep 60")
    try:
        terminal.shows("is busiest")
        terminal.resize(160, 45)
        terminal.shows("is busiest")
        terminal.type("q")
        terminal.shows("left with 0")
        assert terminal.screen().strip() == "left with 0"
    finally:
        terminal.close()


def test_keys_that_come_all_at_once_mean_what_they_do_one_by_one(terminal, decode, tmp_path):
    write_timeline(tmp_path / "decode.ktimeline", decode)
    launcher(tmp_path)
    terminal.type("sh view.sh decode.ktimeline", "Enter")
    terminal.shows("is busiest")
    terminal.type("Enter", "/", *"fetch", "Enter", "n", "n", "N")
    terminal.shows(" match 2 of ")
    terminal.type("Tab", "Escape", ":", *"#3", "Enter", "?", *"quit", "Enter")
    is_as_it_was(terminal)


def test_a_thread_at_work_does_not_keep_the_browser_from_being_left(terminal, opt2, tmp_path):
    write_timeline(tmp_path / "opt2.ktimeline", opt2)
    launcher(tmp_path)
    for_ever = "import threading; from kerntape.replay.hazards import potential as p"
    for_ever += "; p.potential_hazards = lambda *a: threading.Event().wait()"
    script = tmp_path / "view.sh"
    script.write_text(script.read_text().replace(PROGRAM, f"{for_ever}; {PROGRAM}"))

    terminal.type("sh view.sh opt2.ktimeline", "Enter")
    terminal.shows("is busiest")
    terminal.type("Tab", "a")
    terminal.shows("searching, 0 %")
    terminal.type("Tab", "q")
    is_as_it_was(terminal)


def test_ctrl_z_gives_the_shell_back_and_fg_the_screen_as_it_was(terminal, decode, tmp_path):
    write_timeline(tmp_path / "decode.ktrace", decode)
    launcher(tmp_path)
    terminal.type("sh view.sh decode.ktrace", "Enter")
    terminal.shows("is busiest")
    terminal.type("Enter")
    first = (SNAPSHOTS / "first_look-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == first) == first
    for _ in range(2):
        terminal.type("C-z")
        left = terminal.wait_for(lambda shown: "Stopped" in shown)
        assert "Stopped" in left
        assert "why" not in left
        assert terminal.modes() == ["0", "1", "0"]
        terminal.type("clear; echo meanwhile", "Enter")
        shown = terminal.wait_for(lambda shown: shown.startswith("meanwhile\n"))
        assert shown.startswith("meanwhile\n")
        terminal.type("fg", "Enter")
        assert terminal.wait_for(lambda shown: shown == first) == first
        assert terminal.modes() == ["1", "0", "1"]
    terminal.type("/", *"fetch", "C-z")  # while one types as well
    terminal.shows("Stopped")
    terminal.type("fg", "Enter")
    terminal.shows(" fetch\n")
    terminal.type("Enter")
    terminal.shows(" match 1 of ")
    terminal.type("q")
    terminal.shows("left with 0")


def test_without_a_shell_to_go_back_to_ctrl_z_says_so(decode, tmp_path):
    write_timeline(tmp_path / "decode.ktimeline", decode)
    launcher(tmp_path)
    terminal = Terminal(tmp_path, "sh view.sh decode.ktimeline")
    try:
        terminal.shows("is busiest")
        terminal.type("C-z")
        terminal.shows(" there is no shell here to go back to: q leaves\n")
        terminal.type("Enter")
        terminal.shows(" , . stage")
    finally:
        terminal.close()


def test_a_line_takes_keys_though_the_terminal_says_that_nobody_looks_at_it(
    terminal, decode, tmp_path
):
    write_timeline(tmp_path / "decode.ktimeline", decode)
    launcher(tmp_path)
    focus_out = ("-H", "1b", "5b", "4f")
    terminal.type("sh view.sh decode.ktimeline", "Enter")
    terminal.shows("is busiest")
    terminal.type("Enter", "/")
    terminal.shows("find (a regular expression)")
    terminal.type(*focus_out)
    terminal.type(*"fetch")
    terminal.shows("\n fetch\n")
    terminal.type("Enter")
    terminal.shows(" match 1 of ")
    for opening, shown in (
        ("/", "find (a"),
        (":", "Tab completes"),
        ("?", "type to find"),
        ("F", "only rows"),
    ):
        terminal.type(*focus_out)
        terminal.type(opening)
        terminal.shows(shown)
        terminal.type(*focus_out)
        terminal.type("Escape")
        assert shown not in terminal.wait_for(lambda screen, words=shown: words not in screen)
    terminal.type("q")
    is_as_it_was(terminal)


@pytest.mark.parametrize(
    ("ending", "exit_code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 1)]
)
def test_a_signal_that_ends_the_browser_leaves_the_terminal_as_it_was(
    terminal, opt2, tmp_path, ending, exit_code
):
    write_timeline(tmp_path / "opt2.ktimeline", opt2)
    says_pid = f"import os; print(os.getpid(), file=open('pid', 'w')); {PROGRAM}"
    script = f'{sys.executable} -c "{says_pid}" opt2.ktimeline\necho left with $?\n'
    (tmp_path / "view.sh").write_text(script)
    terminal.type("sh view.sh", "Enter")
    terminal.shows("is busiest")
    os.kill(int((tmp_path / "pid").read_text()), ending)
    terminal.shows(f"left with {exit_code}")
    assert terminal.modes() == ["0", "1", "0"]
