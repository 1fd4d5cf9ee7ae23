"""Reduce-to-root of the online softmax's state over the ranks of a CUBE group.

A rank sends as soon as its own sweep is done and what it waits for is merged: nothing stands between
the levels (ADR-0060 §4.3). m, l and O are three messages. Two states a and b become one by
log-sum-exp:

    m = max(ma, mb)    ca = exp(ma − m)    cb = exp(mb − m)    l = la·ca + lb·cb    O = Oa·ca + Ob·cb

A rank without tokens has no state to merge: it takes the first one that it receives as its own. So
every m is finite, and −∞ − −∞ never comes up.
"""

from collections.abc import Iterable

from ...schemas.dtypes import DType
from ..tl import SendTicket, Tl
from .reduction_plan import Step, StepBack
from .softmax import RunningSoftmax

F32 = DType.F32


def reduce_to_root(
    state: RunningSoftmax | None,
    steps: Iterable[Step],
    rows: int,
    d: int,
    tl: Tl,
    leaving: list[SendTicket] | None = None,
) -> RunningSoftmax | None:
    """The state of all ranks at the root; None where it has been sent on, or there is none.

    `state` is this rank's own, over [rows] and [rows, d], None without tokens. Who writes over it
    later has to wait for its sends, which are added to `leaving`.
    """
    for step in steps:
        for direction in step.receive_from:
            if state is None:
                state = received(direction, rows, d, tl)
            else:
                merge(state, direction, tl)
        if state is not None and step.send_to is not None:
            tickets = send(state, step.send_to, tl)
            if leaving is not None:
                leaving += tickets
            return None
    return state


def broadcast(
    total: RunningSoftmax | None, steps: Iterable[StepBack], rows: int, d: int, tl: Tl
) -> RunningSoftmax:
    """The root's state on every rank; `total` is it at the root, None elsewhere."""
    for step in steps:
        if step.receive_from is not None:
            total = received(step.receive_from, rows, d, tl)
        assert total is not None, "a rank that receives nothing is the root"
        for direction in step.send_to:
            send(total, direction, tl)
    assert total is not None, "a group has a root"
    return total


def send(state: RunningSoftmax, direction: str, tl: Tl) -> list[SendTicket]:
    """Sends m, l and O to the neighbour."""
    return [
        tl.send(direction, state.row_max),
        tl.send(direction, state.row_sum),
        tl.send(direction, state.weighted),
    ]


def received(direction: str, rows: int, d: int, tl: Tl) -> RunningSoftmax:
    """The neighbour's state, in new TCM."""
    return RunningSoftmax(
        row_max=tl.recv(direction, (rows,), F32, name="m"),
        row_sum=tl.recv(direction, (rows,), F32, name="l"),
        weighted=tl.recv(direction, (rows, d), F32, name="O"),
    )


def merge(state: RunningSoftmax, direction: str, tl: Tl) -> None:
    """Merges the neighbour's state into this one, in 3 receives and 8 math commands.

    The 6 that can do without its O, the long message, come before it is received.
    """
    rows, d = state.weighted.shape
    if state.spare_max is None:
        state.spare_max = tl.empty((rows,), F32, name="m")
    with tl.scratch_scope():
        other_max = tl.recv(direction, (rows,), F32)
        new_max = tl.maximum(state.row_max, other_max, out=state.spare_max)
        corr = tl.exp_diff(state.row_max, new_max)
        other_corr = tl.exp_diff(other_max, new_max)
        tl.mul_bcast(state.weighted, corr, out=state.weighted)
        other_sum = tl.recv(direction, (rows,), F32)
        tl.mul(other_sum, other_corr, out=other_sum)
        tl.fma(state.row_sum, corr, other_sum, out=state.row_sum)
        other_weighted = tl.recv(direction, (rows, d), F32)
        tl.mul_bcast(other_weighted, other_corr, out=other_weighted)
        tl.add(state.weighted, other_weighted, out=state.weighted)
    state.turn(new_max)
