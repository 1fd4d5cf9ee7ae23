"""What can go wrong in any replay, as the main screen has it searched: the list and the rows show it."""

from functools import partial

from textual.worker import get_current_worker

from ..model.hazard_filter import with_potential
from ..model.hazards import HazardIndex, own_hazards
from ..model.index import TimelineIndex
from ..potential_search import PotentialSearch
from .from_thread import shown_by
from .hazards import HazardPanel
from .host import ShowingHost


class PossibleHazards:
    """The search under the policy of the timeline that is shown, and what it found."""

    def __init__(self, screen: ShowingHost) -> None:
        self._screen = screen
        self._search = PotentialSearch(screen.index.timeline)

    def search(self) -> PotentialSearch:
        """The one for the timeline that is shown: a new one where its policy is another."""
        timeline = self._screen.index.timeline
        if self._search.policy != timeline.policy:
            self._search = PotentialSearch(timeline)
        return self._search

    def end(self) -> None:
        """Another trace takes the place: nothing of this one is wanted any more."""
        self._search = PotentialSearch(self._screen.index.timeline)

    def add_later(self) -> None:
        """In a thread: joins what was found, if anything was, with a timeline that is shown without it."""
        if self._search.found is not None:
            self._screen.run_worker(self._add_found, thread=True)

    def find(self) -> None:
        """Looks in a thread for what can go wrong in any replay; the list need not stay open for it."""
        if self._search.begin():
            self._screen.run_worker(partial(self._find, self._search), thread=True)

    def _find(self, search: PotentialSearch) -> None:
        worker = get_current_worker()

        def is_cancelled() -> bool:
            return worker.is_cancelled or search is not self._search

        def tell() -> None:
            shown_by(self._screen, self._tell_lists, search)

        if search.work(tell, is_cancelled):
            self._add_found()

    def _add_found(self) -> None:
        """In a thread: what was found joins the hazards that are shown by then."""
        is_shown: bool | None = False
        while is_shown is False:
            index = self._screen.index
            hazards = self.hazards_of(index)
            is_shown = shown_by(self._screen, self._show_found, index, hazards)

    def hazards_of(self, index: TimelineIndex) -> HazardIndex:
        """A timeline's hazards, those among them that the search has found under its policy."""
        timeline = index.timeline
        if self._search.found is None or self._search.policy != timeline.policy:
            return own_hazards(index)
        hazards = HazardIndex(index, with_potential(timeline.hazards, self._search.found))
        _ = hazards.by_weight, hazards.marks, hazards.counts  # here and now, in the thread
        return hazards

    def _show_found(self, index: TimelineIndex, hazards: HazardIndex) -> bool:
        """Whether it is still this timeline that is shown."""
        is_shown = index is self._screen.index
        if is_shown:
            self._screen.show(index, hazards, self._screen.look, keeps_words=True)
            self._renew_list(hazards)
        return is_shown

    def _tell_lists(self, search: PotentialSearch) -> None:
        """How far the search is, unless another one has begun."""
        if search is self._search:
            self._renew_list(self._screen.hazards)

    def _renew_list(self, hazards: HazardIndex) -> None:
        for panel in self._screen.app.screen_stack:
            if isinstance(panel, HazardPanel):
                panel.renew(hazards)
