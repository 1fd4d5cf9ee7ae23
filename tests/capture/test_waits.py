"""What PE_CPU waits for on its own, and what it never waits for."""

from capture_bench import machine, normal, record
from kerntape.schemas.commands import CommandKind

X, W = normal(8, 16), normal(16, 8)


def test_a_load_is_waited_for_at_its_first_use_and_once() -> None:
    def kernel(x, w, *, tl):
        a = tl.load(x)  # 0
        b = tl.load(w)  # 1
        tl.exp(b)  # 2: waits for 1
        tl.dot(a, b)  # 3: waits for 0; 1 is known to have finished
        tl.exp(a)  # 4

    assert record(kernel, X, W).waits() == [(), (), (1,), (0,), ()]


def test_a_store_a_send_and_a_composite_wait_for_the_load_that_they_read() -> None:
    def kernel(x, w, y, *, tl):
        tl.store(y, tl.load(w))  # 1: waits for 0
        tl.send(["E", "W"][tl.program_id(0)], tl.load(w))  # 3: waits for 2
        a = tl.load(x)
        tl.recv(["E", "W"][tl.program_id(0)], (16, 8), "f32")
        tl.composite(op="gemm", a=a, b=tl.ref(w))
        tl.composite(op="gemm", a=a, b=tl.ref(w))

    found = record(kernel, X, W, W, topology=machine(2))
    assert found.waits() == [(), (0,), (), (2,), (), (), (4,), ()]


def test_a_view_of_a_load_waits_for_it_and_other_bytes_do_not() -> None:
    def kernel(x, *, tl):
        a = tl.load(x)  # 0
        b = tl.zeros((8, 16))  # 1
        tl.exp(b)  # 2
        tl.exp(tl.trans(a)[3])  # 3: waits for 0

    assert record(kernel, X).waits() == [(), (), (), (0,)]


def test_math_dot_store_and_send_wait_for_the_composite_whose_result_they_read() -> None:
    def composite_and(verb):
        def kernel(x, w, y, *, tl):
            a = tl.load(x)
            s = tl.composite(op="gemm", a=a, b=tl.ref(w))  # 1
            verb(tl, a, s, y)

        return record(kernel, X, W, normal(8, 8)).waits()[2:]

    assert composite_and(lambda tl, a, s, y: tl.exp(s)) == [(1,)]
    assert composite_and(lambda tl, a, s, y: tl.dot(s, a)) == [(1,)]
    assert composite_and(lambda tl, a, s, y: tl.store(y, s)) == [(1,)]
    assert composite_and(lambda tl, a, s, y: tl.exp(s[2:4].view(16))) == [(1,)]
    assert composite_and(lambda tl, a, s, y: tl.exp(a)) == [()]


def test_it_never_waits_for_one_composite_on_behalf_of_another() -> None:
    def kernel(x, w, *, tl):
        a = tl.load(x)  # 0
        s = tl.composite(op="gemm", a=a, b=tl.ref(w))  # 1: reads the load
        o = tl.composite(op="gemm", a=s, b=tl.ref(w[0:8]))  # 2: reads 1's result
        tl.exp(o)  # 3: waits for 2 alone
        tl.exp(s)  # 4: 1 was never waited for

    assert record(kernel, X, W).waits() == [(), (0,), (), (2,), (1,)]


def test_every_unwaited_composite_that_wrote_the_bytes_is_waited_for() -> None:
    def kernel(x, w, *, tl):
        a = tl.load(x)  # 0
        o = tl.empty((8, 8))
        for _ in range(3):
            tl.composite(op="gemm", a=a, b=tl.ref(w), out=o)  # 1 2 3
        tl.exp(o)  # 4

    assert record(kernel, X, W).waits()[4] == (1, 2, 3)


def test_reading_is_decided_by_bytes_of_the_allocation() -> None:
    def kernel(x, w, *, tl):
        a = tl.load(x)
        o = tl.empty((16, 8))
        tl.composite(op="gemm", a=a, b=tl.ref(w), out=o[0:8])  # 1
        tl.composite(op="gemm", a=a, b=tl.ref(w), out=o[8:16])  # 2
        tl.exp(o[8:12])  # 3: only rows that 2 wrote
        tl.exp(o)  # 4: now 1 as well

    assert record(kernel, X, W).waits() == [(), (0,), (), (2,), (1,)]


