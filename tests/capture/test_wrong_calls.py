"""A verb called with the wrong arguments: one line with the verb as written, and no private name."""

from collections.abc import Callable
from typing import Any

import pytest
from capture_bench import normal, record
from kerntape.capture.capture import capture
from kerntape.schemas.errors import KernelError, KernelRaisedError, KerntapeError
from kerntape.topologies.loader import resolve_topology

A = normal(4, 6)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda tl, v: tl.max(v, axs=0), "tl.max has no argument 'axs'; did you mean 'axis'?"),
        (
            lambda tl, v: tl.add(v, v, dtyp="f16"),
            "tl.add has no argument 'dtyp'; did you mean 'dtype'?",
        ),
        (
            lambda tl, v: tl.maximum(v, v, axis=0),
            "tl.maximum has no argument 'axis'; known: src, other, bcast_axis, out, dtype, name",
        ),
        (
            lambda tl, v: tl.exp(v, bcast_axis=0),
            "tl.exp has no argument 'bcast_axis'; known: src, out, dtype, name",
        ),
        (lambda tl, v: tl.load(v, shp=4), "tl.load has no argument 'shp'; did you mean 'shape'?"),
        (
            lambda tl, v: tl.scratch_scope(slot=2),
            "tl.scratch_scope has no argument 'slot'; did you mean 'slots'?",
        ),
        (
            lambda tl, v: tl.send(v),
            "tl.send needs 'src'; it is called as tl.send(direction, src)",
        ),
        (
            lambda tl, v: tl.recv("W"),
            "tl.recv needs 'shape' and 'dtype'; it is called as"
            " tl.recv(direction, shape, dtype, *, name='')",
        ),
        (
            lambda tl, v: tl.empty((4,), "f32", "v"),
            "tl.empty is given more arguments than it takes by position; it is called as"
            " tl.empty(shape, dtype='f32', *, name='')",
        ),
        (
            lambda tl, v: tl.softmax(v, 0, axis=1),
            "tl.softmax is given 'axis' twice; it is called as tl.softmax(src, axis=-1, **result)",
        ),
        (
            lambda tl, v: v.view(shape=(6, 4)),
            "handle.view takes no argument by name; it is called as handle.view(*shape)",
        ),
    ],
)
def test_a_wrong_call_of_a_verb_is_one_line(call: Callable[[Any, Any], object], text: str) -> None:
    def kernel(x, *, tl):
        call(tl, tl.load(x))

    with pytest.raises(KernelError) as error:
        record(kernel, A)
    told, _, where = str(error.value).rpartition(" (")
    assert told == text
    assert where.startswith("test_wrong_calls.py:")


def test_a_wrong_call_of_the_kernels_own_function_has_its_traceback() -> None:
    def load(tensor: object) -> None: ...

    def kernel(x, *, tl):
        load(x, shp=4)  # type: ignore[call-arg]  # the mistake

    with pytest.raises(
        KernelRaisedError, match=r"load\(\) got an unexpected keyword argument 'shp'"
    ):
        record(kernel, A)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("rt.zeros(shap=(4,))", "rt.zeros has no argument 'shap'; did you mean 'shape'?"),
        ("rt.split(0)", "rt.split needs 'over'; it is called as rt.split(axis, over)"),
        (
            "rt.random_normal((4,))",
            "rt has no 'random_normal'; known: empty, launch, output, owned_by, random, replicated,"
            " resolve, sips, split, tensor, topology, zeros",
        ),
        (
            "rt.zeros((4,), placement='pe')",
            "rt.zeros: placement must be rt.split(axis, over), rt.replicated or rt.owned_by(pe), not"
            " 'pe'",
        ),
    ],
)
def test_a_wrong_call_of_the_runtime_is_one_line_with_the_line_of_the_launch(
    tmp_path, call: str, text: str
) -> None:
    (tmp_path / "mine.py").write_text(f"def launch(rt):\n    {call}\n")
    with pytest.raises(KerntapeError) as error:
        capture(f"{tmp_path}/mine.py", resolve_topology("single_pe"), {})
    assert str(error.value) == f"{text} (mine.py:2)"


def test_a_launch_may_ask_whether_rt_offers_something(tmp_path) -> None:
    (tmp_path / "mine.py").write_text(
        "def launch(rt):\n"
        "    assert hasattr(rt, 'zeros') and not hasattr(rt, 'ones')\n"
        "    rt.launch(lambda *, tl: None, (1, 1, 1))\n"
    )
    assert (
        capture(f"{tmp_path}/mine.py", resolve_topology("single_pe"), {}).trace.command_count == 0
    )
