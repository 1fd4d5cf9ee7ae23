"""A user's file becomes a trace: what is in it, what it does not depend on, what is reported."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from kerntape.capture.capture import capture
from kerntape.schemas.errors import ConfigError, KernelError, KernelRaisedError, KerntapeError
from kerntape.schemas.trace_checks import check_trace
from kerntape.schemas.trace_file import read_trace, trace_bytes, write_trace
from kerntape.topologies.loader import resolve_topology

ONE_PE = resolve_topology("single_pe")
ONE_CUBE = resolve_topology("one_cube")

SCALE_ROWS = """\
from helpers import shape_of

def scale_rows(x, y, factor, *, tl):
    rows = tl.load(x)
    tl.store(y, rows * factor)

def launch(rt, rows: int = 16, factor: float = 2.0, pes: int = 1, error: float = 0.0):
    by_rows = rt.split(axis=0, over="pe")
    x = rt.random(shape_of(rows), "f32", placement=by_rows)
    y = rt.empty(shape_of(rows), "f32", placement=by_rows)
    rt.output(y, reference=lambda: x.values * factor + error)
    rt.launch(scale_rows, (pes, 1, 1), x, y, factor=factor)
"""

HELPERS = """\
def shape_of(rows):
    return (rows, 4)
"""


@pytest.fixture
def user_file(tmp_path: Path) -> str:
    (tmp_path / "my_kernel.py").write_text(SCALE_ROWS)
    (tmp_path / "helpers.py").write_text(HELPERS)
    return f"{tmp_path}/my_kernel.py"


@pytest.fixture
def write_kernel(tmp_path: Path):
    """Writes a user's file and returns its name."""

    def write(text: str) -> str:
        (tmp_path / "mine.py").write_text(text)
        return f"{tmp_path}/mine.py"

    return write


def refusal(kernel: str, kind: type[KerntapeError] = KerntapeError, **arguments: str) -> str:
    with pytest.raises(kind) as error:
        capture(kernel, ONE_PE, arguments)
    return str(error.value)


def test_a_trace_has_the_launch_in_its_header(user_file: str):
    header = capture(f"{user_file}:launch", ONE_PE, {"rows": "8"}).trace.header
    assert header.kernel == "my_kernel.py:launch"
    assert header.arguments == {"rows": 8, "factor": 2.0, "pes": 1, "error": 0.0}
    assert header.grid == (1, 1, 1)
    assert header.sources == {
        "helpers.py": sha256(HELPERS.encode()).hexdigest(),
        "my_kernel.py": sha256(SCALE_ROWS.encode()).hexdigest(),
    }
    x, y = header.tensors
    assert (x.name, x.shape, x.dtype, x.placement, x.is_output) == (
        *("x", (8, 4), "f32"),
        *("axis 0 over pe", False),
    )
    assert (y.name, y.is_output) == ("y", True)


def test_the_headers_topology_is_the_machine_whole(user_file: str):
    header = capture(user_file, ONE_CUBE, {}).trace.header
    assert type(ONE_CUBE).model_validate(header.topology) == ONE_CUBE


def test_a_trace_passes_every_check_and_comes_back_from_its_file(user_file: str, tmp_path: Path):
    trace = capture(user_file, ONE_CUBE, {"pes": "4"}, keep_inputs=True).trace
    check_trace(trace)
    write_trace(tmp_path / "x.ktrace", trace)
    assert trace_bytes(read_trace(tmp_path / "x.ktrace")) == trace_bytes(trace)


def test_arguments_of_every_kind_come_back_from_the_file(write_kernel, tmp_path: Path):
    kernel = write_kernel(
        "def idle(*, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt, rows=1, scale=0.5, masked=True, way='ring', spare=None):\n"
        "    rt.launch(idle, (1, 1, 1))\n"
    )
    write_trace(tmp_path / "x.ktrace", capture(kernel, ONE_PE, {"masked": "no"}).trace)
    arguments = read_trace(tmp_path / "x.ktrace").header.arguments
    assert arguments == {"rows": 1, "scale": 0.5, "masked": False, "way": "ring", "spare": None}
    assert arguments["masked"] is False


