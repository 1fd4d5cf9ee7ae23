"""What a GEMM's output must not share bytes with, since it is written while the tile loop still reads."""

import numpy as np
from capture_bench import normal, record, refusal

A, W = normal(32, 64), normal(64, 64)


def refused(what: str, first: int, stop: int, operand: str, verb: str = "gemm") -> str:
    return (
        f"{verb}: out {what} must not share bytes {first} to {stop} with {operand}, which the tile"
        " loop reads while it writes out; give it an out of its own"
    )


def test_a_dot_must_not_write_over_its_own_operand() -> None:
    def over_a(x, w, *, tl):
        a, b = tl.load(x), tl.load(w)  # a: 32·64·4 bytes at 0
        tl.dot(a, b, out=a)  # here

    def over_b(w, *, tl):
        b = tl.load(w)
        tl.dot(tl.copy(b), b, out=b)  # here

    a = "'a' [32, 64] f32"
    assert refusal(over_a, A, W) == refused(a, 0, 8192, f"a {a}", "tl.dot")
    b = "'b' [64, 64] f32"
    assert refusal(over_b, W) == refused(b, 0, 16384, f"b {b}", "tl.dot")


def test_nor_over_a_part_of_it() -> None:
    def kernel(w, *, tl):
        buffer = tl.zeros((96, 64))
        tl.dot(buffer[:64], tl.load(w), out=buffer[32:])  # here

    # rows 32 to 63 of 64·4 bytes each are in both
    buffer = "'buffer' [64, 64] f32"
    assert refusal(kernel, W) == refused(buffer, 8192, 16384, f"a {buffer}", "tl.dot")


def test_nor_a_composite_over_the_tensor_in_hbm_that_it_streams() -> None:
    def kernel(x, w, *, tl):
        tl.composite(op="gemm", a=tl.ref(x), b=tl.ref(w), out=tl.ref(x))  # here

    x = "'x' [32, 64] f32"
    assert refusal(kernel, A, W) == refused(x, 0, 8192, f"a {x}")


def test_nor_over_what_a_tile_op_reads_elsewhere_than_at_its_tile() -> None:
    def kernel(x, w, *, tl):
        a, b, o = tl.load(x), tl.load(w), tl.empty((32, 64))
        row = tl.broadcast(o[3], (32, 64))
        add = [{"op": "add", "other": row}]
        tl.composite(op="gemm", a=a, b=b, out=o, epilogue=add)  # here

    # o lies after a (8192 bytes) and b (16384); row 3 is 3·256 bytes further
    o = "'o' [32, 64] f32"
    assert refusal(kernel, A, W) == refused(o, 25344, 25600, f"add's other {o}")


def test_a_tile_op_may_read_the_output_itself() -> None:
    def kernel(x, w, y, *, tl):
        a, b, o = tl.load(x), tl.load(w), tl.full((32, 64), 2.0)
        tl.composite(op="gemm", a=a, b=b, out=o, epilogue=[{"op": "add", "other": o}])
        tl.store(y, o)

    found = record(kernel, A, W, np.zeros_like(A))
    np.testing.assert_allclose(found.value(2), A @ W + 2.0, atol=1e-4)


def test_disjoint_parts_of_one_buffer_are_others_bytes() -> None:
    def kernel(w, y, *, tl):
        buffer = tl.zeros((128, 64))
        tl.store(y, tl.dot(buffer[:64], tl.load(w), out=buffer[64:]))

    assert (record(kernel, W, np.ones_like(W)).value(1) == 0).all()


def test_an_output_that_repeats_bytes_is_refused_by_every_verb() -> None:
    def math(*, tl):
        row = tl.zeros((8,))
        tl.add(row, 1.0, out=row[None].view(8).view(1, 8)[0])
        wide = tl.broadcast(row, (4, 8))
        tl.add(wide, 1.0, out=wide)  # here

    def dot(x, w, *, tl):
        o = tl.broadcast(tl.empty((64,)), (32, 64))
        tl.dot(tl.load(x), tl.load(w), out=o)  # here

    def composite(x, *, tl):
        o = tl.broadcast(tl.empty((64,)), (32, 64))
        tl.composite(op="exp", a=tl.load(x), out=o)  # here

    repeats = "repeats some; name a handle that is no broadcast"
    must = "out must have bytes of its own for every element, and"
    assert refusal(math) == f"tl.add: {must} [4, 8] with byte strides [0, 4] {repeats}"
    assert refusal(dot, A, W) == f"tl.dot: {must} [32, 64] with byte strides [0, 4] {repeats}"
    assert refusal(composite, A) == f"exp: {must} [32, 64] with byte strides [0, 4] {repeats}"
