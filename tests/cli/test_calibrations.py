"""`kerntape calibrations` lists the cost models and prints one as a file to start from."""

import json
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.replay.calibration import read_calibration


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["calibrations", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_has_a_line_a_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys).splitlines()
    assert [line.split()[0] for line in lines] == [
        "default",
        "dispatch_free",
        "dispatch_heavy",
        "dispatch_light",
    ]
    assert lines[2] == "dispatch_heavy  dispatch at 4 bytes of descriptor a cycle instead of 16"


def test_one_is_printed_whole_as_yaml_that_reads_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = output(capsys, "dispatch_heavy")
    assert text.startswith("name: dispatch_heavy\nsummary: dispatch at 4 bytes")
    assert "pe_cpu:\n  fixed_cycles: 40\n  cycles_per_byte: 0.25\n" in text
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    assert read_calibration(str(path)) == read_calibration("dispatch_heavy")


def test_json_has_numbers_that_print_as_they_were_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output(capsys, "default", "--json")
    assert '"cycles_per_byte": 0.0625' in text
    assert '"bytes_per_ns": 102.4,' in text
    assert json.loads(text)["pe_cpu"] == {"fixed_cycles": 40, "cycles_per_byte": 0.0625}


def test_json_lists_names_and_summaries(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(output(capsys, "--json"))["calibrations"]
    assert list(listed) == ["default", "dispatch_free", "dispatch_heavy", "dispatch_light"]


def test_a_wrong_file_is_one_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("hbm: {bytes_per_ns: -1}")
    assert main(["calibrations", str(path)]) == 1
    assert capsys.readouterr().err == (
        f"kerntape: {path}: hbm.bytes_per_ns: must be above 0 (from 10^-12 to 10^12), not -1\n"
    )
