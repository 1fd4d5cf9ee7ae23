"""A Dask cluster of separate processes on this machine: a scheduler, and workers that can be killed."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

STARTING_S = 60


def until(condition: Callable[[], object], seconds: float = STARTING_S) -> None:
    """Waits for something to be true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


class DaskCluster:
    """Its processes, from entering the block to leaving it. `folder` keeps what they write."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self._started("scheduler", "--port", "0", "--scheduler-file", self._file)
        self.address = ""

    @property
    def _file(self) -> str:
        return str(self._folder / "scheduler.json")

    def __enter__(self) -> "DaskCluster":
        until(lambda: self._told() or self.scheduler.poll() is not None)
        self.address = json.loads(self._told())["address"]
        return self

    def _told(self) -> str:
        """What the scheduler tells of itself: '' until its file is there and written."""
        file = Path(self._file)
        return file.read_text("utf-8") if file.exists() else ""

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait()

    def worker(self, preload: str = "") -> subprocess.Popen[bytes]:
        """Starts one; it will come to the scheduler soon. `preload` is code it runs before all else."""
        first = self._folder / f"preload_{len(self._processes)}.py"
        first.write_text(preload)
        return self._started(
            "worker", self.address, "--nthreads", "1", "--no-nanny", "--preload", str(first)
        )

    def _started(self, what: str, *arguments: str) -> subprocess.Popen[bytes]:
        number = len(self._processes)
        command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
        with (self._folder / f"{what}_{number}.log").open("wb") as log:
            process = subprocess.Popen(
                [*command, "--no-dashboard", "--host", "127.0.0.1"],
                cwd=self._folder,
                env=os.environ | {"DASK_TEMPORARY_DIRECTORY": str(self._folder)},
                stdout=log,
                stderr=log,
            )
        self._processes.append(process)
        return process
