"""What a runner returns: when each stage was ready, started and ended, and what let it start."""

from dataclasses import dataclass

from ..schemas.columns import Int32s, Int64s


@dataclass(frozen=True)
class Times:
    """Per stage, int64 picoseconds from the launch; `cause` is a stage id or −1 (the law's cause).

    In a stage that never came to it `start_ps` and `end_ps` are −1; `ready_ps` and `cause` then tell of
    the releases that did happen."""

    ready_ps: Int64s
    start_ps: Int64s
    end_ps: Int64s
    cause: Int32s
