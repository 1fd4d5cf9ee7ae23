"""How many points of a sweep are evaluated in a second: along recorded orders, against full replays."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from decodes import Decode, Decodes, Size
from kerntape.replay.replay import Prepared, prepare
from kerntape.replay.replay import time as replayed
from kerntape.replay.sweep.axes import parse_vary
from kerntape.replay.sweep.case_run import CaseRun
from kerntape.replay.sweep.figures import replayed_figures
from kerntape.replay.sweep.local_workers import cores_here
from kerntape.replay.sweep.planning import Sampling, plan_sweep
from kerntape.replay.sweep.points import Asked, PointResult, Way
from measuring import in_turns, kept, kerntape, table

POINTS = 128
CHUNK = 64
IN_FULL = 5
"""How many points are also replayed in full, for their cost and to compare."""

DISPATCH = ("pe_cpu.fixed_cycles=40..41",)
MACHINES = (
    "pe_cpu.fixed_cycles=10..80",
    "hbm.latency_ns=50..200",
    "hbm.bytes_per_ns=32..128",
    "pe_gemm.macs_per_cycle=512..4096",
)
"""One number in small steps; four numbers, as machines differ."""


def points_per_second(decodes: Decodes, sizes: Sequence[Size]) -> str:
    """Latin-hypercube samples of one number in small steps, and of four numbers over wide ranges."""
    rows = []
    for size in sizes:
        for title, varied in (("one number", DISPATCH), ("four numbers", MACHINES)):
            rows.append([size.title, title, *_swept(decodes[size], varied)])
    head = ["decode", "varied", "points", "followed", "replayed", "points a second"]
    return table([*head, "full replays a second", "ratio"], rows)


def _swept(decode: Decode, varied: Sequence[str]) -> list[str]:
    plan = plan_sweep(
        [decode.path],
        [parse_vary(word) for word in varied],
        policies=[decode.policy.name],
        sampling=Sampling(POINTS, 0),
    )
    asked = [plan.asked(point) for point in range(POINTS)]
    prepared = prepare(decode.trace, decode.machine, decode.policy)
    replayed(prepared, decode.costs)  # what is worked out once per trace is not a point's cost
    some = asked[:: POINTS // IN_FULL][:IN_FULL]
    found: list[list[PointResult]] = []
    (sweeping,) = in_turns(kept(lambda: _evaluated(prepared, asked), found), rounds=1)
    full: list[list[object]] = []
    (in_full,) = in_turns(
        kept(
            lambda: [
                replayed_figures(replayed(prepared, each.calibration), op_log=False)
                for each in some
            ],
            full,
        ),
        rounds=1,
    )
    (results,) = found
    by_point = {each.point: each.figures for each in results}
    assert full == [[by_point[each.point] for each in some]]
    ways = Counter(each.way for each in results)
    rate, full_rate = POINTS / sweeping, IN_FULL / in_full
    return [
        str(POINTS),
        str(ways[Way.FOLLOWED]),
        str(ways[Way.REPLAYED]),
        f"{rate:,.1f}",
        f"{full_rate:,.1f}",
        f"{rate / full_rate:.2f}",
    ]


def _evaluated(prepared: Prepared, asked: Sequence[Asked]) -> list[PointResult]:
    """In one process, as many at a time as a worker gets."""
    run = CaseRun(prepared, op_logs=False)
    return [
        result
        for first in range(0, len(asked), CHUNK)
        for batch in run.evaluate(asked[first : first + CHUNK])
        for result in batch
    ]


def a_thousand_calibrations(decode: Decode) -> str:
    """`kerntape sweep` as a user runs it, on all cores."""
    values = ",".join(f"{40 + step / 1000:.3f}" for step in range(1000))
    cores = str(cores_here())
    with tempfile.TemporaryDirectory() as folder:
        taken = kerntape(
            *("sweep", str(decode.path), "--vary", f"pe_cpu.fixed_cycles={values}"),
            *("--jobs", cores, "-o", str(Path(folder, "r.csv"))),
        )
    return table(
        ["decode", "processes", "elapsed", "processor", "peak of a process"],
        [
            [
                decode.size.title,
                cores,
                f"{taken.elapsed_s:.1f} s",
                f"{taken.processor_s:.1f} s",
                f"{taken.peak_mib:.0f} MiB",
            ]
        ],
    )
