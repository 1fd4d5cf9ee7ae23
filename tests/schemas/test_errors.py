"""What is said of a name that is not known: one that was probably meant, or those there are."""

import pytest
from kerntape.schemas.errors import did_you_mean, nearest

VARIANTS = ("opt1", "opt2", "opt3")
POLICIES = ("byte_range", "none", "rw_aware", "rw_handles", "serial", "strict_fifo")
PATHS = ("clock_ghz", "pe_cpu.fixed_cycles", "hbm.bytes_per_ns", "hbm.latency_ns", "noc.latency_ns")
STRUCTURE = ("topology.pe.tile_buffers", "topology.ipcq.depth", "topology.ipcq.send_depth")
SUBCOMMANDS = ("demo", "capture", "replay", "hazards", "sweep", "view", "inspect")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("serail", POLICIES, "; did you mean 'serial'?"),
        ("repaly", SUBCOMMANDS, "; did you mean 'replay'?"),
        # 3 of 4 letters are those of each of the three: none is meant rather than another
        ("opt9", VARIANTS, "; known: opt1, opt2, opt3"),
        # n, p and e are inspect's too: 2 · 3 of 11 letters alike
        ("nope", SUBCOMMANDS, f"; known: {', '.join(SUBCOMMANDS)}"),
        ("f64", ("f16", "bf16", "f32"), "; known: f16, bf16, f32"),
        # what leads there is right and says nothing of what was meant
        ("topology.foo", STRUCTURE, f"; known: {', '.join(STRUCTURE)}"),
        ("topology.ipcq.dept", STRUCTURE, "; did you mean 'topology.ipcq.depth'?"),
        ("fixed_cycles", PATHS, "; did you mean 'pe_cpu.fixed_cycles'?"),
        ("noc.latency", PATHS, "; did you mean 'noc.latency_ns'?"),
        ("hbm.foo", PATHS, "; known: hbm.bytes_per_ns, hbm.latency_ns"),
        ("x", (), ""),
    ],
)
def test_a_name_that_alone_is_near_is_guessed_and_else_all_are_listed(name, known, said):
    assert did_you_mean(name, known) == said


def test_of_many_that_are_as_near_the_first_is_guessed():
    # a list of more than six is no help on one line
    assert did_you_mean("opt9", [f"opt{i}" for i in range(1, 8)]) == "; did you mean 'opt1'?"


def test_case_does_not_count_and_how_near_can_be_asked_for():
    assert nearest("PEAR", ["apple", "pear"]) == "pear"
    assert nearest("pe", ["pear"]) is None  # 2 · 2 of 6 letters are 0.67
    assert nearest("pe", ["pear"], 0.6) == "pear"
