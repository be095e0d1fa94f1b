"""Gauss-Newton in the space of residuals, on collapsed jets.

With the residuals r of N rows (points and their terms) and their Jacobian J (N x parameters), a
step of Levenberg and Marquardt is

    theta <- theta - J^T (J J^T + lambda I)^-1 r,

which needs a factorisation of N x N only. A layer's part of J J^T is a sum over pairs of streams,
(G_i G_j^T) * (H_i H_j^T), where H are the streams in front of the layer and G the gradients of each
row at the streams behind it; J itself is never made, unless that is cheaper.

To a step d belongs a second one of geodesic acceleration (Transtrum and Sethna 2012): half of what
the same system makes of the second derivative of r along d. It follows the bend of the valley that
one descends in, so that lambda may be smaller by orders of magnitude.

There are more parameters than rows: with the same points at every step the residuals would vanish
there and nowhere else. So the points are shifted at every step.
"""

import itertools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.constraint import Function, Model
from neumann_pinn.engine import select
from neumann_pinn.loss import Batch, term_errors

log = logging.getLogger(__name__)

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING = 1e-12
EASE, TIGHTEN = 3.0, 4.0
"""What divides lambda after a step that was taken, and multiplies it after one that was not."""
BLOCKS = 4
"""How many blocks a symmetric product is cut into, to make half of it only."""
TRIALS = 8
"""How many lambdas a step may try on its points."""
PROBE = 0.1
"""The part of a step over which the second derivative along it is taken."""
LONGEST_BEND = 1.0
"""How long the second step may be, as a part of the first."""


class GaussNewton:
    """Levenberg-Marquardt steps with geodesic acceleration, on new points each."""

    def __init__(self, model: Model, theta: Tensor, rows_at: Callable[[int], "Rows"]) -> None:
        self.model = model
        self.theta = theta
        self.rows_at = rows_at
        self.damping = FIRST_DAMPING
        self.count = 0

    @torch.no_grad()
    def step(self) -> None:
        """One step, with the first lambda that makes the loss on its points smaller."""
        self.count += 1
        rows = self.rows_at(self.count)
        at = linearise(self.model, self.theta, rows)
        matrix = kernel(at)
        loss = float(at.residuals.square().sum())
        for _ in range(TRIALS):
            step = self.trial(rows, at, matrix)
            if step is not None:
                new = self.theta - step
                if float(residuals(self.model, new, rows).square().sum()) < loss:
                    self.theta.copy_(new)
                    self.damping = max(self.damping / EASE, SMALLEST_DAMPING)
                    return
            self.damping *= TIGHTEN
        log.info("step %d: no lambda up to %.1e helps on its points", self.count, self.damping)

    def trial(self, rows: "Rows", at: "Linearised", matrix: Tensor) -> Tensor | None:
        """The step for the present lambda, or None if the second step is too long for it."""
        solve = solver(at, matrix, self.damping)
        if solve is None:
            return None
        step = solve(at.residuals)
        ahead, behind = (
            residuals(self.model, self.theta + sign * PROBE * step, rows) for sign in (-1, 1)
        )
        bend = solve((ahead + behind - 2 * at.residuals) / PROBE**2)
        if not bend.norm() <= LONGEST_BEND * step.norm():
            return None
        return step + bend / 2

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, besides theta."""
        return {"damping": self.damping, "count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.damping, self.count = state["damping"], state["count"]


class Rows(NamedTuple):
    """A row for each point and term: the points, the term, and the root of its weighted share."""

    points: Batch
    term: Tensor
    root: Tensor


class LayerGradients(NamedTuple):
    """For each row, the streams in front of a layer (H) and the gradients behind it (G)."""

    before: list[Tensor]
    behind: list[Tensor]
    values: list[bool]


class Linearised(NamedTuple):
    """Residuals of all rows at some parameters, and all that their Jacobian is made of."""

    residuals: Tensor
    layers: list[LayerGradients]


def make_rows(batch: Batch, weights: tuple[float, float, float]) -> Rows:
    """The rows of a batch: the equation at all points, values and walls at theirs."""
    scaled = batch.shares * batch.shares.new_tensor(weights)[:, None]
    term, point = scaled.nonzero(as_tuple=True)
    n = batch.shares.shape[1]
    return Rows(select(batch, n, point), term, scaled[term, point].sqrt())


def residuals(model: Model, theta: Tensor, rows: Rows) -> Tensor:
    """The rows' residuals; the sum of their squares is the loss."""
    errors = term_errors(model.outputs(theta, rows.points.inputs), rows.points)
    return rows.root * errors.gather(0, rows.term[None])[0]


