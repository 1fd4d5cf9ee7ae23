"""A calibration is laid from levels: default, the topology's costs, a calibration, single settings."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kerntape.replay.calibration import (
    calibration_yaml,
    read_calibration,
    resolve_calibration,
    shipped_calibrations,
)
from kerntape.replay.settings import parsed_settings
from kerntape.schemas.calibration import CostModel
from kerntape.schemas.config_file import check, key_paths
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Topology
from kerntape.topologies.loader import resolve_topology


def topology(costs: dict[str, Any] | None = None) -> Topology:
    """single_pe with a cost model of its own."""
    plain = resolve_topology("single_pe").model_dump() | {"pe_cost_model": costs or {}}
    return check(Topology, plain, "test")


def test_four_calibrations_ship_each_with_a_summary() -> None:
    shipped = shipped_calibrations()
    assert list(shipped) == ["default", "dispatch_free", "dispatch_heavy", "dispatch_light"]
    assert all(shipped.values())


def test_the_default_has_the_documented_numbers() -> None:
    default = resolve_calibration(topology())
    assert default.name == "default"
    assert default.clock_ghz == 1
    assert default.pe_cpu.fixed_cycles == 40
    assert default.pe_cpu.cycles_per_byte == Decimal("0.0625")
    assert default.pe_scheduler.plan_cycles_per_op == 0
    assert default.pe_gemm.macs_per_cycle == 1024
    assert default.pe_math.vector_width == 64
    assert default.hbm.bytes_per_ns == Decimal("102.4")
    assert default.hbm.latency_ns == 100
    assert default.pe_tcm.bytes_per_ns == 256


def test_a_bare_one_gemm_composite_costs_42_875_ns_to_dispatch() -> None:
    # 40 cycles + 46 bytes · 0.0625 cycles/byte = 42.875 cycles at 1 GHz
    cpu = resolve_calibration(topology()).pe_cpu
    assert cpu.fixed_cycles + 46 * cpu.cycles_per_byte == Decimal("42.875")


@pytest.mark.parametrize(
    ("name", "fixed_cycles", "cycles_per_byte"),
    [
        ("dispatch_heavy", "40", "0.25"),
        ("dispatch_light", "40", "0.03125"),
        ("dispatch_free", "0", "0"),
    ],
)
def test_a_shipped_variant_changes_the_dispatch_costs_alone(
    name: str, fixed_cycles: str, cycles_per_byte: str
) -> None:
    default, variant = read_calibration("default"), read_calibration(name)
    assert variant.name == name
    assert variant.pe_cpu.fixed_cycles == Decimal(fixed_cycles)
    assert variant.pe_cpu.cycles_per_byte == Decimal(cycles_per_byte)
    same = {"name": default.name, "summary": default.summary, "pe_cpu": default.pe_cpu}
    assert variant.model_copy(update=same) == default


def test_each_level_overrides_the_one_below() -> None:
    machine = topology({"pe_cpu": {"fixed_cycles": 50, "cycles_per_byte": 1}, "clock_ghz": 2})
    layered = resolve_calibration(machine, "dispatch_heavy", parsed_settings(["clock_ghz=3"]))
    assert layered.pe_cpu.fixed_cycles == 50  # the topology's, over the default's 40
    assert layered.pe_cpu.cycles_per_byte == Decimal(
        "0.25"
    )  # dispatch_heavy's, over the topology's
    assert layered.clock_ghz == 3  # the setting, over the topology's


@pytest.mark.parametrize(
    ("costs", "calibration", "settings", "name"),
    [
        ({}, None, [], "default"),
        ({}, "default", [], "default"),
        ({}, "dispatch_heavy", [], "dispatch_heavy"),
        ({}, None, ["pe_cpu.fixed_cycles=20"], "default + pe_cpu.fixed_cycles=20"),
        ({"clock_ghz": 2}, None, [], "default + single_pe.pe_cost_model"),
        (
            {"clock_ghz": 2},
            "dispatch_free",
            ["clock_ghz=3", "hbm.latency_ns = 7"],
            "default + single_pe.pe_cost_model + dispatch_free + clock_ghz=3 + hbm.latency_ns=7",
        ),
        (
            {"clock_ghz": 2},
            "default",
            [],
            "default",
        ),  # it names every key, so nothing shines through
        ({}, None, ["clock_ghz=3"], "default + clock_ghz=3"),
    ],
)
def test_the_name_says_what_the_numbers_are_made_of(
    costs: dict[str, Any], calibration: str | None, settings: list[str], name: str
) -> None:
    chosen = parsed_settings(settings)
    assert resolve_calibration(topology(costs), calibration, chosen).name == name


def test_a_users_file_names_only_what_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "slow.yaml"
    path.write_text("hbm: {latency_ns: 250}\n")
    slow = resolve_calibration(topology(), str(path))
    assert (slow.name, slow.summary) == ("slow", "read from slow.yaml")
    assert slow.hbm.latency_ns == 250
    assert slow.hbm.bytes_per_ns == Decimal("102.4")


def refusal(calibration: str | None = None, *settings: str) -> str:
    with pytest.raises(ConfigError) as refused:
        resolve_calibration(topology(), calibration, parsed_settings(settings))
    return str(refused.value)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        (
            "pe_cpu.fixed_cycle=20",
            "--set: unknown path 'pe_cpu.fixed_cycle'; did you mean 'pe_cpu.fixed_cycles'?",
        ),
        (
            "fixed_cycles=2",
            "--set: unknown path 'fixed_cycles'; did you mean 'pe_cpu.fixed_cycles'?",
        ),
        ("hbm=3", "--set: hbm names a group; set one of hbm.bytes_per_ns, hbm.latency_ns"),
        (
            "hbm.latency_ns=-1",
            "--set: hbm.latency_ns: must be 0 or above (0, or from 10^-12 to 10^12), not -1",
        ),
        (
            "hbm.bytes_per_ns=0",
            "--set: hbm.bytes_per_ns: must be above 0 (from 10^-12 to 10^12), not 0",
        ),
        ("clock_ghz=nan", "--set: clock_ghz: must be a finite number, not nan"),
        ("clock_ghz=fast", "--set: clock_ghz: must be a number, not 'fast'"),
        (
            "clock_ghz",
            "--set must be PATH=VALUE, as in pe_cpu.fixed_cycles=20, not 'clock_ghz'",
        ),
        ("clock_ghz=", "--set must be PATH=VALUE, as in pe_cpu.fixed_cycles=20, not 'clock_ghz='"),
        ("=1", "--set must be PATH=VALUE, as in pe_cpu.fixed_cycles=20, not '=1'"),
        ("", "--set must be PATH=VALUE, as in pe_cpu.fixed_cycles=20, not ''"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line(setting: str, message: str) -> None:
    assert refusal(None, setting) == message


def test_a_setting_that_is_nowhere_near_lists_what_there_is() -> None:
    assert refusal(None, "qqq=1").startswith("--set: unknown path 'qqq'; known: clock_ghz, pe_cpu.")


def test_a_path_that_is_set_twice_is_refused() -> None:
    assert refusal(None, "pe_cpu.fixed_cycles=20", " pe_cpu.fixed_cycles = 30 ") == (
        "--set: pe_cpu.fixed_cycles must be set once, not to 20 and to 30; leave one out"
    )


def test_name_and_summary_cannot_be_set() -> None:
    assert refusal(None, "summary=hello").startswith("--set: unknown path 'summary'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pe_cpu: {fixd_cycles: 1}", "unknown key 'pe_cpu.fixd_cycles'; did you mean"),
        ("hbm: 5", "hbm: must be a mapping of keys to values, not 5"),
        ("hbm:", "hbm: must be a mapping of keys to values, not nothing"),
        ("hbm: {bytes_per_ns: 0}", "hbm.bytes_per_ns: must be above 0"),
        ("hbm: {bytes_per_ns: .inf}", "hbm.bytes_per_ns: must be a finite number, not infinity"),
        ("hbm: {latency_ns: true}", "hbm.latency_ns: must be a number, not true"),
        ("name: 5", "name: must be text, not 5"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line_with_its_key(
    tmp_path: Path, text: str, message: str
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    assert refusal(str(path)).startswith(f"{path}: {message}")
    assert "\n" not in refusal(str(path))


def test_an_unknown_calibration_says_what_was_probably_meant() -> None:
    assert refusal("dispatch_hevy") == (
        "no calibration 'dispatch_hevy'; did you mean 'dispatch_heavy'?"
    )


def test_a_saved_calibration_reads_back_to_an_equal_one(tmp_path: Path) -> None:
    machine = topology({"pe_cpu": {"fixed_cycles": 12}})
    made = resolve_calibration(machine, "dispatch_light", {"hbm.latency_ns": "1e2"})
    path = tmp_path / "saved.yaml"
    path.write_text(calibration_yaml(made), encoding="utf-8")
    assert resolve_calibration(machine, str(path)) == made
    assert read_calibration(str(path)) == made


numbers = st.decimals(min_value="0.001", max_value=10**9, places=3).filter(bool)


@settings(max_examples=30)  # each reads two files
@given(st.sampled_from(key_paths(CostModel)), numbers)
def test_any_setting_survives_yaml_exactly(
    tmp_path_factory: pytest.TempPathFactory, path: str, value: Decimal
) -> None:
    made = resolve_calibration(topology(), None, {path: str(value)})
    saved = tmp_path_factory.mktemp("saved") / "saved.yaml"
    saved.write_text(calibration_yaml(made), encoding="utf-8")
    assert read_calibration(str(saved)) == made
