"""Which tensors several PEs reach, one of them writing: where the comparison of commands is blind.

Hazards are compared PE by PE. Two PEs that meet in one tensor's bytes may be ordered by messages or
not: only a re-execution in time order (check_data) sees it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...schemas.trace import PeEntry, Trace
from .signatures import accessed_tensors

SHARED_NAMED = 4


@dataclass(frozen=True, slots=True)
class SharedTensor:
    """A tensor in the HBM of the PE of rank `owner`: who reads it and who writes it, by rank.

    A PE that does both is in both. `name` is without the owner.
    """

    name: str
    owner: int
    readers: tuple[int, ...]
    writers: tuple[int, ...]


def shared_tensors(trace: Trace) -> tuple[SharedTensor, ...]:
    """What more than one PE touches and at least one writes, by owner and then by address."""
    if all(owner == pe.rank for pe in trace.pes for owner in pe.owners):
        return ()
    read = [accessed_tensors(trace, stream, writes=False) for stream in trace.streams]
    written = [accessed_tensors(trace, stream, writes=True) for stream in trace.streams]
    users: dict[tuple[int, int], list[tuple[PeEntry, int]]] = {}
    for pe in trace.pes:
        for tensor in sorted(read[pe.stream] | written[pe.stream]):
            users.setdefault((pe.owners[tensor], pe.bases[tensor]), []).append((pe, tensor))

    def ranks(uses: list[tuple[PeEntry, int]], accessed: list[frozenset[int]]) -> Iterator[int]:
        found = {pe.rank for pe, tensor in uses if tensor in accessed[pe.stream]}
        yield from sorted(found)

    shared = []
    for (owner, _), uses in sorted(users.items(), key=lambda each: each[0]):
        readers, writers = tuple(ranks(uses, read)), tuple(ranks(uses, written))
        if writers and len({*readers, *writers}) > 1:
            shared.append(SharedTensor(trace.bare_tensor_name(*uses[0]), owner, readers, writers))
    return tuple(shared)


def shared_lines(shared: tuple[SharedTensor, ...]) -> list[str]:
    """What several PEs reach, one of them writing: nothing of it was compared between PEs."""
    names = [f"{tensor.name} of PE {tensor.owner}" for tensor in shared[:SHARED_NAMED]]
    more = len(shared) - len(names)
    listed = ", ".join(names) + (f" and {more:,} more" if more else "")
    are = "is" if len(shared) == 1 else "are"
    return [
        f"{_tensors(len(shared))} {are} reached by several PEs, written by at least one: {listed}.",
        "Pairs of commands of different PEs are not compared; replay --check-data sees what they do.",
    ]


def not_compared_text(count: int) -> str:
    """The same in short, for a count of shared tensors."""
    return f"not compared: {_tensors(count)} that several PEs reach (--check-data sees them)"


def _tensors(count: int) -> str:
    return f"{count:,} tensor{'' if count == 1 else 's'}"
