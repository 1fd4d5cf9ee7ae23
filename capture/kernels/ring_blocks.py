"""Blocks of K and V as they pass by a PE in the ring: received, used, passed on.

Two parts of the scratch take turns (ping-pong): while the block in one is used, the next arrives in
the other. Before a part is filled anew, all that used the block in it is over: PE_CPU waits for the
composites that read it and for the sends that it left by. Receives are posted before the sends of
the same step, so that no two PEs can wait for each other's receive.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..handles import TensorHandle
from ..tensors import HbmTensor
from ..tl import SendTicket, Tl
from .prefill_room import BLOCKS
from .prefill_steps import Step
from .prefill_tiles import Block
from .ring import RingSeat


@dataclass
class RingPort:
    """A PE's place at the ring. `own` is its own slice, in HBM.

    Without `overlap`, the next block is fetched when all work on this one is done.
    """

    seat: RingSeat
    own: Block[HbmTensor]
    overlap: bool
    tl: Tl
    _leaving: list[SendTicket] = field(default_factory=list)

    def blocks(self, steps: Sequence[Step]) -> Iterator[tuple[Step, Block[TensorHandle] | None]]:
        """Each step with its block, None where that has no keys; in scratch of the block's part."""
        with self.tl.scratch_scope(slots=BLOCKS):
            block = self._arriving(steps[0])
        for step, following in zip(steps, (*steps[1:], None), strict=True):
            with self.tl.scratch_scope(slots=BLOCKS):
                self._settle()
                arriving = self._exchange(step, block, following) if self.overlap else None
                yield step, block
                if following is not None and not self.overlap:
                    self.tl.wait()
                    arriving = self._exchange(step, block, following)
            block = arriving

    def _settle(self) -> None:
        """Waits until this step's block is here and nothing uses the one before it."""
        self.tl.wait()
        if self._leaving:
            self.tl.wait(*self._leaving)
        self._leaving = []

    def _exchange(
        self, step: Step, block: Block[TensorHandle] | None, following: Step | None
    ) -> Block[TensorHandle] | None:
        """Asks for the next step's block and passes this step's on."""
        arriving = None if following is None else self._arriving(following)
        if step.passed_on and block is not None:
            self._leaving = [self.tl.send(self.seat.send_to, part) for part in (block.k, block.v)]
        return arriving

    def _arriving(self, step: Step) -> Block[TensorHandle] | None:
        """A step's block, on its way from the CUBE before or from HBM."""
        keys = step.keys
        if not keys:
            return None
        k, v = self._received(len(keys)) if step.received else self._loaded(keys)
        return Block(k, v, keys)

    def _loaded(self, keys: range) -> tuple[TensorHandle, TensorHandle]:
        k, v = self.own.k_of(keys), self.own.v_of(keys)
        return self.tl.load(k, name="K"), self.tl.load(v, name="V")

    def _received(self, keys: int) -> tuple[TensorHandle, TensorHandle]:
        (d, _), dtype = self.own.k.shape, self.own.k.dtype
        k = self.tl.recv_async(self.seat.receive_from, (d, keys), dtype, name="K")
        return k, self.tl.recv_async(self.seat.receive_from, (keys, d), dtype, name="V")
