"""attention_mesh_mlo: right on every rank in either exchange, and as costly as ADR-0060 §A says."""

from collections import Counter
from math import prod

import pytest
from decode_captures import commands, decoded, messages, stored_by
from golden_cases import POLICIES
from kernel_values import computed, decode_oracle, of_one_copy
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.kernels.groups import head_groups
from kerntape.capture.kernels.line import line_of
from kerntape.replay.policy_table import policy_table
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline import Status
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology

MACHINE = resolve_topology("llama70b_4sip")
EXCHANGES = ("fan_out", "two_level")
SMALL = {"g": 2, "d": 16, "dtype": "f32"}


def captured(*, with_data: bool = False, **arguments: object) -> CaptureResult:
    texts = {name: str(value) for name, value in (SMALL | arguments).items()}
    return capture("attention_mesh_mlo", MACHINE, texts, with_data=with_data)


# -- results

# every dtype, one rank, whole CUBEs, lines that turn, ragged last ranks, ranks without tokens
SHAPES = [
    {"s_kv": 5, "dtype": "f16"},
    {"p": 2, "s_kv": 33, "dtype": "bf16", "g": 3},
    {"p": 3, "s_kv": 40},
    {"p": 8, "s_kv": 129, "dtype": "f16", "heads": 2},
    {"c": 2, "p": 1, "s_kv": 30, "g": 1},
    {"c": 2, "p": 5, "s_kv": 64, "heads": 3, "dtype": "bf16"},
    {"c": 8, "p": 2, "s_kv": 100},
    # 10 tokens on 16 ranks: one each; 9 on 8: four ranks of two, one of one, three of none
    {"c": 4, "p": 4, "s_kv": 10},
    {"p": 8, "s_kv": 9, "dtype": "f16"},
    # one token on 16 ranks
    {"c": 2, "p": 8, "s_kv": 1},
]


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_every_rank_has_the_answer(shape: dict[str, object], exchange: str):
    sizes = SMALL | shape
    run = computed("attention_mesh_mlo", MACHINE, exchange=exchange, **sizes)
    heads, g = int(sizes.get("heads", 1)), int(sizes["g"])
    k, v = of_one_copy(run.inputs["k"], run.inputs["v"], heads, g)
    run.check("o", decode_oracle(run.inputs["q"], k, v, heads, 16**-0.5))
    ranks = int(sizes.get("c", 1)) * int(sizes.get("p", 1))
    assert len(run.copies["o"]) == heads * ranks


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_scale_of_ones_own_is_used(exchange: str):
    run = computed(
        "attention_mesh_mlo", MACHINE, exchange=exchange, p=4, s_kv=30, scale=1.5, **SMALL
    )
    k, v = of_one_copy(run.inputs["k"], run.inputs["v"], 1, 2)
    run.check("o", decode_oracle(run.inputs["q"], k, v, 1, 1.5))


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_llamas_own_dimensions_on_a_whole_group(exchange: str):
    sizes = {"g": 8, "d": 128, "dtype": "bf16", "c": 8, "p": 8, "s_kv": 500}
    assert captured(exchange=exchange, with_data=True, **sizes).outputs["o"].is_right


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_without_data_the_trace_is_the_same_bytes(exchange: str):
    found = [
        captured(exchange=exchange, p=8, s_kv=9, with_data=data).trace for data in (True, False)
    ]
    assert trace_bytes(found[0]) == trace_bytes(found[1])


# -- messages

STATE = 3  # m, l and O are a message each


def sends_by_rank(trace: Trace) -> list[int]:
    return [
        sum(line.startswith(">") for line in messages(trace, pe)) for pe in range(len(trace.pes))
    ]


def test_fan_out_crosses_every_link_of_the_line_once_with_every_state():
    # a line of R = 8: rank i of it sends i + 1 states forward and 8 − i backward, the ends one only
    trace = captured(p=8, s_kv=64).trace
    line = [pe for _, pe in line_of(head_groups(MACHINE, 1, 1, 8))]
    assert line == [7, 6, 5, 4, 0, 1, 2, 3]
    expected = {line[0]: 1, line[-1]: 1} | dict.fromkeys(line[1:-1], 9)
    assert sends_by_rank(trace) == [STATE * expected[pe] for pe in range(8)]


@pytest.mark.parametrize(("c", "p"), [(1, 2), (1, 5), (2, 4), (8, 2)])
def test_every_state_goes_to_all_others(c: int, p: int):
    ranks = c * p
    trace = captured(c=c, p=p, s_kv=10 * ranks).trace
    said = Counter(line[0] for pe in range(len(trace.pes)) for line in messages(trace, pe))
    assert said == {"<": STATE * ranks * (ranks - 1), ">": STATE * ranks * (ranks - 1)}


