"""Reduce-to-root: two softmax states become one, and a static plan says who receives and sends."""

import numpy as np
import pytest
from capture_bench import machine, record
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.kernels.groups import HeadGroups, head_groups
from kerntape.capture.kernels.reduce import reduce_to_root
from kerntape.capture.kernels.reduction_plan import Reduction, Step, reduction
from kerntape.capture.kernels.softmax import RunningSoftmax
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.topology import Topology
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
PAIR = (Step(send_to="E"),), (Step(receive_from=("W",)),)


def summed(m, l, o, r, plan, with_state, *, tl):  # noqa: E741 (the documents' names)
    """Each PE's m [2], l [2], O [2, 4] reduced by its plan; where a state is left, r is O / l."""
    pe = tl.program_id(0)
    state = RunningSoftmax(tl.load(m), tl.load(l), tl.load(o)) if with_state[pe] else None
    total = reduce_to_root(state, plan[pe], 2, 4, tl)
    if total is not None:
        tl.store(r, tl.div(total.weighted, total.row_sum, bcast_axis=1))


def arrays(m: tuple[float, float] = (1.0, -2.0)) -> list[np.ndarray]:
    """m, l and O the same on every PE, and room for the result."""
    of = np.float32
    return [
        np.array(m, of),
        np.array([2.0, 0.5], of),
        np.arange(8, dtype=of).reshape(2, 4),
        np.full((2, 4), np.nan, of),
    ]


def test_two_equal_states_give_the_result_of_one():
    both = record(summed, *arrays(), PAIR, (True, True), topology=machine(2))
    assert both.value(3, pe=1).tolist() == [[0, 0.5, 1, 1.5], [8, 10, 12, 14]]
    assert np.isnan(both.value(3, pe=0)).all()


def merged_by_hand(m_a, l_a, o_a, m_b, l_b, o_b):
    m = np.maximum(m_a, m_b)
    c_a, c_b = np.exp(m_a - m), np.exp(m_b - m)
    return (o_a * c_a[:, None] + o_b * c_b[:, None]) / (l_a * c_a + l_b * c_b)[:, None]


def test_two_states_merge_by_log_sum_exp():
    def different(m, l, o, r, *, tl):  # noqa: E741
        pe = tl.program_id(0)
        # PE 0 has 3 added to its m, 1 to its l and O
        m, l, o = (tl.load(each) for each in (m, l, o))  # noqa: E741
        if pe == 0:
            m, l, o = m + 3.0, l + 1.0, o + 1.0  # noqa: E741
        total = reduce_to_root(RunningSoftmax(m, l, o), PAIR[pe], 2, 4, tl)
        if total is not None:
            tl.store(r, tl.div(total.weighted, total.row_sum, bcast_axis=1))

    m, l, o, r = arrays()  # noqa: E741
    found = record(different, m, l, o, r, topology=machine(2)).value(3, pe=1)
    expected = merged_by_hand(m + 3, l + 1, o + 1, m, l, o)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_states_hundreds_apart_merge_without_overflow():
    def apart(m, l, o, r, *, tl):  # noqa: E741
        pe = tl.program_id(0)
        state = RunningSoftmax(tl.load(m) + 600.0 * pe, tl.load(l), tl.load(o) + 1.0 * pe)
        total = reduce_to_root(state, PAIR[pe], 2, 4, tl)
        if total is not None:
            tl.store(r, tl.div(total.weighted, total.row_sum, bcast_axis=1))

    found = record(apart, *arrays(), topology=machine(2)).value(3, pe=1)
    # PE 0 weighs e^−600, which is nothing: PE 1's own (O + 1) / l
    assert found.tolist() == [[0.5, 1, 1.5, 2], [10, 12, 14, 16]]


def test_a_rank_without_a_state_takes_the_first_as_its_own_and_passes_it_on():
    plan = (Step(send_to="E"),), (Step(("W",), "E"),), (Step(("W",)),)
    line = record(summed, *arrays(), plan, (True, False, False), topology=machine(3))
    assert line.value(3, pe=2).tolist() == [[0, 0.5, 1, 1.5], [8, 10, 12, 14]]
    assert line.ops(pe=1) == ["recv"] * 3 + ["send"] * 3
    assert line.ops(pe=2) == ["recv"] * 3 + ["div", "store"]


def test_a_rank_without_a_state_merges_the_second_into_the_first():
    plan = (Step(send_to="E"),), (Step(("W", "E")),), (Step(send_to="W"),)
    line = record(summed, *arrays(), plan, (True, False, True), topology=machine(3))
    assert line.value(3, pe=1).tolist() == [[0, 0.5, 1, 1.5], [8, 10, 12, 14]]


def test_a_merge_is_3_receives_and_8_math_commands_and_only_2_of_them_wait_for_o():
    ops = record(summed, *arrays(), PAIR, (True, True), topology=machine(2)).ops(pe=1)
    assert ops == [
        *["load", "load", "load"],
        *["recv", "max_elem", "exp_diff", "exp_diff", "mul_bcast"],
        *["recv", "mul", "fma"],
        *["recv", "mul_bcast", "add"],
        *["div", "store"],
    ]


def test_merges_take_turns_with_the_same_scratch():
    plan = (Step(send_to="E"),), (Step(("W", "E")),), (Step(send_to="W"),)
    line = record(summed, *arrays(), plan, (True, True, True), topology=machine(3))
    received = [
        command.handles[0].address
        for command in line.commands(pe=1)
        if command.form.ops[0].kind == "recv"
    ]
    assert received[:3] == received[3:]


