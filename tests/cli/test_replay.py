"""`kerntape replay --hazards all`: the policies side by side, for people and for programs."""

import json
from pathlib import Path

import pytest
from kerntape.cli.main import main


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """opt2 with 4 tiles of 16 keys, with its inputs (kept.ktrace) and without (bare.ktrace)."""
    folder = tmp_path_factory.mktemp("traces")
    arguments = ("variant=opt2", "s_kv=64", "tile=16", "d=32")
    assignments = [word for argument in arguments for word in ("--arg", argument)]
    for name, more in (("kept", "--keep-inputs"), ("bare", "--no-data")):
        output = str(folder / f"{name}.ktrace")
        assert main(["capture", "gqa_decode", *assignments, more, "-o", output]) == 0
    return folder


@pytest.fixture
def run(traces, monkeypatch, capsys):
    """Runs `kerntape replay` where the traces are; returns exit code, output, errors."""
    monkeypatch.chdir(traces)
    capsys.readouterr()

    def replay(*arguments: str) -> tuple[int, str, str]:
        code = main(["replay", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return replay


def test_all_policies_are_a_table_and_the_answer_is_no_finding(run) -> None:
    code, out, err = run("kept.ktrace", "--hazards", "all", "--check-data")
    assert (code, err) == (0, "")
    title, blank, heads, *rows = out.splitlines()
    assert (title, blank) == ("kept.ktrace on single_pe, default", "")
    assert " ".join(heads.split()) == "policy makespan held held for went wrong can go wrong data"
    verdicts = {row.split()[0]: row.split()[-1] for row in rows}
    assert verdicts["none"] == "wrong"
    for policy in ("byte_range", "rw_aware", "serial", "strict_fifo"):
        assert verdicts[policy] == "right"


def test_values_that_were_not_checked_are_a_dash_and_null(run) -> None:
    _, out, _ = run("bare.ktrace", "--hazards", "all")
    assert {row.split()[-1] for row in out.splitlines()[3:]} == {"–"}
    _, out, _ = run("bare.ktrace", "--hazards", "all", "--json")
    assert {row["data_right"] for row in json.loads(out)["policies"]} == {None}


def test_json_has_the_figures_of_the_table(run) -> None:
    code, out, _ = run("kept.ktrace", "--hazards", "all", "--json", "--runner", "simpy")
    answer = json.loads(out)
    assert code == 0
    assert list(answer) == ["trace", "topology", "calibration", "runner", "policies"]
    assert (answer["trace"], answer["runner"]) == ("kept.ktrace", "simpy")
    assert len(answer["policies"]) == 6


def test_checking_values_needs_the_inputs(run) -> None:
    code, out, err = run("bare.ktrace", "--hazards", "all", "--check-data")
    assert (code, out) == (1, "")
    assert err == (
        "kerntape: the trace of gqa_decode was captured without its inputs;"
        " capture again with --keep-inputs\n"
    )


@pytest.mark.parametrize(
    ("option", "name"), [("-o", "--output"), ("--output", "--output"), ("--op-log", "--op-log")]
)
def test_a_file_of_one_replay_is_refused(run, traces: Path, option, name) -> None:
    code, out, err = run("kept.ktrace", "--hazards", "all", option, "x.ktimeline")
    assert (code, out) == (1, "")
    assert err == (
        f"kerntape: {name} must be left out with --hazards all, which is not one replay;"
        " name one policy\n"
    )
    assert not (traces / "x.ktimeline").exists()


DEADLOCK = """\
def kernel(x, *, tl):
    beside = ("E", "W")[tl.program_id(0)]
    taken = tl.recv_async(beside, (8,), "f32")
    tl.send(beside, tl.load(x))
    tl.wait(taken)


def launch(rt):
    rt.launch(kernel, (2, 1, 1), rt.random((8,), "f32"))
"""


def test_a_deadlock_under_one_policy_is_a_finding(run, traces: Path) -> None:
    (traces / "swap.py").write_text(DEADLOCK)
    assert main(["capture", "swap.py", "--topology", "one_cube", "-o", "swap.ktrace"]) == 0
    code, out, _ = run("swap.ktrace", "--hazards", "all")
    assert code == 3
    # serial waits for the neighbour's message before it sends its own, and so does the neighbour
    assert out.splitlines()[-1].split() == ["serial", "deadlock", "–", "–", "–", "0", "–"]
    assert run("swap.ktrace", "--hazards", "serial")[0] == 3
    assert run("swap.ktrace", "--hazards", "rw_aware")[0] == 0