def test_alike_pes_share_a_stream_and_know_where_their_own_parts_lie(user_file: str):
    trace = capture(user_file, ONE_CUBE, {"pes": "8", "rows": "64"}).trace
    assert [pe.rank for pe in trace.pes] == list(range(8))
    assert {pe.stream for pe in trace.pes} == {0}
    assert len(trace.streams) == 1
    # x: 8 rows × 4 × 4 bytes = 128 bytes, then y
    assert [(pe.owners, pe.bases) for pe in trace.pes] == [((r, r), (0, 128)) for r in range(8)]


def test_pes_with_less_to_do_have_streams_of_their_own(user_file: str):
    # 13 rows on 4 PEs: B = 4, so 4, 4, 4 and 1
    trace = capture(user_file, ONE_CUBE, {"pes": "4", "rows": "13"}).trace
    assert [pe.stream for pe in trace.pes] == [0, 0, 0, 1]


def test_an_output_is_compared_with_its_reference_part_by_part(user_file: str):
    output = capture(user_file, ONE_CUBE, {"pes": "4", "rows": "13"}).outputs["y"]
    assert (output.shape, output.dtype, output.max_abs_err) == ((13, 4), "f32", 0.0)
    assert output.is_right


def test_a_wrong_output_is_reported_with_its_largest_error(user_file: str):
    output = capture(user_file, ONE_PE, {"error": "0.5"}).outputs["y"]
    assert output.max_abs_err == pytest.approx(0.5)
    assert not output.is_right


def test_a_default_tolerance_follows_from_dtype_and_size(write_kernel):
    kernel = write_kernel(
        "def copy(x, y, *, tl):\n"
        "    tl.store(y, tl.load(x))\n"
        "def launch(rt, dtype='f16'):\n"
        "    x = rt.tensor([0.5, -4.0], dtype=dtype)\n"
        "    y = rt.output(rt.empty((2,), dtype), reference=[0.5, -4.0])\n"
        "    rt.launch(copy, (1, 1, 1), x, y)\n"
    )
    # 4 · 2^-8, 4 · 2^-5, 4 · 2^-16
    for dtype, tolerance in (("f16", 0.015625), ("bf16", 0.125), ("f32", 2.0**-14)):
        output = capture(kernel, ONE_PE, {"dtype": dtype}).outputs["y"]
        assert (output.max_abs_err, output.tolerance) == (0.0, tolerance)


def test_a_tolerance_of_ones_own_holds(write_kernel):
    kernel = write_kernel(
        "def copy(x, y, *, tl):\n"
        "    tl.store(y, tl.load(x))\n"
        "def launch(rt):\n"
        "    y = rt.output(rt.empty((1,), 'f32'), reference=[1.25], tolerance=0.25)\n"
        "    rt.launch(copy, (1, 1, 1), rt.tensor([1.0], dtype='f32'), y)\n"
    )
    output = capture(kernel, ONE_PE, {}).outputs["y"]
    assert (output.max_abs_err, output.tolerance, output.is_right) == (0.25, 0.25, True)


def test_an_output_that_nobody_wrote_is_wrong(write_kernel):
    kernel = write_kernel(
        "def idle(y, *, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt):\n"
        "    rt.launch(idle, (1, 1, 1), rt.output(rt.empty((2,), 'f32'), reference=[0, 0]))\n"
    )
    output = capture(kernel, ONE_PE, {}).outputs["y"]
    assert np.isnan(output.max_abs_err)
    assert output.finite_error is None
    assert not output.is_right


def test_an_output_without_a_reference_is_not_compared(write_kernel):
    kernel = write_kernel(
        "def idle(y, *, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt):\n"
        "    rt.launch(idle, (1, 1, 1), rt.output(rt.empty((2,), 'f32')))\n"
    )
    output = capture(kernel, ONE_PE, {}).outputs["y"]
    assert (output.max_abs_err, output.tolerance, output.is_right) == (None, None, True)


