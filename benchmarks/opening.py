"""How long `kerntape view FILE` takes to be on the screen, and how much memory it needs.

    python benchmarks/opening.py full.ktimeline [--size 200x50] [--calm 1.0]

Runs it in a terminal of its own (a pty), reads what it draws, presses Enter for the timeline, walks
and zooms, and quits. Prints for each of the moments the seconds since the start, elapsed and on the
processor, and at the end the largest memory, mapped pages of the file included, against the file's
size. Works on Linux.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios
import time
from pathlib import Path

PATIENCE_S = 120
READ_BYTES = 1 << 16
WALK = (".", ".", "[", "j", "j", "w", "w", "s", "d", "0")
"""Keys after the timeline is there: steps, a cause, rows, zoom."""

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PROGRAM = "from kerntape.cli.main import run; run()"


class Session:
    """The program in a terminal; all that it drew so far is `drawn`, without styles."""

    def __init__(self, file: Path, size: tuple[int, int]) -> None:
        self.begun = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            environment = os.environ | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            arguments = [sys.executable, "-c", PROGRAM, "view", str(file)]
            os.execve(sys.executable, arguments, environment)
        columns, lines = size
        window = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, window)
        self.drawn = ""

    def read(self, patience_s: float) -> bool:
        """Reads what is drawn within that time, if anything."""
        ready, _, _ = select.select([self._terminal], [], [], patience_s)
        if not ready:
            return False
        try:
            drawn = os.read(self._terminal, READ_BYTES)
        except OSError:  # the program has closed the terminal
            drawn = b""
        self.drawn += STYLES.sub("", drawn.decode("utf-8", "replace"))
        return bool(drawn)

    def wait_for(self, *words: str) -> None:
        """Reads until all of the words were drawn."""
        until = time.perf_counter() + PATIENCE_S
        while not all(word in self.drawn for word in words):
            if time.perf_counter() > until:
                sys.exit(f"{words} did not appear; the last that did:\n{self.drawn[-2000:]}")
            self.read(0.05)

    def calm(self, seconds: float) -> None:
        """Reads until nothing was drawn for so long."""
        while self.read(seconds):
            pass

    def press(self, *keys: str) -> None:
        for key in keys:
            os.write(self._terminal, key.encode())

    def processor_s(self) -> float:
        """User and system time of the program so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_S

    def tell(self, what: str) -> None:
        elapsed = time.perf_counter() - self.begun
        print(f"{what:<34} {elapsed:6.2f} s elapsed  {self.processor_s():6.2f} s processor")

    def end(self) -> int:
        """Quits; the largest memory in bytes."""
        self.press("q")
        while self.read(PATIENCE_S):
            pass
        _, _, usage = os.wait4(self.pid, 0)
        return int(usage.ru_maxrss) * 1024


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Measures the opening of the browser.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--size", default="200x50")
    parser.add_argument(
        "--calm", type=float, default=1.0, help="seconds without drawing: it is done"
    )
    asked = parser.parse_args()
    columns, lines = (int(side) for side in asked.size.split("x"))
    file_bytes = asked.file.stat().st_size
    print(f"{asked.file.name}, {file_bytes / 1e6:.0f} MB, on {columns} × {lines}")
    session = Session(asked.file, (columns, lines))
    session.wait_for("makespan", "hazards")
    session.tell("the summary is on the screen")
    session.wait_for("is busiest")
    session.tell("all is added up")
    session.press("\r")
    session.wait_for(" shown", "why")
    session.tell("the timeline is on the screen")
    session.calm(asked.calm)
    session.press(*WALK)
    session.calm(asked.calm)
    session.tell("after some walking")
    memory = session.end()
    print(f"peak memory {memory / 1e6:.0f} MB, {memory / file_bytes:.2f} × the file")


if __name__ == "__main__":
    main()
