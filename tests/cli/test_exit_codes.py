"""One rule for every subcommand: 2 for a command line that no file could make right, 1 for what is not
there or does not fit, 3 for a finding."""

from pathlib import Path

import pytest
from kerntape.cli.main import SUBCOMMANDS, main
from kerntape.cli.model_options import RUNNERS
from kerntape.replay.replay import RUNNERS as KNOWN_RUNNERS

NOT_A_NUMBER = [
    ("capture", "gqa_decode", "-o", "x.ktrace", "--seed"),
    ("inspect", "x.ktrace", "--pe"),
    ("inspect", "x.ktrace", "--commands"),
    ("inspect", "x.ktrace", "--from"),
    ("sweep", "x.ktrace", "-o", "r.csv", "--jobs"),
    ("sweep", "x.ktrace", "-o", "r.csv", "--samples"),
    ("sweep", "x.ktrace", "-o", "r.csv", "--seed"),
]

NOT_A_WORD = [
    (("replay", "x.ktrace", "--runner"), "must be compiled or simpy, not 'foo'"),
    (("view", "x.ktrace", "--runner"), "must be compiled or simpy, not 'foo'"),
    (("view", "x.ktrace", "--colours"), "must be dark or light, not 'foo'"),
]

NOT_THERE = [
    ("capture", "no_kernel", "-o", "x.ktrace"),
    ("capture", "gqa_decode", "--topology", "no_machine", "-o", "x.ktrace"),
    ("replay", "none.ktrace"),
    ("hazards", "none.ktrace"),
    ("sweep", "none.ktrace", "-o", "r.csv"),
    ("view", "none.ktrace"),
    ("inspect", "none.ktrace"),
    ("kernels", "no_kernel"),
    ("topologies", "no_machine"),
    ("calibrations", "no_numbers"),
    ("policies", "no_policy"),
]


@pytest.fixture
def refused(tmp_path: Path, monkeypatch, capsys):
    """Runs a command line in an empty folder; its code and the last line it says."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> tuple[int, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        assert printed.out == ""
        assert list(tmp_path.iterdir()) == []
        return code, printed.err.splitlines()[-1]

    return run


@pytest.mark.parametrize("subcommand", SUBCOMMANDS)
def test_an_unknown_option_is_wrong_usage(refused, subcommand):
    needed = {"capture": ["k", "-o", "x"], "sweep": ["x", "-o", "r"], "demo": []}
    given = needed.get(subcommand, ["x"])
    code, line = refused(subcommand, *given, "--nope")
    assert (code, line) == (
        2,
        f"kerntape {subcommand}: error: unrecognized arguments: --nope",
    )


@pytest.mark.parametrize("command", NOT_A_NUMBER, ids=" ".join)
@pytest.mark.parametrize("value", ["many", "-1", "1.5", "²"])
def test_no_number_where_one_must_be_is_wrong_usage(refused, command, value):
    least = 1 if command[-1] in ("--jobs", "--samples") else 0
    code, line = refused(*command[:-1], f"{command[-1]}={value}")
    assert (code, line) == (
        2,
        f"kerntape {command[0]}: error: argument {command[-1]}: must be a number from {least},"
        f" not '{value}'",
    )


@pytest.mark.parametrize(("command", "said"), NOT_A_WORD)
def test_none_of_the_words_that_an_option_takes_is_wrong_usage(refused, command, said):
    code, line = refused(*command, "foo")
    assert (code, line) == (2, f"kerntape {command[0]}: error: argument {command[-1]}: {said}")


@pytest.mark.parametrize("subcommand", ["inspect", "view"])
def test_all_policies_where_one_is_needed_is_wrong_usage(refused, subcommand):
    assert refused(subcommand, "x.ktrace", "--policy", "all") == (
        2,
        "kerntape: --hazards must be one policy here, not 'all'; `kerntape replay`, `hazards` and"
        " `sweep` compare them",
    )


@pytest.mark.parametrize("command", NOT_THERE, ids=" ".join)
def test_what_is_not_there_is_a_failed_run(refused, command):
    code, line = refused(*command)
    assert code == 1
    assert line.startswith("kerntape: ")


def test_the_runners_that_the_option_takes_are_those_there_are():
    assert tuple(KNOWN_RUNNERS) == RUNNERS
