"""What `kerntape inspect` prints where it finds nothing, as text and as JSON."""

import json
from typing import Any

import pytest
from kerntape.cli.main import main


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """All that it prints, on standard output."""
    assert main(["inspect", *arguments]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    return printed.out


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """Its JSON."""
    found: dict[str, Any] = json.loads(output(capsys, *arguments, "--json"))
    return found
