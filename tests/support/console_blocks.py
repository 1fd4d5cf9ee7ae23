"""Runs a document's console blocks and compares what they print with what the document says.

A block is fenced as ```console. A line that begins with `$ ` is a command; what follows, up to the
next, is its output. `…` alone on a line stands for any lines, inside a line for any text. A
document's commands run in order in one folder, which has the files that the document shows: a line
that is only a file's name in backquotes, ending in a colon, then a python block.
"""

import io
import os
import re
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from kerntape.cli.main import main

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^`(\w+\.py)`:\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"kerntape((?: [\w./:=,+-]+)*)( > /dev/null)?")
"""A command without anything that a shell would make something else of."""

COLUMNS = "100"


@dataclass(frozen=True, slots=True)
class Example:
    """A command of a document and the output it promises."""

    line: int
    command: str
    output: str


def examples(document: Path) -> list[Example]:
    """The document's commands, in order."""
    text = document.read_text(encoding="utf-8")
    found = []
    for block in BLOCK.finditer(text):
        first_line = text.count("\n", 0, block.start(1)) + 1
        found += _of_block(block.group(1), first_line)
    return found


def write_files(document: Path, folder: Path) -> None:
    """Writes the files that the document shows."""
    for name, content in FILE.findall(document.read_text(encoding="utf-8")):
        (folder / name).write_text(content, encoding="utf-8")


def _of_block(block: str, first_line: int) -> list[Example]:
    found: list[Example] = []
    for number, line in enumerate(block.splitlines(), first_line):
        if line.startswith("$ "):
            found.append(Example(number, line[2:], ""))
        else:
            last = found[-1]
            found[-1] = Example(last.line, last.command, last.output + line + "\n")
    return found


def printed_by(example: Example, folder: Path) -> str:
    """Standard output and error of the command, with this environment's kerntape.

    A command that needs no shell runs in this process, as `kerntape`'s entry point would run it: a
    process of its own for each would only load the same modules again.
    """
    plain = PLAIN.fullmatch(example.command)
    if plain is None:
        return _in_a_shell(example, folder)
    return _in_this_process(plain[1].split(), folder, is_kept=plain[2] is None)


def _in_this_process(words: list[str], folder: Path, *, is_kept: bool) -> str:
    printed = io.StringIO()
    with (
        chdir(folder),
        patch.dict(os.environ, COLUMNS=COLUMNS),
        redirect_stdout(printed if is_kept else io.StringIO()),
        redirect_stderr(printed),
    ):
        main(words)
    return printed.getvalue()


def _in_a_shell(example: Example, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    finished = subprocess.run(
        ["bash", "-c", example.command],
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": COLUMNS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return finished.stdout


def agrees(promised: str, printed: str) -> bool:
    """Whether the output is what the document promises."""
    pattern = "".join(
        r"(?:.*\n)*" if line == "…" else re.escape(line).replace("…", ".*") + r"\n"
        for line in promised.splitlines()
    )
    return re.fullmatch(pattern, printed) is not None
