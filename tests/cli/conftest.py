"""Small decodes to sweep, and `kerntape sweep` in a folder that has them."""

import json
from pathlib import Path

import pytest
from kerntape.cli.main import main


@pytest.fixture(scope="session")
def decodes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Decode of 8 tiles: opt2 has 2 large composites a tile, opt3 10 small commands."""
    folder = tmp_path_factory.mktemp("traces")
    for variant in ("opt2", "opt3"):
        kernel = ["gqa_decode", "--arg", f"variant={variant}", "--arg", "s_kv=512", "--no-data"]
        assert main(["capture", *kernel, "-o", str(folder / f"{variant}.ktrace")]) == 0
    return folder


@pytest.fixture
def sweep(decodes, tmp_path, monkeypatch, capsys):
    """Runs `kerntape sweep` in an empty folder that has the traces; exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    for trace in decodes.iterdir():
        (tmp_path / trace.name).symlink_to(trace)
    capsys.readouterr()

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(["sweep", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def replayed(sweep, capsys):
    """The figures that `kerntape replay --json` gives."""

    def figures(*arguments: str):
        assert main(["replay", *arguments, "--json"]) in (0, 3)  # 3: a hazard went wrong
        return json.loads(capsys.readouterr().out)

    return figures