def linearise(model: Model, theta: Tensor, rows: Rows) -> Linearised:
    """Residuals with what their Jacobian is made of, by one pass forward and one back."""
    theta = theta.detach().requires_grad_()
    with torch.enable_grad():
        outputs, traces = model.traced_outputs(theta, rows.points.inputs)
        errors = term_errors(outputs, rows.points)
        r = rows.root * errors.gather(0, rows.term[None])[0]
        streams = [stream for trace in traces for stream in trace.behind]
        gradients = iter(torch.autograd.grad(r.sum(), streams, materialize_grads=True))
    layers = [
        LayerGradients(
            [stream.detach() for stream in trace.before],
            [next(gradients) for _ in trace.behind],
            trace.values,
        )
        for trace in traces
    ]
    return Linearised(r.detach(), layers)


def kernel(at: Linearised) -> Tensor:
    """J J^T, layer by layer in whichever form is cheaper."""
    total = at.residuals.new_zeros(len(at.residuals), len(at.residuals))
    for layer in at.layers:
        outputs, inputs, streams = len(layer.behind[0]), len(layer.before[0]), len(layer.before)
        if outputs * inputs <= streams * (streams + 1) // 2 * (outputs + inputs):
            _add_product(total, layer_jacobian(layer))
        else:
            _add_pairs(total, layer)
        _add_product(total, bias_jacobian(layer))
    return total


def required_products(model: Model, rows: int) -> float:
    """Floating-point operations of the matrix products and factorisations of a typical step."""
    pairs = model.streams * (model.streams + 1) // 2
    shapes = model.network.shapes
    products = sum(min(a * b, 2 * pairs * (a + b)) for a, b in shapes) * rows**2
    passes = 8 * model.streams * model.network.parameters * rows
    return products + passes + 2 * rows**3 / 3


def jacobian(at: Linearised) -> Tensor:
    """J itself, N x parameters in the order of theta."""
    parts = [part for layer in at.layers for part in (layer_jacobian(layer), bias_jacobian(layer))]
    return torch.cat(parts, 1)


def layer_jacobian(layer: LayerGradients) -> Tensor:
    """The part of J that belongs to a layer's weights: N x outputs * inputs."""
    gradients = torch.stack(layer.behind).permute(2, 1, 0)
    streams = torch.stack(layer.before).permute(2, 0, 1)
    return (gradients @ streams).flatten(1)


def bias_jacobian(layer: LayerGradients) -> Tensor:
    """The part of J that belongs to a layer's bias: N x outputs."""
    pairs = zip(layer.behind, layer.values, strict=True)
    return torch.stack([gradient for gradient, value in pairs if value]).sum(0).T


def times_transposed(at: Linearised, weights: Tensor) -> Tensor:
    """J^T times a number for each row: a direction in the parameters."""
    parts = []
    for layer in at.layers:
        pairs = zip(layer.behind, layer.before, strict=True)
        parts.append(torch.stack([(g * weights) @ h.T for g, h in pairs]).sum(0).flatten())
        parts.append(weights @ bias_jacobian(layer))
    return torch.cat(parts)


def solver(at: Linearised, matrix: Tensor, damping: float) -> Function | None:
    """R -> J^T (J J^T + lambda I)^-1 r, or None where rounding leaves no positive matrix."""
    matrix = matrix.clone()
    matrix.diagonal().add_(damping)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        return None
    return lambda r: times_transposed(at, torch.cholesky_solve(r[:, None], factor)[:, 0])


def _add_product(total: Tensor, part: Tensor) -> None:
    """Add part part^T, whose upper blocks are copies of the lower ones."""
    ends = [len(part) * k // BLOCKS for k in range(BLOCKS + 1)]
    places = [slice(start, end) for start, end in itertools.pairwise(ends)]
    for i, rows in enumerate(places):
        for columns in places[: i + 1]:
            block = part[rows] @ part[columns].T
            total[rows, columns] += block
            if columns is not rows:
                total[columns, rows] += block.T


def _add_pairs(total: Tensor, layer: LayerGradients) -> None:
    for i, (g, h) in enumerate(zip(layer.behind, layer.before, strict=True)):
        total.addcmul_(g.T @ g, h.T @ h)
        for other_g, other_h in zip(layer.behind[:i], layer.before[:i], strict=True):
            part = (g.T @ other_g).mul_(h.T @ other_h)
            total.add_(part).add_(part.T)
