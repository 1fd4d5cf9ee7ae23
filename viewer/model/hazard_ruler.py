"""The bytes of a hazard as a ruler: what each command touches, what both do, and where in memory.

earlier      ├──────────────┤             P        0x4a00 – 0x4e00
later                 ├──────────────┤    s        0x4c00 – 0x5000
both                  ██████              the first shared run, 512 B at 0x4c00
in TCM       ·▲···········┊·····          where that is; ┊ begins the scratch arena
"""

from ...schemas.footprints import footprint
from ...schemas.handles import Handle, Space
from .hazards import HazardIndex
from .index import TimelineIndex
from .text import Line, Span, fit, fit_line, printable
from .tones import ACCENT, FAINT, MUTED, TEXT, Paint, tone
from .words import handle_name

TITLE_CELLS = 13
WORDS_CELLS = 36
RULER_LINES = 4


def ruler_lines(index: TimelineIndex, hazards: HazardIndex, row: int, width: int) -> list[Line]:
    """Four lines for a row of the table."""
    pe, table = int(hazards.table.pe[row]), hazards.table
    first, past = int(table.byte_from[row]), int(table.byte_to[row])
    if past <= first:
        words = "  the two share no byte: the policy holds this pair all the same"
        return [fit_line((Span(words, MUTED),), width)] + [fit_line((), width)] * (RULER_LINES - 1)
    handles = [
        index.handle(pe, int(handle))
        for handle in (table.earlier_handle[row], table.later_handle[row])
    ]
    runs = [_hull(handle) for handle in handles]
    low = min(first, *(run[0] for run in runs))
    high = max(past, *(run[1] for run in runs))
    cells = max(width - TITLE_CELLS - WORDS_CELLS - 2, 1)
    lines: list[Line] = []
    for title, handle, run in zip(("earlier", "later"), handles, runs, strict=True):
        bar = _bar(run, (low, high), cells, "─", ends=True)
        words = f"{fit(handle_name(handle), 10)} {run[0]:#x} – {run[1]:#x}"
        lines.append(_line(title, bar, TEXT, words))
    shared = _bar((first, past), (low, high), cells, "█", ends=False)
    words = f"first shared run: {past - first} B at {first:#x}"
    lines.append(_line("both", shared, tone(Paint.VIOLATED), words))
    lines.append(_memory_line(index, pe, handles[1], first, cells))
    return [fit_line(line, width) for line in lines]


def _line(title: str, bar: str, looks: int, words: str) -> Line:
    head = Span(f"  {title:{TITLE_CELLS - 2}}", FAINT)
    return (head, Span(bar, looks), Span(f"  {words}", MUTED))


def _hull(handle: Handle) -> tuple[int, int]:
    """The first byte of a handle, and one past its last."""
    covered = footprint(handle.geometry, handle.address)
    return covered.start, covered.stop


def _bar(
    run: tuple[int, int], whole: tuple[int, int], cells: int, glyph: str, *, ends: bool
) -> str:
    """A run of bytes among others: at least one cell wide."""
    span = max(whole[1] - whole[0], 1)
    left = min((run[0] - whole[0]) * cells // span, cells - 1)
    right = min(max(-(-(run[1] - whole[0]) * cells // span), left + 1), cells)
    bar = glyph * (right - left)
    if ends and len(bar) > 1:
        bar = f"├{bar[1:-1]}┤"
    return f"{' ' * left}{bar}".ljust(cells)


def _memory_line(index: TimelineIndex, pe: int, handle: Handle, first: int, cells: int) -> Line:
    """The whole TCM, or the whole tensor in HBM, with the place of the shared bytes."""
    structure = index.timeline.topology.pe
    if handle.geometry.space is Space.TCM:
        size, title = structure.tcm_bytes, "in TCM"
        scratch = (size - structure.scratch_bytes) * cells // size
        words = f"of {size} B, scratch from {size - structure.scratch_bytes:#x}"
    else:
        size, title, scratch = max(_hull(handle)[1], 1), "in HBM", -1
        trace = index.timeline.trace
        words = f"of {printable(trace.tensor_name(trace.pes[pe], handle.tensor))}"
    marks = ["·"] * cells
    if 0 <= scratch < cells:
        marks[scratch] = "┊"
    marks[min(first * cells // size, cells - 1)] = "▲"
    bar = "".join(marks)
    at = bar.index("▲")
    head = Span(f"  {title:{TITLE_CELLS - 2}}", FAINT)
    before, after = Span(bar[:at], FAINT), Span(bar[at + 1 :], FAINT)
    return (head, before, Span("▲", ACCENT), after, Span(f"  {words}", MUTED))
