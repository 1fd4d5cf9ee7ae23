"""The rows: SIP, CUBE, PE, engine, each level only where there are several."""

from dataclasses import replace

import numpy as np
from kerntape.schemas.stages import Block, Engine
from kerntape.viewer.model.index import TimelineIndex
from timeline_builder import GEMM, LANES, SCHED, decode_like, topology


def rows_of(timeline):
    tree = TimelineIndex(timeline, "x").tree
    return tree, [(row.depth, row.title) for row in tree.rows]


def test_one_pe_has_its_engines_below_it():
    _, rows = rows_of(decode_like(1))
    lanes = ["CPU", "SCHED", "HBM", "DMA read", "TCM", "GEMM", "MATH", "DMA write"]
    assert rows == [(0, "PE 0"), *[(1, lane) for lane in lanes]]


def test_cubes_and_sips_appear_only_where_the_launch_has_several():
    machine = topology(sips=2, cubes=(2, 1), pes=(2, 1))
    _, rows = rows_of(decode_like(1, launched=4, machine=machine))
    groups = [row for row in rows if row[0] < 2]
    # ranks 0 to 3: SIP 0, CUBEs 0 and 1, PEs 0 and 1 of each
    assert groups == [
        (0, "CUBE 0"),
        (1, "PE 0"),
        (1, "PE 1"),
        (0, "CUBE 1"),
        (1, "PE 0"),
        (1, "PE 1"),
    ]
    _, rows = rows_of(decode_like(1, launched=8, machine=machine))
    assert [row for row in rows if row[0] == 0] == [(0, "SIP 0"), (0, "SIP 1")]


def test_an_engine_that_never_worked_has_no_row():
    timeline = decode_like(1)
    engines = (*timeline.engines, Engine(Block.PE_IPCQ, 0, "send", True))
    _, rows = rows_of(replace(timeline, engines=engines))
    assert "IPCQ send" not in [title for _, title in rows]


def test_links_that_pes_share_stand_in_groups_of_their_own_by_level():
    timeline = decode_like(1)
    links = (Engine(Block.NOC, -1, "pe.0>1", True), Engine(Block.NOC, -1, "cube.0>1", True))
    moved = np.array(timeline.stages.engine)
    moved[-2:] = (len(LANES), len(LANES) + 1)
    stages = replace(timeline.stages, engine=moved)
    linked = replace(timeline, engines=(*timeline.engines, *links), stages=stages)
    assert rows_of(linked)[1][-4:] == [
        (0, "PE links"),
        (1, "NOC pe.0>1"),
        (0, "CUBE links"),
        (1, "NOC cube.0>1"),
    ]


def test_a_group_stands_for_all_lanes_below_it():
    machine = topology(pes=(2, 1))
    tree, _ = rows_of(decode_like(1, launched=2, machine=machine))
    assert sorted(tree.rows[0].lanes) == list(range(len(LANES)))
    assert sorted(tree.rows[9].lanes) == list(range(len(LANES), 2 * len(LANES)))


def test_folding_hides_what_is_below_and_nothing_else():
    machine = topology(pes=(2, 1))
    tree, _ = rows_of(decode_like(1, launched=2, machine=machine))
    assert tree.visible(frozenset()) == tuple(range(18))
    assert tree.visible(frozenset({0})) == (0, *range(9, 18))
    assert tree.visible(frozenset({0, 9})) == (0, 9)


def test_a_lane_inside_a_folded_group_is_shown_by_the_outermost_folded_one():
    machine = topology(cubes=(2, 1), pes=(2, 1))
    tree, _ = rows_of(decode_like(1, launched=4, machine=machine))
    leaf = tree.row_of_lane[GEMM]
    pe, cube = tree.above(leaf)
    assert tree.shown_row(GEMM, frozenset()) == leaf
    assert tree.shown_row(GEMM, frozenset({pe})) == pe
    assert tree.shown_row(GEMM, frozenset({pe, cube})) == cube


def test_at_first_everything_is_folded_but_the_first_of_each_level():
    machine = topology(cubes=(2, 1), pes=(2, 1))
    tree, _ = rows_of(decode_like(1, launched=4, machine=machine))
    shown = [tree.rows[key].title for key in tree.visible(tree.first_folds())]
    assert shown[:3] == ["CUBE 0", "PE 0", "CPU"]
    assert shown[-2:] == ["PE 1", "CUBE 1"]
    assert shown.count("SCHED") == 1
    assert tree.rows[tree.row_of_lane[SCHED]].depth == 2
