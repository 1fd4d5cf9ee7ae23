"""The browser on a replay whose reads and writes go to other PEs' HBM."""

import asyncio

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.replay.replay import replay
from kerntape.schemas.stages import Block, StageKind
from kerntape.topologies.loader import resolve_topology
from kerntape.viewer.app import Browser
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look, select
from kerntape.viewer.model.machine import MachineLook, Message, load_of, message_of
from kerntape.viewer.model.machine_lines import ACROSS, map_lines
from kerntape.viewer.model.machine_words import ON_THE_WAY, Drawn, machine_detail
from kerntape.viewer.model.stage_box import box_lines
from kerntape.viewer.screens.machine import MachineScreen
from painted_text import line_text

KERNEL = """
def kernel(x, w, y, *, tl):
    rows = tl.load(x) + tl.load(w)
    tl.store(tl.part_of(y, cube=1 - tl.program_id(1)), rows)


def launch(rt):
    split = rt.split(axis=0, over=("cube", "pe"))
    x, y = (rt.zeros((8, 16), "f32", placement=split) for _ in "xy")
    w = rt.zeros((2, 16), "f32", placement=rt.owned_by(pe=5))
    rt.launch(kernel, (2, 2, 1), x, w, y)
"""
HOPS = (StageKind.HBM_READ, StageKind.LINK, StageKind.DMA_READ)


@pytest.fixture(scope="module")
def remote(tmp_path_factory):
    """Ranks 0, 1, 8 and 9 of two CUBEs read w of rank 5, and write y of the other CUBE."""
    file = tmp_path_factory.mktemp("remote") / "mine.py"
    file.write_text(KERNEL)
    trace = capture(str(file), resolve_topology("ahbm_2sip"), {}, with_data=False).trace
    return TimelineIndex(replay(trace), "mine")


def stages(index, rank, *kinds):
    """The PE's stages of these kinds, in order."""
    pe = [entry.rank for entry in index.timeline.trace.pes].index(rank)
    chosen = np.isin(index.timeline.stages.kind, kinds) & (index.timeline.stages.pe == pe)
    return np.flatnonzero(chosen).tolist()


def test_every_hop_of_a_remote_read_tells_its_whole_way(remote):
    # 5 is PE 1 of the second row of CUBE 0; rank 9 is PE 1 of CUBE 1: a CUBE's link, then up a row
    reads = stages(remote, 9, *HOPS)[:6]  # behind them, the store's link
    assert [remote.kind(stage) for stage in reads[2:]] == [HOPS[0], HOPS[1], HOPS[1], HOPS[2]]
    way = Message(5, 9, ("cube.0>1", "pe.13>9"), "read")
    assert [message_of(remote, stage) for stage in reads] == [None, None, way, way, way, way]


def test_every_hop_of_a_remote_write_tells_its_whole_way(remote):
    (written,) = stages(remote, 9, StageKind.HBM_WRITE)
    hops = range(written - 2, written + 1)
    way = Message(9, 1, ("cube.1>0",), "write")
    assert [message_of(remote, stage) for stage in hops] == [way] * 3
    assert message_of(remote, written + 1) is None


def test_the_way_is_drawn_over_all_its_links_and_told(remote):
    look = first_look(remote)
    link = stages(remote, 9, StageKind.LINK)[0]
    shown = MachineLook(9)
    drawn = Drawn(
        remote.timeline.topology, load_of(remote, look, shown), shown, message_of(remote, link)
    )
    assert (
        line_text(machine_detail(drawn, 80)[2])
        == " read from rank 5 to rank 9 over cube.0>1, pe.13>9"
    )
    far = map_lines(drawn, 60, 14)
    on_the_way = "".join(span.text for span in far[1] if span.tone == ON_THE_WAY)
    assert set(on_the_way) & set(ACROSS)
    near = map_lines(
        Drawn(drawn.topology, drawn.load, MachineLook(9, is_near=True), drawn.message), 90, 12
    )
    arrows = [span.tone for line in near for span in line if "↑" in span.text]
    assert sorted(tone == ON_THE_WAY for tone in arrows) == [False, True]


def test_an_owner_that_is_not_launched_has_its_channels_lane_and_share(remote):
    load = load_of(remote, first_look(remote), MachineLook(5))
    assert list(load.pe[5]) == ["HBM"]
    assert load.share(5, "HBM") > 0
    lanes = [remote.timeline.engines[lane] for lane in remote.tree.row_of_lane]
    assert [engine.block for engine in lanes if engine.rank == 5] == [Block.HBM]


def test_a_stage_in_anothers_lane_says_whose_command_and_whose_tensor_it_is(remote):
    # rank 8's second read: w, which lies with rank 5
    read = stages(remote, 8, StageKind.HBM_READ)[1]
    assert remote.engine(read).rank == 5
    look = select(remote, first_look(remote), read)
    lines = [line_text(line) for line in box_lines(remote, HazardIndex(remote), look, 44, 30)]
    assert any("CUBE 1 PE 0" in line for line in lines)
    assert any("hbm w of PE 5+0x0 128 B" in line for line in lines)


def test_the_browser_opens_on_it_and_shows_the_machine(remote):
    async def go():
        app = Browser(remote.timeline, "mine")
        async with app.run_test(size=(100, 30)) as pilot:
            await pilot.press("g")
            assert isinstance(app.screen, MachineScreen)

    asyncio.run(go())
