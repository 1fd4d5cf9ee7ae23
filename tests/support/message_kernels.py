"""One small kernel for each way in which messages go wrong, or look as if they did.

Each `launch` function is captured by name, as a user's kernel: `message_kernels.py:nobody_receives`. They
run on the first PEs of `one_cube` (0 1 2 3 above 4 5 6 7; queues of 8 slots of 4 KiB, 4 sends ahead).
"""

from pathlib import Path

from kerntape.capture.capture import CaptureResult, capture
from kerntape.topologies.loader import resolve_topology

ONE_CUBE = resolve_topology("one_cube")
EIGHT = (8,)


def captured(name: str, *, with_data: bool = True, **arguments: object) -> CaptureResult:
    """The launch function of that name, captured on one_cube."""
    texts = {argument: str(value) for argument, value in arguments.items()}
    return capture(f"{__file__}:{name}", ONE_CUBE, texts, with_data=with_data)


def line_of(text: str) -> str:
    """Where this file has the one line that ends with that comment: `message_kernels.py:12`."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    (number,) = [place for place, line in enumerate(lines, 1) if line.endswith(f"# {text}")]
    return f"{Path(__file__).name}:{number}"


# -- mistakes that capture finds


def nobody_receives(rt):
    """PE 0 sends twice, PE 1 has other things to do."""

    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            block = tl.load(x)
            tl.send("E", block)  # unheard
            tl.send("E", block)

    rt.launch(kernel, (2, 1, 1), rt.random(EIGHT, "f32"))


def received_in_the_wrong_order(rt):
    """PE 0 sends eight elements, then four; PE 1 asks for the four first."""

    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            block = tl.load(x)
            tl.send("E", block)  # eight first
            tl.send("E", block[:4])
        else:
            tl.recv("W", (4,), "f32")  # four first
            tl.recv("W", (8,), "f32")

    rt.launch(kernel, (2, 1, 1), rt.random(EIGHT, "f32"))


def swapped(rt):
    """PE 1 takes the first of two alike messages for the second: nothing can tell but the values."""
    x = rt.tensor([[1.0, 2.0], [3.0, 4.0]], dtype="f32")
    y = rt.zeros((2, 2), "f32", placement=rt.owned_by(pe=1))

    def kernel(x, y, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x[0]))
            tl.send("E", tl.load(x[1]))
        else:
            second, first = tl.recv("W", (2,), "f32"), tl.recv("W", (2,), "f32")
            tl.store(y[0], first)
            tl.store(y[1], second)

    rt.output(y, reference=lambda: x.values)
    rt.launch(kernel, (2, 1, 1), x, y)


def both_receive_first(rt):
    """PE 0 and 1 exchange a block, and each waits for the other's before it sends; PE 2 waits on 1."""

    def kernel(x, *, tl):
        pe = tl.program_id(0)
        if pe == 2:
            tl.recv("W", EIGHT, "f32")  # tail
            return
        block = tl.load(x)
        tl.recv("EW"[pe], EIGHT, "f32")  # receive first
        tl.send("EW"[pe], block)

    rt.launch(kernel, (3, 1, 1), rt.random(EIGHT, "f32"))


def no_such_direction(rt):
    """Directions of the CUBE mesh, on a machine that has one CUBE."""

    def kernel(x, *, tl):
        tl.send("cube_E", tl.load(x))  # no direction

    rt.launch(kernel, (2, 1, 1), rt.random(EIGHT, "f32"))


def off_the_machine(rt):
    """North of the first row."""

    def kernel(*, tl):
        tl.recv("N", EIGHT, "f32")  # no neighbour

    rt.launch(kernel, (8, 1, 1))


def nothing_to_send(rt, receive=False):
    """A message of no elements."""

    def kernel(*, tl):
        if receive:
            tl.recv("E", (0,), "f32")  # empty receive
        tl.send("E", tl.empty((4, 0), "f32"))  # empty send

    rt.launch(kernel, (2, 1, 1))


# -- what only a replay shows


def all_send_first(rt, messages=13):
    """PE 0 and 1 send each other so many messages of one slot before they receive any."""

    def kernel(x, *, tl):
        way = "EW"[tl.program_id(0)]
        block = tl.load(x)
        for _ in range(messages):
            tl.send(way, block)  # send
        for _ in range(messages):
            tl.recv(way, EIGHT, "f32")  # receive

    rt.launch(kernel, (2, 1, 1), rt.random(EIGHT, "f32"))


def straggler(rt, cycles=1_000_000_000_000):
    """PE 1 is busy for sixteen minutes before it receives; PE 0 waits for its answer."""

    def kernel(x, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x))
            tl.recv("E", EIGHT, "f32")
        else:
            tl.overhead(cycles)
            tl.send("W", tl.recv("W", EIGHT, "f32"))

    rt.launch(kernel, (2, 1, 1), rt.random(EIGHT, "f32"))


# -- what looks like a mistake and is none


def two_receives_outstanding(rt):
    """PE 1 posts both receives at once, and waits for the second before the first."""
    x = rt.random((2, 8), "f32")
    y = rt.zeros((2, 8), "f32", placement=rt.owned_by(pe=1))

    def kernel(x, y, *, tl):
        if tl.program_id(0) == 0:
            tl.send("E", tl.load(x[0]))
            tl.send("E", tl.load(x[1]))
        else:
            first, second = (tl.recv_async("W", EIGHT, "f32") for _ in range(2))
            tl.store(y[1], tl.wait(second))
            tl.store(y[0], tl.wait(first))

    rt.output(y, reference=lambda: x.values)
    rt.launch(kernel, (2, 1, 1), x, y)


def subgroup_then_all(rt):
    """The upper row's sum to PE 0, then the sum of all eight to PE 0, over the same queues.

    The lower row has no part in the first reduction and is at the second long before the upper row.
    PE p holds p + 1 times ones: 1 + 2 + 3 + 4 = 10, and all eight 36.
    """
    ones = rt.tensor([1.0] * 8, dtype="f32")
    row, total = (rt.zeros(EIGHT, "f32", placement=rt.owned_by(pe=0)) for _ in range(2))

    def kernel(ones, row, total, *, tl):
        pe = tl.program_id(0)
        mine = tl.load(ones) * float(pe + 1)
        if pe >= 4:
            tl.send("N", mine)
            return
        of_row = summed_westward(mine, pe, tl)
        if of_row is not None:
            tl.store(row, of_row)
        of_all = summed_westward(mine + tl.recv("S", EIGHT, "f32"), pe, tl)
        if of_all is not None:
            tl.store(total, of_all)

    rt.output(row, reference=lambda: 10 * ones.values)
    rt.output(total, reference=lambda: 36 * ones.values)
    rt.launch(kernel, (8, 1, 1), ones, row, total)


def summed_westward(mine, pe, tl):
    """The sum of a row's four PEs along a chain; None but on its first PE."""
    if pe < 3:
        mine = mine + tl.recv("E", EIGHT, "f32")
    if pe == 0:
        return mine
    tl.send("W", mine)
    return None
