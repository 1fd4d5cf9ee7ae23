"""Machines are found by the name they ship under or read from a file; the shipped ones are what they say."""

import re
from pathlib import Path

import pytest
from kerntape.schemas.config_file import check
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Level, Topology
from kerntape.schemas.yaml_text import format_yaml
from kerntape.topologies.loader import resolve_topology, shipped_topologies

NAMES = ["ahbm_2sip", "llama70b_4sip", "one_cube", "single_pe"]


def test_four_machines_ship_each_with_a_summary() -> None:
    topologies = shipped_topologies()
    assert list(topologies) == NAMES
    assert all(topologies.values())


@pytest.mark.parametrize(
    ("name", "sips", "cubes", "pes", "pe_count"),
    [
        ("single_pe", 1, (1, 1), (1, 1), 1),
        ("one_cube", 1, (1, 1), (4, 2), 8),
        ("ahbm_2sip", 2, (4, 4), (4, 2), 256),  # 2 · 16 · 8
        ("llama70b_4sip", 4, (4, 4), (4, 2), 512),  # 4 · 16 · 8
    ],
)
def test_a_shipped_machine_has_the_documented_size(
    name: str, sips: int, cubes: tuple[int, int], pes: tuple[int, int], pe_count: int
) -> None:
    topology = resolve_topology(name)
    assert topology.name == name
    assert topology.sips == sips
    assert (topology.cubes.columns, topology.cubes.rows) == cubes
    assert (topology.pes.columns, topology.pes.rows) == pes
    assert topology.pe_count == pe_count


def test_every_shipped_machine_has_the_same_pe_and_queues() -> None:
    first = resolve_topology("single_pe")
    for name in NAMES:
        assert resolve_topology(name).pe == first.pe
        assert resolve_topology(name).ipcq == first.ipcq


def test_a_pe_has_the_documented_capacities() -> None:
    pe = resolve_topology("single_pe").pe
    assert (pe.tile.m, pe.tile.k, pe.tile.n) == (32, 64, 32)
    assert pe.tcm_bytes == 4 << 20
    assert pe.scratch_bytes == 1 << 20
    assert (pe.tile_buffers, pe.composites_in_flight, pe.composite_cap_bytes) == (2, 8, 1024)


def test_a_share_of_one_mi_tokens_fits_in_a_pe_many_times() -> None:
    # K and V of 2^20 tokens over 64 ranks at d = 128 in bf16: 2 · 2^14 · 128 · 2 = 8 MiB
    assert resolve_topology("llama70b_4sip").pe.hbm_bytes >= 16 * (8 << 20)


def test_directions_lie_at_the_level_that_their_name_says() -> None:
    levels = {
        name: direction.level
        for name, direction in resolve_topology("llama70b_4sip").directions.items()
    }
    assert levels == {
        **dict.fromkeys("NSEW", Level.PE),
        **dict.fromkeys(("cube_N", "cube_S", "cube_E", "cube_W"), Level.CUBE),
        **dict.fromkeys(("global_E", "global_W"), Level.SIP),
    }


def test_a_machine_has_no_directions_that_it_could_not_use() -> None:
    assert resolve_topology("single_pe").directions == {}
    assert list(resolve_topology("one_cube").directions) == ["N", "S", "E", "W"]


def test_an_inner_pe_faces_four_pes_and_an_inner_cube_four_cubes() -> None:
    topology = resolve_topology("ahbm_2sip")
    # PE 5 of CUBE 5: column 1, row 1 of 4×2 PEs; ranks 5 · 8 + 5 = 45
    assert [topology.peer(45, name) for name in "NSEW"] == [41, None, 46, 44]
    # CUBE 5 is column 1, row 1 of 4×4: north 1, south 9, east 6, west 4, each times 8 plus PE 5
    mesh = [topology.peer(45, f"cube_{name}") for name in "NSEW"]
    assert mesh == [13, 77, 53, 37]
    # the other SIP is 16 · 8 = 128 ranks away
    assert topology.peer(45, "global_E") == 173
    assert topology.peer(45, "global_W") is None


@pytest.mark.parametrize("name", NAMES)
def test_a_machine_survives_a_trace_header_and_its_own_yaml(name: str, tmp_path: Path) -> None:
    topology = resolve_topology(name)
    assert check(Topology, topology.model_dump(mode="json"), "header") == topology
    path = tmp_path / "again.yaml"
    path.write_text(format_yaml(topology), encoding="utf-8")
    assert resolve_topology(str(path)) == topology


def test_a_users_file_without_a_name_is_named_by_its_file(tmp_path: Path) -> None:
    text = format_yaml(resolve_topology("single_pe")).split("\n", 2)[2]  # without name and summary
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    topology = resolve_topology(str(path))
    assert (topology.name, topology.summary) == ("mine", "read from mine.yaml")


def refusal(name_or_path: str) -> str:
    with pytest.raises(ConfigError) as refused:
        resolve_topology(name_or_path)
    return str(refused.value)


def test_an_unknown_name_says_what_was_probably_meant() -> None:
    assert refusal("one_cub") == "no topology 'one_cub'; did you mean 'one_cube'?"
    assert refusal("xyz") == f"no topology 'xyz'; known: {', '.join(NAMES)}"


def test_a_missing_file_says_what_was_probably_meant() -> None:
    expected = "no/one_cube.yaml: no such file; did you mean the shipped 'one_cube'?"
    assert refusal("no/one_cube.yaml") == expected
    assert refusal("zzzz.yaml") == "zzzz.yaml: no such file"


def test_a_file_that_does_not_end_in_yaml_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text("name: mine")
    assert refusal("mine") == "no topology 'mine'; a file of your own must end in .yaml"


def test_a_wrong_key_names_the_file_and_what_was_meant(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    text = format_yaml(resolve_topology("single_pe")).replace("tile_buffers", "tile_bufers")
    path.write_text(text, encoding="utf-8")
    expected = f"{path}: unknown key 'pe.tile_bufers'; did you mean 'pe.tile_buffers'?"
    assert refusal(str(path)) == expected


def test_every_number_of_a_shipped_file_is_explained_where_it_stands() -> None:
    from importlib import resources

    for name in NAMES:
        text = (resources.files("kerntape.topologies") / f"{name}.yaml").read_text("utf-8")
        block = text[text.index("\npe:") : text.index("directions:")]
        numbers = [line for line in block.splitlines() if re.search(r":.*\d", line.split("#")[0])]
        assert numbers
        assert all("#" in line for line in numbers)
