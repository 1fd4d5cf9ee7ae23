"""Reaches a Dask cluster and checks that its workers can evaluate what this process sends them."""

import logging
import re
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from ...schemas.errors import ConfigError, KerntapeError, UsageError
from .cluster_task import version_here

Client = Any
"""A `distributed.Client`; dask has no types, and is loaded only when a cluster is asked for."""


def distributed() -> Any:
    """The module, silenced: what it would log is said in an error's line. ConfigError without it."""
    try:
        module = import_module("distributed")
    except ImportError:
        raise ConfigError(
            "a cluster needs dask: pip install -e '.[cluster]' in kerntape's clone, or leave --cluster"
            " out"
        ) from None
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    return module


Answer = TypeVar("Answer")


def within(seconds: float, ask: Callable[[], Answer]) -> Answer:
    """What a call of dask returns or raises; TimeoutError where it takes longer."""
    return asked(ask).result(seconds)


def asked(ask: Callable[[], Answer]) -> "Future[Answer]":
    """A call of dask that would wait without end for who takes a connection and then says nothing.

    It is made on a thread that ends with the process.
    """
    answer: Future[Answer] = Future()

    def wait() -> None:
        try:
            answer.set_result(ask())
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            answer.set_exception(error)

    threading.Thread(target=wait, daemon=True).start()
    return answer


_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):[0-9]{1,5}(?:/\S*)?")


def check_address(address: str) -> None:
    """Raises UsageError where no scheduler can have that address. Loads nothing."""
    if not _ADDRESS.fullmatch(address):
        raise UsageError(f"--cluster must be an address tcp://HOST:PORT, not '{address}'")


def connected(address: str, timeout_s: float) -> Client:
    """A client of the scheduler there, with a first worker that answers, all of kerntape's version.

    Raises KerntapeError where one of them is missing after the time, or a worker is another.
    """
    client = _client(address, timeout_s)
    try:
        _await_a_worker(client, address, timeout_s)
        _check_versions(client, address, timeout_s)
    except BaseException:
        client.close()
        raise
    return client


def _client(address: str, timeout_s: float) -> Client:
    module = distributed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy or dask may differ: kerntape's version is checked
        try:
            return within(timeout_s + 1, lambda: module.Client(address, timeout=timeout_s))
        except (OSError, ValueError, TypeError):
            raise _none_answers(address, timeout_s) from None


def _none_answers(address: str, timeout_s: float) -> KerntapeError:
    return KerntapeError(
        "--cluster must be the address of a Dask scheduler, as in tcp://host:8786, and none"
        f" answers at '{address}' within {timeout_s:g} s"
    )


def _await_a_worker(client: Client, address: str, timeout_s: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout_s)
    except TimeoutError:
        raise KerntapeError(
            f"the cluster at {address} must have a worker, and none came within {timeout_s:g} s;"
            f" start some with 'dask worker {address} --nthreads 1'"
        ) from None


def _check_versions(client: Client, address: str, timeout_s: float) -> None:
    """Every worker that is there now. One that joins later is checked by the chunk it is given."""
    try:
        workers = sorted(within(timeout_s, client.nthreads))
    except TimeoutError:
        raise _none_answers(address, timeout_s) from None
    answers = {worker: asked(partial(_version_of, client, worker)) for worker in workers}
    wait(answers.values(), timeout_s)
    for worker, answer in answers.items():
        if not answer.done():
            raise KerntapeError(
                f"every worker of {address} must answer, and {worker} did not within {timeout_s:g} s;"
                " stop it, or start it again"
            )
        found = answer.result()
        if found != version_here():
            raise wrong_version(
                f"the worker {worker}", None if isinstance(found, Exception) else found
            )


def _version_of(client: Client, worker: str) -> Any:
    """What the worker says, or the exception that keeps it from saying it."""
    return client.run(version_here, workers=[worker], on_error="return")[worker]


def wrong_version(worker: str, found: str | None) -> KerntapeError:
    """`found`: the worker's version of kerntape; None where it cannot load this one's modules."""
    has = f"it has {found}" if found else "it has none, or a much older one"
    return KerntapeError(
        f"{worker} must have kerntape {version_here()}, as this sweep has, and {has}; install the"
        " same version there"
    )
