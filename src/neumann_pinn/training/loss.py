"""The loss: mean squared residuals of equation, values and walls, as sums over points.

The equation u_t - D Laplacian(u) + c . grad(u) + R(u) = source is imposed at every point;
values (the initial ones among them) and walls at their own points. Each point carries its three
shares 1/N, so that any block of points contributes its part of the whole.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.model import Inputs, Model
from neumann_pinn.model.streams import Nothing, Outputs
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.protocol import LOSS_POINTS, Protocol
from neumann_pinn.training.trees import cast, cut, pad
from neumann_pinn.walls.layers import Function


class Batch(NamedTuple):
    """Points as constants, with a column for each point.

    Their inputs, their shares in the three terms (3 x n), the known value (1 x n), which
    slope is taken at a wall (axes x n, and one more for the rate at the start, if that is known),
    and, unless they vanish, the coefficient of u there, the flux there, and the source (1 x n
    each).
    """

    inputs: Inputs
    shares: Tensor
    value: Tensor
    normals: Tensor
    coefficient: Tensor | Nothing = ()
    flux: Tensor | Nothing = ()
    source: Tensor | Nothing = ()

    @property
    def size(self) -> int:
        """The number of points."""
        return self.shares.shape[1]

    def blocks(self, size: int) -> "list[Batch]":
        """Blocks of equal size; the last one is padded with points of share 0."""
        more = -self.size % size
        padded: Batch = pad(self, self.size, more)
        padded.shares[:, self.size :] = 0
        return cut(padded, padded.size, size)


def loss_terms(
    model: Model, theta: Tensor, batch: Batch, reaction: Function | None = None
) -> Tensor:
    """The batch's part of the three mean squares: equation, values, walls."""
    errors = torch.stack(term_errors(model.outputs(theta, batch.inputs), batch, reaction))
    return (batch.shares * errors**2).sum(1)


def term_errors(
    out: Outputs, batch: Batch, reaction: Function | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """By how much each point misses the equation, its value and its wall."""
    residual = out.operator
    if reaction is not None:
        residual = residual + reaction(out.value)
    if isinstance(batch.source, Tensor):
        residual = residual - batch.source[0]
    slopes = zip(batch.normals.unbind(0), (*out.slopes, *out.rates), strict=True)
    wall = torch.stack([normal * slope for normal, slope in slopes]).sum(0)
    if isinstance(batch.coefficient, Tensor):
        wall = wall + batch.coefficient[0] * out.value
    if isinstance(batch.flux, Tensor):
        wall = wall - batch.flux[0]
    return residual, out.value - batch.value[0], wall


class LossTerms:
    """theta -> the batch's three mean squares, block by block."""

    def __init__(
        self,
        model: Model,
        points: Batch,
        protocol: Protocol,
        machine: Machine,
        reaction: Function | None = None,
    ) -> None:
        self.model, self.reaction = model, reaction
        self.block_size = min(points.size, LOSS_POINTS)
        self.blocks = cast(points, protocol.dtype, machine.device).blocks(self.block_size)

    @torch.no_grad()
    def __call__(self, theta: Tensor) -> list[float]:
        parts = [loss_terms(self.model, theta, block, self.reaction) for block in self.blocks]
        return torch.stack(parts).sum(0).tolist() if len(parts) > 1 else parts[0].tolist()
