"""What a sweep may vary is read exactly, and what it may not is refused in one line."""

from decimal import Decimal

import pytest
from kerntape.replay.sweep.axes import (
    Axis,
    Span,
    check_different,
    parse_vary,
    read_grid,
    written_out,
)
from kerntape.schemas.errors import ConfigError


def test_a_list_of_values_keeps_its_order_and_its_decimals():
    assert parse_vary("pe_cpu.cycles_per_byte=0.25, 0.0625") == Axis(
        "pe_cpu.cycles_per_byte", (Decimal("0.25"), Decimal("0.0625"))
    )


def test_a_topologys_values_are_whole_numbers():
    assert parse_vary("topology.pe.tile_buffers=2,3") == Axis("topology.pe.tile_buffers", (2, 3))


def test_zero_is_zero_however_it_is_written():
    axis = parse_vary("pe_cpu.fixed_cycles=0e-999999999")
    assert [written_out(value) for value in axis.values] == ["0"]


def test_two_dots_make_a_range():
    assert parse_vary("hbm.bytes_per_ns=51.2..204.8") == Span(
        "hbm.bytes_per_ns", Decimal("51.2"), Decimal("204.8")
    )


@pytest.mark.parametrize(
    ("word", "line"),
    [
        (
            "pe_cpu.fixed_cycles",
            "--vary must be PATH=V1,V2,… or PATH=LOW..HIGH, as in pe_cpu.fixed_cycles=20,40,"
            " not 'pe_cpu.fixed_cycles'",
        ),
        (
            "pe_cpu.fixed_cycles=",
            "--vary: pe_cpu.fixed_cycles: must have at least one value,"
            " as in pe_cpu.fixed_cycles=20,40",
        ),
        ("pe_cpu.fixed_cycles=20,,40", "--vary: pe_cpu.fixed_cycles: must be a number, not ''"),
        ("pe_cpu.fixed_cycles=few", "--vary: pe_cpu.fixed_cycles: must be a number, not 'few'"),
        (
            "pe_cpu.fixed_cycles=-1",
            "--vary: pe_cpu.fixed_cycles: must be 0 or above (0, or from 10^-12 to 10^12), not -1",
        ),
        (
            "clock_ghz=1,0",
            "--vary: clock_ghz: must be above 0 (from 10^-12 to 10^12), not 0",
        ),
        (
            "hbm.bytes_per_ns=1,2,1.0",
            "--vary: hbm.bytes_per_ns: the value 1.0 must be given once, not twice",
        ),
        (
            "hbm.bytes_per_ns=100,1e2",
            "--vary: hbm.bytes_per_ns: the value 100 must be given once, not twice",
        ),
        (
            "hbm.bytes_per_ns=20..10",
            "--vary: hbm.bytes_per_ns: a range must be LOW..HIGH with LOW < HIGH, not 20..10",
        ),
        (
            "hbm.bytes_per_ns=20..20",
            "--vary: hbm.bytes_per_ns: a range must be LOW..HIGH with LOW < HIGH, not 20..20",
        ),
        *(
            (
                f"{path}=2",
                f"--vary: {path} must be the trace's, whose commands depend on it;"
                " capture again on a topology with another",
            )
            for path in (
                "topology.sips",
                "topology.pes.columns",
                "topology.cubes",
                "topology.directions.N.level",
                "topology.pe.tcm_bytes",
                "topology.pe.composite_cap_bytes",
            )
        ),
        (
            "topology.pe=2",
            "--vary: topology.pe names a group; vary one of topology.pe.tile.m,"
            " topology.pe.tile.k, topology.pe.tile.n, topology.pe.tile_buffers,"
            " topology.pe.composites_in_flight, topology.pe.scheduler_queue",
        ),
        (
            "topology.pe.tile_buffers=2.5",
            "--vary: topology.pe.tile_buffers: must be a whole number, not 2.5",
        ),
        (
            "topology.pe.tile_buffers=0,2",
            "--vary: topology.pe.tile_buffers: must be at least 1, not 0",
        ),
        (
            "topology.ipcq.depth=1..1e999999999",
            "--vary: topology.ipcq.depth: must be a whole number of at most 15 digits,"
            " not 1E+999999999",
        ),
        (
            "clock_ghz=1e999999999",
            "--vary: clock_ghz: must be above 0 (from 10^-12 to 10^12), not 1E+999999999",
        ),
        (
            "pe_cpu.fixed_cycels=20",
            "--vary: unknown path 'pe_cpu.fixed_cycels'; did you mean 'pe_cpu.fixed_cycles'?",
        ),
        (
            "topology.pe.tile_buffer=2",
            "--vary: unknown path 'topology.pe.tile_buffer';"
            " did you mean 'topology.pe.tile_buffers'?",
        ),
        (
            "pe_math=64",
            "--vary: pe_math names a group; vary one of pe_math.vector_width",
        ),
    ],
)
def test_what_cannot_be_varied_is_one_line(word, line):
    with pytest.raises(ConfigError) as error:
        parse_vary(word)
    assert str(error.value) == line


@pytest.fixture
def grid(tmp_path):
    def read(text):
        (tmp_path / "grid.yaml").write_text(text)
        return read_grid(tmp_path / "grid.yaml")

    return read


def test_a_grid_file_has_lists_ranges_and_single_values_dotted_or_nested(grid):
    assert grid("pe_cpu.fixed_cycles: [20, 40]\nhbm:\n  latency_ns: 50..150\nclock_ghz: 2\n") == [
        Axis("pe_cpu.fixed_cycles", (Decimal(20), Decimal(40))),
        Span("hbm.latency_ns", Decimal(50), Decimal(150)),
        Axis("clock_ghz", (Decimal(2),)),
    ]


def test_a_grid_files_mistakes_name_the_file(grid, tmp_path):
    with pytest.raises(ConfigError) as error:
        grid("clock_ghz: [1, fast]\n")
    assert str(error.value) == f"{tmp_path}/grid.yaml: clock_ghz: must be a number, not 'fast'"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "pe_cpu.fixed_cycles: [20, 30]\npe_cpu: {fixed_cycles: [40]}\n",
            "pe_cpu.fixed_cycles must be varied once, not as 'pe_cpu.fixed_cycles' and as"
            " 'pe_cpu: fixed_cycles'; give all its values together",
        ),
        (
            "topology: {pe.tile_buffers: 2}\ntopology.pe: {tile_buffers: 3}\n",
            "topology.pe.tile_buffers must be varied once, not as 'topology: pe.tile_buffers' and as"
            " 'topology.pe: tile_buffers'; give all its values together",
        ),
    ],
)
def test_a_path_dotted_once_and_nested_once_loses_no_value_in_silence(grid, tmp_path, text, line):
    with pytest.raises(ConfigError) as error:
        grid(text)
    assert str(error.value) == f"{tmp_path}/grid.yaml: {line}"


def test_an_empty_grid_file_is_refused(grid, tmp_path):
    with pytest.raises(ConfigError, match=r"grid\.yaml: must name at least one path to vary"):
        grid("{}\n")


def test_a_path_is_varied_once():
    with pytest.raises(ConfigError, match="clock_ghz must be varied once; give all its values"):
        check_different([parse_vary("clock_ghz=1"), parse_vary("clock_ghz=2,3")])
