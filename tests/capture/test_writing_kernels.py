"""docs/writing-kernels.md says what is true: its files, its commands and its messages."""

import inspect
import re
from enum import Enum
from itertools import pairwise
from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.capture.runtime import Runtime
from kerntape.capture.tl import Tl
from kerntape.cli.main import main
from kerntape.schemas.errors import KerntapeError
from kerntape.topologies.loader import resolve_topology

GUIDE = (Path(__file__).parents[2] / "docs" / "writing-kernels.md").read_text()
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
FILES = dict(re.findall(r"^`(\w+\.py)`:\n\n```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))
CONSOLES = [text for language, text in BLOCKS if language == "console"]
MISTAKES = [
    (kernel, text.strip())
    for (language, kernel), (_, text) in pairwise(BLOCKS)
    if language == "python" and "def kernel(x, y, *, tl)" in kernel
]
COMPUTING = [name for name, text in FILES.items() if "rt.output(" in text]
LAUNCH = """
def launch(rt):
    rt.launch(kernel, (1, 1, 1), rt.random((8, 16), "f32"), rt.empty((8, 16), "f32"))
"""


def matches(printed: str, shown: str) -> bool:
    """Whether the text is what the guide shows, `…` standing for anything in a line."""
    return bool(re.fullmatch(".*".join(map(re.escape, shown.split("…"))), printed))


def table_names(heading: str) -> set[str]:
    """The names in backticks in the first column of the table under a heading."""
    section = GUIDE.split(f"\n{heading}\n")[1].split("\n#")[0]
    first_cells = re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE)
    return {name for cell in first_cells for name in re.findall(r"`(?:rt\.)?(\w+)", cell)}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_the_guide_has_its_examples():
    names = ("row_softmax", "shared_weights", "neighbours", "wait_first", "linear", "squared_relu")
    assert list(FILES) == [f"{name}.py" for name in names]
    assert len(CONSOLES) == 6
    assert len(MISTAKES) == 10


@pytest.mark.parametrize("console", CONSOLES, ids=lambda text: text.split()[3])
def test_commands_print_what_the_guide_shows(
    console: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    for example in console.removeprefix("$ kerntape ").split("\n$ kerntape "):
        command, _, shown = example.rstrip("\n").partition("\n")
        assert main(command.split()) == (1 if shown.startswith("kerntape: ") else 0)
        assert matches("".join(capsys.readouterr()).rstrip("\n"), shown)


@pytest.mark.parametrize("name", COMPUTING)
def test_a_kernel_of_the_guide_is_the_same_without_data(name: str, tmp_path: Path):
    (tmp_path / name).write_text(FILES[name])
    topology = resolve_topology("one_cube")
    with_data = capture(f"{tmp_path}/{name}", topology, {})
    without = capture(f"{tmp_path}/{name}", topology, {}, with_data=False)
    assert with_data.outputs["y"].is_right
    assert with_data.trace.command_count == without.trace.command_count


@pytest.mark.parametrize(("kernel", "shown"), MISTAKES, ids=[text[:24] for _, text in MISTAKES])
def test_a_mistake_gets_the_message_that_the_guide_shows(kernel: str, shown: str, tmp_path: Path):
    (tmp_path / "mine.py").write_text(kernel + LAUNCH)
    with pytest.raises(KerntapeError) as error:
        capture(f"{tmp_path}/mine.py", resolve_topology("single_pe"), {})
    assert matches(str(error.value), shown), str(error.value)


def test_the_table_of_verbs_has_every_verb_of_tl():
    assert table_names("## What a kernel may do") == public(Tl)


def signature(verb: str) -> str:
    """The verb as the guide writes it: names and defaults."""
    shown: list[str] = []
    for parameter in [*inspect.signature(getattr(Tl, verb)).parameters.values()][1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not any(w.startswith("*") for w in shown):
            shown.append("*")
        default = (
            parameter.default.value if isinstance(parameter.default, Enum) else parameter.default
        )
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        word = stars.get(parameter.kind, "") + parameter.name
        shown.append(word if default is parameter.empty else f"{word}={default!r}")
    return f"tl.{verb}({', '.join(shown)})"


def test_the_signatures_are_those_of_tl():
    (listed,) = [
        text for language, text in BLOCKS if language == "python" and text.startswith("tl.")
    ]
    assert listed.splitlines() == [signature(verb) for verb in sorted(public(Tl))]


def test_the_table_of_the_runtime_has_all_that_rt_offers():
    kept_by_capture = {"tensors", "outputs", "launched", "resolved"}
    assert table_names("## `launch(rt, …)`") == public(Runtime) | {"topology"} - kept_by_capture
