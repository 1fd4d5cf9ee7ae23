"""gqa_decode: right in every variant and dtype, and of the shape that DDD-0065 counts."""

import math
from pathlib import Path

import numpy as np
import pytest
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.kernels.gqa_decode import kv_tiles
from kerntape.capture.kernels.references import attention
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError, KernelError
from kerntape.schemas.trace import Command
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology

TOPOLOGY = resolve_topology("single_pe")
VARIANTS = ("opt1", "opt2", "opt3")


def captured(*, with_data: bool = True, **arguments: object) -> CaptureResult:
    texts = {name: str(value) for name, value in arguments.items()}
    return capture("gqa_decode", TOPOLOGY, texts, with_data=with_data)


def commands_of(result: CaptureResult) -> list[Command]:
    return list(result.trace.commands(result.trace.streams[0]))


def tiles_of(variant: str, **arguments: object) -> list[list[Command]]:
    """The commands of each tile: from its Q·Kᵀ (46 + 24 bytes and 1 op after the GEMM) to the next."""
    arguments = {"s_kv": 256, "tile": 64} | arguments
    commands = commands_of(captured(with_data=False, variant=variant, **arguments))
    starts = [command.index for command in commands if command.op_kinds[:2] == ("gemm", "scale")]
    ends = [*starts[1:], len(commands)]
    return [commands[start:end] for start, end in zip(starts, ends, strict=True)]


def refusal(**arguments: object) -> str:
    with pytest.raises(ConfigError) as error:
        captured(with_data=False, **arguments)
    return str(error.value)


# (g, d, s_kv, tile, dtype): every g, d and dtype that matters at least once, whole and ragged
# last tiles, a cache smaller than a tile, a single key, one-shot
SHAPES = [
    (1, 64, 1, 64, "f32"),
    (1, 80, 64, 64, "bf16"),
    (7, 80, 100, 32, "f16"),
    (7, 64, 33, 16, "f32"),
    (8, 128, 256, 64, "bf16"),
    (8, 128, 129, 64, "f16"),
    (8, 256, 50, 64, "bf16"),
    (71, 128, 96, 32, "f32"),
    (71, 64, 70, 64, "bf16"),
    (8, 128, 200, 0, "f16"),
    (71, 256, 65, 0, "f32"),
]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_variant_agrees_with_float64_attention(variant: str, shape: tuple):
    g, d, s_kv, tile, dtype = shape
    output = captured(variant=variant, g=g, d=d, s_kv=s_kv, tile=tile, dtype=dtype).outputs["o"]
    assert output.shape == (g, d)
    assert output.is_right, output


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_scale_of_ones_own_is_used(variant: str):
    sharp = captured(variant=variant, g=2, d=64, s_kv=40, tile=16, dtype="f32", scale=1.5)
    assert sharp.outputs["o"].is_right


def test_f32_is_right_to_f32_precision_and_bf16_is_not_f32():
    errors = {
        dtype: captured(s_kv=128, dtype=dtype).outputs["o"].max_abs_err
        for dtype in ("f32", "f16", "bf16")
    }
    assert errors["f32"] < 2e-6
    # a result below 1 is rounded to 2^-11 in f16 and 2^-8 in bf16, and P before it likewise
    assert 2e-5 < errors["f16"] < 1e-3 < errors["bf16"] < 1e-2


def test_the_reference_is_softmax_attention():
    # scores [0, ln 3] (scale 1): weights ¼ and ¾, so the result is ¼·4 + ¾·8 = 7
    q, k = np.array([[1.0]]), np.array([[0.0, math.log(3)]])
    assert attention(q, k, np.array([[4.0], [8.0]]), 1.0).tolist() == [[pytest.approx(7.0)]]


TORCH_LAUNCH = """\
import torch
from kerntape.capture.kernels.gqa_decode import gqa_decode

def launch(rt, variant: str, dtype: str, s_kv=150):
    q, k = rt.random((8, 128), dtype), rt.random((128, s_kv), dtype)
    v, o = rt.random((s_kv, 128), dtype), rt.empty((8, 128), dtype)

    def attention():
        heads = [torch.from_numpy(each.values)[None] for each in (q, k, v)]
        heads[1] = heads[1].transpose(-1, -2)
        return torch.nn.functional.scaled_dot_product_attention(*heads, scale=0.125)[0].numpy()

    rt.output(o, reference=attention)
    rt.launch(gqa_decode, (1, 1, 1), q, k, v, o, s_kv, variant, 64, 2, 0.125)
"""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_every_variant_agrees_with_pytorchs_attention(variant: str, dtype: str, tmp_path: Path):
    pytest.importorskip("torch")
    (tmp_path / "mine.py").write_text(TORCH_LAUNCH)
    result = capture(f"{tmp_path}/mine.py", TOPOLOGY, {"variant": variant, "dtype": dtype})
    assert result.outputs["o"].is_right


