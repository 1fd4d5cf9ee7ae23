"""gqa_prefill on one PE: right for any lengths, and no work beyond the lower triangle."""

from math import prod

import numpy as np
import pytest
from kerntape.capture.kernels.references import causal_attention
from kerntape.replay.replay import replay
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.handles import Space
from kerntape.schemas.stages import StageKind
from kerntape.schemas.trace import Command, Trace
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
from prefill_captures import VARIANTS, commands, prefilled, score_composites

SINGLE_PE = resolve_topology("single_pe")


def refusal(**arguments: object) -> str:
    with pytest.raises(ConfigError) as error:
        prefilled(**arguments)
    return str(error.value)


# -- results

# every dtype, chunks and tiles that do and do not divide anything, and both ends of every range
SHAPES = [
    {"s_kv": 1},
    {"s_kv": 5},
    {"s_kv": 32},
    {"s_kv": 45, "dtype": "bf16", "g": 3},
    {"s_kv": 45, "dtype": "f16", "tile": 16, "chunk": 5},
    {"s_kv": 20, "tile": 64, "d": 80},
    {"s_kv": 21, "tile": 1, "chunk": 4},
    # a part of a prompt against a longer past, aligned to nothing
    {"s_kv": 70, "t_q": 1},
    {"s_kv": 70, "t_q": 13, "dtype": "bf16"},
    {"s_kv": 70, "t_q": 13, "chunk": 9, "tile": 16, "dtype": "f16"},
    # keys after the last query, which nobody sees
    {"s_kv": 70, "t_q": 24, "q_start": 16},
    {"s_kv": 70, "t_q": 11, "q_start": 0},
    {"s_kv": 40, "t_q": 1, "q_start": 0},
    # queries split over the PEs of a CUBE, the last ones with fewer or none
    {"s_kv": 40, "p": 4},
    {"s_kv": 45, "p": 4, "t_q": 9, "heads": 2, "dtype": "bf16"},
    {"s_kv": 37, "p": 3, "g": 1},
    # fewer queries than PEs: the keys are split, and the PEs reduce
    {"s_kv": 40, "p": 4, "t_q": 1},
    {"s_kv": 43, "p": 4, "t_q": 3, "heads": 2},
    {"s_kv": 43, "p": 4, "t_q": 2, "q_start": 3, "dtype": "f16"},
    {"s_kv": 1, "p": 4},
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: " ".join(map(str, shape.values())))
def test_every_variant_agrees_with_float64_causal_attention(variant: str, shape: dict[str, object]):
    output = prefilled(variant=variant, with_data=True, **shape).outputs["o"]
    g, heads = shape.get("g", 2), shape.get("heads", 1)
    assert output.shape == (shape.get("t_q", shape["s_kv"]), heads * g * shape.get("d", 16))
    assert output.max_abs_err is not None
    assert output.is_right, output


@pytest.mark.parametrize("variant", VARIANTS)
def test_llamas_own_dimensions(variant: str):
    sizes = {"g": 8, "d": 128, "tile": 64, "dtype": "bf16", "s_kv": 200, "t_q": 130}
    assert prefilled(SINGLE_PE, variant=variant, with_data=True, **sizes).outputs["o"].is_right


def test_f32_is_right_to_f32_precision():
    assert 0 < prefilled(with_data=True, s_kv=90).outputs["o"].max_abs_err < 1e-6


def test_a_scale_of_ones_own_is_used():
    assert prefilled(with_data=True, s_kv=30, scale=1.5).outputs["o"].is_right


def test_the_reference_lets_a_query_see_what_is_not_after_it():
    # keys ln 1, ln 3, ln 4 against queries of 1 at the positions 1 and 2: weights ¼ ¾, then ⅛ ⅜ ½
    keys, values = np.log([[1.0, 3.0, 4.0]]), np.array([[4.0], [8.0], [1.0]])
    result = causal_attention(np.ones((2, 1)), keys, values, 1.0, q_start=1)
    assert result.tolist() == [[pytest.approx(7.0)], [pytest.approx(4.0)]]


@pytest.mark.parametrize("arguments", [{"s_kv": 45}, {"s_kv": 40, "p": 4, "t_q": 3}])
def test_without_data_the_trace_is_the_same_bytes(arguments: dict[str, object]):
    with_data, without = (
        prefilled(with_data=with_data, **arguments).trace for with_data in (True, False)
    )
    assert trace_bytes(with_data) == trace_bytes(without)


