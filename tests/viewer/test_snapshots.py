"""Whole screens as text. `KERNTAPE_WRITE_SNAPSHOTS=1` writes them anew; read them before you commit."""

import os
from pathlib import Path

import pytest

SNAPSHOTS = Path(__file__).parent / "snapshots"

IN_THE_LOOP = (
    "enter",
    *("down",) * 5,
    *("full_stop",) * 6,
    *("W",) * 3,
    "left_square_bracket",
    "left_square_bracket",
)
"""GEMM, its seventh stage, closer, and two causes back."""

SCREENS = {
    "summary": (),
    "summary_chosen": (*("down",) * 3,),
    "first_look": ("enter",),
    "causes": IN_THE_LOOP,
    "folded": ("enter", "enter"),
    "hazards": (*IN_THE_LOOP, "tab", "down"),
    "hazard_shown": (*IN_THE_LOOP, "tab", "down", "enter"),
    "help": ("question_mark",),
    "jump": ("enter", "colon", *"7.4xs", "enter"),
    "path": (*IN_THE_LOOP, "p", "i"),
    "path_steps": ("o", "down", "down"),
    "area": ("v", "pagedown", "end", "v"),
    "help_find": ("enter", "question_mark", *"next", "down"),
}


@pytest.mark.parametrize("size", [(100, 30), (80, 24)])
@pytest.mark.parametrize("name", SCREENS)
def test_the_screen_is_as_it_was(name, size, decode, screen_text):
    shown = screen_text(decode, SCREENS[name], size)
    file = SNAPSHOTS / f"{name}-{size[0]}x{size[1]}.txt"
    if os.environ.get("KERNTAPE_WRITE_SNAPSHOTS"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")
