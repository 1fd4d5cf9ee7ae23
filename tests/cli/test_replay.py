"""`kerntape replay --hazards all`: the policies side by side, for people and for programs."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.schemas.dtypes import DType
from kerntape.schemas.trace_file import read_trace, write_trace


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


def test_all_policies_are_a_table_and_a_finding_under_any_of_them_is_one(run) -> None:
    # under `none` pairs go wrong, and so do values
    code, out, err = run("kept.ktrace", "--hazards", "all", "--check-data")
    assert (code, err) == (3, "")
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
    assert code == 3
    assert list(answer) == [
        *("trace", "topology", "calibration", "runner", "shared_tensors", "policies")
    ]
    assert (answer["trace"], answer["runner"]) == ("kept.ktrace", "simpy")
    assert len(answer["policies"]) == 6


def test_checking_values_needs_the_inputs(run) -> None:
    code, out, err = run("bare.ktrace", "--hazards", "all", "--check-data")
    assert (code, out) == (1, "")
    assert err == (
        "kerntape: the trace of gqa_decode was captured without its inputs;"
        " capture again with --keep-inputs\n"
    )


def test_values_of_ops_that_do_not_fit_are_one_line_and_times_are_none_the_worse(
    run, traces: Path
) -> None:
    # S of the first tile, [8, 16], was turned by hand: as many elements, so it can be timed
    trace = read_trace(traces / "kept.ktrace")
    turned = [
        replace(each, shape=each.shape[::-1], strides=each.strides[::-1])
        if each.shape == (8, 16) and each.dtype is DType.F32
        else each
        for each in trace.geometries
    ]
    write_trace(traces / "turned.ktrace", replace(trace, geometries=tuple(turned)))
    code, out, err = run("turned.ktrace", "--check-data")
    assert (code, out) == (1, "")
    assert re.sub(r"py:\d+", "py:…", err) == (
        "kerntape: PE 0 command 4 composite gemm, scale (gqa_decode.py:…): gemm: out must be [8, 16],"
        " not [16, 8]; mend what wrote the trace, or replay it without --check-data\n"
    )
    assert run("turned.ktrace", "--hazards", "all", "--check-data")[2] == err
    assert run("turned.ktrace", "--json")[1] == run("kept.ktrace", "--json")[1].replace(
        "kept.ktrace", "turned.ktrace"
    )


@pytest.mark.parametrize(
    ("option", "name"), [("-o", "--output"), ("--output", "--output"), ("--op-log", "--op-log")]
)
def test_a_file_of_one_replay_is_refused(run, traces: Path, option, name) -> None:
    code, out, err = run("kept.ktrace", "--hazards", "all", option, "x.ktimeline")
    assert (code, out) == (2, "")
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


def test_a_timeline_keeps_its_model_and_an_option_changes_only_what_it_says(
    run, traces: Path
) -> None:
    slow = ("--set", "pe_cpu.fixed_cycles=80", "--set", "topology.pe.tile_buffers=1")
    assert run("kept.ktrace", *slow, "--hazards", "none", "-o", "x.ktimeline")[0] == 3

    def answer(*arguments: str):
        return json.loads(run(*arguments, "--check-data", "--json")[1]) | {"trace": ""}

    assert answer("x.ktimeline") == answer("kept.ktrace", *slow, "--hazards", "none")
    assert answer("x.ktimeline", "--hazards", "strict_fifo") == answer("kept.ktrace", *slow)
    # a calibration that is named replaces its numbers, and the machine stays
    assert answer("x.ktimeline", "--calibration", "default", "--policy", "none") == answer(
        "kept.ktrace", slow[2], slow[3], "--hazards", "none"
    )
    assert run("x.ktimeline")[1].splitlines()[2] == (
        "model      single_pe + pe.tile_buffers=1, default + pe_cpu.fixed_cycles=80, none"
    )


def test_the_table_of_policies_keeps_a_timelines_machine_and_numbers(run) -> None:
    slow = ("--set", "pe_cpu.fixed_cycles=80", "--set", "topology.pe.tile_buffers=1")
    run("kept.ktrace", *slow, "-o", "z.ktimeline")
    tables = [
        json.loads(run(*question, "--hazards", "all", "--json")[1]) | {"trace": ""}
        for question in (("z.ktimeline",), ("kept.ktrace", *slow))
    ]
    assert tables[0] == tables[1]


def test_hazards_takes_a_timelines_policy_where_none_is_given(run, capsys) -> None:
    run("kept.ktrace", "--hazards", "rw_handles", "-o", "y.ktimeline")
    answers = []
    for question in (("kept.ktrace", "--policy", "rw_handles"), ("y.ktimeline",)):
        assert main(["hazards", *question]) == 3
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]
    assert main(["hazards", "y.ktimeline", "--hazards", "strict_fifo"]) == 0


def test_structure_is_set_as_a_sweep_varies_it(run, traces: Path, capsys) -> None:
    setting = "topology.pe.composites_in_flight=1"
    assert main(["sweep", "kept.ktrace", "--vary", setting, "-o", "x.csv"]) == 0
    capsys.readouterr()
    (row,) = csv.DictReader((traces / "x.csv").read_text().splitlines())
    _, out, _ = run("kept.ktrace", "--set", setting, "--json")
    figures = json.loads(out)
    assert str(figures["makespan_ps"]) == row["makespan_ps"]
    assert figures["makespan_ps"] > json.loads(run("kept.ktrace", "--json")[1])["makespan_ps"]
    assert figures["topology"] == "single_pe + pe.composites_in_flight=1"


def test_a_sweep_takes_structure_for_all_points(run, traces: Path, capsys) -> None:
    setting = "topology.pe.composites_in_flight=1"
    varied = ("--vary", "pe_cpu.fixed_cycles=40", "--set", setting)
    assert main(["sweep", "kept.ktrace", *varied, "-o", "y.csv"]) == 0
    capsys.readouterr()
    (row,) = csv.DictReader((traces / "y.csv").read_text().splitlines())
    figures = json.loads(run("kept.ktrace", "--set", setting, "--json")[1])
    assert str(figures["makespan_ps"]) == row["makespan_ps"]
