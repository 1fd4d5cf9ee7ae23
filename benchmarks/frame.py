"""How long a frame of the browser takes: every line computed and turned into strips, without a terminal.

    python benchmarks/frame.py [--lanes 64] [--stages 1000000] [--size 200x50] [--frames 200] [--overlays]

Prints the shortest, the median and the longest frame in milliseconds, elapsed and on the processor
(the same, where nothing else runs). Every row has been looked at once before: a lane is put in order
when it is first seen. The looks are drawn from a fixed seed: any zoom from the whole run down to a few
stages, any place, any row.
"""

import argparse
import random
import statistics
import time
from dataclasses import replace

import numpy as np
from kerntape.replay.calibration import resolve_calibration
from kerntape.replay.policy import resolve_policy
from kerntape.schemas.commands import CommandForm, CommandKind, OpForm
from kerntape.schemas.hazards import no_hazards
from kerntape.schemas.stages import Block, Engine, StageKind, Stages, Why
from kerntape.schemas.timeline import DurationClass, Status, Timeline
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import PeEntry, SourceLine, Stream, Trace, TraceHeader
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.model import frame, minimap
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.idle_cells import idle_times
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import Look, Overlay, first_look, select, window
from kerntape.viewer.model.rows import rows_height, scrolled
from kerntape.viewer.model.stage_box import box_lines
from kerntape.viewer.model.text import Line
from kerntape.viewer.widgets.painted import strip_of
from kerntape.viewer.widgets.palette import DARK, Palette

LANES_A_PE = 8
PALETTE = Palette(DARK)
BLOCKS = (Block.PE_CPU, Block.HBM, Block.PE_DMA, Block.PE_TCM, Block.PE_GEMM, Block.PE_MATH)
KINDS = (StageKind.DMA_READ, StageKind.FETCH, StageKind.GEMM, StageKind.MATH)
BOX_CELLS = 40
FIXED_LINES = 7
SEED = 6
LEAST_SPAN_PS = 2_000


