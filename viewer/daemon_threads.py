"""Threads that end with the program: whoever leaves the browser need not wait for what they are at."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Thread
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class DaemonThreads(ThreadPoolExecutor):
    """A thread for each piece of work, for asyncio, which wants an executor of this class.

    The pool's own threads are waited for when Python ends.
    """

    def submit(
        self, work: Callable[Given, Result], /, *args: Given.args, **kwargs: Given.kwargs
    ) -> Future[Result]:
        """Begins the work at once."""
        future: Future[Result] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                result = work(*args, **kwargs)
            except BaseException as error:  # noqa: BLE001 - whoever awaits the future gets it
                future.set_exception(error)
            else:
                future.set_result(result)

        Thread(target=run, daemon=True).start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Waits for nobody."""