# opt1: 70 + rmax 24 + 2 sub, 2 mul, 2 add, max_elem at 28 + 2 exp at 20 + rsum 24 + P·V 46
# opt2: 70 + 322
# opt3: 70 + rmax 24 + max_elem, exp_diff, add at 28 + exp_diff by rows 32 + rsum 24 + fma 36
#       + mul_bcast 32 + P·V 46
@pytest.mark.parametrize(
    ("variant", "count", "size_bytes"),
    [("opt1", 13, 400), ("opt2", 2, 392), ("opt3", 10, 348)],
)
def test_a_tile_is_as_many_commands_and_bytes_as_the_design_counts(
    variant: str, count: int, size_bytes: int
):
    tile = tiles_of(variant)[1]
    assert len(tile) == count
    assert sum(command.form.logical_bytes for command in tile) == size_bytes


def test_the_two_composites_of_an_opt2_tile_are_70_and_322_bytes():
    scores, merge = tiles_of("opt2")[0][:2]
    assert (scores.op_kinds, scores.form.logical_bytes) == (("gemm", "scale"), 70)
    assert merge.op_kinds == (
        *("rmax", "max_elem", "exp_diff", "exp_diff", "rsum", "fma", "mul_bcast", "copy"),
        *("gemm", "add"),
    )
    assert merge.form.logical_bytes == 322
    assert [handle.label for handle in merge.rw_handles] == ["m", "l", "O"]


def test_an_opt3_tile_issues_the_next_scores_first():
    kinds = [command.op_kinds for command in tiles_of("opt3")[1]]
    assert kinds == [
        ("gemm", "scale"),
        *[("rmax",), ("max_elem",), ("exp_diff",), ("exp_diff",), ("rsum",), ("fma",)],
        *[("mul_bcast",), ("gemm",), ("add",)],
    ]
    bare = tiles_of("opt3")[1][8]
    assert (bare.kind, bare.form.logical_bytes) == (CommandKind.COMPOSITE, 46)


@pytest.mark.parametrize("variant", VARIANTS)
def test_both_gemms_are_composites(variant: str):
    gemms = [
        command.kind
        for command in commands_of(captured(with_data=False, variant=variant, s_kv=128))
        if "gemm" in command.op_kinds
    ]
    assert gemms == 4 * [CommandKind.COMPOSITE]


def test_opt2_waits_for_nothing_in_its_loop_and_once_at_the_end():
    commands = commands_of(captured(with_data=False, variant="opt2", s_kv=256))
    # the first composite waits for the load of q; the wait is for the 8 composites
    waits = {command.index: command.waits for command in commands if command.waits}
    first = next(command for command in commands if command.kind is CommandKind.COMPOSITE)
    last = next(command for command in commands if command.kind is CommandKind.WAIT)
    assert waits == {first.index: (0,), last.index: tuple(range(first.index, first.index + 8))}


def test_opt2_masks_a_ragged_last_tile_without_waiting():
    *whole, last = tiles_of("opt2", s_kv=100)
    assert {tile[0].op_kinds for tile in whole} == {("gemm", "scale")}
    assert last[0].op_kinds == ("gemm", "scale", "add")
    assert last[0].op_operands(2)["other"].label == "mask"
    assert last[0].waits == ()


def test_only_a_ragged_last_tile_costs_a_mask():
    kinds = {"where", "arange", "lt"}
    whole, ragged = (
        [command.op_kinds[0] for command in commands_of(captured(with_data=False, s_kv=s_kv))]
        for s_kv in (128, 127)
    )
    assert not kinds & set(whole)
    assert kinds <= set(ragged)


def test_tiles_end_where_the_cache_ends():
    assert kv_tiles(valid=90, capacity=128, tile=32) == (
        range(32),
        range(32, 64),
        range(64, 96),
    )
    assert kv_tiles(valid=90, capacity=95, tile=32)[-1] == range(64, 95)
    assert kv_tiles(valid=90, capacity=95, tile=0) == (range(90),)


def test_more_valid_keys_than_the_cache_holds_are_refused():
    with pytest.raises(KernelError) as error:
        kv_tiles(valid=96, capacity=95, tile=32)
    assert str(error.value) == "the valid keys must be from 1 to the cache's 95, not 96"


