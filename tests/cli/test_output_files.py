"""An output is never a file that the command reads, nor another of its outputs."""

from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.cli.output_files import check_output_files
from kerntape.schemas.errors import UsageError

KERNEL = """\
def idle(*, tl):
    tl.overhead(1)

def launch(rt):
    rt.launch(idle, (1, 1, 1))
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("idle.py").write_text(KERNEL)


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What the command says that is wrongly used, with every file left as it was."""
    before = {file: file.read_bytes() for file in Path().iterdir()}
    assert main(list(words)) == 2
    assert {file: file.read_bytes() for file in Path().iterdir()} == before
    return capsys.readouterr().err


def test_other_files_and_names_of_shipped_things_are_no_clash():
    outputs = [("--output", "a"), ("--op-log", "b"), ("--more", None)]
    check_output_files(outputs, [("the trace", "c"), ("--topology", "a")])  # no file is called a


def test_a_link_to_a_file_and_another_name_of_it_are_the_same_file():
    Path("soft").symlink_to("idle.py")
    Path("hard").hardlink_to("idle.py")
    for name in ("soft", "hard", "./idle.py"):
        with pytest.raises(UsageError) as error:
            check_output_files([("--output", name)], [("the trace", "idle.py")])
        assert str(error.value) == (
            f"--output must not be the trace, and {name} is the same file; name another"
        )


def test_a_capture_does_not_write_over_its_kernel(capsys: pytest.CaptureFixture[str]):
    assert refusal(capsys, "capture", "idle.py:launch", "-o", "idle.py") == (
        "kerntape: --output must not be the kernel's file, and idle.py is the same file;"
        " name another\n"
    )


def test_a_replay_writes_over_neither_its_trace_nor_its_own_output(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["capture", "idle.py", "-o", "x.ktrace"]) == 0
    capsys.readouterr()
    same = "is the same file; name another\n"
    assert refusal(capsys, "replay", "x.ktrace", "--op-log", "x.ktrace") == (
        f"kerntape: --op-log must not be the trace, and x.ktrace {same}"
    )
    assert refusal(capsys, "replay", "x.ktrace", "-o", "out", "--op-log", "./out") == (
        f"kerntape: --op-log must not be --output, and ./out {same}"
    )


def test_a_sweep_does_not_write_over_its_grid(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "idle.py", "-o", "x.ktrace"]) == 0
    Path("grid.csv").write_text("pe_cpu.fixed_cycles: [1, 2]")
    capsys.readouterr()
    assert refusal(capsys, "sweep", "x.ktrace", "--grid", "grid.csv", "-o", "grid.csv") == (
        "kerntape: --output must not be --grid, and grid.csv is the same file; name another\n"
    )