def synthetic(lanes: int, stages: int) -> Timeline:
    """`stages` stages of random lengths and gaps, evenly over `lanes` engines of 8 to a PE."""
    rng = np.random.default_rng(SEED)
    machine = resolve_topology("llama70b_4sip")
    each = stages // lanes
    gaps, lengths = rng.integers(0, 200, (lanes, each)), rng.integers(1, 400, (lanes, each))
    ends = np.cumsum(gaps + lengths, axis=1)
    engine = np.repeat(np.arange(lanes, dtype=np.int32), each)
    count = lanes * each
    pes = -(-lanes // LANES_A_PE)
    cause = np.arange(-1, count - 1, dtype=np.int32)
    cause[::each] = -1
    zeros = np.zeros(count, np.int32)
    return Timeline(
        trace=_trace(machine, pes),
        topology=machine,
        calibration=resolve_calibration(machine),
        policy=resolve_policy("strict_fifo"),
        status=Status.OK,
        engines=tuple(
            Engine(BLOCKS[i % LANES_A_PE % len(BLOCKS)], i // LANES_A_PE, f"{i % LANES_A_PE}", True)
            for i in range(lanes)
        ),
        stages=Stages(
            kind=rng.choice(KINDS, count).astype(np.int16),
            engine=engine,
            pe=engine // LANES_A_PE,
            command=zeros,
            op=zeros.astype(np.int16) - 1,
            tile=zeros - 1,
            duration_class=zeros,
        ),
        duration_classes=(DurationClass("none", 0),),
        ready_ps=(ends - lengths).ravel(),
        start_ps=(ends - lengths).ravel(),
        end_ps=ends.ravel(),
        cause=cause,
        why=np.full(count, Why.DATA, np.int8),
        hazards=no_hazards(),
    )


def _trace(machine: Topology, pes: int) -> Trace:
    """One command a PE, which owns all its stages."""
    none, one = np.zeros(0, np.int32), np.zeros(1, np.int32)
    stream = Stream(
        forms=one,
        lines=one,
        wait_counts=one,
        slots=none,
        waits=none,
        geometries=none,
        addresses=none.astype(np.int64),
        tensors=none,
        labels=none,
    )
    header = TraceHeader(
        kernel="synthetic",
        arguments={},
        topology=machine.model_dump(mode="json"),
        grid=(pes, 1, 1),
        tool_version="0",
        sources={},
        tensors=(),
    )
    return Trace(
        header=header,
        strings=(),
        geometries=(),
        forms=(CommandForm(CommandKind.MATH, (OpForm("exp", (), False),)),),
        lines=(SourceLine("synthetic.py", 1, "kernel", "pass"),),
        streams=(stream,),
        pes=tuple(PeEntry(rank, 0, (), ()) for rank in range(pes)),
    )


def one_frame(index: TimelineIndex, hazards: HazardIndex, look: Look, size: tuple[int, int]) -> int:
    """Everything that a screen of that size shows; the number of strips."""
    width, height = size
    left, middle = width - BOX_CELLS, height - FIXED_LINES
    rows = rows_height(index, look, left, middle)
    look = scrolled(index, look, rows)
    parts: list[tuple[list[Line], int]] = [
        ([frame.header_line(index, width)], width),
        (minimap.minimap_lines(index, hazards, look, width), width),
        ([frame.ruler_line(index, look, left)], left),
        (frame.row_lines(index, hazards, look, left, rows), left),
        (frame.overlay_lines(index, look, left), left),
        (box_lines(index, hazards, look, BOX_CELLS, middle), BOX_CELLS),
        ([frame.why_line(index, hazards, look, width)], width),
        ([frame.trail_line(index, look, width)], width),
        ([frame.kernel_line(index, look, width)], width),
    ]
    return len([strip_of(line, cells, PALETTE) for lines, cells in parts for line in lines])


def random_look(index: TimelineIndex, look: Look, rng: random.Random) -> Look:
    """Some stage, in a window of some width."""
    stage = rng.randrange(len(index))
    share = rng.random()
    span = int(LEAST_SPAN_PS * (index.span_ps / LEAST_SPAN_PS) ** share)
    chosen = select(index, look, stage)
    return window(index, chosen, index.start(stage) - span // 2, span)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description="Measures a frame of the browser.")
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--stages", type=int, default=1_000_000)
    parser.add_argument("--size", default="200x50")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--overlays", action="store_true", help="critical path and idle time too")
    asked = parser.parse_args()
    width, height = (int(side) for side in asked.size.split("x"))
    index = TimelineIndex(synthetic(asked.lanes, asked.stages), "synthetic")
    hazards, look = HazardIndex(index), replace(first_look(index), folded=frozenset())
    if asked.overlays:
        look = replace(look, overlays=frozenset(Overlay))
        for row in index.tree.rows:
            idle_times(index).work(row)
    for row in (*index.tree.rows[:: height // 2], index.tree.rows[-1]):
        one_frame(index, hazards, replace(look, row=row.key), (width, height))
    rng, took, computed = random.Random(SEED), [], []
    for _ in range(asked.frames):
        look = random_look(index, look, rng)
        begun, begun_cpu = time.perf_counter(), time.process_time()
        one_frame(index, hazards, look, (width, height))
        took.append((time.perf_counter() - begun) * 1000)
        computed.append((time.process_time() - begun_cpu) * 1000)
    print(f"frame {asked.size}, {asked.lanes} lanes, {len(index)} stages")
    for name, times_ms in (("elapsed", took), ("processor", computed)):
        shortest, median, longest = min(times_ms), statistics.median(times_ms), max(times_ms)
        print(f"{name:<9}  min {shortest:.1f} ms  median {median:.1f} ms  max {longest:.1f} ms")


if __name__ == "__main__":
    main()
