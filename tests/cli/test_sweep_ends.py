"""How a `kerntape sweep` ends: stopped, with points that have no figures, and what it leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.replay.sweep.local_workers import LocalWorkers
from result_rows import rows


def test_ctrl_c_says_how_to_go_on_and_the_same_command_does(sweep, monkeypatch):
    vary = "hbm.latency_ns=" + ",".join(str(latency) for latency in range(100, 140))
    command = ("opt2.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv")
    evaluate = LocalWorkers.evaluate

    def interrupted(workers, plan, chunks):
        yield next(evaluate(workers, plan, chunks))
        raise KeyboardInterrupt

    monkeypatch.setattr(LocalWorkers, "evaluate", interrupted)
    code, out, err = sweep(*command)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        "kerntape: 40 points: 1 trace, 40 combinations of values",
        "kerntape: 1 of 40 points are kept in r.csv.partial; the same command goes on from there",
        "kerntape: interrupted",
    ]
    monkeypatch.setattr(LocalWorkers, "evaluate", evaluate)
    code, out, _ = sweep(*command)
    assert (code, out.splitlines()[0]) == (0, "r.csv: 40 points, 1 of them kept from before")


def test_another_sweeps_journal_is_refused_with_the_command_that_goes_on_with_it(
    sweep, monkeypatch
):
    vary = ("--vary", "hbm.latency_ns=100,101", "--jobs", "1", "-o", "r.csv")
    evaluate = LocalWorkers.evaluate

    def interrupted(workers, plan, chunks):
        yield next(evaluate(workers, plan, chunks))
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(LocalWorkers, "evaluate", interrupted)
        assert sweep("opt2.ktrace", *vary)[0] == 1
    assert sweep("opt3.ktrace", *vary) == (
        1,
        "",
        "kerntape: r.csv.partial: must be of this sweep, not of one with other arguments or by another"
        " kerntape (kerntape sweep opt2.ktrace --vary hbm.latency_ns=100,101 --jobs 1 -o r.csv);"
        " continue it with those, or delete the file\n",
    )
    assert sweep("opt2.ktrace", *vary)[1].startswith(
        "r.csv: 2 points, 1 of them kept from before\n"
    )


def test_results_that_take_the_place_of_others_are_said_to(sweep):
    command = ("opt2.ktrace", "--jobs", "1", "-o", "r.csv")
    assert sweep(*command)[1].splitlines()[0] == "r.csv: 1 point"
    code, out, _ = sweep("opt3.ktrace", *command[1:])
    assert (code, out.splitlines()[0]) == (0, "r.csv: 1 point, in place of the file that was there")


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


def test_points_that_deadlock_are_a_finding(sweep):
    # a queue of 8 slots and 4 sends accepted ahead take 12 messages; one of 16 slots takes 20
    Path("twenty.py").write_text(TWENTY_SENDS_FIRST)
    capture = ["capture", "twenty.py:launch", "--topology", "one_cube", "--no-data"]
    assert main([*capture, "-o", "twenty.ktrace"]) == 0
    vary = "topology.ipcq.depth=8,16"
    code, out, err = sweep("twenty.ktrace", "--vary", vary, "--jobs", "1", "-o", "r.csv")
    assert (code, err) == (3, "kerntape: 2 points: 1 trace, 2 combinations of values\n")
    assert "1 replayed in full, 1 deadlocked" in out
    assert [row["status"] for row in rows()] == ["deadlock", "ok"]
    assert rows()[0]["makespan_ps"] == ""
    # one point has a makespan, and what moves it is not known: the other one is left out
    head, case, _, _, depth = (line.split() for line in out.splitlines()[-5:])
    assert (head[-2:], case[-1]) == (["left", "out"], "1")
    assert depth == ["topology.ipcq.depth", "16", "16", "–"]


def test_an_impossible_point_is_a_row_without_figures_and_the_others_go_on(sweep):
    # at 10^-12 GHz a cycle lasts 10^15 ps, so that 2^62 ps are 4,612 of them
    vary = ["--vary", "clock_ghz=1,0.000000000001,2", "--set", "pe_cpu.fixed_cycles=5000"]
    code, out, err = sweep("opt2.ktrace", *vary, "--jobs", "1", "-o", "r.csv")
    assert (code, err) == (0, "kerntape: 3 points: 1 trace, 3 combinations of values\n")
    assert out.splitlines()[1] == (
        "0 followed along a recorded order, 2 replayed in full,"
        " 1 impossible (times must stay below 2^62 ps)"
    )
    assert [row["status"] for row in rows()] == ["ok", "impossible", "ok"]
    assert rows()[1]["makespan_ps"] == ""


def test_in_a_pipe_no_bar_is_drawn_but_its_beginning_is_told(decodes, tmp_path):
    answer = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from kerntape.cli.main import main; sys.exit(main(sys.argv[1:]))",
            *("sweep", str(decodes / "opt2.ktrace"), "--vary", "hbm.latency_ns=1,2"),
            *("--jobs", "1", "-o", "r.csv"),
        ],
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    told = "kerntape: 2 points: 1 trace, 2 combinations of values\n"
    assert (answer.returncode, answer.stderr) == (0, told)
    assert answer.stdout.startswith("r.csv: 2 points\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.csv"]


@pytest.mark.parametrize("results", ["r.csv", "r.parquet"])
def test_traces_of_any_name_have_a_row_each(sweep, results):
    if results.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    names = [os.fsdecode(b"\xff.ktrace"), "two\r\nlines.ktrace", 'a, "b".ktrace', "解码.ktrace"]
    for name in names:
        Path(name).symlink_to("opt2.ktrace")
    code, out, err = sweep(*names, "--jobs", "1", "-o", results)
    assert (code, err) == (0, "kerntape: 4 points: 4 traces\n")
    assert out.startswith(f"{results}: 4 points\n")
    if results == "r.csv":
        found = [row["trace"] for row in rows()]
        assert found == ["\\udcff.ktrace", "two\\r\\nlines.ktrace", *names[2:]]
