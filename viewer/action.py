"""What an action is: a name, keys and words. The tables are actions.py and panel_actions.py."""

from dataclasses import dataclass

from .model.look import Move


@dataclass(frozen=True)
class Action:
    """A thing one can do. `shown` is how the keys are written for people, `words` what they do.

    `move` is None for an action that the screen in front does itself, by its name. One without keys
    is typed after `:`, by its name and with its `argument` (how that is written for people).
    """

    name: str
    keys: tuple[str, ...]
    shown: str
    section: str
    words: str
    move: Move | None = None
    argument: str = ""
