"""`kerntape sweep`: results as a file, what they say as text or JSON, mistakes as one line."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.replay.sweep.local_workers import LocalWorkers

PLANNING = "pe_scheduler.plan_cycles_per_op"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Decode of 8 tiles: opt2 has 2 large composites a tile, opt3 10 small commands."""
    folder = tmp_path_factory.mktemp("traces")
    for variant in ("opt2", "opt3"):
        kernel = ["gqa_decode", "--arg", f"variant={variant}", "--arg", "s_kv=512", "--no-data"]
        assert main(["capture", *kernel, "-o", str(folder / f"{variant}.ktrace")]) == 0
    return folder


@pytest.fixture
def run(traces, tmp_path, monkeypatch, capsys):
    """Runs `kerntape sweep` in an empty folder that has the traces; exit code, output, errors."""
    monkeypatch.chdir(tmp_path)
    for trace in traces.iterdir():
        (tmp_path / trace.name).symlink_to(trace)
    capsys.readouterr()

    def sweep(*arguments: str) -> tuple[int, str, str]:
        code = main(["sweep", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return sweep


@pytest.fixture
def replayed(run, capsys):
    """The figures that `kerntape replay --json` gives."""

    def figures(*arguments: str):
        assert main(["replay", *arguments, "--json"]) in (0, 3)  # 3: a hazard went wrong
        return json.loads(capsys.readouterr().out)

    return figures


def rows(path: str = "r.csv") -> list[dict[str, str]]:
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_answer_says_which_way_points_took_and_where_the_ranking_flips(run):
    # a merge of 8 ops planned in one composite costs opt2 more than opt3, whose ops are dispatched
    vary = f"{PLANNING}=20,30,40,50"
    code, out, err = run("opt2.ktrace", "opt3.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "r.csv: 8 points",
        "0 followed along a recorded order, 8 replayed in full",
        "",
        "opt2.ktrace against opt3.ktrace, strict_fifo: faster at 2, slower at 2, equal at 0",
        f"  flips between {PLANNING} 30 and 40: opt2.ktrace below, opt3.ktrace above",
    ]


def test_every_row_is_what_replay_says_of_the_point(run, replayed):
    vary = "pe_cpu.fixed_cycles=" + ",".join(f"{40 + step / 4:g}" for step in range(40))
    policies = "strict_fifo,none"
    code, out, _ = run(
        "opt2.ktrace", "--vary", vary, "--hazards", policies, "--jobs", "1", "-o", "r.csv", "--json"
    )
    assert code == 0
    assert json.loads(out)["followed"] > 40
    for row in rows()[:80:9]:
        setting = f"pe_cpu.fixed_cycles={row['pe_cpu.fixed_cycles']}"
        figures = replayed("opt2.ktrace", "--set", setting, "--hazards", row["policy"])
        assert int(row["makespan_ps"]) == figures["makespan_ps"]
        assert int(row["dispatch_ps"]) == figures["dispatch_ps"]
        assert int(row["hazards.held_ps"]) == figures["hazards"]["held_ps"]
        assert int(row["hazards.violations"]) == figures["hazards"]["violations"]
        for remote in ("reads", "read_bytes", "writes", "write_bytes"):
            assert int(row[f"remote_{remote}"]) == figures[f"remote_{remote}"]
        for block, use in figures["engines"].items():
            assert int(row[f"engines.{block}.busy_ps"]) == use["busy_ps"]
            assert float(row[f"engines.{block}.utilisation"]) == use["utilisation"]


def test_structure_is_varied_and_lowered_anew(run, replayed, monkeypatch):
    run("opt2.ktrace", "--vary", "topology.pe.tile_buffers=1,2", "--jobs", "1", "-o", "r.csv")
    one, two = (int(row["makespan_ps"]) for row in rows())
    assert one > two
    assert two == replayed("opt2.ktrace")["makespan_ps"]


def test_json_has_stable_keys_and_every_flip(run):
    vary = ["--vary", f"{PLANNING}=30,40", "--vary", "hbm.latency_ns=100,101"]
    code, out, _ = run("opt2.ktrace", "opt3.ktrace", *vary, "--jobs", "1", "-o", "r.csv", "--json")
    assert code == 0
    answer = json.loads(out)
    assert answer == {
        "results": "r.csv",
        "points": 8,
        "kept": 0,
        "followed": 0,
        "replayed": 8,
        "deadlocked": 0,
        "impossible": 0,
        "rankings": [
            {
                "first": "opt2.ktrace",
                "second": "opt3.ktrace",
                "under": "strict_fifo",
                "first_faster": 2,
                "second_faster": 2,
                "equal": 0,
                "flips": [
                    {
                        "path": PLANNING,
                        "low": 30,
                        "high": 40,
                        "faster_below": "opt2.ktrace",
                        "faster_above": "opt3.ktrace",
                        "at": {"hbm.latency_ns": latency},
                    }
                    for latency in (100, 101)
                ],
            }
        ],
    }


def test_many_flips_are_counted_and_not_all_printed(run):
    latencies = ",".join(str(latency) for latency in range(100, 112))
    vary = ["--vary", f"{PLANNING}=30,40", "--vary", f"hbm.latency_ns={latencies}"]
    vary += ["--vary", "topology.ipcq.depth=8"]
    _, out, _ = run("opt2.ktrace", "opt3.ktrace", *vary, "--jobs", "1", "-o", "r.csv")
    lines = out.splitlines()
    assert lines[4].endswith("opt3.ktrace above, hbm.latency_ns 100, topology.ipcq.depth 8")
    assert lines[-1] == "  … and 2 more flips (--json has them all)"


def test_samples_come_from_the_seed(run):
    sampled = ["--vary", "hbm.latency_ns=50..150", "--samples", "5", "--latin-hypercube"]
    drawn = {}
    for seed in ("0", "0", "1"):
        run("opt2.ktrace", *sampled, "--seed", seed, "--jobs", "1", "-o", "r.csv")
        drawn.setdefault(seed, set()).add(tuple(row["hbm.latency_ns"] for row in rows()))
    assert len(drawn["0"]) == 1
    assert drawn["0"] != drawn["1"]


def test_a_grid_file_and_vary_are_combined_over_the_base(run):
    Path("grid.yaml").write_text("hbm.latency_ns: [50, 150]\n")
    options = ["--grid", "grid.yaml", "--vary", "clock_ghz=1,2", "--set", "pe_cpu.fixed_cycles=1"]
    run("opt2.ktrace", *options, "--jobs", "1", "-o", "r.csv")
    assert [(row["clock_ghz"], row["hbm.latency_ns"]) for row in rows()] == [
        ("1", "50"),
        ("1", "150"),
        ("2", "50"),
        ("2", "150"),
    ]
    assert {row["calibration"] for row in rows()} == {"default + pe_cpu.fixed_cycles=1"}


def test_all_policies_are_the_shipped_ones(run):
    run("opt2.ktrace", "--hazards", "all", "--jobs", "1", "-o", "r.csv")
    assert [row["policy"] for row in rows()] == [
        "byte_range",
        "none",
        "rw_aware",
        "rw_handles",
        "serial",
        "strict_fifo",
    ]


def test_op_logs_are_hashed_only_if_asked_for(run, replayed):
    run("opt2.ktrace", "--jobs", "1", "-o", "r.csv")
    assert rows()[0]["op_log_sha256"] == ""
    run("opt2.ktrace", "--op-log-sha256", "--jobs", "1", "-o", "r.csv")
    digest = replayed("opt2.ktrace", "--op-log", "x.oplog")["op_log_sha256"]
    assert rows()[0]["op_log_sha256"] == digest


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
        (
            ("opt2.ktrace", *VARY, "--samples", "0", "--latin-hypercube", "-o", "r.csv"),
            "--samples must be at least 1, not 0",
        ),
        (
            ("opt2.ktrace", *VARY, "--samples", "9", "-o", "r.csv"),
            "--samples N and --latin-hypercube must be given together",
        ),
        (
            ("opt2.ktrace", *VARY, "--seed", "0", "-o", "r.csv"),
            "--seed must come with --samples N --latin-hypercube; leave it out",
        ),
        (
            ("opt2.ktrace", *SAMPLED, "--seed", "-1", "-o", "r.csv"),
            "--seed must be at least 0, not -1",
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
            ("opt2.ktrace", "--hazards", "none,", "-o", "r.csv"),
            "--hazards must be policies separated by commas, not 'none,'",
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
        (("opt2.ktrace", "--jobs", "0", "-o", "r.csv"), "--jobs must be at least 1, not 0"),
    ],
)
def test_a_mistake_is_one_line_before_anything_runs(run, arguments, line):
    assert run(*arguments) == (1, "", f"kerntape: {line}\n")
    assert not Path("r.csv").exists()
    assert not Path("r.csv.partial").exists()


def test_a_cluster_without_dask_is_one_line_that_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert run("opt2.ktrace", "--cluster", "tcp://127.0.0.1:1", "-o", "r.csv") == (
        1,
        "",
        "kerntape: a cluster needs dask: pip install -e '.[cluster]' in kerntape's clone,"
        " or leave --cluster out\n",
    )
    assert not Path("r.csv.partial").exists()


def test_the_processes_of_a_cluster_are_not_ours_to_count(run):
    code, _, err = run("opt2.ktrace", "--cluster", "localhost:1", "--jobs", "2", "-o", "r.csv")
    assert code == 2
    assert err.endswith("argument --jobs: not allowed with argument --cluster\n")


def test_results_must_be_named(run):
    code, _, err = run("opt2.ktrace")
    assert code == 2
    assert err.endswith("the following arguments are required: -o/--output\n")


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(run, monkeypatch):
    vary = "hbm.latency_ns=" + ",".join(str(latency) for latency in range(100, 140))
    command = ("opt2.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv")
    evaluate = LocalWorkers.evaluate

    def interrupted(workers, plan, chunks):
        yield next(evaluate(workers, plan, chunks))
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalWorkers, "evaluate", interrupted)
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "kerntape: 1 of 40 points are kept in r.csv.partial; the same command goes on from there",
        "kerntape: interrupted",
    ]
    monkeypatch.setattr(LocalWorkers, "evaluate", evaluate)
    code, out, _ = run(*command)
    assert (code, out.splitlines()[0]) == (0, "r.csv: 40 points, 1 of them kept from before")


