"""The machine drawn: all CUBEs with one glyph a PE, or one CUBE with a box a PE.

▁ … █   how busy the PE was    ·  not at all    -  not in the launch    [ ] the chosen PE
╌ ─ ━   how busy a link was, the busier way of the two; the way of what is selected is white
"""

import numpy as np

from ...schemas.topology import Level, Place, Topology
from .cells import LEVELS, Cells, spans
from .machine import BUSIEST
from .machine_words import ON_THE_WAY, Drawn, percent
from .text import Line, fit, fit_line
from .tones import FAINT, MUTED, STRONG, TEXT, Paint, Shade, tone

ACROSS, DOWN = "╌─━", "╎│┃"
LINK_LEVELS = (0.1, 0.5)
"""Below a tenth the first glyph, below a half the second, else the third."""

GAP_CELLS = 2
IDLE, ABSENT = "·", "-"
BUSY = tone(Paint.GEMM)
CHOSEN = tone(Paint.GEMM, Shade.SELECTED)
LINK = tone(Paint.MESSAGE)

BOX_CELLS, BOX_LINES = 13, 4
BOX_GAP_CELLS, BOX_GAP_LINES = 7, 1


class Canvas:
    """Cells to write on, of a fixed size; what lies outside is not written."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        blank = np.full((height, width), ord(" "), dtype=np.uint32)
        self._glyphs, self._tones = blank, np.full((height, width), TEXT, dtype=np.int64)

    def put(self, column: int, row: int, text: str, looks: int) -> None:
        """Writes characters of one cell each."""
        if not 0 <= row < self.height:
            return
        for at, character in enumerate(text, start=column):
            if 0 <= at < self.width:
                self._glyphs[row, at], self._tones[row, at] = ord(character), looks

    def part(self, left: int, top: int, width: int, height: int) -> list[Line]:
        """The lines of a rectangle; its far edge may lie outside."""
        lines = []
        for row in range(top, min(top + height, self.height)):
            cells = Cells(
                self._glyphs[row, left : left + width], self._tones[row, left : left + width]
            )
            lines.append(fit_line(spans(cells), width))
        return lines + [fit_line((), width)] * (height - len(lines))


def map_lines(drawn: Drawn, width: int, height: int) -> list[Line]:
    """The map in exactly that size, scrolled so that the chosen PE is in sight."""
    canvas, (column, row) = (_near if drawn.shown.is_near else _far)(drawn)
    left = _scrolled(column, canvas.width, width, BOX_CELLS)
    top = _scrolled(row, canvas.height, height, BOX_LINES)
    return canvas.part(left, top, width, height)


def more_words(drawn: Drawn, width: int) -> str:
    """`more on the right →` where PEs lie beyond what is shown of the map; '' where none does."""
    canvas, (column, _) = (_near if drawn.shown.is_near else _far)(drawn)
    left = _scrolled(column, canvas.width, width, BOX_CELLS)
    lefts = [at for at, _ in _corners(drawn).values()]
    room = BOX_CELLS if drawn.shown.is_near else 1
    before, behind = min(lefts) < left, left + width < max(lefts) + room
    if before and behind:
        return "← more on both sides →"
    return "← more on the left" if before else "more on the right →" if behind else ""


def rank_under(drawn: Drawn, cell: tuple[int, int], size: tuple[int, int]) -> int | None:
    """The PE that is drawn at a cell (column, line) of the map in that size; None for none."""
    canvas, (column, row) = (_near if drawn.shown.is_near else _far)(drawn)
    at = (
        cell[0] + _scrolled(column, canvas.width, size[0], BOX_CELLS),
        cell[1] + _scrolled(row, canvas.height, size[1], BOX_LINES),
    )
    room = (BOX_CELLS, BOX_LINES) if drawn.shown.is_near else (1, 1)
    for rank, (left, top) in _corners(drawn).items():
        if left <= at[0] < left + room[0] and top <= at[1] < top + room[1]:
            return rank
    return None


def _corners(drawn: Drawn) -> dict[int, tuple[int, int]]:
    """Per PE that is drawn, the column and the row of its top left on the canvas."""
    topology, place = drawn.topology, drawn.topology.place(drawn.shown.rank)
    if not drawn.shown.is_near:
        return {rank: _far_corner(topology, rank) for rank in range(topology.pe_count)}
    ranks = [topology.rank(Place(place.sip, place.cube, pe)) for pe in range(topology.pes.size)]
    return {rank: _near_corner(topology, pe) for pe, rank in enumerate(ranks)}


def _far_corner(topology: Topology, rank: int) -> tuple[int, int]:
    place, cubes, pes = topology.place(rank), topology.cubes, topology.pes
    cube_column, cube_row = cubes.at(place.cube)
    column, row = pes.at(place.pe)
    left = 1 + place.sip * _sip_cells(topology) + cube_column * (pes.columns + GAP_CELLS)
    return left + column, 1 + cube_row * (pes.rows + 1) + row


def _near_corner(topology: Topology, pe: int) -> tuple[int, int]:
    column, row = topology.pes.at(pe)
    return 1 + column * (BOX_CELLS + BOX_GAP_CELLS), 1 + row * (BOX_LINES + BOX_GAP_LINES)


def _sip_cells(topology: Topology) -> int:
    return 1 + topology.cubes.columns * (topology.pes.columns + GAP_CELLS)


def _scrolled(place: int, whole: int, shown: int, margin: int) -> int:
    """Where to begin, so that `place` is seen with a margin behind it; 0 where all fits."""
    return max(0, min(place - shown + margin, whole - shown)) if whole > shown else 0


# -------------------------------------------------------------------- all CUBEs


def _far(drawn: Drawn) -> tuple[Canvas, tuple[int, int]]:
    """SIPs side by side. Returns where the chosen PE lies, too."""
    topology = drawn.topology
    cubes, pes = topology.cubes, topology.pes
    sip_cells = _sip_cells(topology)
    canvas = Canvas(topology.sips * sip_cells, 1 + cubes.rows * (pes.rows + 1))
    chosen = (0, 0)
    for sip in range(topology.sips):
        canvas.put(1 + sip * sip_cells, 0, f"SIP {sip}", MUTED)
        _sip_link(canvas, drawn, sip, sip_cells)
        for cube in range(cubes.size):
            cube_column, cube_row = cubes.at(cube)
            left = 1 + sip * sip_cells + cube_column * (pes.columns + GAP_CELLS)
            top = 1 + cube_row * (pes.rows + 1)
            _cube_links(canvas, drawn, sip, cube, left, top)
            for pe in range(pes.size):
                column, row = pes.at(pe)
                rank = topology.rank(Place(sip, cube, pe))
                _pe_glyph(canvas, drawn, rank, left + column, top + row)
                if rank == drawn.shown.rank:
                    chosen = (left + column, top + row)
                    canvas.put(left - 1, top + row, "[", STRONG)
                    canvas.put(left + pes.columns, top + row, "]", STRONG)
    return canvas, chosen


def _pe_glyph(canvas: Canvas, drawn: Drawn, rank: int, column: int, row: int) -> None:
    share = drawn.load.share(rank, drawn.shown.engine)
    glyph = ABSENT if share is None else IDLE if not share else level_glyph(share)
    looks = BUSY if share else FAINT
    message = drawn.message
    if message is not None and rank in (message.sender, message.receiver):
        looks = ON_THE_WAY
    canvas.put(column, row, glyph, CHOSEN if rank == drawn.shown.rank else looks)


def level_glyph(share: float) -> str:
    """▁ to █; █ only for a share of 1, and ▁ for any above 0."""
    return chr(LEVELS[min(max(int(share * 8), 1), 8)])


def _sip_link(canvas: Canvas, drawn: Drawn, sip: int, sip_cells: int) -> None:
    glyph, looks = _link(drawn, Level.SIP, sip, sip + 1, ACROSS)
    if glyph:
        first = 1 + sip * sip_cells + len(f"SIP {sip} ")
        canvas.put(first, 0, glyph * ((sip + 1) * sip_cells - first), looks)


def _cube_links(canvas: Canvas, drawn: Drawn, sip: int, cube: int, left: int, top: int) -> None:
    """To the CUBE on the right and to the one below."""
    cubes, pes = drawn.topology.cubes, drawn.topology.pes
    here = sip * cubes.size + cube
    right, below = cubes.neighbour(cube, (1, 0)), cubes.neighbour(cube, (0, 1))
    if right is not None:
        glyph, looks = _link(drawn, Level.CUBE, here, sip * cubes.size + right, ACROSS)
        canvas.put(left + pes.columns, top, glyph * GAP_CELLS, looks)
    if below is not None:
        glyph, looks = _link(drawn, Level.CUBE, here, sip * cubes.size + below, DOWN)
        canvas.put(left + pes.columns // 2, top + pes.rows, glyph, looks)


def _link(drawn: Drawn, level: Level, one: int, other: int, glyphs: str) -> tuple[str, int]:
    """The glyph of the busier way, and its tone; '' where neither way was ever used."""
    titles = [f"{level}.{one}>{other}", f"{level}.{other}>{one}"]
    shares = [drawn.load.link[title] for title in titles if title in drawn.load.link]
    if not shares:
        return "", FAINT
    share = max(shares)
    is_way = drawn.message is not None and any(link in titles for link in drawn.message.links)
    looks = ON_THE_WAY if is_way else LINK if share else FAINT
    return glyphs[sum(share >= least for least in LINK_LEVELS)], looks


# -------------------------------------------------------------------- one CUBE


def _near(drawn: Drawn) -> tuple[Canvas, tuple[int, int]]:
    """The CUBE of the chosen PE: a box a PE, both ways of every link with their shares."""
    topology, place = drawn.topology, drawn.topology.place(drawn.shown.rank)
    pes = topology.pes
    stride = BOX_CELLS + BOX_GAP_CELLS, BOX_LINES + BOX_GAP_LINES
    neighbours = _outward(drawn, place)
    canvas = Canvas(1 + pes.columns * stride[0], 2 + pes.rows * stride[1] + len(neighbours))
    canvas.put(1, 0, f"SIP {place.sip} · CUBE {place.cube}", MUTED)
    chosen = (0, 0)
    for pe in range(pes.size):
        left, top = _near_corner(topology, pe)
        rank = topology.rank(Place(place.sip, place.cube, pe))
        if rank == drawn.shown.rank:
            chosen = (left, top)
        _box(canvas, drawn, rank, pe, left, top)
        _ways(canvas, drawn, rank, pe, left, top)
    for line, words in enumerate(neighbours):
        canvas.put(1, 1 + pes.rows * stride[1] + line, words, LINK)
    return canvas, chosen


def _box(canvas: Canvas, drawn: Drawn, rank: int, pe: int, left: int, top: int) -> None:
    inside = BOX_CELLS - 2
    message = drawn.message
    on_way = message is not None and rank in (message.sender, message.receiver)
    frame = STRONG if rank == drawn.shown.rank else ON_THE_WAY if on_way else FAINT
    mark = "›" if rank == drawn.shown.rank else " "
    title = f"{mark}PE {pe} "
    canvas.put(left, top, f"┌{title}{'─' * (inside - len(title))}┐", frame)
    for line in range(1, BOX_LINES - 1):
        canvas.put(left, top + line, f"│{' ' * inside}│", frame)
    canvas.put(left, top + BOX_LINES - 1, f"└{'─' * inside}┘", frame)
    share = drawn.load.share(rank, drawn.shown.engine)
    if share is None:
        canvas.put(left + 1, top + 1, fit(" no launch", inside), FAINT)
        return
    name, busiest = _busiest(drawn.load.pe[rank])
    shown = (name, busiest) if drawn.shown.engine == BUSIEST else (drawn.shown.engine, share)
    canvas.put(left + 1, top + 1, fit(f"{shown[0]:<9}", inside), TEXT if share else FAINT)
    bar = level_glyph(shown[1]) * 4 if shown[1] else IDLE * 4
    canvas.put(left + 1, top + 2, bar, BUSY if share else FAINT)
    canvas.put(left + 5, top + 2, f"{percent(shown[1]):>7}", STRONG)


def _busiest(engines: dict[str, float]) -> tuple[str, float]:
    """The engine with the largest share, the first in the table on a tie."""
    return max(engines.items(), key=lambda entry: entry[1], default=("", 0.0))


def _ways(canvas: Canvas, drawn: Drawn, rank: int, pe: int, left: int, top: int) -> None:
    """Both ways to the PE on the right and to the one below, where they exist."""
    pes = drawn.topology.pes
    right, below = pes.neighbour(pe, (1, 0)), pes.neighbour(pe, (0, 1))
    first = rank - pe
    if right is not None:
        for line, (way, arrow) in enumerate(
            (((rank, first + right), "→"), ((first + right, rank), "←"))
        ):
            _way(canvas, drawn, way, arrow, left + BOX_CELLS, top + 1 + line)
    if below is not None:
        for column, (way, arrow) in enumerate(
            (((rank, first + below), "↓"), ((first + below, rank), "↑"))
        ):
            _way(canvas, drawn, way, arrow, left + column * BOX_GAP_CELLS, top + BOX_LINES)


def _way(
    canvas: Canvas, drawn: Drawn, way: tuple[int, int], arrow: str, column: int, row: int
) -> None:
    title = f"{Level.PE}.{way[0]}>{way[1]}"
    share = drawn.load.link.get(title)
    if share is None:
        return
    is_way = drawn.message is not None and title in drawn.message.links
    looks = ON_THE_WAY if is_way else LINK if share else FAINT
    canvas.put(column, row, fit(f"{arrow}{percent(share)}", BOX_GAP_CELLS), looks)


def _outward(drawn: Drawn, place: Place) -> list[str]:
    """The links of the CUBE and of its SIP, one line each."""
    cube = place.sip * drawn.topology.cubes.size + place.cube
    ends = {Level.CUBE: str(cube), Level.SIP: str(place.sip)}
    words = []
    for title, share in drawn.load.link.items():
        level, _, way = title.partition(".")
        if level in ends and ends[Level(level)] in way.split(">"):
            size = drawn.topology.cubes.size if level == Level.CUBE else drawn.topology.sips
            names = " → ".join(f"{level.upper()} {int(end) % size}" for end in way.split(">"))
            words.append(f"{names}  {percent(share)}")
    return words
