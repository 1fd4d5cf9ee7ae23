"""What is shown is computed without a screen."""

import subprocess
import sys

COMPUTE_WITHOUT_SCREEN = """
import sys
sys.path[:0] = {path!r}
from timeline_builder import decode_like
from kerntape.viewer import actions, typed
from kerntape.viewer.model import frame, hazard_list, help, pointing, stage_box
from kerntape.viewer.model.summary_lines import Added, summary_lines
from kerntape.viewer.model.hazards import HazardIndex
from kerntape.viewer.model.index import TimelineIndex
from kerntape.viewer.model.look import first_look
index = TimelineIndex(decode_like(2), "x")
hazards, look = HazardIndex(index), first_look(index)
frame.row_lines(index, hazards, look, 80, 20)
stage_box.box_lines(index, hazards, look, 30, 20)
summary_lines(index, hazards, Added(), 80, 24)
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
