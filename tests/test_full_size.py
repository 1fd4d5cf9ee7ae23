"""The figures of docs/kernels.md for 512 PEs: recomputed whole, 128 Ki and a Mi of tokens (slow, 1.5 GB)."""

from pathlib import Path

import pytest
from kerntape.capture.capture import capture
from kerntape.replay.deadlock import find_deadlock
from kerntape.replay.policy import resolve_policy
from kerntape.replay.replay import replay
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology

PAGE = (Path(__file__).parents[1] / "docs" / "kernels.md").read_text(encoding="utf-8")
MACHINE = resolve_topology("llama70b_4sip")
HEADING = (
    "| variant | s_kv | commands | distinct streams | trace, bytes | stages | makespan, ns |\n"
)


def rows() -> list[str]:
    """The rows of the table of figures."""
    table = PAGE[PAGE.index(HEADING) :].split("\n\n")[0]
    return table.splitlines()[2:]


def test_the_table_has_both_variants_at_both_lengths():
    assert [row.split("|")[1:3] for row in rows()] == [
        [" opt2 ", " 131,072 "],
        [" opt3 ", " 131,072 "],
        [" opt2 ", " 1,048,576 "],
        [" opt3 ", " 1,048,576 "],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("row", rows(), ids=lambda row: "".join(row.split("|")[1:3]))
def test_a_full_size_row_is_what_capture_and_replay_give(row: str):
    variant, s_kv = (cell.strip() for cell in row.split("|")[1:3])
    arguments = {"variant": variant, "c": "8", "p": "8", "heads": "8"}
    arguments["s_kv"] = s_kv.replace(",", "")
    trace = capture("gqa_decode", MACHINE, arguments, with_data=False).trace
    assert find_deadlock(trace, MACHINE, resolve_policy("strict_fifo")) is None
    timeline = replay(trace)
    assert timeline.status is Status.OK
    cells = [
        *(variant, s_kv, f"{trace.command_count:,}", str(len(trace.streams))),
        f"{len(trace_bytes(trace)):,}",
        *(f"{len(timeline.stages):,}", f"{timeline.makespan_ps / 1000:,.3f}"),
    ]
    assert row == f"| {' | '.join(cells)} |"
