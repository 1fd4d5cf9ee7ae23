"""The records that the engine keeps: what one event needs of a stage, a release or a server, together.

Compiled they are C structs in one block (engine_records.pxd spells them out), else objects in a list. A
field is a C int, one in picoseconds a long long.
"""

from dataclasses import dataclass, fields

import numpy as np

NONE = -1


@dataclass(slots=True)
class StageRecord:
    """A stage. Releases by its end are the rows `by_end` to `by_start`, those by its start the rows
    from there to the next stage's `by_end`.
    """

    engine: int = NONE  # NONE where it needs not queue
    queue: int = NONE  # the events of its duration class
    missing: int = NONE  # how many releases it still waits for
    cause: int = NONE
    next_waiting: int = NONE  # behind it in its engine's line, or among the stages without one
    by_end: int = NONE
    by_start: int = NONE
    ready_ps: int = NONE
    end_ps: int = NONE


@dataclass(slots=True)
class ReleaseRecord:
    """A release, grouped by who releases. `queue`: the events of its lag class."""

    released: int = NONE
    queue: int = NONE
    releaser: int = NONE


@dataclass(slots=True)
class ServerRecord:
    """An engine: its waiting line, the stage it serves (NONE where idle), the one it served last, and
    whether it may be able to start something in this instant (NONE: no).
    """

    first_waiting: int = NONE
    last_waiting: int = NONE
    serving: int = NONE
    served: int = NONE
    touched: int = NONE


Record = type[StageRecord] | type[ReleaseRecord] | type[ServerRecord]


def c_struct(record: Record) -> np.dtype[np.void]:
    """The record as C lays it out."""
    kinds = [(each.name, "i8" if each.name.endswith("_ps") else "i4") for each in fields(record)]
    return np.dtype(kinds, align=True)
