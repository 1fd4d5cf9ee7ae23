"""The machine at work: how busy every PE and every link was, in what is shown or at the cursor.

Ranks are places: `Spot` arithmetic moves over the whole machine as over one grid of PEs. Knows no
lines; those are machine_lines.py.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...replay.components.noc import link_between, link_title
from ...schemas.commands import CommandKind
from ...schemas.stages import Block, StageKind
from ...schemas.topology import Place, Topology
from .index import NO_STAGE, TimelineIndex
from .lanes import engine_title
from .look import Look

Shares = npt.NDArray[np.float64]

BUSIEST = "busiest engine"

STAGES_AT_A_TIME = 1 << 18


@dataclass(frozen=True)
class MachineLook:
    """`rank` is the chosen PE. `is_near`: one CUBE, else all; `at_cursor`: the instant at which the
    selected stage starts, else the area, or without one all that is shown. `engine` is a title, or
    BUSIEST."""

    rank: int
    is_near: bool = False
    at_cursor: bool = False
    engine: str = BUSIEST


@dataclass(frozen=True)
class Load:
    """Busy shares from 0 to 1 over a range of time.

    pe: per rank of the launch and engine title · link: per link's title (`cube.1>2`).
    """

    from_ps: int
    to_ps: int
    pe: dict[int, dict[str, float]]
    link: dict[str, float]

    def share(self, rank: int, engine: str) -> float | None:
        """A PE's share; None where it is not in the launch."""
        engines = self.pe.get(rank)
        if engines is None:
            return None
        return max(engines.values(), default=0.0) if engine == BUSIEST else engines.get(engine, 0.0)


def first_machine_look(index: TimelineIndex, look: Look) -> MachineLook:
    """At the cursor's PE; near on a machine of one CUBE."""
    topology = index.timeline.topology
    pes = index.timeline.trace.pes
    rank = pes[index.pe(look.stage)].rank if look.stage != NO_STAGE else 0
    return MachineLook(rank, is_near=topology.sips * topology.cubes.size == 1)


def load_of(index: TimelineIndex, look: Look, shown: MachineLook) -> Load:
    """What every engine did in the area, without one in the window; or at the start of the selected
    stage.
    """
    from_ps, to_ps = look.area or (look.from_ps, look.to_ps)
    if shown.at_cursor:
        from_ps = index.start(look.stage) if look.stage != NO_STAGE else look.at_ps
        to_ps = from_ps + 1
    shares = busy_shares(index, from_ps, to_ps)
    pe: dict[int, dict[str, float]] = {entry.rank: {} for entry in index.timeline.trace.pes}
    link: dict[str, float] = {}
    for engine, share in zip(index.timeline.engines, shares.tolist(), strict=True):
        if engine.rank < 0:
            link[engine.channel] = share
        elif engine.block is not Block.PE_SCHEDULER:
            pe.setdefault(engine.rank, {})[engine_title(engine)] = share
    return Load(from_ps, to_ps, pe, link)


def busy_shares(index: TimelineIndex, from_ps: int, to_ps: int) -> Shares:
    """Per engine, the part of [from, to) in which it worked: float64 from 0 to 1.

    One pass over all stages, whatever the number of engines.
    """
    timeline = index.timeline
    busy = np.zeros(len(timeline.engines))
    for first in range(0, len(index), STAGES_AT_A_TIME):
        some = slice(first, first + STAGES_AT_A_TIME)
        begun = np.maximum(timeline.start_ps[some], from_ps)
        inside = np.maximum(np.minimum(timeline.end_ps[some], to_ps) - begun, 0)
        busy += np.bincount(timeline.stages.engine[some], weights=inside, minlength=len(busy))
    shares: Shares = np.minimum(busy / max(to_ps - from_ps, 1), 1.0)
    return shares


def engines_of(load: Load) -> tuple[str, ...]:
    """What a PE can be shaded by: its busiest engine, or one title, in the order of the table."""
    titles = dict.fromkeys(title for engines in load.pe.values() for title in engines)
    return (BUSIEST, *titles)


def next_engine(shown: MachineLook, load: Load, by: int = 1) -> MachineLook:
    """The next (by=1) or previous of those, round and round."""
    known = engines_of(load)
    place = known.index(shown.engine) if shown.engine in known else 0
    return replace(shown, engine=known[(place + by) % len(known)])


LOAD_COLUMNS = ("pe", "sip", "cube", "pe_in_cube", "engine", "busy_share")


