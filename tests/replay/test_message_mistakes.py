"""Messages that capture cannot fault, and what replay and `inspect` say: the whole report, or all right.

The kernels are tests/support/message_kernels.py, one small function a mistake, on one_cube: queues of 8
slots, 4 sends ahead.
"""

from pathlib import Path

import numpy as np
import pytest
from kerntape.cli.main import main
from kerntape.replay.deadlock import find_deadlock
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import write_trace
from kerntape.topologies.loader import resolve_topology
from message_kernels import ONE_CUBE, captured, line_of

STRICT = resolve_policy("strict_fifo")


def trace_of(name: str, **arguments: object) -> Trace:
    return captured(name, with_data=False, **arguments).trace


def inspected(trace: Trace, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """The exit code of `kerntape inspect`, and its line about replays with what follows the tensors."""
    path = folder / "x.ktrace"
    write_trace(path, trace)
    code = main(["inspect", str(path), "--commands", "0"])
    parts = capsys.readouterr().out.split("\n\n")
    (verdict,) = [line for line in parts[1].splitlines() if line.startswith("replays")]
    return code, "\n".join([verdict, *parts[3:-1]])


# -- a queue one slot too shallow


def test_twelve_messages_ahead_fit_eight_slots_and_four_accepted_sends(tmp_path, capsys):
    trace = trace_of("all_send_first", messages=12)
    assert replay(trace).status is Status.OK
    assert inspected(trace, tmp_path, capsys) == (
        0,
        "replays      free of deadlock under every calibration (strict_fifo)",
    )


def cycle_of_thirteen() -> list[str]:
    """Command 0 loads, 1 to 13 send, 14 receives: the thirteenth send waits for the ninth to depart."""
    send, receive = line_of("send"), line_of("receive")
    lines = []
    for pe, way, other in ((0, "E", 1), (1, "W", 0)):
        lines += [
            f"PE {pe} command 14 recv {way} ({receive}) waits for the command before it to finish:"
            f" PE {pe} command 13",
            f"PE {pe} command 13 send {way} ({send}) waits for a place among the accepted sends:"
            f" PE {pe} command 9",
            f"PE {pe} command 9 send {way} ({send}) waits for a credit of the queue:"
            f" PE {other} command 14",
        ]
    return [lines[2], *lines[3:], *lines[:2]]


def test_with_thirteen_the_queue_is_one_slot_too_shallow():
    found = replay(trace_of("all_send_first", messages=13)).deadlock
    assert [str(blocked) for blocked in found.cycle] == cycle_of_thirteen()
    assert found.tail == ()
    assert found.clearing_depth == ONE_CUBE.ipcq.depth + 1


def test_inspect_reports_the_same_deadlock_without_a_replay(tmp_path, capsys):
    trace = trace_of("all_send_first", messages=13)
    assert find_deadlock(trace, ONE_CUBE, STRICT) == replay(trace).deadlock
    code, text = inspected(trace, tmp_path, capsys)
    assert code == 3
    assert text.replace("\n  ", " ") == "\n".join(
        [
            "replays      stop in a deadlock under every calibration (strict_fifo)",
            "deadlock: each waits for the next; a queue depth of 9 clears it: --set"
            " topology.ipcq.depth=9",
            *cycle_of_thirteen(),
        ]
    )


def test_with_one_slot_more_thirteen_end():
    ipcq = ONE_CUBE.ipcq.model_copy(update={"depth": 9})
    deeper = ONE_CUBE.model_copy(update={"ipcq": ipcq})
    assert replay(trace_of("all_send_first", messages=13), topology=deeper).status is Status.OK


# -- a straggler is no deadlock


def test_a_straggler_is_waited_for_and_never_looks_like_a_deadlock(tmp_path, capsys):
    trace = trace_of("straggler")
    timeline = replay(trace)
    assert timeline.status is Status.OK
    # 10^12 cycles of a nanosecond, and then the two messages
    assert 10**15 < timeline.makespan_ps < 10**15 + 10**6
    assert inspected(trace, tmp_path, capsys)[0] == 0


# -- what is right


@pytest.mark.parametrize("name", ["two_receives_outstanding", "subgroup_then_all"])
def test_what_only_looks_wrong_ends_on_both_runners_alike(name: str, tmp_path, capsys):
    trace = trace_of(name)
    by_runner = [replay(trace, runner=runner) for runner in ("compiled", "simpy")]
    assert [timeline.status for timeline in by_runner] == [Status.OK] * 2
    assert np.array_equal(*(timeline.end_ps for timeline in by_runner))
    assert inspected(trace, tmp_path, capsys)[0] == 0


# -- a machine that lacks the trace's PEs


@pytest.mark.parametrize(
    ("topology", "what"),
    [
        ("single_pe", "pes must be the trace's (columns=4 rows=2), not columns=1 rows=1"),
        ("ahbm_2sip", "cubes must be the trace's (columns=1 rows=1), not columns=4 rows=4"),
    ],
)
def test_a_trace_is_not_replayed_on_a_machine_with_other_pes(topology: str, what: str):
    with pytest.raises(ConfigError) as refused:
        replay(trace_of("straggler"), topology=resolve_topology(topology))
    assert str(refused.value) == (f"topology '{topology}': {what}; capture again on this topology")


def test_the_command_line_says_so_too(tmp_path, capsys):
    path = tmp_path / "x.ktrace"
    write_trace(path, trace_of("straggler"))
    assert main(["replay", str(path), "--topology", "single_pe"]) == 1
    assert capsys.readouterr().err == (
        "kerntape: topology 'single_pe': pes must be the trace's (columns=4 rows=2), not columns=1"
        " rows=1; capture again on this topology\n"
    )
