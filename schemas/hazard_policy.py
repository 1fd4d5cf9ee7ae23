"""A hazard policy: what PE_SCHEDULER and PE_CPU hold back, and for what. Data, so users bring their own."""

from enum import StrEnum

from .config_file import StrictModel


class HazardKind(StrEnum):
    """By program order: read after write, write after read, write after write."""

    RAW = "RAW"
    WAR = "WAR"
    WAW = "WAW"


class Compares(StrEnum):
    """What two commands must share to count as a conflict for the policy."""

    NOTHING = "nothing"
    RW_HANDLES = "rw_handles"
    HANDLES = "handles"
    BYTES = "bytes"
    EVERYTHING = "everything"


class Holds(StrEnum):
    """Whom the policy can hold: composites at their admission, or every command at its begin."""

    COMPOSITES = "composites"
    COMMANDS = "commands"


class HazardPolicy(StrictModel):
    """`kinds` are the conflicts that hold; `passing`: whether later composites may overtake a held one."""

    model_config = StrictModel.model_config | {"strict": False}

    name: str
    summary: str
    compares: Compares
    kinds: tuple[HazardKind, ...]
    holds: Holds
    passing: bool