def test_a_sender_does_not_merge_and_a_state_is_three_messages():
    sender = record(summed, *arrays(), PAIR, (True, True), topology=machine(2)).commands(pe=0)
    assert [command.handles[0].label for command in sender if command.form.direction] == [
        "m",
        "l",
        "o",
    ]


# -- plans


def plan_of(
    groups: HeadGroups, pe_tree: str = "tree", cube_tree: str = "centre", tokens: int | None = None
) -> tuple[Reduction, dict[tuple[int, int], tuple[Step, ...]]]:
    """The reduction over a group whose first `tokens` ranks (all of them) are occupied."""
    found = reduction(groups, pe_tree, cube_tree)
    members = [(cube, pe) for cube in range(groups.shape.size) for pe in range(groups.pes)]
    last = len(members) if tokens is None else tokens
    return found, found.steps({member: place < last for place, member in enumerate(members)})


def test_the_plan_of_a_group_of_8_cubes_of_8_pes():
    found, steps = plan_of(head_groups(MACHINE, 1, 8, 8))
    assert found.root == (2, 2)
    for cube in range(8):
        # the picture of `tree` in capture/kernels/trees.py, by directions
        assert steps[cube, 0] == (Step(("S",), "E"),)
        assert steps[cube, 1] == (Step(("S", "W"), "E"),)
        assert steps[cube, 3] == (Step(("S",), "W"),)
        for pe in (4, 5, 6, 7):
            assert steps[cube, pe] == (Step((), "N"),)
        assert steps[cube, 2][0] == Step(("S", "E", "W"), None)
    between = {cube: steps[cube, 2][1] for cube in range(8)}
    # the picture of `centre`; a CUBE with two sources takes the one first that has merged less
    assert between == {
        0: Step((), "cube_E"),
        1: Step(("cube_W",), "cube_E"),
        2: Step(("cube_E", "cube_W", "cube_S"), None),
        3: Step((), "cube_W"),
        4: Step((), "cube_E"),
        5: Step(("cube_W",), "cube_E"),
        6: Step(("cube_E", "cube_W"), "cube_N"),
        7: Step((), "cube_W"),
    }


def test_one_cube_reduces_on_one_level_and_one_pe_on_none():
    _, of_cube = plan_of(head_groups(MACHINE, 1, 1, 2))
    assert of_cube == {(0, 0): (Step((), "E"),), (0, 1): (Step(("W",)), Step())}
    _, of_pe = plan_of(head_groups(MACHINE, 1, 1, 1))
    assert of_pe == {(0, 0): (Step(), Step())}


def test_one_pe_a_cube_reduces_between_cubes_only():
    _, steps = plan_of(head_groups(MACHINE, 1, 2, 1))
    assert steps == {(0, 0): (Step(), Step((), "cube_E")), (1, 0): (Step(), Step(("cube_W",)))}


@given(
    cubes=st.sampled_from([1, 2, 4, 8, 16]),
    pes=st.integers(1, 8),
    pe_tree=st.sampled_from(["tree", "chain", "ring"]),
    cube_tree=st.sampled_from(["centre", "chain", "ring"]),
    data=st.data(),
)
def test_every_message_has_two_ends_and_only_the_root_sends_nothing_on(
    cubes: int, pes: int, pe_tree: str, cube_tree: str, data: st.DataObject
):
    groups = head_groups(MACHINE, 1, cubes, pes)
    tokens = data.draw(st.integers(0, groups.ranks))
    try:
        found, steps = plan_of(groups, pe_tree, cube_tree, tokens)
    except ConfigError:
        assert "ring" in (pe_tree, cube_tree)
        return
    seats = {seat.member: place for place, seat in groups.seats().items()}
    sent, received = set(), set()
    for member, of_member in steps.items():
        rank = MACHINE.rank(seats[member])
        for step in of_member:
            if step.send_to:
                sent.add((rank, MACHINE.peer(rank, step.send_to)))
            received |= {(MACHINE.peer(rank, each), rank) for each in step.receive_from}
    assert sent == received
    senders = {rank for rank, _ in sent}
    assert len(senders) == len(sent)
    occupied = {MACHINE.rank(seats[member]) for member in list(steps)[:tokens]}
    assert occupied <= senders | {MACHINE.rank(seats[found.root])}


def test_a_ring_where_there_is_no_cycle_names_the_argument():
    with pytest.raises(ConfigError) as error:
        reduction(head_groups(MACHINE, 1, 8, 4), "ring", "centre")
    assert str(error.value) == (
        "reduce_pe: a ring must have two sides of at least 2, one of them even, not 4×1"
    )


def test_directions_are_the_topologys_whatever_they_are_called():
    renamed = MACHINE.model_dump(mode="json")
    names = {"N": "up", "S": "down", "E": "right", "W": "left"}
    renamed["directions"] = {
        names.get(name, name): direction
        | {"opposite": names.get(direction["opposite"], direction["opposite"])}
        for name, direction in renamed["directions"].items()
    }
    _, steps = plan_of(head_groups(Topology.model_validate(renamed), 1, 1, 8))
    assert steps[0, 1] == (Step(("down", "left"), "right"),)


def test_a_hop_without_a_direction_names_what_is_missing():
    plain = MACHINE.model_dump(mode="json")
    for name in ("cube_N", "cube_S"):
        del plain["directions"][name]
    groups = head_groups(Topology.model_validate(plain), 1, 8, 1)
    with pytest.raises(ConfigError) as error:
        plan_of(groups)
    assert str(error.value) == (
        "topology llama70b_4sip must have a direction of level cube and step [0, 1] for the"
        " reduction, and has none"
    )