def test_the_messages_are_exactly_those_of_the_line():
    # 4 PEs of a row, line 3 2 1 0: E leads backward. At each step the receives come first, and the
    # state that came from before goes on forward, before the one from after goes backward
    trace = captured(p=4, s_kv=16).trace

    def states(pe: int) -> list[str]:
        found = messages(trace, pe)
        assert [line[-1] for line in found] == ["m", "l", "O"] * (len(found) // STATE)
        return [line[:-2] for line in found[::STATE]]

    assert states(3) == ["< W", "> W", "< W", "< W"]
    assert states(2) == ["< E", "< W", "> W", "> E", "< W", "> W", "> E", "> E"]
    assert states(1) == ["< E", "< W", "> W", "> E", "< E", "> W", "> E", "> W"]
    assert states(0) == ["< E", "> E", "< E", "< E"]


def test_a_line_takes_one_step_less_than_it_has_ranks_and_the_reduction_six():
    # C·P − 1 = 63 against ⌈log₂ 8⌉ + ⌊4/2⌋ + ⌊2/2⌋ = 6 (tests of gqa_decode's messages)
    groups = head_groups(MACHINE, 1, 8, 8)
    (cube, pe) = line_of(groups)[-1]
    trace = captured(c=8, p=8, s_kv=128).trace
    end = cube * 8 + pe
    assert sum(line.startswith("<") for line in messages(trace, end)) == STATE * 63


def test_two_level_goes_to_the_root_and_back_by_the_same_links():
    trace = captured(p=8, s_kv=64, exchange="two_level").trace

    def directions(pe: int) -> list[str]:
        return [" ".join(line.split()[:2]) for line in messages(trace, pe)[::STATE]]

    # to PE 2 and back, the rank that was waited for last served first
    assert directions(2) == ["< S", "< E", "< W", "> W", "> E", "> S"]
    assert directions(1) == ["< S", "< W", "> E", "< E", "> W", "> S"]
    assert directions(0) == ["< S", "> E", "< E", "> S"]
    assert directions(3) == ["< S", "> W", "< W", "> S"]
    assert [directions(pe) for pe in (4, 5, 6, 7)] == [["> N", "< N"]] * 4


@pytest.mark.parametrize(("c", "p"), [(1, 8), (8, 1), (8, 8)])
def test_two_level_moves_twice_what_gqa_decode_moves(c: int, p: int):
    mesh = captured(c=c, p=p, s_kv=512, exchange="two_level").trace
    gqa = decoded(c=c, p=p, s_kv=512).trace
    assert sum(sends_by_rank(mesh)) == 2 * sum(sends_by_rank(gqa)) == 2 * STATE * (c * p - 1)


@pytest.mark.parametrize(
    ("exchange", "sent"),
    # one token on PE 0 of 8. fan_out: its state crosses 7 links. two_level: 0 → 1 → 2, and back to 7
    [("fan_out", 7), ("two_level", 2 + 7)],
)
def test_a_rank_without_tokens_sends_none_of_its_own(exchange: str, sent: int):
    trace = captured(p=8, s_kv=1, exchange=exchange).trace
    assert sum(sends_by_rank(trace)) == STATE * sent
    assert stored_by(trace) == list(range(8))


# -- what the baseline does without


def read_bytes(trace: Trace) -> int:
    """What all PEs load and stream of K and V. Streams of a composite: its operand b once."""
    found = 0
    for pe in range(len(trace.pes)):
        for command in commands(trace, pe):
            for handle in command.handles:
                if handle.geometry.space == "hbm" and handle.label in ("k", "v"):
                    found += handle.geometry.size_bytes
    return found


@pytest.mark.parametrize("g", [1, 2, 8])
def test_k_and_v_are_read_once_a_query_head_and_by_gqa_decode_once(g: int):
    # 128 keys of 16 f32 in K and in V: 16,384 bytes
    sizes = {"g": g, "c": 2, "p": 2, "s_kv": 128}
    assert read_bytes(captured(**sizes).trace) == g * 16_384
    assert read_bytes(decoded(**sizes).trace) == 16_384


def gemm_rows(trace: Trace) -> set[int]:
    """The M of every GEMM."""
    return {
        command.op_operands(place)["a"].geometry.shape[0]
        for pe in range(len(trace.pes))
        for command in commands(trace, pe)
        for place, op in enumerate(command.form.ops)
        if op.kind == "gemm"
    }


def test_a_gemm_has_one_row_and_gqa_decodes_has_g():
    sizes = {"g": 8, "p": 2, "s_kv": 64}
    assert gemm_rows(captured(**sizes).trace) == {1}
    assert gemm_rows(decoded(**sizes).trace) == {8}


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_nothing_is_a_composite_and_pe_cpu_waits_for_every_gemm(exchange: str):
    trace = captured(p=8, s_kv=64, exchange=exchange).trace
    kinds = Counter(command.kind for pe in range(8) for command in commands(trace, pe))
    assert CommandKind.COMPOSITE not in kinds
    assert kinds[CommandKind.DOT] == 8 * 2 * 2  # PEs · heads · (Q·Kᵀ, P·V)


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_every_rank_stores(exchange: str):
    trace = captured(c=2, p=4, s_kv=64, exchange=exchange).trace
    assert stored_by(trace) == list(range(8))
    assert stored_by(decoded(c=2, p=4, s_kv=64).trace) == [6]


def test_all_keys_of_a_rank_are_one_softmax():
    # 100 keys on 2 ranks: scores [1, 50] a head
    trace = captured(p=2, s_kv=100).trace
    widths = [
        command.handles[-1].geometry.shape
        for command in commands(trace, 0)
        if command.kind is CommandKind.DOT and command.handles[-1].label == "S"
    ]
    assert widths == [(1, 50)] * 2


# -- replay


def with_queues(depth: int, send_depth: int):
    ipcq = MACHINE.ipcq.model_copy(update={"depth": depth, "send_depth": send_depth})
    return MACHINE.model_copy(update={"ipcq": ipcq})


@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("policy", ["none", "rw_handles", "strict_fifo", "byte_range", "rw_aware"])
def test_no_queue_is_too_short(exchange: str, policy: str):
    # O of 16 heads of 128 in f32 is 8 KiB, two fragments of a slot each
    trace = captured(p=8, s_kv=64, g=16, d=128, exchange=exchange).trace
    timeline = replay(trace, topology=with_queues(1, 1), policy=policy)
    assert timeline.status is Status.OK


def test_each_idea_gains():
    # Llama's sizes on 64 ranks: fewer messages, then no copies back, then GQA and composites
    sizes = {"g": 8, "d": 128, "dtype": "bf16", "c": 8, "p": 8, "s_kv": 1024}
    traces = [captured(exchange=exchange, **sizes).trace for exchange in EXCHANGES]
    traces.append(decoded(**sizes, tile=64, variant="opt2").trace)
    makespans = [int(replay(trace).end_ps.max()) for trace in traces]
    assert makespans == sorted(makespans, reverse=True)
    assert len(set(makespans)) == 3


def test_nothing_is_overwritten_that_is_still_on_its_way():
    # no policy holds anything back here: the kernel itself waits for what it sent
    rows = policy_table(captured(p=8, s_kv=64, exchange="fan_out").trace).rows
    assert {row.policy: row.potential for row in rows} == dict.fromkeys(POLICIES, 0)


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"exchange": "two_levels"}, "no exchange 'two_levels'; did you mean 'two_level'?"),
        ({"dtype": "f64"}, "no dtype 'f64'; known: f16, bf16, f32"),
        ({"g": 0}, "g must be at least 1, not 0"),
        ({"s_kv": 0}, "s_kv must be at least 1, not 0"),
        ({"p": 9}, "p must be from 1 to 8 (PEs of a CUBE on llama70b_4sip), not 9"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    with pytest.raises(ConfigError) as error:
        captured(**arguments)
    assert str(error.value) == f"attention_mesh_mlo: {text}"


def test_a_machine_without_the_links_of_a_line_is_refused():
    missing = {"E", "W"}
    directions = {name: way for name, way in MACHINE.directions.items() if name not in missing}
    plain = MACHINE.model_copy(update={"directions": directions})
    with pytest.raises(ConfigError) as error:
        capture("attention_mesh_mlo", plain, {"p": "2"})
    assert str(error.value) == (
        "attention_mesh_mlo: topology llama70b_4sip must have a direction of level pe and step"
        " [-1, 0] for the line, and has none"
    )


def test_elements_of_the_states_are_f32_whatever_is_stored():
    trace = captured(p=2, s_kv=20, dtype="bf16").trace
    sent = [
        command.handles[0].geometry
        for command in commands(trace, 0)
        if command.kind is CommandKind.SEND
    ]
    assert {each.dtype for each in sent} == {"f32"}
    assert [prod(each.shape) for each in sent] == [2, 2, 32]
