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
            ("opt2.ktrace", "--hazards", "serail", "-o", "r.csv"),
            "no policy 'serail'; did you mean 'serial'?",
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
            ("opt2.ktrace", "--grid", "none.yaml", "-o", "r.csv"),
            "none.yaml: cannot be read: No such file or directory",
        ),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(sweep, arguments, line):
    assert sweep(*arguments) == (1, "", f"kerntape: {line}\n")
    assert not Path("r.csv").exists()
    assert not Path("r.csv.partial").exists()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "clock_ghz: [1, fast]",
            "grid.yaml: clock_ghz: must be a number, not 'fast'",
        ),
        (
            "pe_cpu.fixed_cycles: [1, 2]",
            "pe_cpu.fixed_cycles must be varied once; give all its values together",
        ),
        (
            "clock_ghz: 1..2",
            "clock_ghz: a range must be sampled; add --samples N --latin-hypercube,"
            " or list its values",
        ),
    ],
)
def test_what_is_wrong_with_a_grid_file_is_a_failed_run(sweep, text, line):
    Path("grid.yaml").write_text(text)
    assert sweep("opt2.ktrace", *VARY, "--grid", "grid.yaml", "-o", "r.csv") == (
        1,
        "",
        f"kerntape: {line}\n",
    )


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            ("--vary", "clock_ghz="),
            "kerntape: --vary: clock_ghz: must have at least one value, as in pe_cpu.fixed_cycles=20,40",
        ),
        (
            ("--vary", "clock_ghz"),
            "kerntape: --vary must be PATH=V1,V2,… or PATH=LOW..HIGH, as in pe_cpu.fixed_cycles=20,40,"
            " not 'clock_ghz'",
        ),
        (
            ("--vary", "clock_ghz=1,fast"),
            "kerntape: --vary: clock_ghz: must be a number, not 'fast'",
        ),
        (
            (*VARY, *VARY),
            "kerntape: pe_cpu.fixed_cycles must be varied once; give all its values together",
        ),
        (
            (*VARY, "--set", "pe_cpu.fixed_cycles=20"),
            "kerntape: pe_cpu.fixed_cycles must be set or varied, not both; leave out its --set",
        ),
        (
            ("--vary", "clock_ghz=1..2"),
            "kerntape: clock_ghz: a range must be sampled; add --samples N --latin-hypercube,"
            " or list its values",
        ),
        *(
            (
                (*VARY, "--cluster", address),
                f"kerntape: --cluster must be an address tcp://HOST:PORT, not '{address}'",
            )
            for address in ("foo", "tcp://foo", "tcp://:8786", "foo:", "foo:bar")
        ),
        (
            ("--samples", "9", "--latin-hypercube"),
            "kerntape: --latin-hypercube must have something to sample: give --vary or --grid",
        ),
        (
            ("opt2.ktrace",),
            "kerntape: two of the traces are called 'opt2.ktrace'; give each once, by its own name",
        ),
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
            ("--hazards", "all,none"),
            "kerntape: --hazards all stands alone: it is every policy that ships, not 'all,none'",
        ),
        (
            ("--hazards", "none,serial,none"),
            "kerntape: --hazards must name a policy once, not 'none' twice",
        ),
        (
            ("--hazards", "none", "--policy", "serial"),
            "kerntape: --hazards (or --policy) must be given once, not as 'none' and as 'serial';"
            " leave one out",
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
    code, out, err = sweep("-o", "r.csv", "opt2.ktrace", *options)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1] == line
    assert not Path("r.csv.partial").exists()


def test_results_of_another_form_are_wrong_usage(sweep):
    line = "kerntape: r.json: results must be a file ending in .csv or .parquet, not '.json'\n"
    assert sweep("-o", "r.json", "opt2.ktrace") == (2, "", line)


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
