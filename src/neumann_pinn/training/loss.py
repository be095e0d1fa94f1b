"""The loss: mean squared residuals of equation, values and walls, as sums over points.

The equation u_t - D Laplacian(u) + c . grad(u) + R(u) = source is imposed at every point;
values (the initial ones among them) and walls at their own points. Each point carries its three
shares 1/N, so that any block of points contributes its part of the whole. Several unknowns have
all of this each, at the same points; their mean squares are added.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.model import Inputs, Model, Passes
from neumann_pinn.model.streams import Nothing, Outputs
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.protocol import LOSS_POINTS, Protocol
from neumann_pinn.training.trees import cast, cut, pad
from neumann_pinn.walls.layers import Function


class FieldBatch(NamedTuple):
    """What is known of one unknown, with a column for each point.

    The inputs of its model, the shares in the three terms (3 x n), the known value (1 x n), which
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


class Batch(NamedTuple):
    """Points as constants, for each unknown."""

    fields: tuple[FieldBatch, ...]

    @property
    def size(self) -> int:
        """The number of points."""
        return self.fields[0].shares.shape[1]

    def blocks(self, size: int) -> "list[Batch]":
        """Blocks of equal size; the last one is padded with points of share 0."""
        more = -self.size % size
        padded: Batch = pad(self, self.size, more)
        for field in padded.fields:
            field.shares[:, self.size :] = 0
        return cut(padded, padded.size, size)


Errors = tuple[Tensor, Tensor, Tensor]
"""By how much each point misses the equation, its value and its wall."""


def loss_terms(
    model: Model, theta: Tensor, batch: Batch, reaction: Function | None = None
) -> Tensor:
    """The batch's part of the three mean squares: equation, values, walls."""
    errors = all_errors(model, theta, batch, reaction)
    pairs = zip(batch.fields, errors, strict=True)
    terms = [(field.shares * torch.stack(missed) ** 2).sum(1) for field, missed in pairs]
    return terms[0] if len(terms) == 1 else torch.stack(terms).sum(0)


def all_errors(
    model: Model,
    theta: Tensor,
    batch: Batch,
    reaction: Function | None = None,
    passes: Passes | None = None,
) -> list[Errors]:
    """By how much each point misses what is known of each unknown."""
    parts = zip(model.fields, model.split(theta), batch.fields, strict=True)
    outs = [field.outputs(own, known.inputs, passes) for field, own, known in parts]
    if reaction is not None:
        reacting = reaction(torch.stack([out.value for out in outs])).unbind(0)
        pairs = zip(outs, reacting, strict=True)
        outs = [out._replace(operator=out.operator + more) for out, more in pairs]
    return [_errors(out, known) for out, known in zip(outs, batch.fields, strict=True)]


def _errors(out: Outputs, batch: FieldBatch) -> Errors:
    residual = out.operator
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