def test_a_tensor_with_one_owner_is_read_there_by_all(write_kernel):
    kernel = write_kernel(
        "def copy(x, y, *, tl):\n"
        "    tl.store(y, tl.load(x))\n"
        "def launch(rt):\n"
        "    x = rt.tensor([1.0, 2.0], dtype='f32', placement=rt.owned_by(pe=1))\n"
        "    y = rt.output(rt.empty((2,), 'f32'), reference=lambda: x.values)\n"
        "    rt.launch(copy, (3, 1, 1), x, y)\n"
    )
    result = capture(kernel, ONE_CUBE, {})
    assert [pe.owners for pe in result.trace.pes] == [(1, 0), (1, 1), (1, 2)]
    assert result.outputs["y"].max_abs_err == 0.0


def test_the_trace_does_not_depend_on_values_or_seed(user_file: str):
    one, other, without = (
        trace_bytes(capture(user_file, ONE_PE, {}, **options).trace)
        for options in ({}, {"seed": 5}, {"with_data": False})
    )
    assert one == other == without


CAPTURE_HASH = """\
import sys
from hashlib import sha256
from kerntape.capture.capture import capture
from kerntape.schemas.trace_file import trace_bytes
from kerntape.topologies.loader import resolve_topology
trace = capture(sys.argv[1], resolve_topology("one_cube"), {"pes": "4", "rows": "13"}).trace
print(sha256(trace_bytes(trace)).hexdigest())
"""


