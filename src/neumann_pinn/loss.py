"""The loss: mean squares of the PDE, initial and boundary residuals, as sums over points.

The PDE residual is taken at every point there is, the initial and boundary residuals at their own
points. Each point carries its three shares 1/N, so that any block of points adds its part of the
whole.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.constraint import Inputs, Model
from neumann_pinn.heat import Heat
from neumann_pinn.points import Points


class Batch(NamedTuple):
    """Points as constants: their inputs, their shares in the three terms (3 x n), g (1 x n)."""

    inputs: Inputs
    shares: Tensor
    target: Tensor


def batch(model: Model, problem: Heat, points: Points) -> Batch:
    """The constants of all points, in float64."""
    n = len(points)
    initial = slice(points.domain, points.domain + points.initial)
    boundary = slice(points.domain + points.initial, n)
    shares = torch.zeros(3, len(points.x), dtype=torch.float64)
    shares[0, :n] = 1 / n
    shares[1, initial] = 1 / max(points.initial, 1)
    # outputs carry sqrt(D) u_x
    shares[2, boundary] = 1 / max(points.boundary, 1) / problem.diffusivity
    target = torch.zeros(1, len(points.x), dtype=torch.float64)
    target[0, initial] = problem.initial(points.x[initial])
    return Batch(model.inputs(points.x, points.t, problem.diffusivity), shares, target)


def loss_terms(model: Model, theta: Tensor, batch: Batch) -> Tensor:
    """The batch's part of the three mean squares: PDE, initial, boundary."""
    out = model.outputs(theta, batch.inputs)
    errors = torch.stack((out.residual, out.value - batch.target[0], out.slope))
    return (batch.shares * errors**2).sum(1)
