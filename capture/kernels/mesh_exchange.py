"""How attention_mesh_mlo's partial states (m, l, O) become the whole one on every rank of a group.

    fan_out      every rank's state to every other, R − 1 steps; each rank merges all of them
    two_level    all-reduce: to the root over the PEs and then the CUBEs, by the trees of gqa_decode,
                 and the result back to all ranks by the same trees

Both leave the answer on R ranks, of which attention needs one (ADR-0060 §A, §4.3, §B).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ...schemas.dtypes import DType
from ..tl import Tl
from .fan_out import FanOut, Parcel, Piece
from .groups import HeadGroups, Member
from .line import LineSeat, line_of, line_seats
from .reduce import broadcast, reduce_to_root
from .reduction_plan import Step, StepBack, reduction
from .softmax import RunningSoftmax, nothing_seen

F32 = DType.F32


class Exchange(Protocol):
    """One of the two, for a group whose lengths are known."""

    def total(
        self, member: Member, state: RunningSoftmax | None, rows: int, d: int, tl: Tl
    ) -> RunningSoftmax:
        """The state over all ranks' tokens; `state` is this rank's own, None without tokens."""
        ...


@dataclass(frozen=True, slots=True)
class OneLevel:
    """fan_out. `has_tokens` is by position on the line."""

    seats: Mapping[Member, LineSeat]
    has_tokens: Sequence[bool]

    @classmethod
    def of(cls, groups: HeadGroups, occupied: Mapping[Member, bool]) -> "OneLevel":
        """Raises ConfigError where the ranks are no line of one-hop neighbours."""
        return cls(line_seats(groups), [occupied[member] for member in line_of(groups)])

    def total(
        self, member: Member, state: RunningSoftmax | None, rows: int, d: int, tl: Tl
    ) -> RunningSoftmax:
        pieces = (Piece((rows,), F32, "m"), Piece((rows,), F32, "l"), Piece((rows, d), F32, "O"))
        contents = [pieces if each else () for each in self.has_tokens]
        total = state or nothing_seen(rows, d, tl, double_buffered=True)
        own = (total.row_max, total.row_sum, total.weighted) if state else ()
        seat = self.seats[member]
        for position, parcel in FanOut(seat, contents, tl).parcels(own):
            if position != seat.position:
                with tl.scratch_scope():
                    _merge(total, parcel, tl)
        return total


def _merge(state: RunningSoftmax, parcel: Parcel, tl: Tl) -> None:
    """Merges another rank's state, which stays as it is, as it may still be on its way onward."""
    row_max, row_sum, weighted = parcel
    new_max = tl.maximum(state.row_max, row_max, out=state.spare_max)
    corr, other = tl.exp(state.row_max - new_max), tl.exp(row_max - new_max)
    tl.add(state.row_sum * corr, row_sum * other, out=state.row_sum)
    tl.add(state.weighted * corr[:, None], weighted * other[:, None], out=state.weighted)
    state.turn(new_max)


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """two_level. Who has no tokens sends nothing to the root, and has the result all the same."""

    there: Mapping[Member, tuple[Step, ...]]
    back: Mapping[Member, tuple[StepBack, ...]]

    @classmethod
    def of(cls, groups: HeadGroups, occupied: Mapping[Member, bool]) -> "TwoLevel":
        """Raises ConfigError where a hop of the trees has no direction."""
        trees = reduction(groups, "tree", "centre")
        return cls(trees.steps(occupied), trees.steps_back())

    def total(
        self, member: Member, state: RunningSoftmax | None, rows: int, d: int, tl: Tl
    ) -> RunningSoftmax:
        at_root = reduce_to_root(state, self.there[member], rows, d, tl)
        return broadcast(at_root, self.back[member], rows, d, tl)


Plan: TypeAlias = Callable[[HeadGroups, Mapping[Member, bool]], Exchange]
"""Of a group, and which of its members have tokens."""

EXCHANGES: dict[str, Plan] = {"fan_out": OneLevel.of, "two_level": TwoLevel.of}
