"""gqa_decode over the ranks of CUBE groups: right for any lengths, and nothing read or kept twice."""

from dataclasses import replace
from math import prod

import pytest
from decode_captures import VARIANTS, commands, decoded, stored_by
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.trace import Trace
from kerntape.schemas.trace_file import trace_bytes


def refusal(**arguments: object) -> str:
    with pytest.raises(ConfigError) as error:
        decoded(**arguments)
    return str(error.value)


# -- results

# every (c, p), every dtype, and every other argument at least once
SHAPES = [
    {"p": 2, "s_kv": 40},
    {"p": 4, "s_kv": 100, "dtype": "bf16"},
    {"p": 8, "s_kv": 129, "dtype": "f16", "heads": 2},
    {"p": 3, "s_kv": 64, "tile": 0},
    {"c": 2, "p": 1, "s_kv": 33},
    {"c": 2, "p": 4, "s_kv": 70, "heads": 2, "g": 3},
    {"c": 4, "p": 2, "s_kv": 200, "dtype": "bf16", "g": 1},
    {"c": 8, "p": 2, "s_kv": 250, "heads": 3},
    {"c": 8, "p": 8, "s_kv": 700, "dtype": "f16"},
    {"c": 16, "p": 1, "s_kv": 90},
    # one token: 15 of 16 ranks have none
    {"c": 2, "p": 8, "s_kv": 1},
    {"c": 2, "p": 8, "s_kv": 1, "start_cube": 1, "start_pe": 5},
    # 9 tokens on 16 ranks
    {"c": 4, "p": 4, "s_kv": 9, "tile": 0},
    {"c": 4, "p": 4, "s_kv": 9, "placement": "round_robin"},
    # valid tokens end within a tile of rank 2, the cache is full of other numbers after them
    {"p": 4, "s_kv": 50, "max_context": 80, "start_pe": 1},
    {"c": 2, "p": 4, "s_kv": 256, "counter": 77, "dtype": "bf16"},
    {"c": 2, "p": 4, "s_kv": 256, "counter": 77, "placement": "round_robin", "start_cube": 1},
    {"c": 4, "p": 8, "s_kv": 123, "placement": "round_robin", "start_pe": 3, "heads": 2},
    # other ways to the root
    {"c": 2, "p": 8, "s_kv": 70, "reduce_pe": "chain", "reduce_cube": "chain"},
    {"c": 8, "p": 8, "s_kv": 300, "reduce_pe": "ring", "reduce_cube": "ring"},
    {"c": 8, "p": 5, "s_kv": 11, "reduce_pe": "chain", "reduce_cube": "ring"},
    # several requests, some without tokens on some ranks
    {"c": 2, "p": 4, "s_kv": 20, "requests": 3},
    {"p": 8, "s_kv": 100, "requests": 2, "placement": "round_robin", "heads": 2},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_every_variant_agrees_with_float64_attention(variant: str, shape: dict[str, object]):
    outputs = decoded(variant=variant, with_data=True, **shape).outputs
    assert len(outputs) == shape.get("requests", 1)
    for output in outputs.values():
        assert output.shape == (shape.get("heads", 1) * shape.get("g", 2), 16)
        assert output.max_abs_err is not None
        assert output.is_right, output


@pytest.mark.parametrize("variant", VARIANTS)
def test_llamas_own_dimensions_on_a_whole_group(variant: str):
    result = decoded(
        variant=variant, with_data=True, g=8, d=128, tile=64, dtype="bf16", c=8, p=8, s_kv=1000
    )
    assert result.outputs["o"].is_right


def test_f32_stays_f32_through_the_reduction():
    result = decoded(with_data=True, c=8, p=8, s_kv=640)
    assert 0 < result.outputs["o"].max_abs_err < 1e-6


@pytest.mark.parametrize(
    "arguments", [{"c": 2, "p": 4, "s_kv": 20}, {"p": 8, "requests": 2, "s_kv": 60}]
)
def test_without_data_the_trace_is_the_same_bytes(arguments: dict[str, object]):
    with_data, without = (decoded(with_data=data, **arguments) for data in (True, False))
    assert trace_bytes(with_data.trace) == trace_bytes(without.trace)


# -- where things are


def test_q_is_everywhere_kv_is_split_and_o_is_at_the_groups_roots():
    trace = decoded(c=8, p=8, heads=2, s_kv=512).trace
    assert {tensor.name: tensor.placement for tensor in trace.header.tensors} == {
        "q": "axis 0 over KV heads",
        "k": "axis 0 over KV heads, axis 1 over ranks from cube 0, pe 0 of a group",
        "v": "axis 0 over ranks from cube 0, pe 0 of a group, axis 1 over KV heads",
        "o": "axis 0 over KV heads at cube 2, pe 2 of a group",
    }
    # group 1 begins at CUBE 8: the roots are PE 2 of CUBEs 2 and 10
    assert stored_by(trace) == [2 * 8 + 2, 10 * 8 + 2]


def test_a_buffer_has_room_for_max_context_over_the_ranks():
    def room(**arguments: object) -> list[int]:
        return list(decoded(p=4, **arguments).trace.header.tensors[1].shape)

    assert room(s_kv=50, max_context=90) == [16, 92]  # B = ⌈90/4⌉ = 23
    assert room(s_kv=64) == [16, 64]
    assert room(s_kv=65) == [16, 72]  # whole tiles of 8
    assert room(s_kv=65, tile=0) == [16, 68]


def keys_read(trace: Trace, pe: int) -> int:
    """The keys of all K tiles that the PE's composites name."""
    return sum(
        command.op_operands(0)["b"].geometry.shape[1]
        for command in commands(trace, pe)
        if command.op_kinds[:2] == ("gemm", "scale")
    )


def test_each_rank_reads_its_own_keys_and_no_more():
    # B = ⌈128/8⌉ = 16; 100 tokens: six ranks are full, the seventh has 4 in one tile of 8
    full = decoded(p=8, max_context=128, s_kv=100).trace
    assert [keys_read(full, pe) for pe in range(8)] == [16, 16, 16, 16, 16, 16, 8, 0]
    rotated = decoded(p=8, max_context=128, s_kv=100, start_pe=3).trace
    assert [keys_read(rotated, pe) for pe in range(8)] == [16, 8, 0, 16, 16, 16, 16, 16]
    # round robin: 13 for the first four, 12 for the rest, in tiles of 8
    dealt = decoded(p=8, max_context=128, s_kv=100, placement="round_robin").trace
    assert [keys_read(dealt, pe) for pe in range(8)] == [16] * 8


def test_a_partly_valid_tile_is_masked_on_its_rank_only():
    trace = decoded(p=4, max_context=64, s_kv=37).trace
    masked = [
        pe for pe in range(4) if any("where" in command.op_kinds for command in commands(trace, pe))
    ]
    # B = 16: ranks 0 and 1 are full, rank 2 has 5, rank 3 none
    assert masked == [2]
    assert commands(trace, 3) == []


def test_requests_begin_a_cube_further_each_and_then_a_pe():
    trace = decoded(c=2, p=2, requests=3, s_kv=4).trace
    starts = [tensor.placement for tensor in trace.header.tensors if tensor.name.startswith("v")]
    assert starts == [
        "axis 0 over ranks from cube 0, pe 0 of a group, axis 1 over KV heads",
        "axis 0 over ranks from cube 1, pe 0 of a group, axis 1 over KV heads",
        "axis 0 over ranks from cube 0, pe 1 of a group, axis 1 over KV heads",
    ]


def test_a_rank_sweeps_all_requests_before_it_reduces_the_first():
    trace = decoded(c=2, p=2, requests=3, s_kv=64, variant="opt3").trace
    for pe in range(4):
        kinds = [command.kind for command in commands(trace, pe)]
        last_sweep = max(i for i, kind in enumerate(kinds) if kind is CommandKind.COMPOSITE)
        first_message = min(
            i for i, kind in enumerate(kinds) if kind in (CommandKind.SEND, CommandKind.RECV)
        )
        assert last_sweep < first_message


# -- reuse


def macs(trace: Trace, pe: int) -> int:
    """Multiply-accumulates of all of the PE's GEMMs."""
    found = 0
    for command in commands(trace, pe):
        for place, op in enumerate(command.form.ops):
            if op.kind == "gemm":
                operands = command.op_operands(place)
                found += prod(operands["a"].geometry.shape) * operands["b"].geometry.shape[1]
    return found


@pytest.mark.parametrize("variant", VARIANTS)
def test_gemm_work_grows_with_g_and_the_keys_that_are_named_do_not(variant: str):
    one, eight = (decoded(c=2, p=2, g=g, s_kv=128, variant=variant).trace for g in (1, 8))
    for pe in range(4):
        assert macs(eight, pe) == 8 * macs(one, pe) > 0
        assert keys_read(eight, pe) == keys_read(one, pe) == 32


# -- sharing


def test_512_pes_are_as_many_streams_as_a_group_has_roles():
    # of 8 PEs: the four leaves, 0, 1 and 3; of the 8 root PEs: CUBES 0 and 4, 1 and 5, 3 and 7
    # do the same, 2 and 6 not
    trace = decoded(c=8, p=8, heads=8, s_kv=512, g=8, d=128).trace
    assert len(trace.pes) == 512
    assert len(trace.streams) == 4 + 5


def test_the_trace_of_512_pes_is_little_larger_than_that_of_one_group():
    sizes = [len(trace_bytes(decoded(c=8, p=8, heads=heads, s_kv=1024).trace)) for heads in (1, 8)]
    assert sizes[1] < 1.5 * sizes[0]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("s_kv", [64, 16384])
def test_the_trace_of_512_pes_is_hardly_larger_than_its_distinct_streams(variant: str, s_kv: int):
    trace = decoded(
        variant=variant, c=8, p=8, heads=8, s_kv=s_kv, g=8, d=128, tile=64, dtype="bf16"
    ).trace
    first_of_each = {pe.stream: pe for pe in reversed(trace.pes)}
    ranks = sorted(pe.rank for pe in first_of_each.values())
    alone = replace(trace, pes=tuple(pe for pe in trace.pes if pe.rank in ranks))
    assert (len(trace.pes), len(alone.pes)) == (512, len(trace.streams))
    # a hundredth more, and far below the half more that is allowed
    assert len(trace_bytes(trace)) < 1.02 * len(trace_bytes(alone))


def test_pes_outside_all_groups_do_nothing():
    # three groups of 8 CUBEs fill one SIP and half of the next
    trace = decoded(c=8, p=2, heads=3, s_kv=64).trace
    assert len(trace.pes) == 2 * 16 * 2
    assert all(commands(trace, pe) == [] for pe in range(48, 64))
    assert all(commands(trace, pe) != [] for pe in range(48))


# -- arguments


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (
            {"c": 3},
            "c must be a size of rectangles that tile the SIP's 4×4 CUBEs (1, 2, 4, 8, 16), not 3",
        ),
        ({"p": 9}, "p must be from 1 to 8 (PEs of a CUBE on llama70b_4sip), not 9"),
        ({"p": 0}, "p must be from 1 to 8 (PEs of a CUBE on llama70b_4sip), not 0"),
        (
            {"heads": 9, "c": 8},
            "heads must be from 1 to 8 (groups of 8 CUBEs on llama70b_4sip), not 9",
        ),
        ({"placement": "roundrobin"}, "no placement 'roundrobin'; did you mean 'round_robin'?"),
        ({"reduce_pe": "center"}, "no reduce_pe 'center'; known: tree, chain, ring"),
        ({"reduce_cube": "center"}, "no reduce_cube 'center'; did you mean 'centre'?"),
        (
            {"p": 4, "reduce_pe": "ring"},
            "reduce_pe: a ring must have two sides of at least 2, one of them even, not 4×1",
        ),
        ({"s_kv": 99, "max_context": 64}, "s_kv must be at most max_context, which is 64, not 99"),
        ({"s_kv": 99, "counter": 100}, "counter must be at most s_kv, which is 99, not 100"),
        (
            {"max_context": 64, "counter": 65},
            "counter must be at most max_context, which is 64, not 65",
        ),
        ({"start_pe": -1}, "start_pe must be from 0 to 0 (p is 1), not -1"),
        ({"start_cube": 2, "c": 2}, "start_cube must be from 0 to 1 (c is 2), not 2"),
        ({"requests": 0}, "requests must be at least 1, not 0"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    assert refusal(**arguments) == f"gqa_decode: {text}"


def test_a_machine_without_neighbours_has_no_ranks_to_share_with():
    assert refusal(topology="single_pe", p=2) == (
        "gqa_decode: p must be from 1 to 1 (PEs of a CUBE on single_pe), not 2"
    )
