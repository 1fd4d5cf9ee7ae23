"""What is shown is computed without a screen."""

import subprocess
import sys

from kerntape.viewer.model.tones import Paint, Shade, tone
from kerntape.viewer.widgets.palette import BACKGROUND, style_of

COMPUTE_WITHOUT_SCREEN = """
import sys
sys.path[:0] = {path!r}
from timeline_builder import decode_like
from kerntape.viewer import actions, typed
from kerntape.viewer.model import frame, hazard_list, help, pointing, stage_box, summary
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look
index = TimelineIndex(decode_like(2), "x")
hazards, look = HazardIndex(index), first_look(index)
frame.row_lines(index, hazards, look, 80, 20)
stage_box.box_lines(index, hazards, look, 30, 20)
summary.summary_lines(index, hazards, summary.summarise(index), 80)
help.key_lines(actions.sections(), "", -1, 80)
typed.completions("zoo", index)
print([name for name in sys.modules if name.partition(".")[0] in ("textual", "rich")])
"""


def test_the_model_and_the_actions_load_no_textual():
    program = COMPUTE_WITHOUT_SCREEN.format(path=sys.path)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "[]\n")


def test_no_two_shades_that_must_be_told_apart_look_alike():
    for paint in (Paint.DISPATCH, Paint.READ, Paint.FETCH, Paint.GEMM, Paint.MATH, Paint.MESSAGE):
        colours = {style_of(tone(paint, shade)).color.name for shade in Shade}
        assert len(colours) == len(Shade)
        assert BACKGROUND not in colours


def test_the_kinds_of_work_have_the_colours_of_okabe_and_ito():
    okabe_ito = {"#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7"}
    paints = (
        Paint.DISPATCH,
        Paint.READ,
        Paint.FETCH,
        Paint.GEMM,
        Paint.MATH,
        Paint.WRITE,
        Paint.MESSAGE,
        Paint.HELD,
        Paint.VIOLATED,
        Paint.POTENTIAL,
    )
    assert {style_of(tone(paint)).color.name for paint in paints} == okabe_ito
