"""Which kernel line a command belongs to, and what its result is called."""

import os
import sys
from pathlib import Path

from capture_bench import machine, normal, record
from kerntape.capture.names import is_machinery
from kerntape.capture.runner import Launch, Program, run_kernel

X = normal(4, 4)


def labels(kernel) -> list[str]:
    """The label of each command's output."""
    return [command.handles[-1].label for command in record(kernel, X, data=False).commands()]


def test_a_result_is_named_after_the_variable_that_it_is_assigned_to() -> None:
    def kernel(x, *, tl):
        q = tl.load(x)
        total: object = tl.sum(q)
        if (biggest := tl.max(q)) is not None:
            scaled = tl.composite(
                op="gemm",
                a=q,
                b=q,
                epilogue=[{"op": "scale", "factor": 2.0}],
            )
        return total, biggest, scaled

    assert labels(kernel) == ["q", "total", "biggest", "scaled"]


def test_an_operators_result_is_named_too_and_only_the_outermost() -> None:
    def kernel(x, *, tl):
        q = tl.load(x)
        r = q * q + tl.exp(q)
        r += q
        return -r

    assert labels(kernel) == ["q", "mul", "exp", "r", "r", "neg"]


def test_tuples_and_lists_name_their_elements_by_position() -> None:
    def kernel(x, *, tl):
        m, l = tl.zeros((4,)), tl.zeros((4,))  # noqa: E741
        (a, [b]), c = (tl.load(x), [tl.load(x)]), tl.load(x)
        pair = [tl.zeros((4,)), tl.zeros((4,))]
        many = [tl.zeros((4,)) for _ in range(2)]
        pair[1] = tl.zeros((4,))
        return m, l, a, b, c, many

    assert labels(kernel) == [
        *("m", "l", "a", "b", "c"),
        *("pair[0]", "pair[1]", "many", "many", "pair[1]"),
    ]


def test_both_branches_of_a_conditional_are_named() -> None:
    def kernel(x, *, tl):
        chosen = tl.zeros((4,)) if tl.program_id(0) else tl.load(x)
        assert chosen.shape == (4, 4)

    assert labels(kernel) == ["chosen"]


def test_an_unassigned_result_is_named_after_its_op_and_a_load_after_its_tensor() -> None:
    def kernel(x, *, tl):
        tl.exp(tl.load(x))
        tl.composite(op="gemm", a=tl.zeros((4, 4)), b=tl.full((4, 4), 1.0))
        tl.dot(tl.load(x), tl.load(x))

    assert labels(kernel) == ["x", "exp", "zeros", "full", "composite", "x", "x", "dot"]


def test_an_explicit_name_comes_first() -> None:
    def kernel(x, *, tl):
        q = tl.load(x, name="query")
        p = tl.exp(q, name="powers")
        assert p.shape == q.shape

    assert labels(kernel) == ["query", "powers"]


def test_a_view_keeps_the_label_of_what_it_views() -> None:
    def kernel(x, *, tl):
        q = tl.load(x)
        turned = tl.trans(q)
        tl.copy(turned[1:3])

    assert record(kernel, X).commands()[1].handles[0].label == "q"


def test_a_line_has_its_files_base_name_its_number_function_and_text() -> None:
    def helper(tl):
        return tl.zeros((4,))  # the line

    def kernel(x, *, tl):
        helper(tl)

    (command,) = record(kernel, X).commands()
    line = command.line
    assert (line.file, line.function) == ("test_names.py", "helper")
    assert line.text == "return tl.zeros((4,))  # the line"
    assert line.number == helper.__code__.co_firstlineno + 1


def test_an_operator_and_a_comprehension_belong_to_their_own_lines() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        [
            a + float(number)
            for number in range(2)
        ]  # fmt: skip

    first = kernel.__code__.co_firstlineno
    lines = [command.line for command in record(kernel, X).commands()]
    assert [line.number for line in lines] == [first + 1, first + 3, first + 3]
    assert {line.function for line in lines} == {"kernel"}


def test_one_line_of_many_commands_is_kept_once() -> None:
    def kernel(x, *, tl):
        for _ in range(5):
            tl.load(x)

    assert len(record(kernel, X).trace.lines) == 1


def test_capture_and_the_schemas_are_machinery_and_shipped_kernels_are_not() -> None:
    capture = Path(sys.modules["kerntape.capture.names"].__file__ or "").parent
    schemas = Path(sys.modules["kerntape.schemas.errors"].__file__ or "").parent
    assert is_machinery(str(capture / "tl.py"))
    assert is_machinery(str(schemas / "values.py"))
    assert not is_machinery(str(capture / "kernels" / "gqa_decode.py"))
    assert not is_machinery("/home/somebody/tl.py")


def test_a_kernel_without_readable_source_is_recorded_without_names() -> None:
    space: dict = {}
    exec(compile("def kernel(*, tl):\n    a = tl.zeros((4,))\n", "gone.py", "exec"), space)
    launch = Launch(space["kernel"], (1, 1, 1), machine(), (Program(0, (0, 0, 0)),))
    found = run_kernel(launch)
    assert found.strings == ("zeros",)
    assert [(line.file, line.number, line.text) for line in found.lines] == [("gone.py", 2, "")]


def test_a_source_that_changed_since_it_was_read_is_read_again(tmp_path) -> None:
    file = tmp_path / "kernel_file.py"

    def line_text(source: str, when_ns: int) -> str:
        file.write_text(source)
        os.utime(file, ns=(when_ns, when_ns))
        space: dict = {}
        exec(compile(source, str(file), "exec"), space)
        launch = Launch(space["kernel"], (1, 1, 1), machine(), (Program(0, (0, 0, 0)),))
        (line,) = run_kernel(launch).lines
        return line.text

    assert line_text("def kernel(*, tl):\n    a = tl.zeros((4,))\n", 10**18) == "a = tl.zeros((4,))"
    assert line_text("def kernel(*, tl):\n    b = tl.zeros((9,))\n", 2 * 10**18) == (
        "b = tl.zeros((9,))"
    )
