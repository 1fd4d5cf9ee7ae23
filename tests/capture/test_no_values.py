"""Handles and tensors in HBM have no values: NumPy and Python get none, and are told the verb to use.

Each of these once went on with something else (0.0, an array of objects, a bare TypeError).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from capture_bench import normal, record, refusal
from kerntape.schemas.errors import KernelError

A = normal(4, 6)
V = "'v' [4, 6] f32"
X = "tensor 'x' [4, 6] f32 in HBM"
NO_ARRAY = "cannot become a NumPy array: a kernel records commands and has no values;"
NO_NUMBER = "cannot become a Python number: a kernel records commands and has no values;"


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (np.sum, f"np.sum cannot compute with {V}; use tl.sum"),
        (np.exp, f"np.exp cannot compute with {V}; use tl.exp"),
        (lambda v: np.maximum(v, 0), f"np.maximum cannot compute with {V}; use tl.maximum"),
        (lambda v: np.float32(2) * v, f"np.multiply cannot compute with {V}; use tl.mul"),
        (lambda v: np.ones(6) + v, f"np.add cannot compute with {V}; use tl.add"),
        (np.add.reduce, f"np.add.reduce cannot compute with {V}; use tl.sum"),
        (lambda v: np.where(v, 1, 0), f"np.where cannot compute with {V}; use tl.where"),
        (np.tanh, f"np.tanh cannot compute with {V}; tl has no verb for it"),
        (lambda v: np.stack([v, v]), f"np.stack cannot compute with {V}; tl has no verb for it"),
        (np.asarray, f"{V} {NO_ARRAY} use tl's verbs"),
        (lambda v: np.array([v, v]), f"{V} {NO_ARRAY} use tl's verbs"),
        (float, f"{V} {NO_NUMBER} use tl's verbs"),
        (int, f"{V} {NO_NUMBER} use tl's verbs"),
        (complex, f"{V} {NO_NUMBER} use tl's verbs"),
        (lambda v: v @ v, f"@ cannot compute with {V}; use tl.dot"),
        (lambda v: v**2, f"** cannot compute with {V}; use tl.mul(v, v)"),
        (lambda v: 2**v, f"** cannot compute with {V}; use tl.mul(v, v)"),
        (lambda v: v // 2, f"// cannot compute with {V}; tl has no verb for it"),
        (lambda v: v % 2, f"% cannot compute with {V}; tl has no verb for it"),
        (abs, f"abs cannot compute with {V}; use tl.maximum(v, -v)"),
        (lambda v: v.sum(), f"{V} has no 'sum'; use tl.sum"),
        (lambda v: v.shap, f"{V} has no 'shap'; did you mean 'shape'?"),
        (
            lambda v: v * np.ones(6),
            "tl.mul: other must be a handle or a number, not ndarray; make it a tensor of the launch"
            " (rt.tensor) and tl.load it",
        ),
    ],
)
def test_what_asks_a_handle_for_its_values_is_refused(
    asked: Callable[[Any], object], text: str
) -> None:
    def kernel(x, *, tl):
        v = tl.load(x)
        asked(v)  # here

    assert refused(kernel) == text


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (np.exp, f"np.exp cannot compute with {X}; tl.load it and use tl.exp"),
        (np.sum, f"np.sum cannot compute with {X}; tl.load it and use tl.sum"),
        (np.asarray, f"{X} {NO_ARRAY} tl.load it and use tl's verbs"),
        (float, f"{X} {NO_NUMBER} tl.load it and use tl's verbs"),
        (lambda x: x + x, f"+ cannot compute with {X}; tl.load it"),
        (lambda x: x + 2.0, f"+ cannot compute with {X}; tl.load it"),
        (lambda x: x * 2.0, f"* cannot compute with {X}; tl.load it"),
        (lambda x: 2.0 * x, f"* cannot compute with {X}; tl.load it"),
        (lambda x: x - 1, f"- cannot compute with {X}; tl.load it"),
        (lambda x: x / 2, f"/ cannot compute with {X}; tl.load it"),
        (lambda x: -x, f"- cannot compute with {X}; tl.load it"),
        (lambda x: x < 0, f"< cannot compute with {X}; tl.load it"),
        (lambda x: x <= 0, f"<= cannot compute with {X}; tl.load it"),
        (lambda x: x > 0, f"> cannot compute with {X}; tl.load it"),
        (lambda x: x >= 0, f">= cannot compute with {X}; tl.load it"),
        (lambda x: x == 0, f"== cannot compute with {X}; tl.load it"),
        (lambda x: x != 0.5, f"== cannot compute with {X}; tl.load it"),
        (
            lambda x: x == np.float32(1),
            f"np.equal cannot compute with {X}; tl.load it and use tl.eq",
        ),
        (lambda x: x @ x, f"@ cannot compute with {X}; tl.load it and use tl.dot"),
        (lambda x: x.max(), f"{X} has no 'max'; tl.load it and use tl.max"),
        (lambda x: (x + 6) * 2, "* cannot compute with tensor 'x' + 6 in HBM; tl.load it"),
    ],
)
def test_a_tensor_must_be_loaded_first(asked: Callable[[Any], object], text: str) -> None:
    def kernel(x, *, tl):
        asked(x)  # here

    assert refused(kernel) == text


def refused(kernel: Callable[..., object]) -> str:
    """What capture says of the kernel, wherever in this file the line stands that asked."""
    with pytest.raises(KernelError) as error:
        record(kernel, A)
    return str(error.value).rpartition(" (")[0]


def test_nothing_is_assigned_to() -> None:
    def in_tcm(x, *, tl):
        v = tl.load(x)
        v[0] = 1.0  # here

    def in_hbm(x, *, tl):
        x[0] = tl.load(x[1])  # here

    assert refusal(in_tcm, A) == f"{V} cannot be assigned to; name it in a verb: out="
    assert refusal(in_hbm, A) == f"{X} cannot be assigned to; use tl.store"


def test_a_single_value_has_no_rows() -> None:
    def kernel(x, *, tl):
        total = tl.sum(tl.load(x[0]))
        for _ in total:  # here
            tl.wait()

    assert refusal(kernel, A) == "'total' [] f32 is one value and has no rows"


def test_a_handle_has_rows_and_answers_what_it_has() -> None:
    def kernel(x, y, *, tl):
        v = tl.load(x)
        assert len(v) == 4
        assert not hasattr(v, "sum")
        assert not hasattr(x, "__fspath__")
        assert hasattr(v, "dtype")
        assert x in [y, x]
        assert x != y
        assert x != None  # noqa: E711 - a kernel may write it so
        for row, value in enumerate(v):
            tl.store(y[row], value * np.float32(2))

    np.testing.assert_array_equal(record(kernel, A, A.copy()).value(1), A * 2)
