"""The stages of a launch that run away from their PE: on links, and on other PEs' HBM channels."""

from dataclasses import dataclass

import numpy as np

from ..schemas.columns import Int32s, Int64s
from .lower_stream import StreamGraph
from .remote import Reaches, Server, Servers
from .templates import LINK_SLOT


@dataclass(frozen=True)
class FarStages:
    """Those of one PE. `stages` are the launch's ids, `servers[slots[i]]` is where stage i runs."""

    stages: Int64s
    slots: Int32s
    servers: Servers

    def used(self) -> set[Server]:
        """The servers that have a stage."""
        return {self.servers[slot] for slot in np.unique(self.slots).tolist()}


def far_stages(reaches: Reaches, graphs: list[StreamGraph], first: Int64s) -> list[FarStages]:
    """Of every PE that reaches for others' tensors. `graphs` are the PEs', `first` their first stages."""
    of_variant: dict[int, Int64s] = {}
    found = []
    for place, (variant, servers) in enumerate(zip(reaches.of_pes, reaches.servers, strict=True)):
        if not servers:
            continue
        slot = graphs[place].slot
        if variant not in of_variant:
            of_variant[variant] = np.flatnonzero(slot > LINK_SLOT)
        mine = of_variant[variant]
        found.append(FarStages(mine + first[place], slot[mine] - (LINK_SLOT + 1), servers))
    return found
