"""The servers of a launch: every PE's own, HBM channels that PEs outside of the launch own, links."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Int32s
from ..schemas.stages import Block, Engine
from ..schemas.trace import PeEntry
from .components import hbm
from .components.noc import Link, link_title
from .remote import Server
from .templates import PE_ENGINES


@dataclass(frozen=True)
class EngineTable:
    """`engines` has those of the PEs first, PE_ENGINES of each; `numbers` is where the others, and the
    launched PEs' HBM channels, stand.
    """

    engines: tuple[Engine, ...]
    numbers: dict[Server, int]

    def numbers_of(self, servers: Iterable[Server]) -> Int32s:
        """Where each of the servers stands in `engines`; −1 for one that no stage uses."""
        return np.array([self.numbers.get(server, -1) for server in servers], dtype=np.int32)


def engine_table(pes: tuple[PeEntry, ...], used: Collection[Server]) -> EngineTable:
    """The engines of a launch in which stages run on the `used` links and HBM channels, too."""
    own = [
        Engine(slot.block, pe.rank, slot.channel, slot.arbitrates)
        for pe in pes
        for slot in PE_ENGINES
    ]
    channel = PE_ENGINES.index(hbm.CHANNEL)
    numbers: dict[Server, int] = {
        pe.rank: place * len(PE_ENGINES) + channel for place, pe in enumerate(pes)
    }
    owners = sorted(one for one in used if isinstance(one, int) and one not in numbers)
    links = sorted(one for one in used if not isinstance(one, int))
    beyond: list[Server] = [*owners, *links]
    numbers |= {server: len(own) + place for place, server in enumerate(beyond)}
    return EngineTable((*own, *map(_channel_of, owners), *map(_link, links)), numbers)


def _channel_of(rank: int) -> Engine:
    return Engine(Block.HBM, rank, hbm.CHANNEL.channel, hbm.CHANNEL.arbitrates)


def _link(link: Link) -> Engine:
    return Engine(Block.NOC, -1, link_title(link), arbitrates=True)
