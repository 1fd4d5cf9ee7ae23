"""Reaches a Dask cluster and checks that its workers can evaluate what this process sends them."""

import logging
import re
import warnings
from importlib import import_module
from typing import Any

from ...schemas.errors import ConfigError, KerntapeError
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


_ADDRESS = re.compile(r"(?:[a-z]+://)?(?:\[[0-9a-fA-F:]+\]|[^\s/:\[\]]+):[0-9]{1,5}(?:/\S*)?")


def check_address(address: str) -> None:
    """Raises ConfigError where no scheduler can have that address. Loads nothing."""
    if not _ADDRESS.fullmatch(address):
        raise ConfigError(f"--cluster must be an address tcp://HOST:PORT, not '{address}'")


def connected(address: str, timeout_s: float) -> Client:
    """A client of the scheduler there, with a first worker that answers, all of kerntape's version.

    Raises KerntapeError where one of them is missing after the time, or a worker is another.
    """
    client = _client(address, timeout_s)
    try:
        _await_a_worker(client, address, timeout_s)
        _check_versions(client)
    except BaseException:
        client.close()
        raise
    return client


def _client(address: str, timeout_s: float) -> Client:
    module = distributed()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy or dask may differ: kerntape's version is checked
        try:
            return module.Client(address, timeout=timeout_s)
        except (OSError, ValueError, TypeError):
            raise KerntapeError(
                f"--cluster must be the address of a Dask scheduler, as in tcp://host:8786, and none"
                f" answers at '{address}' within {timeout_s:g} s"
            ) from None


def _await_a_worker(client: Client, address: str, timeout_s: float) -> None:
    try:
        client.wait_for_workers(1, timeout=timeout_s)
    except TimeoutError:
        raise KerntapeError(
            f"the cluster at {address} must have a worker, and none came within {timeout_s:g} s;"
            f" start some with 'dask worker {address} --nthreads 1'"
        ) from None


def _check_versions(client: Client) -> None:
    """Every worker that is there now. One that joins later is checked by the chunk it is given."""
    for worker, found in sorted(client.run(version_here, on_error="return").items()):
        if found != version_here():
            raise wrong_version(
                f"the worker {worker}", None if isinstance(found, Exception) else found
            )


def wrong_version(worker: str, found: str | None) -> KerntapeError:
    """`found`: the worker's version of kerntape; None where it cannot load this one's modules."""
    has = f"it has {found}" if found else "it has none, or a much older one"
    return KerntapeError(
        f"{worker} must have kerntape {version_here()}, as this sweep has, and {has}; install the"
        " same version there"
    )
