"""The order of commands is the stage graph's: the same pairs, path by path, for random streams."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from kerntape.replay.durations import durations
from kerntape.replay.hazards.potential import potential_hazards
from kerntape.replay.lower import lower
from kerntape.replay.simpy_runner import run
from kerntape.replay.stage_graph import StageGraph
from kerntape.replay.times import Times
from kerntape.schemas.commands import CommandKind

AGENTS = (CommandKind.LOAD, CommandKind.COMPOSITE, CommandKind.SEND, CommandKind.RECV_ASYNC)
RECEIVES = (CommandKind.RECV, CommandKind.RECV_ASYNC)
BUFFERS = ("a", "ab", "b", "c")
KINDS = [
    *[kind for kind in CommandKind if kind is not CommandKind.DOT],
    *[CommandKind.COMPOSITE] * 4,
]


def _with_places(tape):
    for name, at in (("a", 0), ("ab", 4), ("b", 8), ("c", 64)):
        tape.place(name, at, 8)
    tape.place("x", 0, 8, tensor=0)
    tape.place("y", 4, 8, tensor=0)
    return tape


@st.composite
def tapes(draw, new_tape):
    """Streams that lower: each kind with the operands it takes."""
    tape = _with_places(new_tape())
    buffer, tensor = st.sampled_from(BUFFERS), st.sampled_from(("x", "y"))
    for index in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(KINDS))
        ops = [((), None)]
        match kind:
            case CommandKind.LOAD:
                ops = [((draw(tensor),), draw(buffer))]
            case CommandKind.STORE:
                ops = [((draw(buffer),), draw(tensor))]
            case CommandKind.MATH:
                ops = [((draw(buffer),), draw(buffer))]
            case CommandKind.COMPOSITE:
                ops = [((draw(buffer),), draw(buffer)) for _ in range(draw(st.integers(1, 2)))]
            case CommandKind.SEND:
                ops = [((draw(buffer),), None)]
            case CommandKind.RECV | CommandKind.RECV_ASYNC:
                ops = [((), draw(buffer))]
        earlier = [i for i in range(index) if tape.forms[i].kind in AGENTS]
        waits = draw(st.lists(st.sampled_from(earlier), max_size=1)) if earlier else []
        message = kind is CommandKind.SEND or kind in RECEIVES
        tape.add(kind, *ops, waits=tuple(waits), direction="E" if message else "")
    return tape


def _neighbour_of(tape, new_tape):
    """What PE 1 must do so that every message of PE 0 has its other end."""
    other = _with_places(new_tape())
    for form in tape.forms:
        if form.kind is CommandKind.SEND:
            other.add(CommandKind.RECV, ((), "a"), direction="W")
        elif form.kind in RECEIVES:
            other.add(CommandKind.SEND, (("a",), None), direction="W")
    return other


def _reached_from(graph: StageGraph, finish: int) -> set[int]:
    """The stages that come after the end of `finish` by releases within its PE."""
    released = np.repeat(np.arange(len(graph)), np.diff(graph.releases.offsets))
    releaser, from_start = graph.releases.releaser, graph.releases.from_start
    inside = graph.stages.pe[released] == graph.stages.pe[releaser]
    reached: set[int] = set()
    open_stages = set(released[inside & (releaser == finish) & (from_start == 0)].tolist())
    while open_stages:
        reached |= open_stages
        later = released[inside & np.isin(releaser, list(open_stages))]
        open_stages = set(later.tolist()) - reached
    return reached


def _unordered(graph: StageGraph, commands: int) -> set[tuple[int, int]]:
    """Pairs of PE 0's commands without a path from the earlier finish to the later begin."""
    begin, finish = graph.commands.begin.tolist(), graph.commands.finish.tolist()
    return {
        (earlier, later)
        for earlier in range(commands)
        for reached in [_reached_from(graph, finish[earlier])]
        for later in range(earlier + 1, commands)
        if begin[later] not in reached
    }


def _at_once(graph: StageGraph, times: Times, commands: int) -> set[tuple[int, int]]:
    """Pairs of PE 0's commands of which the later began before the earlier had finished."""
    begun = times.start_ps[graph.commands.begin[:commands]]
    finished = times.end_ps[graph.commands.finish[:commands]]
    return {
        (earlier, later)
        for later in range(commands)
        for earlier in range(later)
        if begun[later] < finished[earlier]
    }


limits = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))


@pytest.fixture(scope="module")
def example(new_tape, joined, machine, policies):
    """A drawn trace of two PEs with its policy, its stage graph and the hazards found in it."""

    def build(data):
        tape = data.draw(tapes(new_tape))
        topology = machine(*data.draw(limits))
        policy = data.draw(st.sampled_from(list(policies.values())))
        trace = joined([tape, _neighbour_of(tape, new_tape)], topology, [(0, 0), (1, 1)])
        found = potential_hazards(trace, topology, policy)
        on_pe_0 = found.pe == 0
        pairs = zip(found.earlier[on_pe_0].tolist(), found.later[on_pe_0].tolist(), strict=True)
        commands = list(trace.commands(trace.streams[0]))
        return commands, lower(trace, topology, policy), set(pairs)

    return build


@given(data=st.data())
@settings(max_examples=120)
def test_potential_hazards_are_the_conflicting_pairs_without_a_path_of_releases(
    data, example, byte_kinds
) -> None:
    commands, graph, found = example(data)
    assert found == {
        (earlier, later)
        for earlier, later in _unordered(graph, len(commands))
        if byte_kinds(commands[earlier], commands[later])
    }


@given(data=st.data(), costs=st.lists(st.integers(1, 500), min_size=6, max_size=6))
@settings(max_examples=60)
def test_no_replay_goes_wrong_where_no_hazard_is_possible(
    data, costs, example, byte_kinds, calibrated
) -> None:
    commands, graph, found = example(data)
    times = run(graph, durations(graph, calibrated(*costs)))
    assume((times.end_ps >= 0).all())
    assert found >= {
        (earlier, later)
        for earlier, later in _at_once(graph, times, len(commands))
        if byte_kinds(commands[earlier], commands[later])
    }
