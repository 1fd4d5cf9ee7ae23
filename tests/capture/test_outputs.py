"""How far an output is from its reference, and how far it may be."""

import numpy as np
import pytest
from kerntape.capture.device import whole_machine
from kerntape.capture.hbm_layout import images, lay_out
from kerntape.capture.outputs import OutputReport, report
from kerntape.capture.placement import LaunchGrid
from kerntape.capture.runtime import Runtime
from kerntape.topologies.loader import resolve_topology

TWO_PES = LaunchGrid(pes=2, cubes=1, sips=1)


@pytest.fixture
def rt() -> Runtime:
    return Runtime(whole_machine(resolve_topology("one_cube")), with_data=True, seed=0)


def reported(rt: Runtime) -> OutputReport:
    """The first output as the kernel would leave it that did nothing."""
    pes = lay_out(rt.tensors, TWO_PES, rt.device)
    return report(rt.outputs[0], pes, images(rt.tensors, pes))


def test_every_copy_of_a_replicated_output_counts(rt: Runtime):
    rt.output(rt.tensor([1.0, 2.0], dtype="f32"), reference=[1.0, 2.0])
    pes = lay_out(rt.tensors, TWO_PES, rt.device)
    seen = images(rt.tensors, pes)
    seen[1, 0].view(np.float32)[1] = 5.0
    assert report(rt.outputs[0], pes, seen).max_abs_err == 3.0


def test_a_split_output_is_compared_part_by_part(rt: Runtime):
    values = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    tensor = rt.tensor(values, dtype="f32", placement=rt.split(axis=1, over="pe"))
    rt.output(tensor, reference=[[1.0, 2.0, 3.5], [4.0, 5.0, 6.0]])
    assert reported(rt).max_abs_err == 0.5


def test_an_output_on_one_pe_is_compared_there(rt: Runtime):
    tensor = rt.tensor([1.0], dtype="f32", placement=rt.owned_by(pe=1))
    rt.output(tensor, reference=[1.0])
    assert reported(rt).max_abs_err == 0.0


def test_equal_infinities_do_not_differ_and_a_nan_always_does(rt: Runtime):
    rt.output(rt.tensor([np.inf, -np.inf], dtype="f32"), reference=[np.inf, -np.inf])
    assert reported(rt).max_abs_err == 0.0
    rt.output(rt.tensor([np.nan], dtype="f32"), reference=[np.nan])
    pes = lay_out(rt.tensors, TWO_PES, rt.device)
    found = report(rt.outputs[1], pes, images(rt.tensors, pes))
    assert (found.finite_error, found.is_right) == (None, False)


@pytest.mark.parametrize(
    ("dtype", "largest", "tolerance"),
    [
        ("f32", 4.0, 2.0**-14),
        ("f16", 0.5, 2.0**-9),
        ("bf16", 2.0, 2.0**-4),
        ("f32", 0.0, 2.0**-16),  # relative to 1 where there is nothing to be relative to
        ("i32", 7, 0.0),
    ],
)
def test_the_default_tolerance_is_relative_to_the_largest_value(
    rt: Runtime, dtype: str, largest: float, tolerance: float
):
    rt.output(rt.tensor([0, -largest], dtype=dtype), reference=[0, -largest])
    assert reported(rt).tolerance == tolerance


def test_a_tolerance_of_ones_own_is_kept(rt: Runtime):
    rt.output(rt.tensor([1.0]), reference=[1.25], tolerance=0.25)
    assert reported(rt).is_right


def test_without_data_or_a_reference_there_is_no_error(rt: Runtime):
    rt.output(rt.tensor([1.0]))
    assert reported(rt) == OutputReport((1,), "bf16", None, None)
    rt.output(rt.tensor([1.0]), reference=[2.0])
    pes = lay_out(rt.tensors, TWO_PES, rt.device)
    assert report(rt.outputs[1], pes, None).max_abs_err is None
