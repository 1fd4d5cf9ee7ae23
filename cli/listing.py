"""What `topologies`, `calibrations` and `policies` share: without NAME a list, with NAME one whole."""

import argparse
from collections.abc import Mapping

from .printing import GAP, aligned, between_words, print_json, terminal_columns


def add_listing_arguments(parser: argparse.ArgumentParser, kind: str) -> None:
    """NAME, a shipped name or a YAML file, and --json."""
    parser.add_argument("name", nargs="?", metavar="NAME", help=f"a {kind}'s name or YAML file")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def print_listing(kinds: str, summaries: Mapping[str, str], as_json: bool) -> None:
    """Print each name with its summary; as JSON an object of them under the kinds' name."""
    if as_json:
        print_json({kinds: dict(summaries)})
    else:
        columns = terminal_columns()
        hanging = " " * (max(map(len, summaries)) + len(GAP))
        for line in aligned(list(summaries.items())).splitlines():
            print(between_words(line, columns, hanging))
