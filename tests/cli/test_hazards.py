"""`kerntape hazards`: the verdict on a trace under a policy, for people and for programs."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from kerntape.cli.main import main
from kerntape.schemas.trace_file import read_trace, write_trace
from prefill_captures import prefilled
from race import RACE


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """opt2 with 8 tiles of 64 keys, with one scratch slot (one.ktrace) and with two."""
    folder = tmp_path_factory.mktemp("traces")
    for name, slots in (("one", 1), ("two", 2)):
        arguments = ("variant=opt2", "s_kv=512", "tile=64", f"slots={slots}")
        assignments = [word for argument in arguments for word in ("--arg", argument)]
        output = str(folder / f"{name}.ktrace")
        assert main(["capture", "gqa_decode", *assignments, "--no-data", "-o", output]) == 0
    return folder


@pytest.fixture
def run(traces, monkeypatch, capsys):
    """Runs `kerntape hazards` where the traces are; returns exit code, output, errors."""
    monkeypatch.chdir(traces)
    capsys.readouterr()

    def hazards(*arguments: str) -> tuple[int, str, str]:
        code = main(["hazards", *arguments])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return hazards


def test_json_has_exactly_these_keys_and_exit_code_3_says_that_there_are_some(run) -> None:
    code, out, err = run("one.ktrace", "--policy", "strict_fifo", "--json")
    assert (code, err) == (3, "")
    answer = json.loads(out)
    assert list(answer) == [
        *("policy", "topology", "pes", "pairs_checked", "count"),
        *("shared_tensors", "deadlock", "hazards"),
    ]
    assert (answer["policy"], answer["topology"]) == ("strict_fifo", "single_pe")
    assert (answer["pes"], answer["count"]) == (1, 7)
    first, *_, last = answer["hazards"]
    assert list(first) == [
        *("kind", "pe", "earlier", "later", "handle", "space", "byte_from", "byte_to")
    ]
    sides = ["command", "op", "op_kind", "kind", "handle", "line"]
    assert list(first["earlier"]) == list(first["later"]) == sides
    assert last["later"]["command"] - first["later"]["command"] == 12


def test_json_tells_the_war_on_the_score_tile_with_both_lines(run) -> None:
    # #2 of tile 0 still reads S (8×64 f32 = 2048 bytes) when #1 of tile 1 writes its own there.
    _, out, _ = run("one.ktrace", "--json")
    first = json.loads(out)["hazards"][0]
    assert (first["kind"], first["pe"], first["handle"]) == ("WAR", 0, "S")
    assert first["byte_to"] - first["byte_from"] == 8 * 64 * 4
    earlier, later = first["earlier"], first["later"]
    assert later["command"] == earlier["command"] + 1
    assert (earlier["op_kind"], later["op_kind"]) == ("rmax", "gemm")
    assert (earlier["kind"], later["kind"]) == ("composite", "composite")
    assert earlier["line"].startswith("softmax.py:")
    assert later["line"].startswith("gqa_decode.py:")


def test_two_slots_are_free_of_hazards_and_exit_code_0_says_so(run) -> None:
    code, out, _ = run("two.ktrace", "--json")
    assert code == 0
    assert json.loads(out)["hazards"] == []


@pytest.mark.parametrize("policy", ["byte_range", "rw_aware", "serial"])
@pytest.mark.parametrize("trace", ["one.ktrace", "two.ktrace"])
def test_sound_policies_are_free_of_hazards(run, trace, policy) -> None:
    assert run(trace, "--policy", policy)[0] == 0


def test_rw_handles_lets_the_softmax_read_scores_too_early(run) -> None:
    # The counts are worked out in tests/replay/hazards/test_worked_example.py.
    code, out, _ = run("one.ktrace", "--policy", "rw_handles", "--json")
    assert code == 3
    kinds = [hazard["kind"] for hazard in json.loads(out)["hazards"]]
    assert {kind: kinds.count(kind) for kind in sorted(kinds)} == {"RAW": 26, "WAR": 7, "WAW": 18}


def test_the_text_groups_them_and_says_what_the_verdict_means(run) -> None:
    code, out, _ = run("one.ktrace")
    lines = out.splitlines()
    assert code == 3
    assert lines[:3] == [
        "strict_fifo: 7 pairs of commands can go wrong (1 PE, 10 unordered pairs compared).",
        "Nothing orders them, so whether they do in a replay depends on the calibration.",
        "",
    ]
    assert lines[3].startswith("WAR on S, 7 times; the first (tcm 0x")
    assert lines[4].startswith("  command 6 [composite, op 0 gemm, gqa_decode.py:")
    assert lines[4].endswith("] writes over what")
    assert lines[5].startswith("  command 5 [composite, op 0 rmax, softmax.py:")
    assert lines[5].endswith("] may still be reading")
    assert (
        lines[-1]
        == "its end), more scratch slots, or a policy that compares bytes (byte_range, rw_aware, serial)."
    )


def test_the_text_without_hazards_is_one_line(run) -> None:
    code, out, _ = run("two.ktrace")
    assert code == 0
    assert out == (
        "strict_fifo: no hazard is possible, under any calibration"
        " (1 PE, 10 unordered pairs compared).\n"
    )


def test_a_policy_may_be_a_file_of_ones_own(run, traces) -> None:
    (traces / "war_too.yaml").write_text(
        "name: war_too\nsummary: by handle, all kinds\ncompares: handles\n"
        "kinds: [RAW, WAR, WAW]\nholds: composites\npassing: false\n"
    )
    code, out, _ = run("one.ktrace", "--policy", "war_too.yaml", "--json")
    assert (
        code == 3
    )  # the two score tiles have handles of their own, so even WAR by handle is blind
    assert (json.loads(out)["policy"], json.loads(out)["count"]) == ("war_too", 7)


def test_an_unknown_policy_and_a_missing_trace_are_one_line_each(run) -> None:
    assert run("one.ktrace", "--policy", "byterange") == (
        1,
        "",
        "kerntape: no policy 'byterange'; did you mean 'byte_range'?\n",
    )
    code, out, err = run("none.ktrace")
    assert (code, out) == (1, "")
    assert err.startswith("kerntape: none.ktrace: ")
    assert err.count("\n") == 1


def test_all_policies_are_a_table_and_a_finding_under_any_of_them_is_one(run) -> None:
    # The counts are worked out in tests/replay/hazards/test_worked_example.py.
    code, out, err = run("one.ktrace", "--hazards", "all")
    assert (code, err) == (3, "")
    lines = out.splitlines()
    assert lines[:3] == [
        "Pairs of commands that can go wrong under any calibration, 1 PE:",
        "",
        "policy       can go wrong  RAW  WAR  WAW  compared  replays",
    ]
    assert [line.split()[:5] for line in lines[4:9]] == [
        ["rw_handles", "51", "26", "7", "18"],
        ["strict_fifo", "7", "0", "7", "0"],
        ["byte_range", "0", "0", "0", "0"],
        ["rw_aware", "0", "0", "0", "0"],
        ["serial", "0", "0", "0", "0"],
    ]
    assert {line.split()[-1] for line in lines[3:9]} == {"end"}
    assert lines[9:] == ["", "`kerntape hazards` with --policy P shows those of one."]


def test_the_json_of_the_table_has_exactly_these_keys(run) -> None:
    code, out, _ = run("two.ktrace", "--policy", "all", "--json")
    answer = json.loads(out)
    assert code == 3
    assert list(answer) == ["topology", "pes", "shared_tensors", "policies"]
    for row in answer["policies"]:
        assert list(row) == ["policy", "pairs_checked", "count", "by_kind", "ends"]
        assert list(row["by_kind"]) == ["RAW", "WAR", "WAW"]
        assert row["count"] == sum(row["by_kind"].values())
    assert answer["policies"][-1]["count"] == 0


def test_both_names_of_the_policy_are_one_option(run) -> None:
    asked = [run("one.ktrace", name, "rw_handles") for name in ("--hazards", "--policy")]
    assert asked[0] == asked[1]
    assert asked[0][0] == 3


def test_a_deadlock_in_which_every_replay_stops_is_told_and_what_clears_it(
    run, traces: Path
) -> None:
    write_trace(traces / "ring.ktrace", prefilled(c=2, s_kv=16).trace)
    assert run("ring.ktrace")[0] == 0
    code, out, _ = run("ring.ktrace", "--policy", "serial")
    lines = out.splitlines()
    assert code == 3
    assert lines[0].startswith("serial: no hazard is possible")
    assert lines[1:3] == [
        "",
        "deadlock: these commands wait for each other, under every calibration",
    ]
    assert lines[-1] == (
        "no queue depth clears it; another policy does:"
        " strict_fifo, byte_range, rw_aware, rw_handles, none"
    )
    deadlock = json.loads(run("ring.ktrace", "--policy", "serial", "--json")[1])["deadlock"]
    assert deadlock["clearing_policies"][0] == "strict_fifo"
    table = run("ring.ktrace", "--policy", "all")[1].splitlines()
    assert [line.split()[0] for line in table if line.endswith("deadlock")] == ["serial"]


def test_another_machine_has_other_pairs_and_is_named(run, capsys) -> None:
    # one composite at work at a time: each begins when all before it have finished
    alone = ("--set", "topology.pe.composites_in_flight=1")
    code, out, err = run("one.ktrace", *alone)
    assert (code, err) == (0, "")
    assert out.startswith(
        "strict_fifo on single_pe + pe.composites_in_flight=1: no hazard is possible, under any"
    )
    table = run("one.ktrace", *alone, "--policy", "all")[1].splitlines()
    assert table[0] == (
        "Pairs of commands that can go wrong under any calibration,"
        " 1 PE on single_pe + pe.composites_in_flight=1:"
    )
    answers = [json.loads(run("one.ktrace", *alone, "--json")[1])]
    assert main(["replay", "one.ktrace", *alone, "-o", "alone.ktimeline"]) == 0
    capsys.readouterr()
    answers.append(json.loads(run("alone.ktimeline", "--json")[1]))
    assert answers[0] == answers[1]
    assert answers[0]["topology"] == "single_pe + pe.composites_in_flight=1"
    assert run("one.ktrace", "--topology", "one_cube")[2].startswith(
        "kerntape: topology 'one_cube': pes must be the trace's"
    )


def test_the_same_question_has_the_same_answer_to_the_byte(run) -> None:
    question = ("one.ktrace", "--policy", "none", "--json")
    assert run(*question) == run(*question)


@pytest.fixture
def race(run, traces: Path, capsys) -> str:
    """PE 0 stores where PE 1 loads, with no message between."""
    (traces / "race.py").write_text(RACE)
    captured = ("capture", "race.py", "--topology", "one_cube", "--keep-inputs")
    assert main([*captured, "-o", "race.ktrace"]) == 0
    capsys.readouterr()
    return "race.ktrace"


def test_what_pes_do_to_each_other_is_said_not_to_be_compared(run, race) -> None:
    # the two PEs wait for their one load before they store: nothing of a PE is unordered
    assert run(race) == (
        0,
        "strict_fifo: no hazard is possible within a PE, under any calibration"
        " (2 PEs, 0 unordered pairs compared).\n"
        "1 tensor is reached by several PEs, written by at least one: x of PE 1.\n"
        "Pairs of commands of different PEs are not compared; replay --check-data sees what they do.\n",
        "",
    )
    shared = json.loads(run(race, "--json")[1])["shared_tensors"]
    assert shared == [{"name": "x", "owner": 1, "readers": [1], "writers": [0]}]


def test_replay_says_it_too_and_check_data_sees_it(race, capsys) -> None:
    told = "not compared: 1 tensor that several PEs reach (--check-data sees them)"
    assert main(["replay", race, "--check-data"]) == 3
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[lines.index("0 went wrong") + 1] == told
    assert main(["replay", race, "--hazards", "all"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == told
    assert main(["hazards", race, "--hazards", "all"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == told
    assert main(["replay", race, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shared_tensors"] == 1


def test_a_trace_that_no_replay_can_route_has_no_verdict(run, race, traces, capsys) -> None:
    # captured where PE 1 is PE 0's neighbour, and laid on a machine on which it is not
    trace = read_trace(traces / race)
    machine = dict(trace.header.topology)
    machine["directions"] = {
        name: wire for name, wire in machine["directions"].items() if name in ("N", "S")
    }
    write_trace(
        traces / "cut.ktrace", replace(trace, header=replace(trace.header, topology=machine))
    )
    code, out, err = run("cut.ktrace")
    assert (code, out) == (1, "")
    assert err == (
        "kerntape: PE 0, command 1 (race.py:3): no way leads from PE 1 to PE 0: topology 'one_cube'"
        " has no direction of level pe and step [-1, 0]; give it one, or place the tensor on the PEs"
        " that use it\n"
    )
    assert main(["inspect", "cut.ktrace"]) == 0
    inspected = " ".join(capsys.readouterr().out.split())
    assert "none can be made: PE 0, command 1 (race.py:3): no way leads from PE 1" in inspected


def test_what_is_not_compared_stands_below_the_hazards_that_are(run, traces: Path, capsys) -> None:
    # PE 1: two composites over one buffer, which `none` does not order
    kernel = RACE.replace(
        "        tl.store(y, tl.load(x))",
        """\
        rows = tl.load(x)
        tl.composite(op="exp", a=rows, out=rows)
        tl.composite(op="exp", a=rows, out=rows)
        tl.wait()""",
    )
    (traces / "both.py").write_text(kernel)
    assert main(["capture", "both.py", "--topology", "one_cube", "-o", "both.ktrace"]) == 0
    capsys.readouterr()
    code, out, _ = run("both.ktrace", "--policy", "none")
    lines = out.splitlines()
    assert code == 3
    assert lines[0].startswith("none: 1 pair of commands can go wrong (2 PEs, ")
    assert lines[-4:-1] == [
        "its end), or a policy that compares bytes (byte_range, rw_aware, serial).",
        "",
        "1 tensor is reached by several PEs, written by at least one: x of PE 1.",
    ]


LOOP = """\
def launch(rt):
    rt.launch(kernel, (1, 1, 1), rt.zeros((16, 16), "f32"))


def kernel(x, *, tl):
    weights, rows, out = tl.load(x), tl.load(x), tl.empty((16, 16), "f32")
    for _ in range(3):
        tl.mul(rows, 2.0, out=rows)
        tl.composite(op="gemm", a=rows, b=weights, out=out)
    tl.store(x, out)
"""


def test_a_math_that_overwrites_what_a_composite_reads_is_ordered_by_the_wait_that_is_advised(
    run, traces: Path, capsys
) -> None:
    (traces / "loop.py").write_text(LOOP)
    waits = LOOP.replace("out=out)\n", "out=out)\n        tl.wait()\n")
    (traces / "waits.py").write_text(waits)
    for name in ("loop", "waits"):
        assert main(["capture", f"{name}.py", "-o", f"{name}.ktrace", "--no-data"]) == 0
    capsys.readouterr()
    code, out, _ = run("loop.ktrace")
    assert code == 3
    assert out.startswith("strict_fifo: ")
    assert out.splitlines()[-2:] == [
        "To order them: a tl.wait after the earlier command and before the later one (in a loop, at",
        "its end), or a policy that compares bytes (byte_range, rw_aware, serial).",
    ]
    assert run("waits.ktrace")[0] == 0
