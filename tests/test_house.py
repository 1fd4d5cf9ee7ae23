"""The house: who may be loaded when, what an installation holds, and that the lists of it are whole."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("schemas", "topologies", "capture", "replay", "viewer", "cli")

IMPORT_ALL_BUT_THE_VIEWER = """
import importlib, pkgutil
for room in ("schemas", "topologies", "capture", "replay", "cli"):
    package = importlib.import_module(f"kerntape.{room}")
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
"""


def loaded_after(code: str, folder: Path) -> set[str]:
    """The names of the modules that a fresh interpreter in the folder has loaded after the code."""
    report = "\nimport json, sys\nprint('\\n' + json.dumps(sorted(sys.modules)))"
    answer = subprocess.run(
        [sys.executable, "-c", code + report],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return set(json.loads(answer.stdout.splitlines()[-1]))


def command(arguments: Sequence[str], expected_code: int = 0) -> str:
    """Code that runs one kerntape command line in its interpreter."""
    return (
        f"from kerntape.cli.main import main\nassert main({list(arguments)!r}) == {expected_code}\n"
    )


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small trace of a shipped kernel."""
    path = tmp_path_factory.mktemp("house") / "small.ktrace"
    capture = ["capture", "gqa_decode", "--arg", "s_kv=128", "--no-data", "-o", str(path)]
    loaded_after(command(capture), path.parent)
    return path


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    heavy = {"numpy", "pydantic", "yaml", "textual", "greenlet", "simpy", "msgpack", "ml_dtypes"}
    assert not heavy & loaded_after(command(["--help"]), tmp_path)


def test_importing_everything_but_the_viewer_loads_no_textual(tmp_path: Path) -> None:
    assert "textual" not in loaded_after(IMPORT_ALL_BUT_THE_VIEWER, tmp_path)


def test_capturing_loads_neither_textual_nor_simpy_nor_the_other_wing(tmp_path: Path) -> None:
    capture = ["capture", "gqa_decode", "--arg", "s_kv=128", "-o", "small.ktrace"]
    loaded = loaded_after(command(capture), tmp_path)
    assert "greenlet" in loaded
    assert not {"textual", "simpy", "kerntape.replay"} & loaded


@pytest.mark.parametrize("runner", ["simpy", "compiled"])
def test_replaying_loads_neither_greenlet_nor_textual_nor_the_other_wing(
    trace: Path, runner: str
) -> None:
    replay = ["replay", trace.name, "--runner", runner, "-o", f"{runner}.ktimeline"]
    loaded = loaded_after(command(replay), trace.parent)
    assert not {"greenlet", "textual", "kerntape.capture"} & loaded


def test_checking_hazards_loads_neither_greenlet_nor_textual(trace: Path) -> None:
    loaded = loaded_after(command(["hazards", trace.name]), trace.parent)
    assert not {"greenlet", "textual"} & loaded


def test_sweeping_on_this_machine_loads_no_dask(trace: Path) -> None:
    vary = ["--vary", "hbm.latency_ns=100,110", "--jobs", "1", "-o", "r.csv"]
    assert not {"dask", "distributed"} & loaded_after(
        command(["sweep", trace.name, *vary]), trace.parent
    )


@pytest.mark.parametrize("kind", ["topologies", "calibrations", "policies"])
def test_listing_configurations_loads_no_numpy(kind: str, tmp_path: Path) -> None:
    assert not {"numpy", "greenlet", "textual"} & loaded_after(command([kind]), tmp_path)


def test_nothing_but_kerntape_is_installed_at_top_level(tmp_path: Path) -> None:
    code = (
        "import importlib.util\n"
        f"found = [room for room in {ROOMS!r} if importlib.util.find_spec(room)]\n"
        "assert found == [], found\n"
    )
    loaded_after(code, tmp_path)


