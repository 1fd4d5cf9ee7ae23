"""benchmarks/decode_sweeps.py: what docs/kernels.md shows is what it prints, and its pictures stay."""

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "benchmarks" / "decode_sweeps.py"
PAGE = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def script():
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("decode_sweeps", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def shortened(script, name: str, most: int):
    """The sweep, up to that context length."""
    whole = script.SWEEPS[name]
    lengths = tuple(length for length in whole.lengths if length <= most)
    return script.Sweep(
        whole.argument, whole.title, whole.values, lengths, whole.topology, whole.fixed
    )


@pytest.mark.parametrize(("name", "most"), [("c", 1024), ("tile", 256), ("length", 1024)])
def test_the_pages_rows_of_short_contexts_are_what_is_computed(script, name: str, most: int):
    result = script.swept(shortened(script, name, most), script.Model())
    for line in script.table(result).splitlines():
        assert f"{line}\n" in PAGE


@pytest.mark.slow
@pytest.mark.parametrize("name", ["c", "tile", "length"])
def test_the_pages_tables_are_whole_what_is_computed(script, name: str):
    result = script.swept(script.SWEEPS[name], script.Model(), jobs=2)
    assert f"\n\n{script.table(result)}\n\n" in PAGE


def cells(heading: str) -> dict[int, dict[str, str]]:
    """A table of the page by length, and by what its columns are called."""
    table = PAGE[PAGE.index(f"decode_sweeps.py {heading} ") :]
    lines = table[table.index("| context") :].split("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return {int(row[0].replace(",", "")): dict(zip(head, row, strict=True)) for row in rows}


def number(cell: str) -> int:
    return int(cell.replace(",", ""))


def test_the_best_c_is_the_one_at_which_a_rank_has_128_tokens():
    best = {length: int(row["best"]) for length, row in cells("c").items()}
    assert best == {
        length: max(1, min(length // (128 * 8), 16)) for length in (1 << n for n in range(8, 19))
    }


def test_one_tile_for_all_beats_many_up_to_64_tokens_and_never_after():
    for length, row in cells("tile").items():
        several = [number(row[tile]) for tile in row if tile.isdigit() and int(tile) < length]
        several = [each for each in several if row["all"] != "full"]
        if several and length <= 64:
            assert number(row["all"]) < min(several)
        elif several:
            assert number(row["all"]) > min(several)


def test_128_keys_are_within_5_percent_of_the_best_from_512_tokens_on():
    for length, row in cells("tile").items():
        timed = [number(row[tile]) for tile in row if tile.isdigit() and row[tile] != "–"]
        assert length < 512 or number(row["128"]) <= 1.05 * min(timed)


def test_opt2_is_the_fastest_at_every_length():
    assert {row["best"] for row in cells("length").values()} == {"opt2"}


def test_opt1_is_fastest_with_one_tile_for_all(script):
    result = script.swept(shortened(script, "tile", 512), script.Model({"variant": "opt1"}))
    for length in result.sweep.lengths:
        timed = result.timed(length)
        assert timed["0"] == min(timed.values())


# -- the script itself


def made_up(script):
    """Three lengths of two values: 2 is the better one at 20, a tie at 30; 1 does not fit at 20."""
    sweep = script.Sweep("c", "things", ("1", "2"), (10, 20, 30), "single_pe")
    makespans = {
        (10, "1"): 1_000_499,
        (20, "1"): None,
        (20, "2"): 5_000,
        (30, "1"): 7,
        (30, "2"): 7,
    }
    return script.Result(sweep, makespans)


def test_a_table_marks_what_has_no_point_and_what_does_not_fit(script):
    assert script.table(made_up(script)).splitlines() == [
        "| context | 1 | 2 | best |",
        "| ---: | ---: | ---: | ---: |",
        "| 10 | 1,000 | – | 1 |",
        "| 20 | full | 5 | 2 |",
        "| 30 | 0 | 0 | 1 |",
    ]


def test_lengths_with_the_same_best_are_one_line(script):
    sweep = script.Sweep("c", "things", ("1", "2"), (10, 20, 1000), "single_pe")
    makespans = {(10, "1"): 1, (10, "2"): 2, (20, "1"): 1, (20, "2"): 2, (1000, "2"): 3}
    assert list(script.findings(script.Result(sweep, makespans))) == ["10 to 20: 1", "1,000: 2"]


def test_a_tile_is_never_wider_than_the_context(script):
    result = script.swept(shortened(script, "tile", 32), script.Model())
    assert sorted(result.makespans) == [
        *[(16, "0"), (16, "16")],
        *[(32, "0"), (32, "16"), (32, "32")],
    ]


def test_other_arguments_and_another_model_come_with_options(script, capsys, monkeypatch):
    monkeypatch.setitem(script.SWEEPS, "tile", shortened(script, "tile", 32))
    monkeypatch.setattr(script.os, "sched_getaffinity", lambda _: {0})
    printed = []
    for words in ([], ["--arg", "variant=opt3"], ["--calibration", "dispatch_free"]):
        assert script.main(["tile", *words]) == 0
        printed.append(capsys.readouterr().out)
    assert len(set(printed)) == 3


def test_a_wrong_argument_is_one_line(script, capsys):
    assert script.main(["tile", "--arg", "varian=opt3"]) == 1
    assert capsys.readouterr().err == (
        "decode_sweeps: gqa_decode has no argument 'varian'; did you mean 'variant'?\n"
    )


def test_a_picture_is_the_same_bytes_every_time(script, tmp_path):
    pytest.importorskip("matplotlib")
    for name in ("one.svg", "two.svg"):
        script.draw(made_up(script), tmp_path / name)
    one, two = (tmp_path / name for name in ("one.svg", "two.svg"))
    assert one.read_bytes() == two.read_bytes()
    assert "context length, tokens" in one.read_text(encoding="utf-8")


@pytest.fixture
def refusal(script, capsys, monkeypatch):
    """What the script says of some words, in one line, before it has computed anything."""

    def computed(*_, **__):
        raise AssertionError("nothing may be computed before all is checked")

    def refusal(*words: str) -> str:
        monkeypatch.setattr(script, "swept", computed)
        assert script.main(words) == 1
        printed = capsys.readouterr()
        assert (printed.out, printed.err.count("\n")) == ("", 1)
        return printed.err.removesuffix("\n")

    return refusal


def test_a_picture_without_matplotlib_says_at_once_what_to_install(
    script, refusal, tmp_path, monkeypatch
):
    monkeypatch.setattr(script, "find_spec", lambda name: None)
    remedy = "pip install -e '.[plots]'"
    assert refusal("c", "--plot", str(tmp_path / "x.svg")) == (
        f"decode_sweeps: --plot needs matplotlib: {remedy} in kerntape's clone"
    )
    assert f"`{remedy}`" in PAGE


def test_a_picture_that_cannot_be_written_is_refused_at_once(refusal, tmp_path):
    assert refusal("c", "--plot", str(tmp_path / "x.txt")) == (
        f"decode_sweeps: --plot must be a file that ends in .svg, not '{tmp_path}/x.txt'"
    )
    (tmp_path / "folder.svg").mkdir()
    for place in (tmp_path / "nowhere" / "x.svg", tmp_path / "folder.svg"):
        assert refusal("c", "--plot", str(place)) == (
            f"decode_sweeps: --plot must be a file in a folder that can be written to, not '{place}'"
        )


@pytest.mark.parametrize(
    ("sweep", "argument"),
    [("c", "s_kv=5"), ("c", "c=2"), ("tile", "tile=4"), ("length", "variant=opt1")],
)
def test_what_a_sweep_varies_is_not_an_argument(refusal, sweep: str, argument: str):
    name = argument.partition("=")[0]
    assert refusal(sweep, "--arg", argument) == (
        f"decode_sweeps: --arg {name} must be left out: it is what this sweep varies"
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--hazards", "all"),
            "--hazards must be one policy, not 'all': the table has one makespan a point",
        ),
        (("--hazards", "serail"), "no policy 'serail'; did you mean 'serial'?"),
        (
            ("--calibration", "dispatch_fre"),
            "no calibration 'dispatch_fre'; did you mean 'dispatch_free'?",
        ),
    ],
)
def test_a_model_that_cannot_be_is_refused_at_once(refusal, words, said: str):
    assert refusal("tile", *words) == f"decode_sweeps: {said}"


@pytest.mark.parametrize("name", ["c", "tile", "length"])
def test_the_page_shows_each_picture_and_the_command_that_draws_it(name: str):
    picture = f"pictures/decode-{name}.svg"
    assert f"python benchmarks/decode_sweeps.py {name} --plot docs/{picture}\n" in PAGE
    assert f"]({picture})\n" in PAGE
    assert (ROOT / "docs" / picture).read_text(encoding="utf-8").startswith("<?xml")
