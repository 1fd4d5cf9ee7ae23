"""`kerntape inspect` says whether a trace's replays end, and what clears a deadlock that stops them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from inspected import facts, output
from kerntape.cli.inspect_text import deadlock_text
from kerntape.cli.main import main
from kerntape.schemas.timeline_file import write_timeline
from kerntape.schemas.trace_file import write_trace
from message_kernels import captured
from prefill_captures import prefilled
from small_timelines import deadlocked


def test_a_deadlock_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.ktimeline"
    write_timeline(path, deadlocked())
    assert """\
deadlock: each waits for the next; a queue depth of 2 clears it: --set topology.ipcq.depth=2
PE 0 command 4 recv E (two_tiles.py:16) waits for a message: PE 1 command 5
PE 1 command 5 send W (two_tiles.py:23) waits for a credit: PE 0 command 4
and behind them:
PE 1 command 7 wait (two_tiles.py:25) waits for the command before it: PE 1 command 5

""" in output(capsys, str(path))
    assert facts(capsys, str(path))["deadlock"]["clearing_depth"] == 2


@pytest.fixture
def ring(tmp_path: Path) -> str:
    """Prefill on a ring of two CUBEs: it ends but under `serial`."""
    path = tmp_path / "ring.ktrace"
    write_trace(path, prefilled(c=2, s_kv=16).trace)
    return str(path)


def test_a_deadlock_of_every_replay_is_a_finding(
    ring: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", ring, "--policy", "serial", "--commands", "0"]) == 3
    parts = capsys.readouterr().out.split("\n\n")
    assert "replays      stop in a deadlock under every calibration (serial)" in parts[1]
    assert parts[3].startswith(
        "deadlock: each waits for the next; no queue depth clears it; another policy does: strict_fifo,\n"
        "  byte_range, rw_aware, rw_handles, none\n"
        "PE 0"
    )
    assert main(["inspect", ring, "--commands", "0"]) == 0


def test_the_deadlock_is_in_the_json_whole(ring: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", ring, "--policy", "serial", "--json"]) == 3
    checked = json.loads(capsys.readouterr().out)["deadlock_check"]
    assert (checked["policy"], checked["free"]) == ("serial", False)
    assert list(checked["deadlock"]) == [*("cycle", "tail", "clearing_depth", "clearing_policies")]
    assert checked["deadlock"]["clearing_policies"] == [
        *("strict_fifo", "byte_range", "rw_aware", "rw_handles", "none")
    ]
    assert checked["deadlock"]["cycle"][0].startswith("PE 0 command ")


def test_a_long_tail_is_cut_and_what_is_left_out_counted() -> None:
    waiting = [f"PE {pe} waits" for pe in range(20)]
    clearing = {"clearing_depth": None, "clearing_policies": []}
    text = deadlock_text({"cycle": ["PE 0 waits"], "tail": waiting, **clearing})
    assert text.startswith(
        "deadlock: each waits for the next; no queue depth and no shipped policy clears it\nPE 0"
    )
    assert text.splitlines()[-2:] == ["PE 15 waits", "and the first command of 4 more PEs"]


def test_a_trace_that_cannot_be_replayed_is_inspected_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # 2 MiB in slots of a byte are more fragments than a message may have
    path = tmp_path / "x.ktrace"
    trace = captured("all_send_first", with_data=False, messages=1).trace
    fine = {**trace.header.topology, "ipcq": {"depth": 1, "slot_bytes": 1, "send_depth": 1}}
    header = replace(trace.header, topology=fine)
    geometries = tuple(replace(each, shape=(1 << 19,)) for each in trace.geometries)
    write_trace(path, replace(trace, header=header, geometries=geometries))
    checked = facts(capsys, str(path))["deadlock_check"]
    assert (checked["free"], checked["deadlock"]) == (None, None)
    assert checked["unknown_because"].startswith("command 1 (message_kernels.py:")
    assert "replays      none can be made: command 1 (message" in output(capsys, str(path))


@pytest.fixture
def too_shallow(tmp_path: Path) -> str:
    """Two PEs that send 13 messages before they receive: 8 slots and 4 sends ahead are one too few."""
    path = tmp_path / "shallow.ktrace"
    write_trace(path, captured("all_send_first", with_data=False, messages=13).trace)
    return str(path)


def test_the_depth_that_clears_a_deadlock_is_an_option_that_clears_it(
    too_shallow: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("inspect", "replay", "hazards"):
        assert main([command, too_shallow]) == 3
        assert (
            "a queue depth of 9 clears it: --set topology.ipcq.depth=9\n" in capsys.readouterr().out
        )
        assert main([command, too_shallow, "--set", "topology.ipcq.depth=9"]) == 0
        assert "one_cube + ipcq.depth=9" in capsys.readouterr().out
        assert main([command, too_shallow, "--set", "topology.ipcq.depth=8"]) == 3
        capsys.readouterr()


def test_the_verdict_may_be_asked_for_on_another_machine(
    too_shallow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = (Path(__file__).parents[2] / "topologies" / "one_cube.yaml").read_text()
    deeper = tmp_path / "deeper.yaml"
    deeper.write_text(shipped.replace("depth: 8 ", "depth: 9 ").replace("name: one", "name: deep"))
    assert "free of deadlock under every calibration (strict_fifo, deep_cube)" in output(
        capsys, too_shallow, "--topology", str(deeper)
    )
    checked = facts(capsys, too_shallow, "--topology", str(deeper))["deadlock_check"]
    assert (checked["topology"], checked["free"]) == ("deep_cube", True)
    assert main(["inspect", too_shallow, "--topology", "single_pe"]) == 1
    assert capsys.readouterr().err.startswith(
        "kerntape: topology 'single_pe': pes must be the trace's"
    )