def test_a_users_own_schemas_module_beside_a_kernel_keeps_working(tmp_path: Path) -> None:
    (tmp_path / "schemas.py").write_text("LENGTH = 16\n")
    (tmp_path / "my_kernel.py").write_text(
        "import schemas\n"
        "\n"
        "\n"
        "def kernel(x, y, *, tl):\n"
        "    tl.store(y, tl.load(x, (schemas.LENGTH,)))\n"
        "\n"
        "\n"
        "def launch(rt):\n"
        "    x = rt.zeros((schemas.LENGTH,), 'f32')\n"
        "    y = rt.empty((schemas.LENGTH,), 'f32')\n"
        "    rt.launch(kernel, (1, 1, 1), x, y)\n"
    )
    capture = ["capture", "my_kernel.py:launch", "-o", "mine.ktrace"]
    loaded_after(command(capture), tmp_path)
    assert (tmp_path / "mine.ktrace").exists()


def test_every_package_of_the_house_is_installed() -> None:
    folders = {
        f"kerntape.{init.parent.relative_to(ROOT).as_posix().replace('/', '.')}"
        for room in ROOMS
        for init in (ROOT / room).rglob("__init__.py")
    }
    assert sorted(project()["tool"]["setuptools"]["packages"]) == sorted(folders)


def test_every_room_is_mapped_for_the_installer_the_type_checker_and_the_layer_checker() -> None:
    tools = project()["tool"]
    mapping = {f"kerntape.{room}": room for room in ROOMS}
    assert tools["setuptools"]["package-dir"] == mapping
    assert set(tools["mypy"]["packages"]) == set(mapping)
    assert set(tools["importlinter"]["root_packages"]) == set(mapping)
    for room in ROOMS:
        assert (ROOT / ".typing" / "kerntape" / room).resolve() == (ROOT / room).resolve()


def test_every_benchmark_is_looked_at_by_the_type_checker() -> None:
    benchmarks = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert set(project()["tool"]["mypy"]["modules"]) == benchmarks


def test_every_kind_of_data_file_in_a_package_is_installed() -> None:
    listed = project()["tool"]["setuptools"]["package-data"]
    made = {".py", ".pyc", ".so", ".c"}
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.*"):
            package = "kerntape." + file.parent.relative_to(ROOT).as_posix().replace("/", ".")
            patterns = listed.get(package, [])
            assert file.suffix in made or any(file.match(pattern) for pattern in patterns), file


NAMED_EXTRAS = re.compile(r"(?:kerntape|'\.)\[([a-z,]+)\]|extras? [`']([a-z]+)[`']")
"""As in `kerntape[NAME]`, `'.[NAME]'`, the extra `NAME`."""


def named_extras() -> dict[str, str]:
    """Every extra that a document or a message names, and a file that does."""
    benchmarks = sorted((ROOT / "benchmarks").glob("*.py"))
    sources = [file for room in ROOMS for file in sorted((ROOT / room).rglob("*.py"))]
    documents = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    return {
        extra: file.relative_to(ROOT).as_posix()
        for file in (*benchmarks, *sources, *documents, ROOT / "pyproject.toml")
        for names in NAMED_EXTRAS.findall(file.read_text("utf-8"))
        for extra in "".join(names).split(",")
    }


def test_every_extra_that_is_named_anywhere_can_be_installed() -> None:
    extras, named = project()["project"]["optional-dependencies"], named_extras()
    assert {"cluster", "dev", "plots", "sweep", "test"} <= set(named)
    assert {name: file for name, file in named.items() if name not in extras} == {}


def test_the_tests_install_what_they_test_and_no_document_says_kerntape_is_on_an_index() -> None:
    assert "kerntape[sweep,cluster]" in project()["project"]["optional-dependencies"]["test"]
    for file in (*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")):
        assert "install 'kerntape[" not in file.read_text("utf-8"), file


def test_every_subcommand_is_a_module_of_the_cli_with_the_three_names() -> None:
    from importlib import import_module

    from kerntape.cli.main import SUBCOMMANDS

    for name in SUBCOMMANDS:
        module = import_module(f"kerntape.cli.{name}")
        assert module.SUMMARY.strip() == module.SUMMARY
        assert "\n" not in module.SUMMARY
        assert callable(module.add_arguments)
        assert callable(module.run)
