"""attention_mesh_kv: right for any lengths, and as costly as ADR-0060 §A says."""

from collections import Counter

import pytest
from golden_cases import POLICIES
from kernel_values import computed, of_one_copy, prefill_oracle
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.kernels.groups import head_groups
from kerntape.capture.kernels.line import line_of
from kerntape.replay.policy_table import policy_table
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.timeline import Status
from kerntape.schemas.topology import Topology
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
from prefill_captures import RING_OF_EIGHT, commands, messages, prefilled, score_composites

SMALL = {"g": 2, "d": 16, "dtype": "f32"}


def captured(
    topology: Topology = RING_OF_EIGHT, *, with_data: bool = False, **arguments: object
) -> CaptureResult:
    texts = {name: str(value) for name, value in (SMALL | arguments).items()}
    return capture("attention_mesh_kv", topology, texts, with_data=with_data)


# -- results

# every dtype; one rank, a CUBE, lines that turn; ragged parts, ranks without keys or queries
SHAPES = [
    {"s_kv": 7, "dtype": "f16"},
    {"p": 2, "s_kv": 20, "dtype": "bf16", "g": 3},
    {"p": 3, "s_kv": 25},
    {"p": 4, "s_kv": 30, "heads": 2, "dtype": "f16"},
    {"c": 2, "p": 1, "s_kv": 9, "g": 1},
    {"c": 4, "p": 3, "s_kv": 40, "dtype": "bf16"},
    {"c": 8, "p": 2, "s_kv": 50},
    # 5 tokens on 8 ranks: three have none
    {"c": 2, "p": 4, "s_kv": 5},
    # parts of a prompt: 9 queries at its end, 3 in its middle on 4 ranks, one with all keys before it
    {"p": 4, "s_kv": 40, "t_q": 9},
    {"p": 4, "s_kv": 40, "t_q": 3, "q_start": 17, "dtype": "bf16"},
    {"c": 2, "p": 2, "s_kv": 21, "t_q": 1},
    {"p": 4, "s_kv": 6, "t_q": 5, "q_start": 0},
    # every query sees all keys
    {"p": 4, "s_kv": 30, "causal": False},
    {"c": 2, "p": 4, "s_kv": 30, "t_q": 7, "causal": False, "dtype": "f16"},
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_it_agrees_with_attention_row_by_row(shape: dict[str, object]):
    sizes = SMALL | shape
    run = computed("attention_mesh_kv", RING_OF_EIGHT, **sizes)
    heads, g, s_kv = (int(sizes.get(name, 1)) for name in ("heads", "g", "s_kv"))
    k, v = of_one_copy(run.inputs["k"], run.inputs["v"], heads, g)
    start = int(sizes.get("q_start", s_kv - int(sizes.get("t_q", s_kv))))
    causal = sizes.get("causal", True)
    q = run.inputs["q"]
    run.check("o", prefill_oracle(q, k, v, heads, 16**-0.5, start if causal else None))


def test_a_scale_of_ones_own_is_used():
    run = computed("attention_mesh_kv", RING_OF_EIGHT, p=2, s_kv=12, scale=1.5, **SMALL)
    k, v = of_one_copy(run.inputs["k"], run.inputs["v"], 1, 2)
    run.check("o", prefill_oracle(run.inputs["q"], k, v, 1, 1.5, 0))


def test_llamas_own_dimensions_on_a_cube():
    sizes = {"g": 8, "d": 128, "dtype": "bf16", "p": 8, "s_kv": 100}
    result = captured(resolve_topology("one_cube"), with_data=True, **sizes)
    assert result.outputs["o"].is_right


def test_without_data_the_trace_is_the_same_bytes():
    found = [captured(p=4, c=2, s_kv=13, with_data=data).trace for data in (True, False)]
    assert trace_bytes(found[0]) == trace_bytes(found[1])


# -- messages


def sends_by_rank(trace: Trace) -> list[int]:
    return [
        sum(line.startswith(">") for line in messages(trace, pe)) for pe in range(len(trace.pes))
    ]


def test_every_ranks_k_and_v_cross_every_link_of_the_line_once():
    # 8 ranks: rank i of the line sends i + 1 blocks forward and 8 − i backward, the ends one only
    trace = captured(c=2, p=4, s_kv=32).trace
    line = [
        cube * 4 + pe for cube, pe in line_of(head_groups(RING_OF_EIGHT, heads=1, cubes=2, pes=4))
    ]
    # the PEs are 2×2: 3 → 2 → 0 → 1, then the other CUBE from PE 1 back
    assert line == [7, 6, 4, 5, 1, 0, 2, 3]
    expected = {line[0]: 1, line[-1]: 1} | dict.fromkeys(line[1:-1], 9)
    assert sends_by_rank(trace) == [2 * expected[pe] for pe in range(8)]


@pytest.mark.parametrize(("c", "p"), [(1, 3), (2, 2), (4, 4)])
def test_every_block_goes_to_all_other_ranks_and_is_received_as_often(c: int, p: int):
    ranks = c * p
    trace = captured(c=c, p=p, s_kv=2 * ranks).trace
    said = Counter(line[0] for pe in range(len(trace.pes)) for line in messages(trace, pe))
    assert said == {"<": 2 * ranks * (ranks - 1), ">": 2 * ranks * (ranks - 1)}


def test_the_messages_are_exactly_those_of_the_line():
    # three PEs of 2×2, line 2 0 1: PE 0 is in the middle, S leads back, E forward
    trace = captured(p=3, s_kv=9).trace
    both = ("K", "V")
    assert messages(trace, 2) == [
        *(f"< N {each}" for each in both),  # what PE 0 has
        *(f"> N {each}" for each in both),
        *(f"< N {each}" for each in both),  # what PE 1 has, from PE 0
    ]
    assert messages(trace, 0) == [
        *(f"< S {each}" for each in both),
        *(f"< E {each}" for each in both),
        *(f"> E {each}" for each in both),
        *(f"> S {each}" for each in both),
        *(f"> E {each}" for each in both),  # PE 2's on to PE 1
        *(f"> S {each}" for each in both),  # PE 1's on to PE 2
    ]


def test_the_end_of_the_line_has_the_last_block_after_as_many_steps_as_there_are_other_ranks():
    # C·P − 1 = 7
    trace = captured(c=2, p=4, s_kv=32).trace
    for end in (7, 3):
        assert sum(line.startswith("<") for line in messages(trace, end)) == 2 * 7


def test_ranks_without_keys_or_queries_pass_on_what_others_have():
    # 2 tokens on 4 PEs, line 3 2 0 1. PE 0 sends its own both ways and PE 1's on to PE 2, PE 1 its
    # own back, PE 2 both on to PE 3
    trace = captured(p=4, s_kv=2).trace
    assert sends_by_rank(trace) == [2 * 3, 2 * 1, 2 * 2, 0]
    kinds = {pe: {command.kind for command in commands(trace, pe)} for pe in range(4)}
    assert CommandKind.DOT not in kinds[2] | kinds[3]
    assert CommandKind.STORE not in kinds[2] | kinds[3]


# -- what the baseline does without


def sent_bytes(trace: Trace) -> int:
    return sum(
        command.handles[0].geometry.size_bytes
        for pe in range(len(trace.pes))
        for command in commands(trace, pe)
        if command.kind is CommandKind.SEND
    )


def read_bytes(trace: Trace, name: str) -> int:
    return sum(
        command.handles[0].geometry.size_bytes
        for pe in range(len(trace.pes))
        for command in commands(trace, pe)
        if command.kind is CommandKind.LOAD and command.handles[0].label == name
    )


@pytest.mark.parametrize("g", [2, 4, 8])
def test_a_copy_of_k_and_v_for_each_query_head_is_read_and_sent(g: int):
    # 2 CUBEs of 2 PEs; 32 keys of 16 in f32 are 2 KiB of K and 2 KiB of V
    trace = captured(g=g, c=2, p=2, s_kv=32).trace
    assert read_bytes(trace, "k") == read_bytes(trace, "v") == g * 2048
    assert sent_bytes(trace) == g * 4096 * 3


@pytest.mark.parametrize("g", [2, 4, 8])
def test_gqa_prefill_sends_one_copy_whatever_g_is(g: int):
    # a ring of g CUBEs of one PE: each of 32 keys' K and V passes g − 1 links
    assert sent_bytes(prefilled(g=g, c=g, s_kv=32).trace) == 4096 * (g - 1)


def dots(trace: Trace, pe: int, name: str) -> int:
    return sum(
        command.kind is CommandKind.DOT and command.handles[-1].label == name
        for command in commands(trace, pe)
    )


def test_no_key_is_skipped_where_gqa_prefill_skips_all_in_the_future():
    # 4 PEs, 32 queries: each sees 4 blocks for 2 heads
    mesh = captured(p=4, s_kv=32).trace
    assert [dots(mesh, pe, "S") for pe in range(4)] == [4 * 2] * 4
    assert [dots(mesh, pe, "PV") for pe in range(4)] == [4 * 2] * 4
    # tiles of 8 keys: the PE of the first 8 queries sees one, the next two, …
    gqa = prefilled(p=4, s_kv=32).trace
    assert [len(score_composites(gqa, pe)) for pe in range(4)] == [1, 2, 3, 4]


def test_what_no_query_may_see_is_masked_and_what_all_see_is_not():
    trace = captured(p=4, s_kv=32).trace
    # the blocks at or after the rank's own: rank r of 4 has 4 − r of them
    masks = [sum("where" in command.op_kinds for command in commands(trace, pe)) for pe in range(4)]
    assert masks == [4, 3, 2, 1]
    free = captured(p=4, s_kv=32, causal=False).trace
    assert not any("where" in command.op_kinds for command in commands(free, 0))


def test_nothing_is_a_composite():
    trace = captured(c=2, p=2, s_kv=32).trace
    kinds = {command.kind for pe in range(len(trace.pes)) for command in commands(trace, pe)}
    assert CommandKind.COMPOSITE not in kinds


# -- replay


@pytest.mark.parametrize("policy", ["none", "rw_handles", "strict_fifo", "byte_range", "rw_aware"])
def test_no_queue_is_too_short(policy: str):
    # K and V of a rank, 4 tokens of 2·16 f32, are 512 bytes each: four fragments, in a queue of one
    short = RING_OF_EIGHT.ipcq.model_copy(update={"depth": 1, "slot_bytes": 128})
    topology = RING_OF_EIGHT.model_copy(update={"ipcq": short})
    trace = captured(c=2, p=4, s_kv=32).trace
    assert replay(trace, topology=topology, policy=policy).status is Status.OK


def test_gqa_prefill_is_faster_on_the_same_pes():
    machine = resolve_topology("ahbm_2sip")
    sizes = {"g": 8, "c": 8, "p": 2, "s_kv": 128, "d": 64, "dtype": "bf16"}
    mesh, gqa = (run(machine, **sizes).trace for run in (captured, prefilled))
    assert replay(gqa).end_ps.max() < replay(mesh).end_ps.max()


@pytest.mark.parametrize(
    "sizes",
    [
        {"c": 2, "p": 4, "s_kv": 32},
        # 5 tokens, or 5 queries, on 8 ranks: the line ends with ranks that nobody uses a block on
        {"c": 2, "p": 4, "s_kv": 5},
        {"c": 2, "p": 4, "s_kv": 32, "t_q": 5},
    ],
    ids=lambda sizes: " ".join(map(str, sizes.values())),
)
def test_nothing_is_overwritten_that_is_still_on_its_way(sizes: dict[str, int]):
    # no policy holds anything back here: the kernel itself waits for what it sent and what comes
    rows = policy_table(captured(**sizes).trace).rows
    assert {row.policy: row.potential for row in rows} == dict.fromkeys(POLICIES, 0)


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"dtype": "f64"}, "no dtype 'f64'; known: f16, bf16, f32"),
        ({"d": 0}, "d must be at least 1, not 0"),
        ({"t_q": -1}, "t_q must be at least 0, not -1"),
        ({"q_start": -2}, "q_start must be at least -1, not -2"),
        ({"s_kv": 8, "t_q": 9}, "t_q must be at most s_kv, which is 8, not 9"),
        (
            {"s_kv": 8, "t_q": 4, "q_start": 5},
            "q_start must be at most s_kv - t_q, which is 4, not 5",
        ),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    with pytest.raises(ConfigError) as error:
        captured(**arguments)
    assert str(error.value) == f"attention_mesh_kv: {text}"
