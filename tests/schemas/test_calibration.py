"""A calibration's numbers are exact, positive where a rate is meant, and bounded."""

import re
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from kerntape.schemas.calibration import Calibration
from kerntape.schemas.config_file import check
from kerntape.schemas.errors import ConfigError

NUMBERS: dict[str, Any] = {
    "name": "test",
    "summary": "for tests",
    "clock_ghz": 1,
    "pe_cpu": {"fixed_cycles": 40, "cycles_per_byte": Decimal("0.0625")},
    "pe_scheduler": {"plan_cycles_per_op": 0},
    "pe_dma": {"read_bytes_per_ns": 128, "write_bytes_per_ns": 128},
    "pe_gemm": {"macs_per_cycle": 1024, "fill_cycles": 8},
    "pe_math": {"vector_width": 64},
    "pe_tcm": {"bytes_per_ns": 256},
    "hbm": {"bytes_per_ns": Decimal("102.4"), "latency_ns": 100},
    "ipcq": {"copy_bytes_per_ns": 128, "credit_latency_ns": 10},
    "noc": {
        "pe_link_bytes_per_ns": 128,
        "pe_hop_latency_ns": 2,
        "cube_link_bytes_per_ns": 64,
        "cube_hop_latency_ns": 10,
        "sip_link_bytes_per_ns": 32,
        "sip_hop_latency_ns": 300,
    },
}


def with_hbm(rate: object, latency: object = 100) -> Calibration:
    hbm = {"bytes_per_ns": rate, "latency_ns": latency}
    return check(Calibration, NUMBERS | {"hbm": hbm}, "test.yaml")


def test_a_number_is_the_fraction_that_was_written() -> None:
    calibration = check(Calibration, NUMBERS, "test.yaml")
    assert Fraction(calibration.hbm.bytes_per_ns) == Fraction(1024, 10)
    assert Fraction(calibration.pe_cpu.cycles_per_byte) == Fraction(1, 16)


def test_a_float_from_code_is_the_decimal_that_it_prints_as() -> None:
    assert with_hbm(0.1).hbm.bytes_per_ns == Decimal("0.1")


def test_a_cost_may_be_zero() -> None:
    assert with_hbm(1, 0).hbm.latency_ns == 0


@pytest.mark.parametrize("rate", [Decimal("1E-12"), 10**12])
def test_the_bounds_are_allowed(rate: Any) -> None:
    assert with_hbm(rate, rate).hbm.bytes_per_ns == rate


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (0, "must be above 0 (from 10^-12 to 10^12), not 0"),
        (-1, "must be above 0 (from 10^-12 to 10^12), not -1"),
        (Decimal("9E-13"), "must be above 0 (from 10^-12 to 10^12), not 9E-13"),
        (10**12 + 1, "must be above 0 (from 10^-12 to 10^12), not 1000000000001"),
        ("1e400", "must be above 0 (from 10^-12 to 10^12), not 1E+400"),
        ("1e-999999", "must be above 0 (from 10^-12 to 10^12), not 1E-999999"),
        (Decimal("nan"), "must be a finite number, not nan"),
        (Decimal("-inf"), "must be a finite number, not -infinity"),
        ("1e9999999999999999999", "must be a number, not '1e9999999999999999999'"),
        (False, "must be a number, not false"),
        ("fast", "must be a number, not 'fast'"),
    ],
)
def test_a_wrong_rate_is_refused_in_one_line(rate: object, message: str) -> None:
    expected = f"^{re.escape(f'test.yaml: hbm.bytes_per_ns: {message}')}$"
    with pytest.raises(ConfigError, match=expected):
        with_hbm(rate)


@pytest.mark.parametrize("latency", [-1, Decimal("-0.5"), Decimal("9E-13"), "1e400"])
def test_a_negative_or_boundless_cost_is_refused(latency: Any) -> None:
    shown = Decimal(latency)
    with pytest.raises(ConfigError) as refused:
        with_hbm(1, latency)
    assert str(refused.value) == (
        f"test.yaml: hbm.latency_ns: must be 0 or above (0, or from 10^-12 to 10^12), not {shown}"
    )


def test_it_survives_a_file_header_exactly() -> None:
    calibration = check(Calibration, NUMBERS, "test.yaml")
    assert check(Calibration, calibration.model_dump(mode="json"), "header") == calibration


def test_name_and_summary_come_first() -> None:
    assert list(Calibration.model_fields)[:3] == ["name", "summary", "clock_ghz"]
