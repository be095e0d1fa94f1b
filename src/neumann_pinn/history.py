"""The history of a run: a row every `evaluate_every` iterations."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor

from neumann_pinn.files import write_whole

COLUMNS = (
    "iteration",
    "seconds",
    "loss_pde",
    "loss_initial",
    "loss_boundary",
    "loss",
    "best_loss",
    "error",
    "error_at_best_loss",
)
"""Training seconds exclude compilation, evaluation and checkpoints; errors are relative L2."""


def to_frame(rows: Sequence[Sequence[float]]) -> pd.DataFrame:
    """Rows in the order of COLUMNS as a table."""
    return pd.DataFrame(list(rows), columns=list(COLUMNS)).astype({"iteration": int})


def to_tensor(rows: Sequence[Sequence[float]]) -> Tensor:
    """Rows as a float64 matrix, for a checkpoint."""
    return torch.tensor(rows, dtype=torch.float64).reshape(-1, len(COLUMNS))


def write(history: pd.DataFrame, path: Path) -> None:
    """Write a history as CSV, whole or not at all, without loss of a digit."""
    write_whole(path, history.to_csv(index=False).encode())


def read(path: Path) -> pd.DataFrame:
    """Read a history; an error names the file and what is wrong with it."""
    try:
        history = pd.read_csv(path, float_precision="round_trip")
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a history ({error}); delete it to train again") from error
    if tuple(history.columns) != COLUMNS:
        raise ValueError(
            f"{path}: not a history, its columns are not {', '.join(COLUMNS)}; "
            "delete it to train again"
        )
    return history
