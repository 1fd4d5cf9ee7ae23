"""The table of engines: how busy each kind was, and what it waited for while it was not."""

from .idleness import IDLE_WORDS, Idle
from .summary import EngineUse
from .text import Line, Span, fit
from .tones import FAINT, MUTED, STRONG, TEXT, Paint, tone

LEAST_TITLE_CELLS, MOST_TITLE_CELLS = 15, 19
COLUMN_CELLS = 9
OTHER = "other"
NONE, HARDLY_ANY = "·", "<0.1 %"
"""Parts of a whole that are not told in numbers."""


def engine_table(
    engines: tuple[EngineUse, ...], width: int
) -> tuple[tuple[Line, Line], tuple[Line, ...]]:
    """Two lines of heads, then one line an engine: busy, then the reasons that occur, in parts of its
    whole time.

    Where there is no room for all reasons, the largest are shown and the others added up; what waits
    for ever is always told, then what the busiest mostly waits for.
    """
    title_cells = _title_cells(engines)
    reasons = _reasons(engines, (width - title_cells - COLUMN_CELLS) // COLUMN_CELLS)
    titles = "".join(f"{title:>{COLUMN_CELLS}}" for title, _ in reasons)
    head = f"{'engine':{title_cells}}{'busy':>{COLUMN_CELLS}}{titles}"
    above = f"{'':{title_cells + COLUMN_CELLS}}   idle, waiting for"
    heads = (Span(above, FAINT),), (Span(head, FAINT),)
    return heads, tuple(_engine_line(use, reasons, title_cells) for use in engines)


def _title_cells(engines: tuple[EngineUse, ...]) -> int:
    longest = max((len(_title(use)) + 1 for use in engines), default=0)
    return min(max(longest, LEAST_TITLE_CELLS), MOST_TITLE_CELLS)


def _title(use: EngineUse) -> str:
    """`HBM`, or `HBM ×512`."""
    return f"{use.title} ×{len(use.lanes)}" if len(use.lanes) > 1 else use.title


Reasons = list[tuple[str, tuple[Idle, ...]]]
"""The columns: a title and the reasons that are added up in it."""


def _reasons(engines: tuple[EngineUse, ...], room: int) -> Reasons:
    largest = {
        idle: max((use.idle_ps[idle] * per_ps(use) for use in engines), default=0.0)
        for idle in Idle
    }
    found = [idle for idle in Idle if largest[idle]]
    limiting = main_wait(busiest_of(engines)) if engines else None
    by_size = sorted(
        found, key=lambda idle: (idle is not Idle.EVER, idle is not limiting, -largest[idle])
    )
    kept = set(by_size[: max(room - 1, 0)])
    if len(found) <= room:
        kept = set(found)
    columns: Reasons = [(IDLE_WORDS[idle], (idle,)) for idle in found if idle in kept]
    others = tuple(idle for idle in found if idle not in kept)
    return [*columns, (OTHER, others)] if others else columns


def _engine_line(use: EngineUse, reasons: Reasons, title_cells: int) -> Line:
    """The engine's largest reason stands out."""
    line: Line = (
        Span(fit(_title(use), title_cells), tone(Paint(use.paint))),
        Span(f"{percent(use.busy_ps, use.all_ps):>{COLUMN_CELLS}}", STRONG),
    )
    parts = [sum(use.idle_ps[idle] for idle in idles) for _, idles in reasons]
    for time_ps in parts:
        looks = FAINT if not time_ps else TEXT if time_ps == max(parts) else MUTED
        line += (Span(f"{percent(time_ps, use.all_ps):>{COLUMN_CELLS}}", looks),)
    return line


def busiest_of(engines: tuple[EngineUse, ...]) -> EngineUse:
    """The kind that is busy for the largest share of its time; there must be one."""
    return max(engines, key=lambda use: use.busy_ps * per_ps(use))


def main_wait(use: EngineUse) -> Idle:
    """What a kind of engine mostly waits for while it is idle; the first of Idle where it never is."""
    return max(Idle, key=lambda idle: use.idle_ps[idle])


def per_ps(use: EngineUse) -> float:
    """Compares engines by their share, whatever their number."""
    return 1 / use.all_ps if use.all_ps else 0.0


def percent(part: int, whole: int) -> str:
    """`20.8 %`, `<0.1 %` for hardly any, `·` for none."""
    if not part or not whole:
        return NONE
    tenths = (1000 * part + whole // 2) // whole
    return f"{tenths // 10}.{tenths % 10} %" if tenths else HARDLY_ANY


_IDLE_COLUMNS = tuple(f"{IDLE_WORDS[idle].replace(' ', '_')}_ps" for idle in Idle)
ENGINE_COLUMNS = ("engine", "engines", "busy_ps", *_IDLE_COLUMNS)


def engine_rows(engines: tuple[EngineUse, ...]) -> list[tuple[object, ...]]:
    """The table of engines as it is saved, with every reason."""
    return [(use.title, len(use.lanes), use.busy_ps, *use.idle_ps) for use in engines]
