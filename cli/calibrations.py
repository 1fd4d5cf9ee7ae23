"""`kerntape calibrations`: the shipped cost models, or one whole as YAML, to start one's own from."""

import argparse

from .listing import add_listing_arguments, print_listing
from .printing import print_json

SUMMARY = "list the calibrations, or print one as YAML"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """NAME may be a shipped calibration or a YAML file that names only what it changes."""
    add_listing_arguments(parser, "calibration")


def run(arguments: argparse.Namespace) -> int:
    """Print the list, or one calibration, every key of it. Raises ConfigError where NAME is none."""
    from ..replay.calibration import calibration_yaml, read_calibration, shipped_calibrations

    if arguments.name is None:
        print_listing("calibrations", shipped_calibrations(), arguments.json)
        return 0
    calibration = read_calibration(arguments.name)
    if arguments.json:
        print_json(calibration.model_dump())
    else:
        print(calibration_yaml(calibration), end="")
    return 0
