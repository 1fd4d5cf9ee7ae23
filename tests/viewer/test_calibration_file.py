"""The numbers of the calibration panel as a file: what it says of itself is true."""

from decimal import Decimal
from pathlib import Path

import pytest
from kerntape.replay.calibration import read_calibration
from kerntape.replay.parameters import changed
from kerntape.viewer.calibration_file import save_calibration, true_summary


def named(name):
    return read_calibration("default").model_copy(update={"name": name})


def test_a_turned_calibration_is_saved_with_a_summary_that_tells_the_change(tmp_path):
    turned = changed(read_calibration("default"), {"clock_ghz": Decimal("12.5")})
    path = Path(tmp_path / "fast.yaml")
    save_calibration(path, turned)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert "summary: default with clock_ghz 12.5" in lines
    assert "clock_ghz: 12.5" in lines
    saved = read_calibration(str(path))
    assert saved == turned.model_copy(update={"summary": "default with clock_ghz 12.5"})


def test_one_as_it_shipped_keeps_its_summary(tmp_path):
    default = read_calibration("default")
    save_calibration(tmp_path / "same.yaml", default)
    assert read_calibration(str(tmp_path / "same.yaml")) == default


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("default + wide.pe_cost_model", "default + wide.pe_cost_model"),
        (
            "default + wide.pe_cost_model + clock_ghz=2 + hbm.latency_ns=1",
            "default + wide.pe_cost_model with clock_ghz 2, hbm.latency_ns 1",
        ),
        # turned once more after it was saved and opened: the last value holds
        ("default + clock_ghz=2 + clock_ghz=3", "default with clock_ghz 3"),
    ],
)
def test_the_summary_of_one_that_is_made_of_several_is_what_its_name_says(name, summary):
    assert true_summary(named(name)) == summary


def test_the_summary_of_one_with_many_changes_is_cut_to_what_a_summary_may_be():
    name = " + ".join(["default", *(f"pe_cpu.fixed_cycles_{i}={i}" for i in range(400))])
    assert len(true_summary(named(name))) == 1000
    assert true_summary(named(name)).endswith("…")
