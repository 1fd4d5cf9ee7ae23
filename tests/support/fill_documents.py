"""Writes real output into a document's console blocks: `python tests/support/fill_documents.py README.md`.

What a command promises and no longer prints is replaced by what it prints now; a promise that still
holds (by its `…`) stays. Look at the difference before you commit it.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from console_blocks import BLOCK, Example, agrees, examples, printed_by, write_files


def filled(document: Path) -> str:
    """The document's text with what its commands print."""
    found = examples(document)
    with tempfile.TemporaryDirectory() as folder:
        write_files(document, Path(folder))
        answers = iter([_answer(example, Path(folder)) for example in found])
    text = document.read_text(encoding="utf-8")
    return BLOCK.sub(lambda block: f"```console\n{_answered(block.group(1), answers)}```", text)


def _answer(example: Example, folder: Path) -> str:
    printed = printed_by(example, folder)
    return example.output if agrees(example.output, printed) else printed


def _answered(block: str, answers: Iterator[str]) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{next(answers)}" for command in commands)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(filled(path), encoding="utf-8")
