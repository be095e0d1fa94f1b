"""Predictions of trained models, for a figure: a solution on the grid, and wall slopes."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from neumann_pinn.files import read_arrays, write_arrays


@dataclass(frozen=True)
class Prediction:
    """A setting's reference and best prediction (t x x each), and u_x(wall, t) of each method."""

    x: np.ndarray
    t: np.ndarray
    reference: np.ndarray
    best: np.ndarray
    best_method: np.ndarray
    methods: np.ndarray
    wall_t: np.ndarray
    wall_slopes: np.ndarray
    """methods x walls x times"""

    def write(self, path: Path) -> None:
        """Write it as NPZ, whole or not at all."""
        write_arrays(path, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "Prediction":
        """Read it back; errors name the file."""
        return cls(**read_arrays(path, [field.name for field in fields(cls)], "a prediction"))
