"""The main path in a real terminal."""

import os
import shutil
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

    def __init__(self, folder):
        self._server = ["tmux", "-L", f"kerntape-{uuid.uuid4().hex[:8]}", "-u", "-f", os.devnull]
        environment = {key: value for key, value in os.environ.items() if key != "TMUX"}
        self._environment = environment | {"LC_ALL": "C.UTF-8", "PS1": "$ "}
        self._run("new-session", "-d", "-x", "100", "-y", "30", "-c", str(folder), "sh")

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


def test_a_timeline_is_opened_walked_and_left_with_the_terminal_as_it_was(
    terminal, decode, tmp_path
):
    write_timeline(tmp_path / "decode.ktrace", decode)
    launcher = tmp_path / "view.sh"
    program = "import sys; from kerntape.cli.main import run; sys.argv[1:1] = ['view']; run()"
    launcher.write_text(f'{sys.executable} -c "{program}" "$1"\necho left with $?\n')

    terminal.type("sh view.sh decode.ktrace", "Enter")
    first = (SNAPSHOTS / "first_look-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == first) == first

    terminal.type("j", "j", "j", "j", "j", ".", ".", ".", ".", ".", ".", "W", "W", "W", "[", "[")
    causes = (SNAPSHOTS / "causes-100x30.txt").read_text(encoding="utf-8")
    assert terminal.wait_for(lambda shown: shown == causes) == causes

    terminal.type("Tab")
    assert "── hazards" in terminal.wait_for(lambda shown: "── hazards" in shown)
    terminal.type("Tab", "q")
    left = terminal.wait_for(lambda shown: "left with" in shown)
    assert "left with 0" in left
    assert "why" not in left
    terminal.type("echo typed", "Enter")
    assert "\ntyped\n" in terminal.wait_for(lambda shown: "\ntyped\n" in shown)
