"""README and docs are true: every console block prints what the document says."""

from pathlib import Path

import pytest
from console_blocks import agrees, examples, printed_by, write_files

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))) if examples(path)
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=[path.name for path in DOCUMENTS])
def test_a_documents_commands_print_what_it_says(document, tmp_path):
    write_files(document, tmp_path)
    for example in examples(document):
        printed = printed_by(example, tmp_path)
        assert agrees(example.output, printed), (
            f"{document.name}:{example.line}: $ {example.command}\n"
            f"--- promised\n{example.output}--- printed\n{printed}"
        )


def test_an_ellipsis_alone_stands_for_lines_and_inside_a_line_for_text():
    assert agrees("a\n…\nd\n", "a\nb\nc\nd\n")
    assert agrees("took … ns\n", "took 12.5 ns\n")
    assert not agrees("a\n", "a\nb\n")
    assert not agrees("took … ns\n", "took 12.5 us\n")


def test_the_readme_has_commands_to_check():
    assert examples(ROOT / "README.md")
