"""Saving the numbers of the calibration panel as a calibration file, never over another file."""

import os
from pathlib import Path

from ..replay.calibration import calibration_yaml
from ..schemas.atomic_file import write_whole
from ..schemas.calibration import Calibration
from ..schemas.config_file import MAX_NAME_LENGTH
from ..schemas.errors import FileError
from .model.text import cut
from .new_file import at_home, check_new

SUFFIX = ".yaml"

BETWEEN = " + "
"""Stands between what a calibration is made of, in its name."""


def calibration_path(name: str) -> Path:
    """The file for a typed name, with `.yaml` behind it. FileError where there is no name, or a file
    of that name already, or none can be called so.
    """
    stripped = name.strip()
    if not stripped:
        raise FileError("a calibration file must have a name: type one, or Esc")
    path = at_home(stripped if stripped.endswith((SUFFIX, ".yml")) else f"{stripped}{SUFFIX}")
    if os.path.lexists(path):
        raise FileError(f"{path.name} exists already and is left alone: type another name")
    check_new(path)
    return path


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Writes the file, whole or not at all, with a summary that is true of its numbers. FileError where
    it cannot be written.
    """
    told = calibration.model_copy(update={"summary": true_summary(calibration)})
    with write_whole(path) as file:
        file.write(calibration_yaml(told).encode("utf-8"))


def true_summary(calibration: Calibration) -> str:
    """Its own summary; of one that is made of several, which its summary does not know of, what its name
    says: `default with clock_ghz 12.5`. Of two settings of one number the last holds.
    """
    parts = calibration.name.split(BETWEEN)
    if len(parts) == 1:
        return calibration.summary
    below = [part for part in parts if "=" not in part]
    settings = dict(part.split("=", 1) for part in parts if "=" in part)
    told = ", ".join(f"{path} {value}" for path, value in settings.items())
    words = " with ".join(part for part in (BETWEEN.join(below), told) if part)
    return cut(words, MAX_NAME_LENGTH)
