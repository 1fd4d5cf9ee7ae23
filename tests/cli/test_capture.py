"""`kerntape capture`: what it writes, prints and answers, and what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.schemas.trace_file import read_trace

SMALL = ("--arg", "s_kv=100", "--arg", "tile=32", "--arg", "d=64")

WRONG = """\
def double(x, y, *, tl):
    tl.store(y, tl.load(x) * 2.0)

def launch(rt, error=0.5):
    x = rt.tensor([1.0, 2.0], dtype="f32")
    y = rt.output(rt.empty((2,), "f32"), reference=lambda: 2 * x.values + error)
    rt.launch(double, (1, 1, 1), x, y)
"""


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    """The one line on stderr of a capture that fails and leaves no file."""
    files = set(Path().iterdir())
    assert main(["capture", *arguments, "-o", "x.ktrace"]) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert set(Path().iterdir()) == files
    return printed.err


def test_json_has_exactly_these_keys(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "gqa_decode", *SMALL, "--json", "-o", "x.ktrace"]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert list(figures) == [
        *("trace", "pes", "commands", "bytes", "content_sha256", "distinct_streams", "outputs")
    ]
    # load, 3 fills, 3 for the mask, 4 tiles of 2, wait, div, store
    assert (figures["trace"], figures["pes"], figures["commands"]) == ("x.ktrace", 1, 18)
    assert figures["bytes"] == Path("x.ktrace").stat().st_size
    assert figures["distinct_streams"] == 1
    assert list(figures["outputs"]["o"]) == ["shape", "dtype", "max_abs_err", "tolerance"]
    assert figures["outputs"]["o"]["max_abs_err"] <= figures["outputs"]["o"]["tolerance"]
    assert (figures["outputs"]["o"]["shape"], figures["outputs"]["o"]["dtype"]) == ([8, 64], "bf16")


def test_without_data_nothing_is_compared_and_the_file_is_the_same(
    capsys: pytest.CaptureFixture[str],
):
    assert main(["capture", "gqa_decode", *SMALL, "-o", "with.ktrace"]) == 0
    capsys.readouterr()
    options = ["--no-data", "--seed", "7", "--json", "-o", "without.ktrace"]
    assert main(["capture", "gqa_decode", *SMALL, *options]) == 0
    output = json.loads(capsys.readouterr().out)["outputs"]["o"]
    assert (output["max_abs_err"], output["tolerance"]) == (None, None)
    assert Path("with.ktrace").read_bytes() == Path("without.ktrace").read_bytes()


def test_for_a_person_it_prints_a_short_summary(capsys: pytest.CaptureFixture[str]):
    Path("mine.py").write_text(WRONG)
    assert main(["capture", "mine.py", "--arg", "error=0", "-o", "x.ktrace"]) == 0
    first, *rows = capsys.readouterr().out.splitlines()
    assert first == "x.ktrace"
    assert rows[:3] == [
        "kernel    mine.py:launch (error 0.0)",
        "PEs       1 on single_pe",
        "commands  3 in 1 distinct stream",
    ]
    assert rows[-1] == "output y  [2] f32, right: largest error 0, its tolerance 6.1e-05"


def test_a_wrong_output_is_a_finding_and_the_trace_is_written(
    capsys: pytest.CaptureFixture[str],
):
    Path("mine.py").write_text(WRONG)
    assert main(["capture", "mine.py", "-o", "x.ktrace"]) == 3
    printed = capsys.readouterr()
    # max |2x + 0.5| = 4.5, so the tolerance is 4.5 · 2^-16
    assert printed.err == (
        "kerntape: output 'y' is wrong: its largest error is 0.5, its tolerance 6.87e-05\n"
    )
    assert "WRONG" in printed.out
    assert read_trace(Path("x.ktrace")).command_count == 3


def test_a_result_that_is_not_a_number_is_null_in_json_and_a_finding(
    capsys: pytest.CaptureFixture[str],
):
    Path("mine.py").write_text(WRONG.replace("2 * x.values + error", "0 * x.values + float('nan')"))
    assert main(["capture", "mine.py", "--json", "-o", "x.ktrace"]) == 3
    printed = capsys.readouterr()
    assert json.loads(printed.out)["outputs"]["y"]["max_abs_err"] is None
    assert printed.err == (
        "kerntape: output 'y' is wrong: its largest error is not a number; NaN is in the result"
        " or in the reference\n"
    )


def test_inputs_are_kept_when_asked_for():
    Path("mine.py").write_text(WRONG)
    assert main(["capture", "mine.py", "--arg", "error=0", "--keep-inputs", "-o", "x.ktrace"]) == 0
    inputs = read_trace(Path("x.ktrace")).inputs
    assert inputs is not None
    assert inputs.images[0, 0] == b"\x00\x00\x80\x3f\x00\x00\x00\x40"  # 1.0 and 2.0 in f32


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("gqa_decod",),
            "no kernel 'gqa_decod'; did you mean 'gqa_decode'?"
            " (a kernel of your own is named by its file: my_kernel.py:launch)",
        ),
        (("nothing.py",), "nothing.py: no such file"),
        (
            ("gqa_decode", "--arg", "varient=opt1"),
            "gqa_decode has no argument 'varient'; did you mean 'variant'?",
        ),
        (
            ("gqa_decode", "--arg", "tile=big"),
            "gqa_decode: argument 'tile' must be a whole number, not 'big'",
        ),
        (("/dev/null",), "/dev/null: a kernel must be a file of Python, and this is none"),
        (("./:launch",), "./: a kernel must be a file of Python, and this is none"),
        (
            ("gqa_decode", "--topology", "one_cub"),
            "no topology 'one_cub'; did you mean 'one_cube'?",
        ),
    ],
)
def test_bad_input_is_one_line(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], line: str
):
    assert refusal(capsys, *arguments) == f"kerntape: {line}\n"


MESH = ("--topology", "llama70b_4sip", *SMALL, "--arg", "c=2", "--no-data")


def test_device_chooses_the_sips_and_is_told(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "gqa_decode", *MESH, "--device", "1-3", "-o", "x.ktrace"]) == 0
    assert "PEs       2 on llama70b_4sip (device 1-3)\n" in capsys.readouterr().out
    # 16 CUBEs of 8 PEs a SIP: PE 0 of CUBES 0 and 1 of SIP 1
    assert [pe.rank for pe in read_trace(Path("x.ktrace")).pes] == [128, 136]


def test_the_same_device_writes_the_same_file_twice_and_another_sip_the_same_header():
    for name, device in (("once", "2"), ("twice", "2"), ("other", "3")):
        command = ["capture", "gqa_decode", *MESH, "--device", device, "-o", f"{name}.ktrace"]
        assert main(command) == 0
    assert Path("once.ktrace").read_bytes() == Path("twice.ktrace").read_bytes()
    once, other = (read_trace(Path(f"{name}.ktrace")) for name in ("once", "other"))
    assert once.header == other.header
    assert [pe.rank for pe in other.pes] == [pe.rank + 128 for pe in once.pes]


@pytest.mark.parametrize("device", ["4", "0,4", "2-5"])
def test_sips_that_are_not_there_are_one_line_that_says_which_are(
    capsys: pytest.CaptureFixture[str], device: str
):
    assert refusal(capsys, "gqa_decode", *MESH, "--device", device) == (
        f"kerntape: --device must name SIPs of llama70b_4sip (0 to 3), not '{device}'\n"
    )


def test_help_explains_device(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "--help"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert (
        "--device SIPS the SIPs that the launch may use, as 1 or 0,2 or 1-3 (default: all);"
        " a kernel's program_id(2) counts these from 0"
    ) in printed


def test_a_kernel_that_raises_shows_its_own_traceback_and_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    Path("mine.py").write_text(WRONG.replace("tl.load(x)", "tl.load(z)"))
    lines = refusal(capsys, "mine.py").splitlines()
    assert [line for line in lines if line.strip("^~ ")] == [
        "Traceback (most recent call last):",
        f'  File "{tmp_path}/mine.py", line 2, in double',
        "    tl.store(y, tl.load(z) * 2.0)",
        "NameError: name 'z' is not defined",
        "kerntape: the kernel raised NameError: name 'z' is not defined (mine.py:2)",
    ]


def test_an_error_that_a_kernels_author_wrote_on_two_lines_is_said_on_one(
    capsys: pytest.CaptureFixture[str],
):
    Path("mine.py").write_text("raise SyntaxError('one\\ntwo')\n")
    assert refusal(capsys, "mine.py").splitlines()[-1] == (
        "kerntape: mine.py raised SyntaxError: one\\ntwo (mine.py:1)"
    )


def test_a_scratch_overflow_is_one_line(capsys: pytest.CaptureFixture[str]):
    line = refusal(capsys, "gqa_decode", "--no-data", "--arg", "tile=0", "--arg", "s_kv=65536")
    assert line.startswith("kerntape: the TCM's scratch slot is full: 'S' [8, 65536] f32 needs")
    assert line.count("\n") == 1


def test_a_missing_folder_is_one_line(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "gqa_decode", *SMALL, "-o", "nowhere/x.ktrace"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "kerntape: nowhere/x.ktrace: cannot be written: there is no folder nowhere;"
        " create the folder first"
    ]


def test_a_seed_is_a_whole_number(capsys: pytest.CaptureFixture[str]):
    assert "argument --seed: must be a number from 0, not 'x'" in refusal(
        capsys, "gqa_decode", "--seed", "x", code=2
    )


def test_it_asks_for_the_trace_to_write(capsys: pytest.CaptureFixture[str]):
    assert main(["capture", "gqa_decode"]) == 2
    assert "the following arguments are required: -o/--output" in capsys.readouterr().err


def test_a_kernel_with_a_module_named_schemas_beside_it_is_captured(
    capsys: pytest.CaptureFixture[str],
):
    Path("schemas.py").write_text("FACTOR = 2.0\n")
    Path("mine.py").write_text(
        WRONG.replace("2.0)", "FACTOR)").replace(
            "def double", "from schemas import FACTOR\n\ndef double", 1
        )
    )
    arguments = ["capture", "mine.py", "--arg", "error=0", "-o", "x.ktrace"]
    process = subprocess.run(
        [sys.executable, "-c", "from kerntape.cli.main import run; run()", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": "."},
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert read_trace(Path("x.ktrace")).header.sources.keys() == {"mine.py", "schemas.py"}


def test_an_infinite_result_is_called_infinite(capsys: pytest.CaptureFixture[str]):
    Path("mine.py").write_text(WRONG.replace("* 2.0", "* 3e38 * 10.0"))
    assert main(["capture", "mine.py", "-o", "x.ktrace"]) == 3
    assert capsys.readouterr().err == (
        "kerntape: output 'y' is wrong: its largest error is infinite;"
        " an infinity is in the result or in the reference\n"
    )
