"""The stage box whole, over the timeline: it scrolls where even the panel has no room for all of it."""

from functools import partial

from ..model.index import NO_STAGE
from ..model.stage_whole import whole_lines
from .host import Host
from .panel import Panel


class StagePanel(Panel):
    """Lines without a choice: Enter closes it too."""

    KEYS = "↑ ↓ scroll"


def show_stage(screen: Host) -> None:
    """All about the selected stage, or that there is none."""
    stage = screen.look.stage
    if stage == NO_STAGE:
        screen.say("no stage is selected: there is nothing to tell")
        return
    lines = partial(whole_lines, screen.index, screen.hazards, stage)
    screen.app.push_screen(StagePanel("stage", "stage_box", lines))
