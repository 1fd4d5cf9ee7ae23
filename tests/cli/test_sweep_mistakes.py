"""A wrong `kerntape sweep` is one line that names the place and the remedy, before anything runs."""

import sys
from pathlib import Path

import pytest

VARY = ("--vary", "pe_cpu.fixed_cycles=20,40")
SAMPLED = (*VARY, "--samples", "9", "--latin-hypercube")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("opt2.ktrace", "--vary", "pe_cpu.fixed_cycels=1", "-o", "r.csv"),
            "--vary: unknown path 'pe_cpu.fixed_cycels'; did you mean 'pe_cpu.fixed_cycles'?",
        ),
        (
            ("opt2.ktrace", "--vary", "clock_ghz=", "-o", "r.csv"),
            "--vary: clock_ghz: must have at least one value, as in pe_cpu.fixed_cycles=20,40",
        ),
        (
            ("opt2.ktrace", "--vary", "clock_ghz=1,fast", "-o", "r.csv"),
            "--vary: clock_ghz: must be a number, not 'fast'",
        ),
        (
            ("opt2.ktrace", *VARY, *VARY, "-o", "r.csv"),
            "pe_cpu.fixed_cycles must be varied once; give all its values together",
        ),
        (
            ("opt2.ktrace", "--vary", "clock_ghz=1..2", "-o", "r.csv"),
            "clock_ghz: a range must be sampled; add --samples N --latin-hypercube,"
            " or list its values",
        ),
        *(
            (
                ("opt2.ktrace", *VARY, "--cluster", address, "-o", "r.csv"),
                f"--cluster must be an address tcp://HOST:PORT, not '{address}'",
            )
            for address in ("", "foo", "tcp://foo", "tcp://:8786", "foo:", "foo:bar")
        ),
        (
            ("opt2.ktrace", "--samples", "9", "--latin-hypercube", "-o", "r.csv"),
            "--latin-hypercube must have something to sample: give --vary",
        ),
        (
            ("opt2.ktrace", "--hazards", "serail", "-o", "r.csv"),
            "no policy 'serail'; did you mean 'serial'?",
        ),
        (
            ("opt2.ktrace", "opt2.ktrace", "-o", "r.csv"),
            "two of the traces are called 'opt2.ktrace'; give each once, by its own name",
        ),
        (
            ("opt2.ktrace", "--topology", "singel_pe", "-o", "r.csv"),
            "no topology 'singel_pe'; did you mean 'single_pe'?",
        ),
        (
            ("opt2.ktrace", "-o", "none/r.csv"),
            "none/r.csv: cannot be written: there is no folder none; create the folder first",
        ),
        (
            ("opt2.ktrace", "-o", "r.json"),
            "r.json: results must be a file ending in .csv or .parquet, not '.json'",
        ),
        (("opt2.ktrace", "--grid", "", "-o", "r.csv"), ".: cannot be read: Is a directory"),
        (
            ("opt2.ktrace", "--topology", "", "-o", "r.csv"),
            "no topology ''; known: ahbm_2sip, llama70b_4sip, one_cube, single_pe",
        ),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(sweep, arguments, line):
    assert sweep(*arguments) == (1, "", f"kerntape: {line}\n")
    assert not Path("r.csv").exists()
    assert not Path("r.csv.partial").exists()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            (*VARY, "--samples", "9"),
            "kerntape: --samples N and --latin-hypercube must be given together",
        ),
        (
            (*VARY, "--seed", "0"),
            "kerntape: --seed must come with --samples N --latin-hypercube; leave it out",
        ),
        (
            ("--hazards", "none,"),
            "kerntape: --hazards must be policies separated by commas, not 'none,'",
        ),
        (
            (*VARY, "--samples", "0", "--latin-hypercube"),
            "kerntape sweep: error: argument --samples: must be a number from 1, not '0'",
        ),
        (
            (*SAMPLED, "--seed", "-1"),
            "kerntape sweep: error: argument --seed: must be a number from 0, not '-1'",
        ),
        (
            ("--jobs", "0"),
            "kerntape sweep: error: argument --jobs: must be a number from 1, not '0'",
        ),
    ],
)
def test_what_no_files_could_make_right_is_wrong_usage(sweep, options, line):
    code, out, err = sweep("opt2.ktrace", *options, "-o", "r.csv")
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == line
    assert not Path("r.csv.partial").exists()


def test_a_cluster_without_dask_is_one_line_that_says_what_to_install(sweep, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert sweep("opt2.ktrace", "--cluster", "tcp://127.0.0.1:1", "-o", "r.csv") == (
        1,
        "",
        "kerntape: a cluster needs dask: pip install -e '.[cluster]' in kerntape's clone,"
        " or leave --cluster out\n",
    )
    assert not Path("r.csv.partial").exists()


def test_the_processes_of_a_cluster_are_not_ours_to_count(sweep):
    code, _, err = sweep("opt2.ktrace", "--cluster", "localhost:1", "--jobs", "2", "-o", "r.csv")
    assert code == 2
    assert err.endswith("argument --jobs: not allowed with argument --cluster\n")


def test_results_must_be_named(sweep):
    code, _, err = sweep("opt2.ktrace")
    assert code == 2
    assert err.endswith("the following arguments are required: -o/--output\n")
