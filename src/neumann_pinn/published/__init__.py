"""The paper's numbers as data: its tables 2 and 3, and the cost of an iteration (section 4)."""

from pathlib import Path

import pandas as pd

ACCURACY = Path(__file__).with_name("accuracy.csv")
COST = Path(__file__).with_name("cost.csv")
ITERATIONS = 1_000_000
"""The published budget."""
DIGITS = 3
"""Significant digits of the published errors."""


def accuracy() -> pd.DataFrame:
    """The published errors: clock, setting, method, seed, error."""
    return pd.read_csv(ACCURACY).assign(seed=0)


def costs() -> dict[str, float]:
    """Published milliseconds an iteration, by constraint (Quadro RTX 5000, no embedding)."""
    table = pd.read_csv(COST)
    return dict(zip(table["constraint"], table["ms"], strict=True))
