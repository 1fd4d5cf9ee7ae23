"""gated_ffn: right in every dtype and shape, three composites a tile, the activation a recipe."""

import math
from pathlib import Path

import numpy as np
import pytest
from kerntape.capture.capture import CaptureResult, capture
from kerntape.capture.kernels.references import gated_feed_forward
from kerntape.capture.recipes import RECIPES
from kerntape.schemas.commands import CommandKind
from kerntape.schemas.errors import ConfigError
from kerntape.schemas.trace import Command
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology

ONE_CUBE = resolve_topology("one_cube")


def captured(*, with_data: bool = True, **arguments: object) -> CaptureResult:
    texts = {name: str(value) for name, value in arguments.items()}
    return capture("gated_ffn", ONE_CUBE, texts, with_data=with_data)


def composites(result: CaptureResult) -> list[Command]:
    commands = result.trace.commands(result.trace.streams[0])
    return [command for command in commands if command.kind is CommandKind.COMPOSITE]


# (rows, d, hidden, tile, p): whole and ragged last tiles, one tile, one column, several tiles of
# rows in a GEMM (the machine's is 32), PEs with fewer rows than others and with none
SHAPES = [
    (8, 128, 256, 64, 1),
    (1, 80, 100, 64, 1),
    (7, 33, 50, 16, 1),
    (40, 64, 96, 128, 1),
    (3, 16, 5, 1, 1),
    (20, 48, 70, 32, 8),
    (5, 48, 70, 32, 8),
]


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_it_agrees_with_float64_in_every_dtype(shape: tuple, dtype: str):
    rows, d, hidden, tile, p = shape
    result = captured(rows=rows, d=d, hidden=hidden, tile=tile, p=p, dtype=dtype)
    output = result.outputs["y"]
    assert output.shape == (rows, d)
    assert output.is_right, output


def test_the_reference_is_silu_times_up_projected_down():
    # sigmoid(ln 3) = ¾, so silu(ln 3)·2·4 = ¾·ln 3·8 = 6·ln 3; and silu(−1000) = 0
    x, gate = np.array([[1.0], [-1000 / math.log(3)]]), np.array([[math.log(3)]])
    y = gated_feed_forward(x, gate, np.array([[2.0]]), np.array([[4.0]]))
    assert y.tolist() == [[pytest.approx(6 * math.log(3))], [0.0]]


TORCH_LAUNCH = """\
import torch
from kerntape.capture.kernels.gated_ffn import gated_ffn, weights

def launch(rt, dtype: str, rows=5, d=96, hidden=150):
    x, y = rt.random((rows, d), dtype), rt.empty((rows, d), dtype)
    gate, up = weights(rt, d, hidden, dtype), weights(rt, d, hidden, dtype)
    down = weights(rt, hidden, d, dtype)

    def feed_forward():
        tokens, *parts = [torch.from_numpy(each.values) for each in (x, gate, up, down)]
        activated = torch.nn.functional.silu(tokens @ parts[0]) * (tokens @ parts[1])
        return (activated @ parts[2]).numpy()

    rt.output(y, reference=feed_forward)
    rt.launch(gated_ffn, (1, 1, 1), x, gate, up, down, y, 64, 2)
"""


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_it_agrees_with_pytorch(dtype: str, tmp_path: Path):
    pytest.importorskip("torch")
    (tmp_path / "mine.py").write_text(TORCH_LAUNCH)
    result = capture(f"{tmp_path}/mine.py", ONE_CUBE, {"dtype": dtype})
    assert result.outputs["y"].is_right


def test_a_tile_is_three_composites_of_46_46_and_158_bytes():
    # the third: framing and counts 6, sigmoid 20, two mul of 28, gemm 40, add 28, one rw handle 8
    found = composites(captured(with_data=False, hidden=128, tile=64))
    assert [command.form.logical_bytes for command in found] == 2 * [46, 46, 158]
    gate, up, down = found[:3]
    assert gate.op_kinds == up.op_kinds == ("gemm",)
    assert down.op_kinds == ("sigmoid", "mul", "mul", "gemm", "add")
    assert [handle.label for handle in down.rw_handles] == ["y"]


def test_the_recipes_output_is_the_gemms_first_operand_in_the_storage_dtype():
    down = composites(captured(with_data=False))[2]
    spelled = [
        ([handle.label for handle in down.op_operands(index).values()], down.op_out(index).label)
        for index in range(5)
    ]
    assert spelled == [
        (["gate"], "silu"),
        (["gate", "silu"], "silu"),
        (["silu", "up"], "activated"),
        (["activated", "down"], "y"),
        (["y", "y"], "y"),
    ]
    dtypes = {handle.label: handle.geometry.dtype for handle in down.handles}
    assert dtypes == {
        **dict.fromkeys(("gate", "up", "silu", "y"), "f32"),
        **dict.fromkeys(("activated", "down"), "bf16"),
    }


def test_the_recipe_is_an_entry_of_the_table_with_an_identity_output():
    recipe = RECIPES["gated_silu"]
    assert recipe.operands == (("gate", "R"), ("up", "R"))
    assert recipe.primary_out is not None
    assert recipe.primary_out.transform == "identity"


def test_pe_cpu_waits_for_the_load_of_x_and_for_all_tiles_at_the_end():
    result = captured(with_data=False, hidden=128)
    commands = list(result.trace.commands(result.trace.streams[0]))
    waits = [(command.op_kinds[0], command.waits) for command in commands if command.waits]
    # load, fill, 6 composites, cast, store: the cast reads what the composites 4 and 7 wrote
    assert waits == [("gemm", (0,)), ("cast", (4, 7))]


def test_without_data_the_trace_is_the_same_bytes():
    with_data, without = (
        captured(with_data=with_data, rows=20, d=48, hidden=70, p=8) for with_data in (True, False)
    )
    assert trace_bytes(with_data.trace) == trace_bytes(without.trace)
    assert without.outputs["y"].max_abs_err is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"dtype": "i32"}, "gated_ffn: no dtype 'i32'; known: f16, bf16, f32"),
        ({"tile": 0}, "gated_ffn: tile must be at least 1, not 0"),
        ({"p": 0}, "gated_ffn: p must be at least 1, not 0"),
        ({"hiden": 3}, "gated_ffn has no argument 'hiden'; did you mean 'hidden'?"),
    ],
)
def test_a_wrong_argument_says_what_it_must_be(arguments: dict, text: str):
    with pytest.raises(ConfigError) as error:
        captured(with_data=False, **arguments)
    assert str(error.value) == text