# -- no work beyond the lower triangle


def gemms(trace: Trace) -> list[Command]:
    return [command for command in commands(trace) if "gemm" in command.op_kinds]


@pytest.mark.parametrize("variant", VARIANTS)
def test_tiles_in_the_future_are_skipped(variant: str):
    # 40 queries and keys in tiles of 8: 5 chunks, 1 + 2 + 3 + 4 + 5 tiles of the 25, 2 GEMMs each
    trace = prefilled(variant=variant, s_kv=40).trace
    assert [command.kind for command in gemms(trace)] == 30 * [CommandKind.COMPOSITE]


# queries 16 … 39 of 64 keys: chunks from 16, 24 and 32 on see 3, 4 and 5 tiles
# queries 60 … 63: one chunk sees the tiles up to key 63, 8 of them
# queries 19 … 42 in chunks of 12: to 30 and to 42, 4 and 6 tiles
@pytest.mark.parametrize(
    ("arguments", "tiles"),
    [
        ({"t_q": 24, "q_start": 16}, 3 + 4 + 5),
        ({"t_q": 4}, 8),
        ({"t_q": 24, "q_start": 19, "chunk": 12}, 4 + 6),
    ],
)
def test_a_chunk_sees_the_tiles_up_to_its_last_query(arguments: dict[str, object], tiles: int):
    assert len(score_composites(prefilled(s_kv=64, **arguments).trace)) == tiles


def test_only_tiles_at_the_boundary_are_masked():
    # a chunk of 8 queries is as wide as a tile: only the last tile of a chunk is at the boundary
    trace = prefilled(s_kv=40).trace
    masked = ["add" in command.op_kinds for command in score_composites(trace)]
    assert masked == [tile == chunk for chunk in range(5) for tile in range(chunk + 1)]
    first, *_ = (command for command in score_composites(trace) if "add" in command.op_kinds)
    assert first.op_operands(2)["other"].label == "mask"


def test_the_mask_is_made_once_and_not_at_all_where_no_tile_needs_it():
    def made(**arguments: object) -> list[str]:
        kinds = [command.op_kinds[0] for command in commands(prefilled(**arguments).trace)]
        return [kind for kind in kinds if kind in ("arange", "le", "where")]

    assert made(s_kv=40) == ["arange", "arange", "le", "where"]
    assert made(s_kv=40, t_q=1) == []


# -- grouped queries


def test_keys_and_values_are_read_alike_whatever_the_group_and_the_gemms_grow_with_it():
    def reads(g: int) -> tuple[list[tuple], int]:
        trace = prefilled(g=g, s_kv=40).trace
        operands = [command.op_operands(0)["b"] for command in score_composites(trace)]
        work = sum(
            prod(command.form.ops[0].integer(extent) for extent in "mkn")
            for command in score_composites(trace)
        )
        return [
            (each.geometry.shape, each.geometry.strides, each.address) for each in operands
        ], work

    alone, work = reads(1)
    assert len(alone) == 15
    assert reads(4) == (alone, 4 * work)


def test_the_bytes_read_for_keys_and_values_do_not_grow_with_the_group():
    def read_bytes(g: int) -> int:
        timeline = replay(prefilled(SINGLE_PE, g=g, s_kv=128, d=128, tile=64).trace)
        stages = timeline.stages
        in_tile_loop = (stages.kind == StageKind.DMA_READ) & (stages.op >= 0) & (stages.tile >= 0)
        classes = stages.duration_class[in_tile_loop]
        return sum(timeline.duration_classes[number].quantity for number in classes)

    # 3 tiles of 64 keys: K and V, 64 × 128 in f32
    assert read_bytes(1) == read_bytes(8) == 3 * 2 * 64 * 128 * 4


def test_a_querys_heads_are_rows_side_by_side():
    # g·d = 32 columns of q are 2 rows of 16: a chunk of 8 queries is 16 rows, 1024 bytes
    loads = [
        command
        for command in commands(prefilled(s_kv=24).trace)
        if command.kind is CommandKind.LOAD
    ]
    sources = [command.handles[0] for command in loads]
    assert [source.geometry.shape for source in sources] == 3 * [(16, 16)]
    assert [source.address for source in sources] == [0, 1024, 2048]


