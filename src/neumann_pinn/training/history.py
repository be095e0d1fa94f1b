"""The history of a run: one row every `evaluate_every` iterations."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from neumann_pinn.files import write_whole


class Row(NamedTuple):
    """An evaluation. Seconds count training only; errors are relative L2.

    The held-out loss is taken at points that are not trained on.

    Compilation, evaluation and checkpoints do not count as training; seconds add up over resumes.
    """

    iteration: int
    seconds: float
    loss_pde: float
    loss_initial: float
    loss_boundary: float
    loss: float
    best_loss: float
    loss_held_out: float
    error: float
    error_at_best_loss: float


def to_frame(rows: Sequence[Row]) -> pd.DataFrame:
    """Rows as a table."""
    return pd.DataFrame(list(rows), columns=list(Row._fields))


def write(history: pd.DataFrame, path: Path) -> None:
    """Write a history as CSV, whole or not at all, without losing a digit."""
    write_whole(path, history.to_csv(index=False).encode())


def read(path: Path) -> pd.DataFrame:
    """Read a history; errors name the file and what is wrong with it."""
    content = path.read_bytes()
    try:
        history = pd.read_csv(io.BytesIO(content))
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a history ({error}); delete it to train again") from error
    if tuple(history.columns) != Row._fields:
        raise ValueError(
            f"{path}: not a history, its columns are not {', '.join(Row._fields)}; "
            "delete it to train again"
        )
    if not content.endswith(b"\n") or not len(history):
        raise ValueError(f"{path}: not a history but a part of one; delete it to train again")
    return history


def read_runs(paths: Iterable[Path]) -> dict[tuple[str, str, int], pd.DataFrame]:
    """Histories in folders <setting>/<method>/<seed>/, keyed by these names."""
    runs = {}
    for path in paths:
        setting, method, seed = path.parts[-4:-1]
        runs[setting, method, int(seed)] = read(path)
    return runs
