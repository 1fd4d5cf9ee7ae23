"""Saving the numbers of the calibration panel as a calibration file, never over another file."""

import os
from pathlib import Path

from ..replay.calibration import calibration_yaml
from ..schemas.atomic_file import write_whole
from ..schemas.calibration import Calibration
from ..schemas.errors import FileError
from .new_file import check_new

SUFFIX = ".yaml"


def calibration_path(name: str) -> Path:
    """The file for a typed name, with `.yaml` behind it. FileError where there is no name, or a file
    of that name already, or none can be called so.
    """
    stripped = name.strip()
    if not stripped:
        raise FileError("a calibration file must have a name: type one, or Esc")
    path = Path(stripped if stripped.endswith((SUFFIX, ".yml")) else f"{stripped}{SUFFIX}")
    if os.path.lexists(path):
        raise FileError(f"{path.name} exists already and is left alone: type another name")
    check_new(path)
    return path


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Writes the file, whole or not at all. FileError where it cannot be written."""
    with write_whole(path) as file:
        file.write(calibration_yaml(calibration).encode("utf-8"))
