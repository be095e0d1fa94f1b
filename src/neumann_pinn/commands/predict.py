"""Predictions of trained models: the best one's solution on the grid, and all wall slopes."""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from neumann_pinn.model.model import Field
from neumann_pinn.problems.problem import Reference
from neumann_pinn.study.predictions import Prediction
from neumann_pinn.training.checkpoints import UNREADABLE
from neumann_pinn.training.trees import cast

TIMES = 201
"""Times at which the wall slopes are taken."""


def predict(
    models: Mapping[str, Field],
    parameters: Mapping[str, Tensor],
    best: str,
    reference: Reference,
    diffusivity: float,
) -> Prediction:
    """Evaluate trained models in the precision they were trained in."""
    t = torch.linspace(0, 1, TIMES, dtype=torch.float64)
    slopes = [
        torch.stack([wall_slope(models[m], parameters[m], wall, t, diffusivity) for wall in (0, 1)])
        for m in models
    ]
    theta = parameters[best]
    nodes = cast(models[best].nodes(reference.x, reference.t), theta.dtype, theta.device)
    return Prediction(
        reference.x[:, 0].numpy(),
        reference.t.numpy(),
        reference.u.numpy(),
        models[best].values(theta, nodes).double().numpy(),
        np.array(best),
        np.array(list(models)),
        t.numpy(),
        torch.stack(slopes).double().numpy(),
    )


def wall_slope(model: Field, theta: Tensor, wall: float, t: Tensor, diffusivity: float) -> Tensor:
    """u_x(wall, t)."""
    inputs = model.inputs(torch.stack((torch.full_like(t, wall), t), 1), diffusivity)
    inputs = cast(inputs, theta.dtype, theta.device)
    return model.outputs(theta, inputs).slopes[0]


def read_parameters(path: Path) -> Tensor:
    """A run's parameters at its lowest loss; errors name the file."""
    content = io.BytesIO(path.read_bytes())
    try:
        return torch.load(content, map_location="cpu", weights_only=True)["best_theta"]
    except UNREADABLE as error:
        raise ValueError(
            f"{path}: not a run's parameters ({type(error).__name__}); delete it to train again"
        ) from error
