"""What several PEs reach, one of them writing, is told: commands of different PEs are not compared."""

import pytest
from kerntape.replay.hazards.shared import SharedTensor, shared_tensors
from kerntape.schemas.handles import Space
from towns import placed, town

PAIR = town(pes=(2, 1))


@pytest.fixture
def using(build):
    """A PE's stream that loads some of its tensors and stores to others."""

    def using(loads=(), stores=()):
        pe, rows = type(build)(), (4, 4)
        for tensor in loads:
            pe.load(pe.handle(rows, space=Space.HBM, tensor=tensor, label="x"), pe.handle(rows))
        for tensor in stores:
            pe.store(pe.handle(rows), pe.handle(rows, space=Space.HBM, tensor=tensor, label="y"))
        return pe

    return using


def shared(first, second, owners):
    return shared_tensors(placed(first.trace(PAIR, second), owners))


def test_what_one_pe_writes_and_another_reads_is_shared_with_its_readers_and_writers(using):
    assert shared(using(loads=[0]), using(stores=[0]), [[1], [1]]) == (
        SharedTensor("x", owner=1, readers=(0,), writers=(1,)),
    )


def test_a_pe_that_reads_and_writes_is_in_both(using):
    both = using(loads=[0], stores=[0])
    assert shared(both, using(loads=[0]), [[0], [0]]) == (
        SharedTensor("x", owner=0, readers=(0, 1), writers=(0,)),
    )


def test_what_all_only_read_is_not_shared(using):
    assert shared(using(loads=[0]), using(loads=[0]), [[1], [1]]) == ()


def test_what_only_one_pe_touches_is_not_shared_though_it_lies_with_another(using):
    # both see tensor 0 of PE 1, and PE 1 has no command on it
    assert shared(using(loads=[0], stores=[0]), using(), [[1], [1]]) == ()


def test_tensors_of_one_number_that_lie_with_their_own_pes_are_not_shared(using):
    both = using(loads=[0], stores=[0])
    assert shared(both, both, [[0], [1]]) == ()


def test_one_tensor_may_have_another_number_on_each_pe(using):
    # placed() puts tensor t at 4096·t: PE 0's tensor 1 and PE 1's tensor 1 are one, their tensors 0
    # lie with themselves
    assert shared(using(loads=[0, 1]), using(stores=[0, 1]), [[0, 1], [1, 1]]) == (
        SharedTensor("x", owner=1, readers=(0,), writers=(1,)),
    )


def test_they_are_ordered_by_owner_and_then_by_address(using):
    # tensors 0, 1 and 2 lie with PE 1, PE 0 and PE 0, at 0, 4096 and 8192
    owners = [[1, 0, 0]] * 2
    found = shared(using(loads=[0, 1, 2]), using(stores=[0, 1, 2]), owners)
    assert [tensor.owner for tensor in found] == [0, 0, 1]
