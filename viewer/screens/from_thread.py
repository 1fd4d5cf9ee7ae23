"""What a worker's thread has found out is shown by its screen, if that is still there."""

from collections.abc import Callable
from typing import ParamSpec, Protocol, TypeVar

from textual.app import App
from textual.worker import get_current_worker

Given = ParamSpec("Given")
Result = TypeVar("Result")


class OfApp(Protocol):
    """A screen that may be gone by the time a thread has something for it."""

    @property
    def app(self) -> App[object]: ...
    @property
    def is_attached(self) -> bool: ...


def shown_by(
    screen: OfApp, show: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result | None:
    """Has `show` done where screens live, waits for that, and gives what it gives. None where the worker
    is cancelled or the screen is gone: that is asked there too, so that neither can happen meanwhile.
    """
    worker = get_current_worker()

    def is_there() -> bool:
        return screen.is_attached and not worker.is_cancelled

    def show_if_there() -> Result | None:
        return show(*args, **kwargs) if is_there() else None

    if not is_there():
        return None
    try:
        return screen.app.call_from_thread(show_if_there)
    except RuntimeError:
        if is_there():
            raise
        return None  # it went, or the app ended, between the question and the call