TWENTY_SENDS_FIRST = """
def kernel(x, *, tl):
    direction = "E" if tl.program_id(0) == 0 else "W"
    mine = tl.load(x)
    for _ in range(20):
        tl.send(direction, mine)
    for _ in range(20):
        tl.recv(direction, (8,), "f32")


def launch(rt):
    rt.launch(kernel, (2, 1, 1), rt.random((8,), "f32"))
"""


def test_points_that_deadlock_are_a_finding(run):
    # a queue of 8 slots and 4 sends accepted ahead take 12 messages; one of 16 slots takes 20
    Path("twenty.py").write_text(TWENTY_SENDS_FIRST)
    capture = ["capture", "twenty.py:launch", "--topology", "one_cube", "--no-data"]
    assert main([*capture, "-o", "twenty.ktrace"]) == 0
    vary = "topology.ipcq.depth=8,16"
    code, out, err = run("twenty.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv")
    assert (code, err) == (3, "")
    assert "1 replayed in full, 1 deadlocked" in out
    assert [row["status"] for row in rows()] == ["deadlock", "ok"]
    assert rows()[0]["makespan_ps"] == ""


def test_an_impossible_point_is_a_row_without_figures_and_the_others_go_on(run):
    # at 10^-12 GHz a cycle lasts 10^15 ps, so that 2^62 ps are 4,612 of them
    vary = ["--vary", "clock_ghz=1,0.000000000001,2", "--set", "pe_cpu.fixed_cycles=5000"]
    code, out, err = run("opt2.ktrace", *vary, "--jobs", "1", "-o", "r.csv")
    assert (code, err) == (0, "")
    assert out.splitlines()[1] == (
        "0 followed along a recorded order, 2 replayed in full,"
        " 1 impossible (times must stay below 2^62 ps)"
    )
    assert [row["status"] for row in rows()] == ["ok", "impossible", "ok"]
    assert rows()[1]["makespan_ps"] == ""


def test_nothing_is_drawn_in_a_pipe(traces, tmp_path):
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from kerntape.cli.main import main; sys.exit(main(sys.argv[1:]))",
            *("sweep", str(traces / "opt2.ktrace"), "--vary", "hbm.latency_ns=1,2"),
            *("--jobs", "1", "-o", "r.csv"),
        ],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv"]
