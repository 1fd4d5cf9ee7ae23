"""A hazard policy: what PE_SCHEDULER and PE_CPU hold back, and for what. Data, so users bring their own."""

from enum import StrEnum
from typing import Annotated

from pydantic import model_validator

from .config_file import FromList, Line, StrictModel, word_of


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

    name: Line
    summary: Line
    compares: Annotated[Compares, word_of(Compares)]
    kinds: Annotated[tuple[Annotated[HazardKind, word_of(HazardKind)], ...], FromList]
    holds: Annotated[Holds, word_of(Holds)]
    passing: bool

    @model_validator(mode="after")
    def _kinds_fit_what_is_compared(self) -> "HazardPolicy":
        listed = f"[{', '.join(self.kinds)}]"
        if len(set(self.kinds)) < len(self.kinds):
            raise ValueError(f"kinds must name each kind once, not {listed}")
        if self.compares is Compares.NOTHING and self.kinds:
            raise ValueError(f"kinds must be [] where nothing is compared, not {listed}")
        if self.compares is not Compares.NOTHING and not self.kinds:
            raise ValueError(f"kinds must name a kind where {self.compares} are compared, not []")
        if self.compares is Compares.EVERYTHING and set(self.kinds) != set(HazardKind):
            raise ValueError(
                f"kinds must be [RAW, WAR, WAW] where everything is compared, not {listed}"
            )
        return self