USERS_LAUNCH = """\
from kerntape.capture.kernels.gqa_decode import gqa_decode
from kerntape.capture.kernels.references import attention

def launch(rt, variant="opt2", capacity=95, valid=90):
    q, k = rt.random((3, 32), "f32"), rt.random((32, capacity), "f32")
    v, o = rt.random((capacity, 32), "f32"), rt.empty((3, 32), "f32")
    rt.output(o, reference=lambda: attention(q.values, k.values[:, :valid], v.values[:valid], 0.2))
    rt.launch(gqa_decode, (1, 1, 1), q, k, v, o, valid, variant, 32, 2, 0.2)
"""


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("capacity", [90, 95, 300])
def test_a_cache_of_any_length_beyond_the_valid_keys_gives_the_same_answer(
    variant: str, capacity: int, tmp_path: Path
):
    # 90: the last tile is narrower · 95: narrower and masked · 300: whole and masked
    (tmp_path / "mine.py").write_text(USERS_LAUNCH)
    texts = {"variant": variant, "capacity": str(capacity)}
    result = capture(f"{tmp_path}/mine.py", TOPOLOGY, texts)
    assert result.outputs["o"].is_right


def test_scratch_slots_rotate_from_tile_to_tile():
    def score_addresses(slots: int) -> list[int]:
        tiles = tiles_of("opt2", slots=slots)
        return [tile[0].op_out(0).address for tile in tiles]

    alone, rotated = score_addresses(1), score_addresses(2)
    assert len(set(alone)) == 1
    assert rotated[0::2] == 2 * [rotated[0]]
    assert rotated[1::2] == 2 * [rotated[1]]
    assert rotated[0] != rotated[1]


def test_opt3_fills_one_score_buffer_while_it_folds_the_other():
    tiles = tiles_of("opt3")
    written = [tile[0].op_out(0).address for tile in tiles]
    folded = [tile[1].op_operands(0)["src"].address for tile in tiles[1:]]
    assert written[0] == written[2] != written[1] == written[3]
    assert folded == [written[0], written[1], written[2]]


def test_state_and_scores_are_f32_and_p_has_the_storage_dtype():
    for variant in VARIANTS:
        for command in commands_of(captured(with_data=False, variant=variant, s_kv=128)):
            for handle in command.handles:
                if handle.label in ("m", "l", "O", "S", "PV", "m_new", "corr"):
                    assert handle.geometry.dtype == "f32", (variant, handle)
                if handle.label in ("P", "o"):
                    assert handle.geometry.dtype == "bf16", (variant, handle)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("s_kv", [128, 100])
def test_without_data_the_trace_is_the_same_bytes(variant: str, s_kv: int):
    with_data, without = (
        captured(with_data=with_data, variant=variant, s_kv=s_kv) for with_data in (True, False)
    )
    assert trace_bytes(with_data.trace) == trace_bytes(without.trace)
    assert without.outputs["o"].max_abs_err is None


def test_a_scale_of_0_weighs_all_keys_alike():
    alike = captured(g=2, d=64, s_kv=40, tile=16, dtype="f32", scale=0)
    assert alike.outputs["o"].is_right
    assert alike.trace.header.arguments["scale"] == 0.0


def test_the_header_names_the_arguments_with_what_their_defaults_stand_for():
    assert captured(with_data=False, g=4).trace.header.arguments == {
        "variant": "opt2",
        "g": 4,
        "d": 128,
        "s_kv": 4096,
        "tile": 64,
        "dtype": "bf16",
        "slots": 2,
        "scale": 1 / math.sqrt(128),
        "c": 1,
        "p": 1,
        "heads": 1,
        "placement": "contiguous",
        "max_context": 4096,
        "counter": 4096,
        "start_cube": 0,
        "start_pe": 0,
        "requests": 1,
        "reduce_pe": "tree",
        "reduce_cube": "centre",
    }


def test_k_is_read_a_strided_tile_at_a_time_and_independently_of_g():
    def k_tiles(g: int) -> list[tuple]:
        tiles = tiles_of("opt2", g=g, s_kv=128)
        return [
            (ref.geometry.shape, ref.geometry.strides, ref.address)
            for tile in tiles
            for ref in [tile[0].op_operands(0)["b"]]
        ]

    # [128, 64] of [128, 128] in bf16: rows 256 bytes apart, the second tile 128 bytes on
    assert k_tiles(8) == [((128, 64), (256, 2), 0), ((128, 64), (256, 2), 128)]
    assert k_tiles(1) == k_tiles(71) == k_tiles(8)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"variant": "opt4"}, "gqa_decode: no variant 'opt4'; known: opt1, opt2, opt3"),
        ({"dtype": "i32"}, "gqa_decode: no dtype 'i32'; known: f16, bf16, f32"),
        ({"tile": -1}, "gqa_decode: tile must be at least 0, not -1"),
        ({"s_kv": 0}, "gqa_decode: s_kv must be at least 1, not 0"),
        ({"slot": 3}, "gqa_decode has no argument 'slot'; did you mean 'slots'?"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict, text: str):
    assert refusal(**arguments) == text
