"""Which direction leads from a place to its neighbour, looked up by level and step: names are free."""

from ...schemas.errors import ConfigError
from ...schemas.topology import Level, Topology
from .trees import Spot


def direction_to(topology: Topology, level: Level, here: Spot, there: Spot, purpose: str) -> str:
    """The direction of that level from one (column, row) to another.

    Raises ConfigError, which says what it would be for, where the topology has none.
    """
    step = (there[0] - here[0], there[1] - here[1])
    for name, direction in topology.directions.items():
        if direction.level is level and direction.step == step:
            return name
    raise ConfigError(
        f"topology {topology.name} must have a direction of level {level} and step {list(step)}"
        f" for the {purpose}, and has none"
    )
