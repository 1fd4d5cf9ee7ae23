"""What `rt` offers a launch function, and what it refuses."""

import ml_dtypes
import numpy as np
import pytest
from kerntape.capture.device import whole_machine
from kerntape.capture.runtime import Runtime
from kerntape.schemas.errors import ConfigError, KerntapeError
from kerntape.topologies.loader import resolve_topology

ONE_PE = (1, 1, 1)


def runtime(with_data: bool = True, seed: int = 0) -> Runtime:
    return Runtime(whole_machine(resolve_topology("single_pe")), with_data=with_data, seed=seed)


def copy_rows(source, target, *, tl):
    """A kernel that is never run here; its parameters name the tensors."""


def refusal(act) -> str:
    with pytest.raises(KerntapeError) as error:
        act()
    return str(error.value)


def test_zeros_are_zeros_and_bf16_is_the_default_dtype():
    tensor = runtime().zeros((2, 3))
    assert tensor.dtype == "bf16"
    assert tensor.values.tolist() == [[0, 0, 0], [0, 0, 0]]


def test_an_empty_tensor_is_not_a_number_until_written():
    assert np.isnan(runtime().empty((2,), "f32").values).all()
    assert runtime().empty((2,), "i32").values.tolist() == [0, 0]


def test_values_are_rounded_to_the_dtype_and_shown_as_float64():
    # bf16 keeps 8 significant bits: 257 = 1_0000_0001b rounds to 256
    tensor = runtime().tensor(np.array([257.0, 1.0]), dtype="bf16")
    assert tensor.values.tolist() == [256.0, 1.0]
    assert tensor.values.dtype == np.float64
    assert tensor.stored().dtype == ml_dtypes.bfloat16


def test_random_values_follow_from_the_seed_and_the_tensors_number():
    first, again, other = (runtime(seed=seed) for seed in (7, 7, 8))
    drawn = [
        [rt.random((4,), "f32").values.tolist() for _ in range(2)] for rt in (first, again, other)
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert drawn[0][0] != drawn[0][1]


def test_random_values_do_not_depend_on_which_are_asked_for_first():
    forwards, backwards = runtime(), runtime()
    a, b = forwards.random((4,)), forwards.random((4,))
    c, d = backwards.random((4,)), backwards.random((4,))
    d_values = d.values
    assert (a.values.tolist(), b.values.tolist()) == (c.values.tolist(), d_values.tolist())


def test_a_function_is_called_with_a_seeded_generator_when_the_values_are_needed():
    calls = []

    def make(generator: np.random.Generator):
        calls.append(generator)
        return generator.integers(0, 10, (3,))

    tensor = runtime().tensor(make, (3,), "i32")
    assert calls == []
    assert tensor.values.tolist() == tensor.values.tolist()
    assert len(calls) == 1


def test_without_data_no_value_is_made():
    rt = runtime(with_data=False)

    def make(generator):
        raise AssertionError("values were asked for")

    tensor = rt.tensor(make, (4, 4), "f16", name="k")
    rt.output(tensor, reference=make)
    rt.launch(copy_rows, ONE_PE, tensor, rt.zeros((4, 4)))
    assert tensor.shape == (4, 4)
    assert refusal(lambda: tensor.values) == (
        "tensor 'k' has no values under --no-data; use them in a function only:"
        " rt.output(…, reference=lambda: …)"
    )


def test_a_tensor_without_a_name_gets_the_kernels_parameters():
    rt = runtime()
    first, second, third = rt.zeros((1,)), rt.zeros((1,)), rt.zeros((1,))
    rt.launch(copy_rows, ONE_PE, first, target=second)
    assert [first.name, second.name, third.name] == ["source", "target", "tensor2"]


def test_a_tensors_own_name_stays():
    rt = runtime()
    keys = rt.zeros((1,), name="keys")
    rt.launch(copy_rows, ONE_PE, keys)
    assert keys.name == "keys"


def test_one_launch_is_one_trace():
    rt = runtime()
    rt.launch(copy_rows, ONE_PE)
    assert refusal(lambda: rt.launch(copy_rows, ONE_PE)) == (
        "rt.launch must be called once, not twice: a trace holds one launch"
    )


def test_two_tensors_of_one_name_are_refused():
    rt = runtime()
    rt.zeros((1,), name="k")
    rt.zeros((1,), name="k")
    assert refusal(lambda: rt.launch(copy_rows, ONE_PE)) == (
        "two tensors are named 'k'; give one another name=…"
    )


def test_an_output_is_marked_once():
    rt = runtime()
    tensor = rt.output(rt.zeros((1,), name="o"))
    assert refusal(lambda: rt.output(tensor)) == (
        "tensor 'o' must be marked as an output once, not twice"
    )


def test_a_placement_that_does_not_fit_its_tensor_names_the_tensor():
    rt = runtime()
    rt.zeros((4,), name="k", placement=rt.split(axis=1, over="pe"))
    assert refusal(lambda: rt.launch(copy_rows, ONE_PE)) == (
        "tensor 'k': the split axis must be from 0 to 0, not 1"
    )


def test_values_of_another_shape_than_the_tensors_are_refused():
    tensor = runtime().tensor(lambda generator: np.zeros(3), (4,), name="k")
    assert refusal(lambda: tensor.values) == "the values of tensor 'k' must have shape [4], not [3]"


def test_a_function_needs_a_shape():
    assert refusal(lambda: runtime().tensor(lambda generator: 0)) == (
        "rt.tensor of a function needs a shape: rt.tensor(make, (8, 128))"
    )


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda rt: rt.zeros((2,), "bf17"), "rt.zeros: no dtype 'bf17'; did you mean 'bf16'?"),
        (lambda rt: rt.zeros((0, 4)), "rt.zeros: every extent must be at least 1, not [0, 4]"),
        (
            lambda rt: rt.zeros((4, 1 << 48)),
            "rt.zeros: every extent must be below 2^48, not [4, 281474976710656]",
        ),
    ],
)
def test_a_wrong_shape_or_dtype_says_where(act, text: str):
    assert refusal(lambda: act(runtime())) == text


