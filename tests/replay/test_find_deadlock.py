"""A deadlock is found without a replay: the one that every replay stops in, for random programs too."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from decode_captures import decoded
from hypothesis import event, given, settings
from hypothesis import strategies as st
from kerntape.replay.deadlock import find_deadlock, policies_that_end
from kerntape.replay.deciding_part import deciding_part, with_whole_gemms
from kerntape.replay.lower import lower
from kerntape.replay.machine import topology_of
from kerntape.replay.policy import resolve_policy, shipped_policies
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import KerntapeError
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind
from kerntape.schemas.timeline import Status
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from prefill_captures import prefilled
from towns import placed

PES = 3
SLOT_BYTES = 64
KINDS = {
    "send": CommandKind.SEND,
    "recv": CommandKind.RECV,
    "recv_async": CommandKind.RECV_ASYNC,
}

ROW = {
    "name": "row",
    "summary": "three PEs in a row, with a GEMM tile smaller than the products",
    "sips": 1,
    "cubes": {"columns": 1, "rows": 1},
    "pes": {"columns": PES, "rows": 1},
    "pe": {
        "tcm_bytes": 1 << 20,
        "scratch_bytes": 1 << 19,
        "hbm_bytes": 1 << 30,
        "tile": {"m": 4, "k": 4, "n": 4},
        "tile_buffers": 2,
        "composites_in_flight": 2,
        "scheduler_queue": 1,
        "composite_cap_bytes": 1024,
    },
    "directions": {
        "E": {"level": "pe", "step": [1, 0], "opposite": "W"},
        "W": {"level": "pe", "step": [-1, 0], "opposite": "E"},
    },
}


def row(depth: int, send_depth: int) -> Topology:
    """The machine with such queues."""
    queues = {"depth": depth, "send_depth": send_depth, "slot_bytes": SLOT_BYTES}
    return Topology.model_validate(ROW | {"ipcq": queues})


@dataclass(frozen=True)
class Word:
    """What a PE does next: `send`, `recv` or `recv_async` with a peer, `compute`, or `wait` for all."""

    what: str
    peer: int = -1


@dataclass(frozen=True)
class Program:
    """What each PE of the row does, in messages of so many slots, on queues of that depth."""

    words: tuple[tuple[Word, ...], ...]
    slots: int
    depth: int
    send_depth: int


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Every message has its two ends, each anywhere in its PE's program."""
    words: list[list[Word]] = [[] for _ in range(PES)]

    def insert(pe: int, word: Word) -> None:
        words[pe].insert(draw(st.integers(0, len(words[pe]))), word)

    neighbours = st.sampled_from([(0, 1), (1, 0), (1, 2), (2, 1)])
    for sender, receiver in draw(
        st.lists(neighbours, min_size=draw(st.integers(0, 8)), max_size=14)
    ):
        insert(sender, Word("send", receiver))
        insert(receiver, Word(draw(st.sampled_from(["recv", "recv_async"])), sender))
    for pe in range(PES):
        for what in draw(st.lists(st.sampled_from(["compute", "wait"]), max_size=5)):
            insert(pe, Word(what))
    few = st.integers(1, 3)
    return Program(tuple(map(tuple, words)), draw(few), draw(few), draw(few))


# -- the same question, answered by hand

Event = tuple[int, int, str]
"""(PE, place in its program, what happens): `issued`, `accepted`, or the number of a slot moved."""


def ends_by_hand(program: Program) -> bool:
    """Whether everything happens, event by event, as docs/model.md tells it."""
    needs = what_events_need(program)
    happened: set[Event] = set()
    while new := {each for each in needs if each not in happened and needs[each] <= happened}:
        happened |= new
    return happened == set(needs)


