"""Everybody's parcel to everybody else, along the line of a CUBE group, both ways at once.

At step s a rank holds the parcels of the ranks s places before and s places after it. It passes the
one on forward and the other backward, and uses both; its own, at step 0, goes both ways. A line of n
ranks takes n − 1 steps, and every parcel crosses every link once.

Two parts of the scratch take turns: what is held lies in one, what arrives goes into the other. A
part is filled anew when the sends that left it are over. Receives are posted before the sends of
the same step, so that no two ranks can wait for each other's receive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...schemas.dtypes import DType
from ..handles import TensorHandle
from ..tl import SendTicket, Tl
from .line import LineSeat

Parcel: TypeAlias = tuple[TensorHandle, ...]
PARTS = 2


@dataclass(frozen=True, slots=True)
class Piece:
    """One message of a parcel, before it is there."""

    shape: tuple[int, ...]
    dtype: DType
    name: str


@dataclass
class FanOut:
    """A rank's place in it. `contents[i]` is what the parcel of the line's rank i consists of.

    Nothing where that rank has none: then nobody sends it, and nobody waits for it.
    """

    seat: LineSeat
    contents: Sequence[tuple[Piece, ...]]
    tl: Tl
    _leaving: list[SendTicket] = field(default_factory=list)

    def parcels(self, own: Parcel) -> Iterator[tuple[int, Parcel]]:
        """Each parcel with its rank's position: this rank's own, then step by step the others', of
        two the one from before first. They are to be used before the next is asked for.
        """
        before = after = own
        for step in range(len(self.contents)):
            with self.tl.scratch_scope(slots=PARTS):
                self._settle()
                next_before = self._arriving(self.seat.position - step - 1, self.seat.backward)
                next_after = self._arriving(self.seat.position + step + 1, self.seat.forward)
                self._send(before, self.seat.forward)
                self._send(after, self.seat.backward)
                if before:
                    yield self.seat.position - step, before
                if after and step:
                    yield self.seat.position + step, after
            before, after = next_before, next_after

    def _settle(self) -> None:
        """Waits until what was sent at the step before has left."""
        if self._leaving:
            self.tl.wait(*self._leaving)
        self._leaving = []

    def _arriving(self, position: int, direction: str | None) -> Parcel:
        if direction is None or not 0 <= position < len(self.contents):
            return ()
        return tuple(
            self.tl.recv_async(direction, piece.shape, piece.dtype, name=piece.name)
            for piece in self.contents[position]
        )

    def _send(self, parcel: Parcel, direction: str | None) -> None:
        if direction is not None:
            self._leaving += [self.tl.send(direction, each) for each in parcel]
