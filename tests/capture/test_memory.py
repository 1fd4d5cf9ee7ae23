"""TCM: where handles lie, how scratch scopes rotate, and what running out says."""

from itertools import pairwise

from capture_bench import machine, normal, record, refusal
from hypothesis import given
from hypothesis import strategies as st
from kerntape.capture.memory import ALIGNMENT, Arena, align_up
from kerntape.schemas.topology import PeStructure

# a TCM of 4096 bytes, of which the last 2048 are scratch
SMALL = machine(tcm_bytes=4096, scratch_bytes=2048)


def arena(tcm_bytes: int = 4096, scratch_bytes: int = 2048) -> Arena:
    pe: PeStructure = machine(tcm_bytes=tcm_bytes, scratch_bytes=scratch_bytes).pe
    return Arena(pe)


def labelled(kernel, *arrays) -> dict[str, list[int]]:
    """The addresses of the TCM handles by label, in order of first use in a command."""
    found: dict[int, tuple[str, int]] = {}
    for command in record(kernel, *arrays, topology=SMALL, data=False).commands():
        for handle in command.handles:
            if handle.tensor < 0:
                found[handle.id] = (handle.label, handle.address)
    addresses: dict[str, list[int]] = {}
    for label, address in found.values():
        addresses.setdefault(label, []).append(address)
    return addresses


def test_loads_zeros_and_receives_are_persistent_and_results_are_scratch() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)  # 64 bytes
        b = tl.zeros((4,))  # 16 bytes
        c = tl.arange(4)
        s = tl.exp(a)
        t = tl.add(a, b)
        tl.where(c < 2, s, t, name="w")

    assert labelled(kernel, normal(4, 4)) == {
        "a": [0],
        "b": [64],
        "c": [128],
        "s": [2048],
        "t": [2112],
        "lt": [2176],
        "w": [2240],
    }


def test_addresses_are_64_byte_aligned() -> None:
    assert [align_up(address) for address in (0, 1, 63, 64, 65)] == [0, 64, 64, 64, 128]

    def kernel(*, tl):
        tl.zeros((1,), name="a")
        tl.zeros((17,), name="b")  # 68 bytes: two lines of 64
        tl.zeros((1,), name="c")

    assert labelled(kernel) == {"a": [0], "b": [64], "c": [192]}


def test_everything_made_in_a_scope_is_scratch_and_given_back() -> None:
    def kernel(x, *, tl):
        for _ in range(3):
            with tl.scratch_scope():
                a = tl.load(x)
                tl.exp(a, name="e")
        tl.zeros((4,), name="after")

    assert labelled(kernel, normal(4, 4)) == {
        "a": [2048] * 3,
        "e": [2112] * 3,
        "after": [0],
    }


def test_visits_rotate_through_the_slots() -> None:
    # 2048 bytes in 3 slots: 2048 // 3 = 682, down to a multiple of 64: 640 bytes
    def kernel(*, tl):
        for _ in range(5):
            with tl.scratch_scope(slots=3):
                tl.zeros((4,), name="z")

    assert labelled(kernel) == {"z": [2048, 2688, 3328, 2048, 2688]}


def test_a_scope_begins_at_what_scratch_is_taken_already() -> None:
    # 64 bytes are taken: 1984 remain, 992 a slot, down to 960
    def kernel(x, *, tl):
        a = tl.load(x)
        tl.exp(a, name="held")
        for _ in range(3):
            with tl.scratch_scope(slots=2):
                tl.exp(a, name="e")
        tl.exp(a, name="next")

    assert labelled(kernel, normal(4, 4)) == {
        "a": [0],
        "held": [2048],
        "e": [2112, 3072, 2112],
        "next": [2112],
    }


def test_scopes_nest_and_each_level_keeps_its_own_rotation() -> None:
    # outer slots of 1024 bytes at 2048 and 3072; after o's 64 bytes 960 remain: inner slots of 448
    def kernel(*, tl):
        for _ in range(2):
            with tl.scratch_scope(slots=2):
                tl.zeros((4,), name="o")
                for _ in range(3):
                    with tl.scratch_scope(slots=2):
                        tl.zeros((4,), name="i")

    # the inner visits are numbered on: 0 1 2 in the first outer slot, 3 4 5 in the second
    first, second = 2048 + 64, 3072 + 64
    assert labelled(kernel) == {
        "o": [2048, 3072],
        "i": [first, first + 448, first, second + 448, second, second + 448],
    }


def test_every_allocation_is_a_new_handle_even_at_an_address_used_before() -> None:
    def kernel(*, tl):
        for _ in range(2):
            with tl.scratch_scope():
                tl.zeros((4,))

    first, second = record(kernel).commands()
    assert first.handles[0].address == second.handles[0].address
    assert first.handles[0].id != second.handles[0].id


def test_what_a_visit_made_survives_as_many_visits_as_there_are_other_slots() -> None:
    def kernel(x, *, tl, slots):
        kept = tl.load(x)
        for _ in range(3):
            with tl.scratch_scope(slots=slots):
                kept = tl.exp(kept)  # here

    record(kernel, normal(4), slots=2)
    assert refusal(kernel, normal(4), slots=1) == (
        "'kept' [4] f32 is gone: its scratch_scope's bytes were handed out again; give the scope"
        " more slots, or make the handle outside it"
    )