def what_events_need(program: Program) -> dict[Event, set[Event]]:
    """Every event with those that must have happened before it."""
    last_slot = str(program.slots - 1)
    queues: dict[tuple[int, int, bool], list[tuple[int, int]]] = defaultdict(list)
    needs: dict[Event, set[Event]] = {}
    for pe, words in enumerate(program.words):
        going_on: set[Event] = set()
        moved_last: set[Event] = set()
        for place, word in enumerate(words):
            issued: Event = (pe, place, "issued")
            needs[issued] = going_on | (moved_last if word.what == "wait" else set())
            going_on = {issued}
            if word.peer < 0:
                continue
            sends = word.what == "send"
            ends = (pe, word.peer) if sends else (word.peer, pe)
            queues[*ends, sends].append((pe, place))
            moved_last = moved_last | {(pe, place, last_slot)}
            if sends:
                going_on = {(pe, place, "accepted")}
            elif word.what == "recv":
                going_on = {(pe, place, last_slot)}
    for (sender, receiver, sends), here in queues.items():
        there = queues[sender, receiver, not sends]
        for number, (pe, place) in enumerate(here):
            if sends:
                before = here[number - program.send_depth : number][:1]
                departed = {(*each, last_slot) for each in before if number >= program.send_depth}
                needs[pe, place, "accepted"] = {(pe, place, "issued"), *departed}
            for slot in range(program.slots):
                fragment = number * program.slots + slot
                begun = (pe, place, "accepted" if sends else "issued")
                needs[pe, place, str(slot)] = {begun}
                if sends:
                    earlier = [(there, fragment - program.depth)]
                else:
                    earlier = [(there, fragment), (here, fragment - 1)]
                needs[pe, place, str(slot)] |= {
                    (*queue[each // program.slots], str(each % program.slots))
                    for queue, each in earlier
                    if each >= 0
                }
    return needs


# -- the program as a trace


@pytest.fixture(scope="module")
def traced(new_build):
    """A program's trace."""

    def issue(build, pe: int, word: Word, elements: int, messages: list[int]) -> None:
        match word.what:
            case "compute":
                build.gemm(8, 8, 8, *(build.handle((8, 8)) for _ in range(3)))
            case "wait":
                build.wait(*messages)
            case what:
                way = "E" if word.peer > pe else "W"
                messages.append(build.message(KINDS[what], way, build.handle((elements,))))

    def trace(program: Program) -> Trace:
        machine = row(program.depth, program.send_depth)
        builds = [new_build() for _ in range(PES)]
        for pe, words in enumerate(program.words):
            messages: list[int] = []
            for word in words:
                issue(builds[pe], pe, word, program.slots * SLOT_BYTES // 2, messages)
        return builds[0].trace(machine, *builds[1:])

    return trace


def found_in(trace: Trace, policy: str = "strict_fifo"):
    return find_deadlock(trace, topology_of(trace), resolve_policy(policy))


@settings(max_examples=100)
@given(program=programs())
def test_a_program_is_free_of_deadlock_exactly_if_all_of_it_can_happen(program: Program, traced):
    _check_verdict(program, traced)


@pytest.mark.slow
@settings(max_examples=2000)
@given(program=programs())
def test_many_programs_are_free_of_deadlock_exactly_if_all_of_it_can_happen(
    program: Program, traced
):
    _check_verdict(program, traced)


def _check_verdict(program: Program, traced: Callable[[Program], Trace]) -> None:
    ends = found_in(traced(program)) is None
    event("ends" if ends else "deadlock")
    assert ends == ends_by_hand(program)


NUMBERS = (
    "pe_cpu.fixed_cycles",
    "pe_scheduler.plan_cycles_per_op",
    "ipcq.credit_latency_ns",
    "noc.pe_hop_latency_ns",
)


@settings(max_examples=100)
@given(
    program=programs(),
    policy=st.sampled_from(list(shipped_policies())),
    costs=st.lists(st.integers(1, 10_000), min_size=len(NUMBERS), max_size=len(NUMBERS)),
)
def test_every_replay_stops_in_just_that_deadlock_or_ends(
    program: Program, policy: str, costs: list[int], traced
):
    trace = traced(program)
    numbers = [f"{name}={cost}" for name, cost in zip(NUMBERS, costs, strict=True)]
    timeline = replay(trace, policy=policy, settings=numbers)
    assert found_in(trace, policy) == timeline.deadlock
    assert (timeline.status is Status.OK) == (timeline.deadlock is None)


@settings(max_examples=50)
@given(program=programs())
def test_the_policies_that_end_are_those_without_a_deadlock(program: Program, traced):
    trace = traced(program)
    ending = policies_that_end(trace, topology_of(trace))
    event(f"{len(ending)} of the policies end")
    assert set(ending) == {name for name in shipped_policies() if found_in(trace, name) is None}


# -- the part that decides


def test_what_comes_before_the_first_message_and_after_the_last_does_not_decide(new_build, traced):
    words = (
        [Word("compute")] * 3 + [Word("send", 1), Word("wait"), Word("recv", 1), Word("compute")],
        [Word("compute"), Word("recv", 0), Word("send", 0)],
        [Word("compute")] * 5,
    )
    trace = traced(Program(tuple(map(tuple, words)), slots=1, depth=1, send_depth=1))
    part = deciding_part(trace)
    assert part.first == (3, 1, 0)
    kinds = [
        [command.kind.name for command in part.trace.commands(stream)]
        for stream in part.trace.streams
    ]
    assert kinds == [["SEND", "WAIT", "RECV"], ["RECV", "SEND"], []]
    assert [list(stream.waits) for stream in part.trace.streams] == [[0], [], []]


def test_waits_for_what_comes_before_the_first_message_are_left_out(new_build):
    build = new_build()
    load = build.load(build.handle((8,)), build.handle((8,)))
    send = build.message(CommandKind.SEND, "E", build.handle((8,)))
    build.wait(load, send)
    build.message(CommandKind.SEND, "E", build.handle((8,)))
    machine = row(depth=1, send_depth=1)
    (stream,) = deciding_part(build.trace(machine)).trace.streams
    assert list(stream.wait_counts) == [0, 1, 0]
    assert list(stream.waits) == [0]


def test_the_long_sweep_of_a_decode_is_not_looked_at():
    # B = 4096/4 keys a PE in tiles of 8: 128 tiles of 2 composites before the first message
    trace = decoded("one_cube", p=4, s_kv=4096).trace
    part = deciding_part(trace)
    longest = max(stream.command_count for stream in trace.streams)
    assert longest > 256
    assert max(stream.command_count for stream in part.trace.streams) < 40


def test_a_gemm_is_looked_at_as_one_tile_whatever_its_tiles(new_build):
    machine = row(depth=1, send_depth=1)
    build = new_build()
    build.gemm(64, 64, 64, *(build.handle((64, 64)) for _ in range(3)))
    free = resolve_policy("none")
    steps = [
        int((lower(build.trace(machine), each, free).stages.kind == StageKind.GEMM).sum())
        for each in (machine, with_whole_gemms(machine))
    ]
    assert steps == [16**3, 1]


def test_a_deadlock_is_told_with_the_whole_traces_command_numbers():
    # under serial a posted receive must end before the send after it, all around the ring
    trace = prefilled(c=2, s_kv=16, p=2).trace
    found = found_in(trace, "serial")
    assert found is not None
    assert found == replay(trace, policy="serial").deadlock


def test_a_deadlock_that_the_policy_makes_names_the_policies_that_do_not():
    trace = prefilled(c=2, s_kv=16, p=2).trace
    found = found_in(trace, "serial")
    assert found is not None
    assert found.clearing_depth is None
    assert found.clearing_policies == (
        *("strict_fifo", "byte_range", "rw_aware", "rw_handles", "none"),
    )
    for policy in found.clearing_policies:
        assert replay(trace, policy=policy).status is Status.OK
    assert found.remedy == (
        "no queue depth clears it; another policy does:"
        " strict_fifo, byte_range, rw_aware, rw_handles, none"
    )


def test_a_deadlock_of_the_kernel_itself_is_cleared_by_no_policy(new_build):
    # both receive first: each message would be sent after the other one has come
    here, there = new_build(), new_build()
    for pe, direction in ((here, "E"), (there, "W")):
        pe.message(CommandKind.RECV, direction, pe.handle((8,)))
        pe.message(CommandKind.SEND, direction, pe.handle((8,)))
    machine = row(depth=2, send_depth=2)
    trace = here.trace(machine, there)
    assert policies_that_end(trace, machine) == ()
    found = find_deadlock(trace, machine, resolve_policy("strict_fifo"))
    assert found is not None
    assert found.remedy == "no queue depth and no shipped policy clears it"


def test_a_trace_that_cannot_be_lowered_is_refused_with_the_whole_traces_command_number(new_build):
    build = new_build()
    build.overhead(1)
    build.message(CommandKind.SEND, "E", build.handle((1 << 26,)))
    machine = row(depth=1, send_depth=1)
    with pytest.raises(KerntapeError) as refused:
        found_in(build.trace(machine))
    assert str(refused.value) == (
        "command 1 (tiny.py:1): a message of 134,217,728 bytes is 2,097,152 fragments; it must be at"
        " most 1,048,576: send it in parts, or raise ipcq.slot_bytes"
    )


def test_what_no_message_surrounds_is_refused_all_the_same(new_build):
    # nothing to do with a deadlock, but no replay can begin
    build = new_build()
    build.overhead(1)
    build.load(build.handle((8,), space=Space.HBM), build.handle((8,)))
    machine = row(depth=1, send_depth=1).model_copy(update={"directions": {}})
    with pytest.raises(KerntapeError) as refused:
        found_in(placed(build.trace(machine), [[2]]))
    assert str(refused.value) == (
        "PE 0, command 1 (tiny.py:1): no way leads from PE 2 to PE 0: topology 'row' has no direction"
        " of level pe and step [-1, 0]; give it one, or place the tensor on the PEs that use it"
    )