def test_recycled_bytes_are_another_allocation_and_are_not_waited_for() -> None:
    def kernel(x, w, *, tl):
        a = tl.load(x)
        for _ in range(2):
            with tl.scratch_scope():
                tl.composite(op="gemm", a=a, b=tl.ref(w))  # 1, 3
                tl.exp(a, out=tl.empty((8, 16)))  # 2, 4

    assert record(kernel, X, W).waits() == [(), (0,), (), (), ()]


def test_an_explicit_wait_names_everything_or_only_what_it_is_given() -> None:
    def kernel(x, w, *, tl):
        a, b = tl.load(x), tl.load(w)  # 0 1
        s = tl.composite(op="gemm", a=a, b=tl.ref(w))  # 2: waits for 0
        assert tl.wait(s) is s  # 3: waits for 2
        tl.composite(op="gemm", a=a, b=b)  # 4: waits for 1
        tl.load(x)  # 5
        assert tl.wait() == ()  # 6: waits for 4 and 5
        tl.wait()  # 7: there is nothing left
        tl.exp(s)  # 8: known to have finished

    found = record(kernel, X, W)
    assert found.waits() == [(), (), (0,), (2,), (1,), (), (4, 5), (), ()]
    assert found.commands()[6].kind is CommandKind.WAIT


def test_a_receive_is_waited_for_by_its_first_reader_or_by_wait_which_returns_it() -> None:
    def kernel(x, y, *, tl):
        if tl.program_id(0) == 0:
            for _ in range(2):
                tl.send("E", tl.load(x))
            return
        one = tl.recv_async("W", (8, 16), "f32")  # 0
        two = tl.recv_async("W", (8, 16), "f32")  # 1
        tl.exp(two)  # 2: waits for 1
        assert tl.wait(one) is one  # 3: waits for 0
        tl.store(y, one)  # 4

    assert record(kernel, X, X, topology=machine(2)).waits(1) == [(), (), (1,), (0,), ()]


def test_a_send_is_waited_for_only_by_its_ticket() -> None:
    def kernel(x, *, tl):
        if tl.program_id(0) == 1:
            tl.recv("W", (8, 16), "f32")
            return
        a = tl.load(x)  # 0
        sent = tl.send("E", a)  # 1
        tl.wait()  # 2: a send is none of what wait() means
        tl.wait(sent)  # 3

    assert record(kernel, X, topology=machine(2)).waits() == [(), (0,), (), (1,)]


def test_a_wait_for_a_composite_that_writes_one_tensor_is_none_for_another() -> None:
    def kernel(x, w, y1, y2, *, tl):
        first = tl.composite(op="gemm", a=tl.ref(x), b=tl.ref(w), out=tl.ref(y1))  # 0
        tl.composite(op="gemm", a=tl.ref(x), b=tl.ref(w), out=tl.ref(y2))  # 1
        tl.wait(first)  # 2: waits for 0
        tl.wait(tl.ref(y2))  # 3: waits for 1

    found = record(kernel, X, W, normal(8, 8), normal(8, 8))
    assert found.waits() == [(), (), (0,), (1,)]


def test_a_message_is_there_before_a_later_command_writes_over_it() -> None:
    # program order: the message 5, then −(−1) over it
    def kernel(y, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.full((16,), 5.0))
            return
        a = tl.full((16,), -1.0)  # 0
        r = tl.recv_async("W", (16,), "f32")  # 1
        tl.neg(a, out=r)  # 2: reads nothing of r, and so waits for nothing
        tl.wait()  # 3: waits for 1
        tl.store(y, r)  # 4

    found = record(kernel, normal(16), topology=machine(2))
    assert (found.value(0, pe=1) == 1.0).all()
    assert found.waits(1) == [(), (), (), (1,), ()]


def test_a_message_is_there_before_its_recycled_bytes_are_used_by_another() -> None:
    def kernel(y, *, tl):
        if tl.program_id(0) == 1:
            with tl.scratch_scope():
                tl.recv_async("W", (16,), "f32")  # 0
            with tl.scratch_scope():
                z = tl.full((16,), 1.0)  # 1: on the same bytes
                tl.wait()  # 2
                tl.store(y, z)  # 3
            return
        tl.send("E", tl.full((16,), 5.0))

    found = record(kernel, normal(16), topology=machine(2))
    assert (found.value(0, pe=1) == 1.0).all()
    assert found.waits(1) == [(), (), (0,), ()]