def test_placements_are_made_by_rt():
    rt = runtime()
    assert str(rt.replicated) == "replicated"
    assert str(rt.split(axis=1, over=("cube", "pe"))) == "axis 1 over cube×pe"
    assert str(rt.owned_by(pe=2)) == "pe 2 of cube 0 of sip 0"


def test_the_launch_grid_must_fit_the_machine():
    with pytest.raises(ConfigError, match="CUBEs must be from 1 to 1"):
        runtime().launch(copy_rows, (1, 2, 1))


def test_an_array_is_copied_when_it_is_given():
    values = np.ones(3)
    tensor = runtime().tensor(values, dtype="f32")
    values[:] = 7
    assert tensor.values.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "shown"), [([1, 2**31], "2147483648"), ([-(2**31) - 1], "-2147483649")]
)
def test_a_value_that_does_not_fit_i32_is_refused(values: list[int], shown: str):
    tensor = runtime().tensor(values, dtype="i32", name="x")
    assert refusal(tensor.stored) == f"the values of tensor 'x' must fit i32, not {shown}"


def test_the_ends_of_i32_fit():
    ends = [-(2**31), 2**31 - 1]
    assert runtime().tensor(ends, dtype="i32").values.tolist() == ends


def test_a_given_shape_holds_even_without_axes():
    assert runtime().tensor(lambda generator: 3.0, (), "f32").values.shape == ()
    wrong = runtime().tensor([3.0], (), "f32", name="x")
    assert refusal(wrong.stored) == "the values of tensor 'x' must have shape [], not [1]"


def test_resolved_arguments_are_what_the_launch_function_says_last():
    rt = runtime()
    rt.resolve(scale=0.5, room=8)
    rt.resolve(room=16)
    assert rt.resolved == {"scale": 0.5, "room": 16}
