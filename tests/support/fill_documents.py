"""Writes the real output into a document's console blocks: `python tests/support/fill_documents.py README.md`.

Every command's promised output is replaced by what it prints now; look at the difference before you
commit it.
"""

import sys
import tempfile
from pathlib import Path

from console_blocks import BLOCK, examples, printed_by


def filled(document: Path) -> str:
    """The document's text with what its commands print."""
    text = document.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        printed = [printed_by(example, Path(folder)) for example in examples(document)]
    answers = iter(printed)
    return BLOCK.sub(
        lambda block: "```console\n" + _answered(block.group(1), answers) + "```", text
    )


def _answered(block: str, answers: object) -> str:
    commands = [line for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"{command}\n{next(answers)}" for command in commands)  # type: ignore[call-overload]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(filled(path), encoding="utf-8")