def test_the_trace_is_the_same_bytes_in_another_process_folder_and_hash_order(
    user_file: str, tmp_path: Path
):
    (tmp_path / "elsewhere").mkdir()
    hashes = {
        subprocess.run(
            [sys.executable, "-c", CAPTURE_HASH, kernel],
            cwd=folder,
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for kernel, folder, seed in (
            (user_file, tmp_path / "elsewhere", "1"),
            ("my_kernel.py", tmp_path, "2"),
        )
    }
    here = capture(user_file, ONE_CUBE, {"pes": "4", "rows": "13"}).trace
    assert hashes == {sha256(trace_bytes(here)).hexdigest() + "\n"}


def test_no_path_of_the_machine_is_in_the_trace(user_file: str, tmp_path: Path):
    assert str(tmp_path).encode() not in trace_bytes(capture(user_file, ONE_PE, {}).trace)


def test_kept_inputs_are_the_values_before_the_kernel_ran(user_file: str):
    trace = capture(user_file, ONE_CUBE, {"pes": "2", "rows": "2"}, keep_inputs=True).trace
    assert trace.inputs is not None
    assert sorted(trace.inputs.images) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    x_values = np.random.default_rng([0, 0]).standard_normal((2, 4)).astype(np.float32)
    assert trace.inputs.images[1, 0] == x_values[1].tobytes()
    assert np.isnan(np.frombuffer(trace.inputs.images[0, 1], np.float32)).all()


def test_inputs_cannot_be_kept_where_none_are_made(user_file: str):
    with pytest.raises(ConfigError) as error:
        capture(user_file, ONE_PE, {}, with_data=False, keep_inputs=True)
    assert str(error.value) == (
        "--keep-inputs keeps values, and --no-data makes none; leave one out"
    )


def test_a_kernels_own_exception_comes_with_its_own_traceback(write_kernel):
    kernel = write_kernel(
        "def broken(*, tl):\n    [][0]\ndef launch(rt):\n    rt.launch(broken, (1, 1, 1))\n"
    )
    with pytest.raises(KernelRaisedError) as error:
        capture(kernel, ONE_PE, {})
    assert str(error.value) == "the kernel raised IndexError: list index out of range (mine.py:2)"
    assert error.value.kernel_traceback.splitlines()[1] == f'  File "{kernel}", line 2, in broken'
    assert error.value.kernel_traceback.endswith("IndexError: list index out of range\n")


def test_a_launch_functions_own_exception_comes_with_its_own_traceback(write_kernel):
    kernel = write_kernel("def launch(rt):\n    1 / 0\n")
    with pytest.raises(KernelRaisedError) as error:
        capture(kernel, ONE_PE, {})
    assert (
        str(error.value) == "mine.py:launch raised ZeroDivisionError: division by zero (mine.py:2)"
    )
    assert error.value.kernel_traceback.splitlines()[1] == f'  File "{kernel}", line 2, in launch'


def test_an_exception_in_a_reference_says_so(write_kernel):
    kernel = write_kernel(
        "def idle(y, *, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt):\n"
        "    y = rt.output(rt.zeros((1,)), reference=lambda: missing)\n"
        "    rt.launch(idle, (1, 1, 1), y)\n"
    )
    assert refusal(kernel, KernelRaisedError) == (
        "mine.py:launch, in a reference, raised NameError: name 'missing' is not defined (mine.py:4)"
    )


def test_what_the_kernel_asked_in_vain_ends_with_its_line(write_kernel):
    kernel = write_kernel(
        "def greedy(*, tl):\n"
        "    tl.zeros((1 << 20,), name='big')\n"
        "def launch(rt):\n"
        "    rt.launch(greedy, (1, 1, 1))\n"
    )
    message = refusal(kernel, KernelError)
    assert "'big' [1048576] f32 needs 4194304 bytes" in message
    assert message.endswith("(mine.py:2)")


def test_what_the_launch_function_asked_in_vain_ends_with_its_line(write_kernel):
    kernel = write_kernel("def launch(rt):\n    rt.zeros((4,), 'f17')\n")
    assert (
        refusal(kernel) == "rt.zeros: no dtype 'f17'; known: f16, bf16, f32, i32, bool (mine.py:2)"
    )


def test_a_launch_function_that_launches_nothing_is_refused(write_kernel):
    assert refusal(write_kernel("def launch(rt):\n    rt.zeros((4,))\n")) == (
        "mine.py:launch must call rt.launch(kernel, grid, …), and did not"
    )


def test_a_reference_of_another_shape_is_refused(write_kernel):
    kernel = write_kernel(
        "def idle(y, *, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt):\n"
        "    rt.launch(idle, (1, 1, 1), rt.output(rt.zeros((2,)), reference=[1, 2, 3]))\n"
    )
    assert refusal(kernel) == "the reference of tensor 'y' must have shape [2], not [3]"


def test_arguments_that_the_kernel_does_not_take_are_refused(write_kernel):
    kernel = write_kernel(
        "def idle(y, *, tl):\n    tl.overhead(1)\ndef launch(rt):\n    rt.launch(idle, (1, 1, 1))\n"
    )
    assert refusal(kernel) == (
        "idle cannot be called as it is launched: missing a required argument: 'y'"
    )


def test_tensors_in_lists_tuples_and_dicts_are_the_pes_part_too(write_kernel):
    kernel = write_kernel(
        "from typing import NamedTuple\n"
        "class Pair(NamedTuple):\n"
        "    x: object\n"
        "    y: object\n"
        "def double(given, pair, plain, *, tl):\n"
        "    assert plain == [1, {'a': (2,)}]\n"
        "    for x, y in (given['first'], pair):\n"
        "        tl.store(y, tl.load(x) * 2.0)\n"
        "def launch(rt):\n"
        "    x = rt.random((8, 4), 'f32', placement=rt.split(0, 'pe'))\n"
        "    y, z = (rt.zeros((8, 4), 'f32', placement=rt.split(0, 'pe')) for _ in range(2))\n"
        "    rt.output(y, reference=lambda: 2 * x.values)\n"
        "    rt.output(z, reference=lambda: 2 * x.values)\n"
        "    rt.launch(double, (2, 1, 1), {'first': [x, y]}, Pair(x, z), [1, {'a': (2,)}])\n"
    )
    outputs = capture(kernel, ONE_CUBE, {}).outputs
    assert [output.max_abs_err for output in outputs.values()] == [0.0, 0.0]


def test_the_header_shows_what_the_launch_function_resolved(write_kernel):
    kernel = write_kernel(
        "def idle(*, tl):\n"
        "    tl.overhead(1)\n"
        "def launch(rt, rows: int = 4, scale: float | None = None):\n"
        "    rt.resolve(scale=1 / rows if scale is None else scale)\n"
        "    rt.launch(idle, (1, 1, 1))\n"
    )
    assert capture(kernel, ONE_PE, {}).trace.header.arguments == {"rows": 4, "scale": 0.25}
    given = capture(kernel, ONE_PE, {"scale": "0"}).trace.header.arguments
    assert given == {"rows": 4, "scale": 0.0}
