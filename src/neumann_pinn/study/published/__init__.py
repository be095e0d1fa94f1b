"""The paper's numbers as data: its tables 2 and 3, and the cost of an iteration (section 4)."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ACCURACY = Path(__file__).with_name("accuracy.csv")
COST = Path(__file__).with_name("cost.csv")
ITERATIONS = 1_000_000
"""The published budget."""
DIGITS = 3
"""Significant digits of the published errors."""


def accuracy() -> pd.DataFrame:
    """The published errors: clock, setting, method, seed, error."""
    import pandas as pd

    return pd.read_csv(ACCURACY).assign(seed=0)


def costs() -> dict[str, float]:
    """Published milliseconds per iteration, by constraint (Quadro RTX 5000, no embedding)."""
    with COST.open(newline="") as file:
        return {row["constraint"]: float(row["ms"]) for row in csv.DictReader(file)}