def test_a_handle_may_be_used_after_its_scope_until_its_bytes_are_taken() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        with tl.scratch_scope():
            e = tl.exp(a)
        tl.add(a, e, out=a)
        tl.exp(a)
        tl.add(a, e)  # here

    assert refusal(kernel, normal(4)).startswith("'e' [4] f32 is gone")


def test_a_full_persistent_part_names_the_handle_its_size_and_what_is_free() -> None:
    def kernel(*, tl):
        tl.zeros((256,))
        big = tl.zeros((300,))  # here
        tl.exp(big)

    # 2048 bytes, 1024 of them taken
    assert refusal(kernel, topology=SMALL) == (
        "the TCM's persistent part is full: 'big' [300] f32 needs 1200 bytes, and 1024 of 2048"
        " are free; put the loop's body in tl.scratch_scope(), which recycles it"
    )


def test_full_scratch_outside_a_scope_names_scratch_scope() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        for _ in range(3):
            a = a + 1.0  # here

    assert refusal(kernel, normal(200), topology=SMALL) == (
        "the TCM's scratch is full: 'a' [200] f32 needs 800 bytes, and 384 of 2048 are free;"
        " put the loop's body in tl.scratch_scope(), which recycles it"
    )


def test_a_full_slot_names_its_size() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)
        with tl.scratch_scope(slots=2):
            tl.exp(a)
            tl.exp(a)  # here

    assert refusal(kernel, normal(200), topology=SMALL) == (
        "the TCM's scratch slot is full: 'exp' [200] f32 needs 800 bytes, and 192 of 1024 are"
        " free; put the scope inside the loop, not around it, or make tiles smaller, or slots fewer"
    )


def test_one_slot_cannot_become_fewer() -> None:
    def kernel(x, *, tl):
        with tl.scratch_scope():
            for _ in range(3):
                tl.load(x)  # here

    # scratch is 2048 bytes: two loads of 800 at 0 and 832 leave 384 behind 1664
    assert refusal(kernel, normal(200), topology=SMALL) == (
        "the TCM's scratch slot is full: 'x' [200] f32 needs 800 bytes, and 384 of 2048 are free;"
        " put the scope inside the loop, not around it, or make tiles smaller"
    )


def test_a_composite_that_does_not_fit_names_the_first_of_its_handles_that_does_not() -> None:
    def kernel(v, *, tl):
        s, m, l = tl.zeros((4, 32)), tl.zeros((4,)), tl.zeros((4,))  # noqa: E741
        o = tl.zeros((4, 16))
        merge = {"op": "softmax_merge", "s": s, "m": m, "l": l, "O": o}
        tl.composite(b=tl.ref(v), prologue=[merge])  # here

    # m_loc, m_new, corr and l_loc take 64 bytes each, P 4·32·4 = 512
    assert refusal(kernel, normal(32, 16), topology=machine(tcm_bytes=2560, scratch_bytes=512)) == (
        "the TCM's scratch is full: 'P' [4, 32] f32 needs 512 bytes, and 256 of 512 are free;"
        " put the loop's body in tl.scratch_scope(), which recycles it"
    )


@given(
    st.lists(st.integers(1, 300), max_size=12),
    st.lists(st.tuples(st.integers(1, 4), st.lists(st.integers(1, 200), max_size=4)), max_size=8),
)
def test_live_allocations_never_overlap(before, visits) -> None:
    memory = arena()
    boundary = 2048
    persistent = [(memory.take(size, memory.region(scratch=False)), size) for size in before]
    live = [(at, size) for at, size in persistent if at is not None]
    for slots, sizes in visits:
        with memory.scope(slots):
            inside = [(memory.take(size, memory.region(scratch=False)), size) for size in sizes]
            taken = [(at, size) for at, size in inside if at is not None]
            assert all(boundary <= at and at + size <= 4096 for at, size in taken)
            spans = sorted(live + taken)
            for (start, size), (following, _) in pairwise(spans):
                assert start + size <= following
            assert all(at % ALIGNMENT == 0 for at, _ in spans)


def test_inside_a_scope_too_what_an_inner_one_made_is_gone_once_its_bytes_are_taken() -> None:
    def kernel(x, *, tl, taken):
        a = tl.load(x)
        with tl.scratch_scope():
            with tl.scratch_scope():
                b = tl.exp(a)
            if taken:
                tl.neg(a)
            tl.neg(b)  # here

    record(kernel, normal(4), taken=False)
    assert refusal(kernel, normal(4), taken=True) == (
        "'b' [4] f32 is gone: its scratch_scope's bytes were handed out again; give the scope more"
        " slots, or make the handle outside it"
    )


def test_what_two_scopes_down_was_made_is_gone_with_the_slot_around_it() -> None:
    def kernel(x, *, tl, visits):
        a = tl.load(x)
        kept = []
        for _ in range(visits):
            with tl.scratch_scope(slots=2), tl.scratch_scope():
                kept.append(tl.exp(a, name="kept"))
        tl.neg(kept[0])  # here

    record(kernel, normal(4), visits=2)
    assert refusal(kernel, normal(4), visits=3) == (
        "'kept' [4] f32 is gone: its scratch_scope's bytes were handed out again; give the scope"
        " more slots, or make the handle outside it"
    )
