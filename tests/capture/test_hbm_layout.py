"""Where tensors lie in HBM, and which bytes each PE sees."""

import numpy as np
import pytest
from kerntape.capture.device import whole_machine
from kerntape.capture.hbm_layout import images, lay_out
from kerntape.capture.placement import LaunchGrid
from kerntape.capture.runtime import Runtime
from kerntape.schemas.errors import ConfigError
from kerntape.topologies.loader import resolve_topology

TWO_PES = LaunchGrid(pes=2, cubes=1, sips=1)


@pytest.fixture
def rt() -> Runtime:
    return Runtime(whole_machine(resolve_topology("one_cube")), with_data=True, seed=0)


def test_tensors_follow_each_other_on_64_byte_boundaries(rt: Runtime):
    rt.zeros((3, 5), "f16")  # 30 bytes from 0
    rt.zeros((64,), "bool")  # 64 bytes from 64
    rt.zeros((1,), "f32")  # from 128
    (pe, _) = lay_out(rt.tensors, TWO_PES, rt.device)
    assert pe.bases == (0, 64, 128)
    assert pe.owners == (0, 0, 0)


def test_each_pes_own_part_decides_its_addresses(rt: Runtime):
    rt.zeros((100,), "f32", placement=rt.split(axis=0, over="pe"))
    rt.zeros((41,), "f32", placement=rt.split(axis=0, over="pe"))  # 21 on PE 0, 20 on PE 1
    rt.zeros((1,), "f32")
    first, second = lay_out(rt.tensors, TWO_PES, rt.device)
    # 50 × 4 = 200 bytes, then 84 or 80: 256 + 84 = 340 and 256 + 80 = 336 both round up to 384
    assert first.bases == second.bases == (0, 256, 384)
    assert (first.owners, second.owners) == ((0, 0, 0), (1, 1, 1))
    assert [len(pe.parts[1][0]) for pe in (first, second)] == [21, 20]


def test_a_tensor_with_one_owner_lies_there_for_all_and_takes_no_room_elsewhere(rt: Runtime):
    rt.zeros((16,), "f32", placement=rt.owned_by(pe=1))
    rt.zeros((16,), "f32")
    first, second = lay_out(rt.tensors, TWO_PES, rt.device)
    assert (first.owners, first.bases) == ((1, 0), (0, 0))
    assert (second.owners, second.bases) == ((1, 1), (0, 64))


def test_an_owner_that_is_not_launched_holds_only_what_it_owns(rt: Runtime):
    rt.zeros((16,), "f32")
    rt.zeros((20,), "f32", placement=rt.owned_by(pe=5))
    rt.zeros((16,), "f32", placement=rt.owned_by(pe=5))
    first, second = lay_out(rt.tensors, TWO_PES, rt.device)
    # rank 5 has no copy of the first tensor, and 80 bytes round up to 128
    assert (first.owners, first.bases) == ((0, 5, 5), (0, 0, 128))
    assert (second.owners, second.bases) == ((1, 5, 5), (0, 0, 128))


def test_a_kernel_is_given_the_part_that_its_pe_holds(rt: Runtime):
    keys = rt.zeros((8, 5), "bf16", name="k", placement=rt.split(axis=1, over="pe"))
    arguments = [pe.kernel_argument(keys) for pe in lay_out(rt.tensors, TWO_PES, rt.device)]
    assert [argument.shape for argument in arguments] == [(8, 3), (8, 2)]
    assert [argument.strides for argument in arguments] == [(6, 2), (4, 2)]
    assert {argument.name for argument in arguments} == {"k"}


def test_images_hold_the_parts_row_by_row(rt: Runtime):
    rt.tensor(np.arange(6).reshape(2, 3), dtype="i32", placement=rt.split(axis=1, over="pe"))
    seen = images(rt.tensors, lay_out(rt.tensors, TWO_PES, rt.device))
    assert seen[0, 0].view(np.int32).tolist() == [0, 1, 3, 4]
    assert seen[1, 0].view(np.int32).tolist() == [2, 5]


def test_copies_are_apart_and_a_single_owners_bytes_are_shared(rt: Runtime):
    rt.zeros((4,), "f32")
    rt.zeros((4,), "f32", placement=rt.owned_by(pe=0))
    seen = images(rt.tensors, lay_out(rt.tensors, TWO_PES, rt.device))
    assert seen[0, 0] is not seen[1, 0]
    assert seen[0, 1] is seen[1, 1]


def test_a_tensor_that_does_not_fit_is_named_with_what_is_free(rt: Runtime):
    rt.zeros((1 << 30,), "i32", name="k")
    rt.zeros((1,), "f32", name="v")
    with pytest.raises(ConfigError) as error:
        lay_out(rt.tensors, TWO_PES, rt.device)
    # 2^30 × 4 bytes in 2^31
    assert str(error.value) == (
        "tensor 'k' does not fit into the HBM of PE 0: it needs 4294967296 bytes and 2147483648"
        " of 2147483648 are free (topology pe.hbm_bytes); split it over more PEs or make it smaller"
    )
