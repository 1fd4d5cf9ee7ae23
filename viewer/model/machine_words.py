"""What is said of the machine: what is shaded, and what the chosen PE and the selected message do."""

from dataclasses import dataclass

from ...schemas.topology import Topology
from . import times
from .machine import Load, MachineLook, Message
from .text import Line, Span, fit_line, printable, spread, wrap
from .tones import ACCENT, FAINT, MUTED, STRONG, TEXT, Paint, Shade, tone

ON_THE_WAY = tone(Paint.MESSAGE, Shade.SELECTED)


@dataclass(frozen=True)
class Drawn:
    """What is drawn: the machine, how busy it was, and the selected message, if any."""

    topology: Topology
    load: Load
    shown: MachineLook
    message: Message | None


def percent(share: float) -> str:
    """`63 %`, `<1 %` for hardly any, `·` for none."""
    if not share:
        return "·"
    rounded = round(100 * share)
    return f"{rounded} %" if rounded else "<1 %"


def machine_title(drawn: Drawn, width: int, more: str = "") -> Line:
    """What is shaded, and over which time; at the right end `more`, on which sides the map goes on."""
    load, topology = drawn.load, printable(drawn.topology.name)
    span = f"{times.short(load.from_ps)} – {times.short(load.to_ps)}"
    when = f"at {times.exact(load.from_ps)}" if drawn.shown.at_cursor else f"over {span}"
    words = (
        Span(f" {topology}", STRONG),
        Span(f"   {drawn.shown.engine} ", ACCENT),
        Span(f"{when}", MUTED),
    )
    return spread(words, (Span(f"  {more} ", STRONG),) if more else (), width)


def machine_detail(drawn: Drawn, width: int) -> list[Line]:
    """Three lines: the chosen PE's engines with their shares, in two, and the selected message."""
    place, rank = drawn.topology.place(drawn.shown.rank), drawn.shown.rank
    head = f" SIP {place.sip} CUBE {place.cube} PE {place.pe}  "
    engines = drawn.load.pe.get(rank)
    shares = "not in this launch"
    if engines is not None:
        at_work = [f"{title} {percent(share)}" for title, share in engines.items() if share]
        shares = " · ".join(at_work) or "did nothing"
    first, second, *_ = [*wrap(shares, max(width - len(head), 8)), "", ""]
    lines: list[Line] = [(Span(head, STRONG), Span(first, TEXT))]
    lines.append((Span(" " * len(head) + second, TEXT),))
    message = drawn.message
    if message is None:
        lines.append((Span(" no message selected: its way is drawn when one is", FAINT),))
    else:
        over = ", ".join(message.links)
        ends = f"from rank {message.sender} to rank {message.receiver}"
        way = f" {message.what} {ends} over {over}"
        lines.append((Span(way, ON_THE_WAY),))
    return [fit_line(line, width) for line in lines]