# -- how it is issued


def test_opt2_waits_for_nothing_within_a_chunk():
    trace = prefilled(variant="opt2", s_kv=40, t_q=8).trace
    composites = [command for command in commands(trace) if command.kind is CommandKind.COMPOSITE]
    assert len(composites) == 10
    assert [command.index for command in composites] == list(
        range(composites[0].index, composites[0].index + 10)
    )
    assert all(not command.waits for command in composites)
    following = commands(trace)[composites[-1].index + 1]
    assert following.kind is CommandKind.WAIT
    assert following.waits == tuple(command.index for command in composites)


def test_opt3_issues_the_next_scores_before_it_folds_these():
    trace = prefilled(variant="opt3", s_kv=40, t_q=8).trace
    kinds = [
        command.op_kinds[0]
        for command in commands(trace)
        if command.op_kinds[0] in ("gemm", "rmax") and command.kind is not CommandKind.WAIT
    ]
    # S₀ S₁ fold₀ (max, P·V) S₂ fold₁ … fold₄
    assert kinds == ["gemm", *4 * ["gemm", "rmax", "gemm"], "rmax", "gemm"]


@pytest.mark.parametrize(("variant", "count"), [("opt1", 13), ("opt2", 2), ("opt3", 10)])
def test_one_more_tile_is_as_many_commands_as_in_decode(variant: str, count: int):
    def issued(s_kv: int) -> int:
        return len(commands(prefilled(variant=variant, s_kv=s_kv, t_q=1).trace))

    assert issued(48) - issued(40) == count


def test_state_and_scores_are_f32_and_p_has_the_storage_dtype():
    for variant in VARIANTS:
        for command in commands(prefilled(variant=variant, s_kv=20, dtype="bf16").trace):
            for handle in command.handles:
                if handle.label in ("m", "l", "O", "S", "PV", "mask"):
                    assert handle.geometry.dtype == "f32", (variant, handle)
                if handle.label in ("P", "o", "q"):
                    assert handle.geometry.dtype == "bf16", (variant, handle)


def highest_address(trace: Trace) -> int:
    return max(
        handle.address + handle.geometry.size_bytes
        for command in commands(trace)
        for handle in command.handles
        if handle.geometry.space is Space.TCM
    )


def test_a_long_prompt_runs_in_the_memory_of_a_short_one():
    assert highest_address(prefilled(s_kv=48).trace) == highest_address(prefilled(s_kv=240).trace)


def test_every_query_is_stored_once():
    stores = [
        command.handles[1]
        for command in commands(prefilled(s_kv=44).trace)
        if command.kind is CommandKind.STORE
    ]
    # [44, 32] in f32: a query is 128 bytes
    assert [store.address for store in stores] == [chunk * 8 * 128 for chunk in range(6)]
    assert sum(store.geometry.size_bytes for store in stores) == 44 * 128


@pytest.mark.slow
def test_sixteen_thousand_tokens_run():
    trace = prefilled(SINGLE_PE, g=8, d=128, tile=64, dtype="bf16", s_kv=16384).trace
    # 256 chunks of 64: 256 · 257 / 2 tiles
    assert len(score_composites(trace)) == 32896


# -- refusals


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"variant": "opt4"}, "no variant 'opt4'; known: opt1, opt2, opt3"),
        ({"dtype": "i32"}, "no dtype 'i32'; known: f16, bf16, f32"),
        ({"tile": 0}, "tile must be at least 1, not 0"),
        ({"q_start": -2}, "q_start must be at least -1, not -2"),
        ({"s_kv": 8, "t_q": 9}, "t_q must be at most s_kv, which is 8, not 9"),
        (
            {"s_kv": 8, "t_q": 5, "q_start": 4},
            "q_start must be at most s_kv - t_q, which is 3, not 4",
        ),
        ({"g": 8, "c": 4}, "c must be 1 or g, which is 8, not 4"),
        (
            {"p": 5},
            "p must be from 1 to 4 (PEs of a CUBE on ring_of_eight), not 5",
        ),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict[str, object], text: str):
    assert refusal(**arguments) == f"gqa_prefill: {text}"
