"""The list of bookmarks and notes; one of them can be removed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType

from ..model.index import TimelineIndex
from ..model.notes import Note, note_head, note_lines
from ..panel_actions import BOOKMARKS, in_section
from .list_panel import ListPanel
from .panel import bindings


@dataclass(frozen=True, slots=True)
class Listing:
    """The notes of the run that is shown, how many are not among them, and why they are not written,
    '' where they are.
    """

    notes: tuple[Note, ...]
    left_out: int
    complaint: str


class BookmarksPanel(ListPanel):
    """`listing` gives what there is by now; `remove` takes a note away and gives what to say of that."""

    OWN = (*in_section(BOOKMARKS), *ListPanel.OWN)
    KEYS = "Enter go there · d remove"
    BINDINGS: ClassVar[list[BindingType]] = bindings(in_section(BOOKMARKS))

    def __init__(
        self,
        index: TimelineIndex,
        listing: Callable[[], Listing],
        remove: Callable[[Note], str],
    ) -> None:
        self._listing = listing
        self._remove = remove
        self.known = listing()
        super().__init__(
            "bookmarks and notes",
            "bookmarks",
            count=len(self.known.notes),
            head=lambda width: note_head(
                self.known.notes, self.known.left_out, width, self.known.complaint
            ),
            listed=lambda *place: note_lines(index, self.known.notes, *place),
        )

    def action_do(self, name: str) -> None:
        """Carries out an action of the panel by its name in the action table."""
        if name == "remove_bookmark":
            self._remove_chosen()
        else:
            super().action_do(name)

    def _remove_chosen(self) -> None:
        """The next one is chosen then; of the last, the one before."""
        if not self._count:
            self.say("there is no bookmark to remove")
            return
        words = self._remove(self.known.notes[self.place])
        self.known = self._listing()
        self._count = len(self.known.notes)
        self.move_to(self.place)
        self.say(words)
