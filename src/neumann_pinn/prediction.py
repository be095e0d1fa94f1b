"""What trained models say: the best one's solution on the grid, and every one's wall slopes."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from neumann_pinn.checkpoint import UNREADABLE
from neumann_pinn.constraint import Model
from neumann_pinn.engine import cast
from neumann_pinn.files import write_whole
from neumann_pinn.heat import Reference

TIMES = 201
"""Times at which the wall slopes are taken."""


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
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **asdict(self))
        write_whole(path, buffer.getvalue())

    @classmethod
    def read(cls, path: Path) -> "Prediction":
        """Read it back; an error names the file."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls(**{name: arrays[name] for name in arrays.files})
        except (ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{path}: not a prediction ({error}); delete it to make it again"
            ) from error


def predict(
    models: Mapping[str, Model],
    parameters: Mapping[str, Tensor],
    best: str,
    reference: Reference,
    diffusivity: float,
) -> Prediction:
    """Evaluate trained models in the precision in which they were trained."""
    t = torch.linspace(0, 1, TIMES, dtype=torch.float64)
    slopes = [
        torch.stack([wall_slope(models[m], parameters[m], wall, t, diffusivity) for wall in (0, 1)])
        for m in models
    ]
    theta = parameters[best]
    grid = cast(models[best].grid(reference.x, reference.t), theta.dtype, theta.device)
    return Prediction(
        reference.x.numpy(),
        reference.t.numpy(),
        reference.u.numpy(),
        models[best].predict(theta, grid).double().numpy(),
        np.array(best),
        np.array(list(models)),
        t.numpy(),
        torch.stack(slopes).double().numpy(),
    )


def wall_slope(model: Model, theta: Tensor, wall: float, t: Tensor, diffusivity: float) -> Tensor:
    """u_x(wall, t)."""
    inputs = model.inputs(torch.full_like(t, wall), t, diffusivity)
    inputs = cast(inputs, theta.dtype, theta.device)
    return model.outputs(theta, inputs).slopes[0]


def read_parameters(path: Path) -> Tensor:
    """A run's parameters at its lowest loss; an error names the file."""
    content = io.BytesIO(path.read_bytes())
    try:
        return torch.load(content, map_location="cpu", weights_only=True)["best_theta"]
    except UNREADABLE as error:
        raise ValueError(
            f"{path}: not a run's parameters ({type(error).__name__}); delete it to train again"
        ) from error
