"""Derivatives of known functions of space and time, by nested autograd."""

from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.walls.layers import Function


class Derivatives(NamedTuple):
    """A function at n points: value, slopes (n x axes), d/dt, Laplacian, and how it evolves.

    The latter is the time derivative of a given order; of order 0 it is zero.
    """

    value: Tensor
    slopes: Tensor
    rate: Tensor
    laplacian: Tensor
    evolution: Tensor


def derivatives(function: Function, points: Tensor, axes: int, order: int) -> Derivatives:
    """The derivatives of any function of space and time, by nested autograd."""
    points = points.detach().requires_grad_()
    with torch.enable_grad():
        value = function(points)
        gradient = _gradient(value, points)
        slopes, rate = gradient[:, :axes], gradient[:, axes:].sum(1)
        seconds = [_gradient(slopes[:, i], points)[:, i] for i in range(axes)]
        evolution = _gradient(rate, points)[:, axes] if order == 2 else rate
    parts = (value, slopes, rate, torch.stack(seconds).sum(0), evolution)
    return Derivatives(*(part.detach() for part in parts))


def _gradient(value: Tensor, points: Tensor) -> Tensor:
    if not value.requires_grad:
        return torch.zeros_like(points)
    (gradient,) = torch.autograd.grad(
        value.sum(), points, create_graph=True, materialize_grads=True
    )
    return gradient
