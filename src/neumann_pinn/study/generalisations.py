"""The runs beyond the study as one table."""

import json
from collections.abc import Iterable
from pathlib import Path

import pandas as pd


def summary(paths: Iterable[Path]) -> pd.DataFrame:
    """The provenance files of runs as one table, a row for each run."""
    columns = [
        "constraint",
        "status",
        "error",
        "wall_violation",
        "seconds",
        "iterations",
        "found_diffusivity",
        "diffusivity",
        "diffusivity_limit",
    ]
    rows = []
    for path in paths:
        problem, method, replicate = path.parts[-4:-1]
        try:
            run = json.loads(path.read_text())
            cells = [run[column] for column in columns]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}: not a run's provenance ({error}); delete it to train again"
            ) from error
        rows.append([problem, method, int(replicate), *cells])
    return pd.DataFrame(rows, columns=["problem", "method", "replicate", *columns])
