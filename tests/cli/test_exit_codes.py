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

EMPTY = [
    (("capture", "gqa_decode"), ("--output", "--topology", "--arg")),
    (("replay", "x.ktrace"), ("--calibration", "--policy", "--topology", "--output", "--op-log")),
    (("hazards", "x.ktrace"), ("--policy", "--topology")),
    (("sweep", "x.ktrace"), ("--output", "--policy", "--topology", "--calibration", "--cluster")),
    (("sweep", "x.ktrace", "-o", "r.csv"), ("--grid",)),
    (("inspect", "x.ktrace"), ("--policy", "--topology")),
    (("view", "x.ktrace"), ("--calibration", "--policy", "--topology")),
]

SETTINGS = [
    (("pe_cpu.fixed_cycles",), " must be PATH=VALUE, as in pe_cpu.fixed_cycles=20, not '{}'"),
    (("topology.ipcq.depth",), " must be PATH=VALUE, as in topology.ipcq.depth=4, not '{}'"),
    (("pe_cpu.fixed_cycles=nan",), ": pe_cpu.fixed_cycles: must be a finite number, not nan"),
    (("clock_ghz=fast",), ": clock_ghz: must be a number, not 'fast'"),
    (("clock_ghz=0",), ": clock_ghz: must be above 0 (from 10^-12 to 10^12), not 0"),
    (("topology.ipcq.depth=0",), ": topology.ipcq.depth: must be at least 1, not 0"),
    (
        ("topology.ipcq.depth=1e9999",),
        ": topology.ipcq.depth: must be a whole number of at most 15 digits, not 1E+9999",
    ),
    (
        ("clock_ghz=1", " clock_ghz = 2"),
        ": clock_ghz must be set once, not to 1 and to 2; leave one out",
    ),
]

NOT_TOGETHER = [
    (
        ("capture", "gqa_decode", "--keep-inputs", "--no-data", "-o", "x.ktrace"),
        "--keep-inputs keeps values, and --no-data makes none; leave one out",
    ),
    (
        ("replay", "x.ktrace", "-o", "x", "--op-log", "./x"),
        "--op-log must not be --output, and ./x is the same file; name another",
    ),
    (
        ("replay", "x.ktrace", "--hazards", "none", "--policy", "serial"),
        "--hazards (or --policy) must be given once, not as 'none' and as 'serial'; leave one out",
    ),
    (
        ("hazards", "x.ktrace", "--policy", "none", "--policy", "none"),
        "--hazards (or --policy) must be given once, not as 'none' and as 'none'; leave one out",
    ),
    (
        ("sweep", "x.ktrace", "-o", "r.csv", "--samples", "9", "--latin-hypercube"),
        "--latin-hypercube must have something to sample: give --vary or --grid",
    ),
    (("capture", "gqa_decode", "--arg", "tile", "-o", "x"), "--arg must be NAME=VALUE, not 'tile'"),
    (
        ("capture", "gqa_decode", "--arg", "tile=1", "--arg", "tile=2", "-o", "x"),
        "--arg tile must be given once, not twice",
    ),
    (("topologies", "--yaml"), "--yaml prints one topology: name it"),
    *(
        (
            (command, "x.ktrace", "--set", setting),
            f"--set must name structure here, as in topology.ipcq.depth=4, not '{setting}';"
            " the answer is the same under every calibration",
        )
        for command in ("hazards", "inspect")
        for setting in ("clock_ghz=2", "hbm=4", "hbm.latency_n=4", "clock_ghz")
    ),
    *(
        (
            (*command, option, "a", option, "b"),
            f"{option} must be given once, not as 'a' and as 'b'; leave one out",
        )
        for command, options in (
            (("capture", "gqa_decode", "-o", "x.ktrace"), ("--topology", "--device")),
            (("replay", "x.ktrace"), ("--calibration", "--topology")),
            (
                ("sweep", "x.ktrace", "-o", "r.csv"),
                ("--calibration", "--topology", "--grid", "--cluster"),
            ),
            (("inspect", "x.ktrace"), ("--topology",)),
        )
        for option in options
    ),
    *(
        (
            ("sweep", "x.ktrace", "-o", "r.csv", option, "7", option, "07"),
            f"{option} must be given once, not as '7' and as '7'; leave one out",
        )
        for option in ("--jobs", "--samples", "--seed")
    ),
    (
        ("sweep", "x.ktrace", "-o", "r.csv", "--output", "s.csv"),
        "-o (or --output) must be given once, not as 'r.csv' and as 's.csv'; leave one out",
    ),
]

NOT_THERE = [
    ("replay", "none.ktrace", "--set", "clock_gzh=1"),
    ("sweep", "none.ktrace", "-o", "r.csv", "--vary", "clock_gzh=1"),
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


@pytest.mark.parametrize(
    ("command", "option"), [(command, option) for command, options in EMPTY for option in options]
)
def test_an_empty_value_is_wrong_usage_and_never_the_default(refused, command, option):
    names = {"--policy": "--hazards/--policy", "--output": "-o/--output"}.get(option, option)
    assert refused(*command, f"{option}=") == (
        2,
        f"kerntape {command[0]}: error: argument {names}: must not be empty",
    )


@pytest.mark.parametrize(
    "command",
    [
        *("replay", "hazards", "view", "inspect"),
        *("kernels", "topologies", "calibrations", "policies"),
    ],
)
def test_so_is_an_empty_name(refused, command):
    code, line = refused(command, "")
    assert code == 2
    assert line.startswith(f"kerntape {command}: error: argument ")
    assert line.endswith(": must not be empty")


@pytest.mark.parametrize("command", [("replay",), ("view",), ("sweep", "-o", "r.csv")])
@pytest.mark.parametrize(("words", "said"), SETTINGS)
def test_a_setting_that_can_never_be_is_wrong_usage(refused, command, words, said):
    given = [part for word in words for part in ("--set", word)]
    assert refused(*command, "x.ktrace", *given) == (
        2,
        f"kerntape: --set{said.format(words[0])}",
    )


@pytest.mark.parametrize(("command", "said"), NOT_TOGETHER)
def test_options_that_do_not_go_together_are_wrong_usage(refused, command, said):
    assert refused(*command) == (2, f"kerntape: {said}")


@pytest.mark.parametrize("device", ["x", "1,0", "0,0", "3-1", "1-", "all", "²"])
def test_no_sips_where_some_must_be_named_is_wrong_usage(refused, device):
    assert refused("capture", "gqa_decode", "-o", "x.ktrace", "--device", device) == (
        2,
        "kerntape: --device must name SIPs, each once and in ascending order, as in 1 or 0,2 or 1-3,"
        f" not '{device}'",
    )


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
