"""The cost of an iteration of each method, as tables."""

import csv
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from neumann_pinn.files import write_whole


def write(path: Path, method: str, ms: float, vanilla: str, vanilla_ms: float) -> None:
    """Write a calibration as a table with one row."""
    header, row = "method,ms,vanilla,vanilla_ms", f"{method},{ms!r},{vanilla},{vanilla_ms!r}"
    write_whole(path, f"{header}\n{row}\n".encode())


def read(paths: Iterable[Path]) -> dict[str, float]:
    """Milliseconds by method, brought to a common scale by vanilla's time in each calibration.

    Without any calibration nothing is known.
    """
    rows = []
    for path in paths:
        with path.open(newline="") as file:
            rows += list(csv.DictReader(file))
    if not rows:
        return {}
    scale = median(float(row["vanilla_ms"]) for row in rows)
    costs = {row["method"]: scale * float(row["ms"]) / float(row["vanilla_ms"]) for row in rows}
    return costs | {rows[0]["vanilla"]: scale}
