"""How long `kerntape view FILE` takes to be on the screen, and how much memory it needs.

    python benchmarks/opening.py full.ktimeline [--size 200x50] [--calm 1.0]

Runs it in a terminal of its own (a pty), reads what it draws, presses Enter for the timeline, walks
and zooms, lays the idle times and then the critical path over it, and quits. Prints for each of the
moments the seconds since the start, elapsed and on the processor, and the largest memory so far,
mapped pages of the file included, in times of the file's size. Works on Linux.
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

OVERLAYS = (
    ("i", "idle for", "idle times are on the rows"),
    ("p", "slack", "critical path and slack"),
)
"""A key, the words that it makes appear, and what is there then."""

STYLES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PROGRAM = "from kerntape.cli.main import run; run()"


class Session:
    """The program in a terminal; all that it drew so far is `drawn`, without styles."""

    def __init__(self, file: Path, size: tuple[int, int]) -> None:
        self.begun = time.perf_counter()
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            sized = ("COLUMNS", "LINES")
            environment = {name: text for name, text in os.environ.items() if name not in sized}
            environment |= {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
            arguments = [sys.executable, "-c", PROGRAM, "view", str(file)]
            os.execve(sys.executable, arguments, environment)
        columns, lines = size
        window = struct.pack("HHHH", lines, columns, 0, 0)
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, window)
        self.drawn = ""
        self._file_bytes = file.stat().st_size

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

    def peak_bytes(self) -> int:
        """The most memory that the program held at once so far."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024

    def tell(self, what: str) -> None:
        elapsed, peak = time.perf_counter() - self.begun, self.peak_bytes()
        print(
            f"{what:<30} {elapsed:6.2f} s elapsed  {self.processor_s():6.2f} s processor"
            f"  {peak / 1e6:6.0f} MB  {peak / self._file_bytes:.2f} × the file"
        )

    def end(self) -> None:
        """Quits."""
        self.press("q")
        while self.read(PATIENCE_S):
            pass
        os.waitpid(self.pid, 0)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Measures the opening of the browser.")
    parser.add_argument("file", type=Path)
    parser.add_argument(
        "--size", default="200x50", help="at least 100x30, where the stage box is beside the rows"
    )
    parser.add_argument(
        "--calm", type=float, default=1.0, help="seconds without drawing: it is done"
    )
    asked = parser.parse_args()
    columns, lines = (int(side) for side in asked.size.split("x"))
    size = asked.file.stat().st_size
    print(f"{asked.file.name}, {size / 1e6:.0f} MB, on {columns} × {lines}")
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
    for key, words, what in OVERLAYS:
        session.press(key)
        session.wait_for(words)
        session.calm(asked.calm)
        session.tell(what)
    session.end()


if __name__ == "__main__":
    main()
