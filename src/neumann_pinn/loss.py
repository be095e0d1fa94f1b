"""The loss: mean squares of the equation's, value and wall residuals, as sums over points.

The equation u_t - D Laplacian(u) + c . grad(u) + R(u) = source is taken at every point there is;
values (the initial ones among them) and walls at their own points. Each point carries its three
shares 1/N, so that any block of points adds its part of the whole.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.constraint import Function, Inputs, Model, Nothing, Outputs
from neumann_pinn.heat import Heat
from neumann_pinn.points import Points


class Batch(NamedTuple):
    """Points as constants, with a column for each point.

    Their inputs, their shares in the three terms (3 x n), the value that is known (1 x n), which
    slope is taken at a wall (axes x n), and, unless they vanish, the coefficient of u there, the
    flux there, and the source (1 x n each).
    """

    inputs: Inputs
    shares: Tensor
    value: Tensor
    normals: Tensor
    coefficient: Tensor | Nothing = ()
    flux: Tensor | Nothing = ()
    source: Tensor | Nothing = ()


def batch(model: Model, problem: Heat, points: Points) -> Batch:
    """The constants of all points of a heat problem, in float64."""
    n = len(points)
    initial = slice(points.domain, points.domain + points.initial)
    boundary = slice(points.domain + points.initial, n)
    shares = torch.zeros(3, n, dtype=torch.float64)
    shares[0] = 1 / n
    shares[1, initial] = 1 / max(points.initial, 1)
    shares[2, boundary] = 1 / max(points.boundary, 1)
    value = torch.zeros(1, n, dtype=torch.float64)
    value[0, initial] = problem.initial(points.x[initial])
    inputs = model.inputs(points.x, points.t, problem.diffusivity)
    return Batch(inputs, shares, value, torch.ones_like(value))


def loss_terms(
    model: Model, theta: Tensor, batch: Batch, reaction: Function | None = None
) -> Tensor:
    """The batch's part of the three mean squares: equation, values, walls."""
    errors = term_errors(model.outputs(theta, batch.inputs), batch, reaction)
    return (batch.shares * errors**2).sum(1)


def term_errors(out: Outputs, batch: Batch, reaction: Function | None = None) -> Tensor:
    """By how much each point misses the equation, its value and its wall: 3 x n."""
    residual = out.operator
    if reaction is not None:
        residual = residual + reaction(out.value)
    if isinstance(batch.source, Tensor):
        residual = residual - batch.source[0]
    slopes = zip(batch.normals.unbind(0), out.slopes, strict=True)
    wall = torch.stack([normal * slope for normal, slope in slopes]).sum(0)
    if isinstance(batch.coefficient, Tensor):
        wall = wall + batch.coefficient[0] * out.value
    if isinstance(batch.flux, Tensor):
        wall = wall - batch.flux[0]
    return torch.stack((residual, out.value - batch.value[0], wall))
