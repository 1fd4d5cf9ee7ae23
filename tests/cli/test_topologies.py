"""`kerntape topologies` lists the machines and prints one whole, compactly however large it is."""

import json
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.cli.topologies import size_text
from kerntape.schemas.yaml_text import format_yaml
from kerntape.topologies.loader import resolve_topology


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["topologies", *arguments]) == 0
    return capsys.readouterr().out


def test_the_list_has_a_line_a_machine(capsys: pytest.CaptureFixture[str]) -> None:
    lines = output(capsys).splitlines()
    assert [line.split()[0] for line in lines] == [
        "ahbm_2sip",
        "llama70b_4sip",
        "one_cube",
        "single_pe",
    ]
    assert lines[3] == "single_pe      one PE with its share of HBM; no queues"


def test_one_machine_is_printed_with_sizes_capacities_and_neighbours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert output(capsys, "one_cube") == (
        """\
one_cube: one CUBE of 8 PEs, 4 columns by 2 rows, with a mesh of queues

PEs                   8
SIPs                  1
CUBEs a SIP           1 columns × 1 rows
PEs a CUBE            4 columns × 2 rows
TCM a PE              4 MiB, of it scratch 1 MiB
HBM a PE              2 GiB
GEMM tile             32 × 64 × 32 (M × K × N)
tile buffers          2
composites in flight  8
scheduler queue       8 composites
composite cap         1 KiB
queue                 8 slots of 4 KiB
sends accepted ahead  4

In every CUBE, the PE that each PE faces:
PE  N  S  E  W
 0  –  4  1  –
 1  –  5  2  0
 2  –  6  3  1
 3  –  7  –  2
 4  0  –  5  –
 5  1  –  6  4
 6  2  –  7  5
 7  3  –  –  6
N arrives as S, S arrives as N, E arrives as W, W arrives as E
"""
    )


def test_512_pes_still_fit_on_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "llama70b_4sip")
    assert len(text.splitlines()) < 60
    assert "In every SIP, the CUBE that each CUBE faces, PE by PE:" in text
    assert "  5       1       9       6       4" in text


def test_a_machine_without_queues_prints_no_neighbours(capsys: pytest.CaptureFixture[str]) -> None:
    assert "faces" not in output(capsys, "single_pe")


def test_a_machines_own_costs_are_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    text = format_yaml(resolve_topology("single_pe")).replace(
        "pe_cost_model: {}", "pe_cost_model:\n  pe_cpu: {fixed_cycles: 12, cycles_per_byte: 0.10}"
    )
    path.write_text(text, encoding="utf-8")
    assert output(capsys, str(path)).endswith(
        "pe_cost_model, over the default calibration:\n"
        "pe_cpu.fixed_cycles     12\n"
        "pe_cpu.cycles_per_byte  0.10\n"
    )


def test_json_lists_names_and_summaries(capsys: pytest.CaptureFixture[str]) -> None:
    listed = json.loads(output(capsys, "--json"))["topologies"]
    assert listed["single_pe"] == "one PE with its share of HBM; no queues"


def test_json_of_one_machine_has_the_files_keys_the_count_and_who_faces_whom(
    capsys: pytest.CaptureFixture[str],
) -> None:
    machine = json.loads(output(capsys, "one_cube", "--json"))
    assert machine["pe_count"] == 8
    assert machine["pe"]["tile"] == {"m": 32, "k": 64, "n": 32}
    assert machine["directions"]["N"] == {"level": "pe", "step": [0, -1], "opposite": "S"}
    assert machine["faces"]["pe"]["N"] == [None, None, None, None, 0, 1, 2, 3]
    assert list(machine["faces"]) == ["pe"]


def test_an_unknown_machine_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topologies", "one_cub"]) == 1
    expected = "kerntape: no topology 'one_cub'; did you mean 'one_cube'?\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(1, "1 B"), (1500, "1500 B"), (4 << 20, "4 MiB"), (3 << 29, "1536 MiB")],
)
def test_a_size_is_written_in_the_largest_unit_that_divides_it(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text


def test_a_machine_printed_as_yaml_is_a_file_that_loads_as_the_same_machine(tmp_path, capsys):
    assert main(["topologies", "one_cube", "--yaml"]) == 0
    path = tmp_path / "one_cube.yaml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    assert resolve_topology(str(path)) == resolve_topology("one_cube")


def test_yaml_needs_a_name(capsys):
    assert main(["topologies", "--yaml"]) == 2
    assert capsys.readouterr().err == "kerntape: --yaml prints one topology: name it\n"
