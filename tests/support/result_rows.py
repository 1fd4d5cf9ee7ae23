"""A sweep's results as a reader of CSV has them."""

import csv
from pathlib import Path


def rows(path: str = "r.csv") -> list[dict[str, str]]:
    """A row a point, by column."""
    with Path(path).open(newline="") as file:
        return list(csv.DictReader(file))