def load_rows(topology: Topology, load: Load) -> list[tuple[object, ...]]:
    """The load as it is saved: an engine of a PE a row, `pe` being its rank, then a link a row."""
    rows: list[tuple[object, ...]] = []
    for rank, engines in load.pe.items():
        place = topology.place(rank)
        where = (rank, place.sip, place.cube, place.pe)
        rows += [(*where, title, f"{share:.6f}") for title, share in engines.items()]
    nowhere = ("",) * 4
    return rows + [(*nowhere, link, f"{share:.6f}") for link, share in load.link.items()]


def stepped(topology: Topology, shown: MachineLook, columns: int, rows: int) -> MachineLook:
    """The PE that many columns and rows away on the machine as one grid; none past an edge."""
    column, row = spot(topology, shown.rank)
    across = topology.sips * topology.cubes.columns * topology.pes.columns
    down = topology.cubes.rows * topology.pes.rows
    column = min(max(column + columns, 0), across - 1)
    row = min(max(row + rows, 0), down - 1)
    return replace(shown, rank=rank_at(topology, column, row))


def spot(topology: Topology, rank: int) -> tuple[int, int]:
    """(column, row) of a PE on the machine as one grid: SIPs side by side, CUBEs in them."""
    place = topology.place(rank)
    cube_column, cube_row = topology.cubes.at(place.cube)
    pe_column, pe_row = topology.pes.at(place.pe)
    column = (place.sip * topology.cubes.columns + cube_column) * topology.pes.columns + pe_column
    return column, cube_row * topology.pes.rows + pe_row


def rank_at(topology: Topology, column: int, row: int) -> int:
    """The rank at a place of that grid."""
    cube_column, pe_column = divmod(column, topology.pes.columns)
    sip, cube_column = divmod(cube_column, topology.cubes.columns)
    cube_row, pe_row = divmod(row, topology.pes.rows)
    cube = cube_row * topology.cubes.columns + cube_column
    pe = pe_row * topology.pes.columns + pe_column
    return topology.rank(Place(sip, cube, pe))


@dataclass(frozen=True)
class Message:
    """What the selected stage belongs to: `what` (`message`, `read`, `write`) goes from rank to rank
    over `links`, in the order in which they are crossed.
    """

    sender: int
    receiver: int
    links: tuple[str, ...]
    what: str = "message"


MESSAGE_KINDS = (CommandKind.SEND, CommandKind.RECV, CommandKind.RECV_ASYNC)
TO_LINKS = (StageKind.HBM_READ, StageKind.DMA_WRITE)
"""What a read and a write begin with; what they end with is one of FROM_LINKS."""
FROM_LINKS = (StageKind.DMA_READ, StageKind.HBM_WRITE)


def message_of(index: TimelineIndex, stage: int) -> Message | None:
    """The message that a stage's command sends or receives, or the remote read or write that the stage
    is a hop of; None for anything else.

    A link's stage belongs to the command that sends over it.
    """
    if stage == NO_STAGE:
        return None
    pe = index.pe(stage)
    form = index.form(pe, index.command(stage))
    if form.kind not in MESSAGE_KINDS:
        return _remote_access(index, stage)
    if index.kind(stage) is StageKind.DISPATCH:
        return None
    topology, rank = index.timeline.topology, index.timeline.trace.pes[pe].rank
    wire = topology.directions[form.direction]
    peer = topology.peer(rank, form.direction)
    if peer is None:
        return None
    sends = form.kind is CommandKind.SEND
    sender, receiver = (rank, peer) if sends else (peer, rank)
    link = link_title(link_between(topology, sender, receiver, wire.level))
    return Message(sender, receiver, (link,))


def _remote_access(index: TimelineIndex, stage: int) -> Message | None:
    """The hops of a read or write have ids one after the other, its links in the middle."""
    first = last = stage
    while index.kind(first) in (StageKind.LINK, *FROM_LINKS) and _is_hop(index, first - 1, stage):
        first -= 1
    while index.kind(last) in (StageKind.LINK, *TO_LINKS) and _is_hop(index, last + 1, stage):
        last += 1
    links = [hop for hop in range(first, last + 1) if index.kind(hop) is StageKind.LINK]
    if not links:
        return None
    rank = index.timeline.trace.pes[index.pe(stage)].rank
    reads = index.kind(first) is StageKind.HBM_READ
    owner = index.engine(first if reads else last).rank
    sender, receiver = (owner, rank) if reads else (rank, owner)
    crossed = tuple(index.engine(hop).channel for hop in links)
    return Message(sender, receiver, crossed, "read" if reads else "write")


def _is_hop(index: TimelineIndex, hop: int, stage: int) -> bool:
    """Whether a stage beside another is a hop, and of the same command."""
    if not 0 <= hop < len(index):
        return False
    kinds = (StageKind.LINK, *TO_LINKS, *FROM_LINKS)
    return index.kind(hop) in kinds and index.command_position(hop) == index.command_position(stage)
