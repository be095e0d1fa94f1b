"""Gauss-Newton in the space of residuals, on collapsed jets.

With the residuals r of N rows (points and their terms) and their Jacobian J (N x parameters), a
step d of Levenberg and Marquardt makes |r + J d|^2 + lambda (d - p)^T M^-1 (d - p) smallest:

    d = p - M J^T (J M J^T + lambda I)^-1 (r + J p),

which needs a factorisation of N x N only. A layer's part of J M J^T is its entry of M times a sum
over pairs of streams, (G_i G_j^T) * (H_i H_j^T), where H are the streams in front of the layer and
G the gradients of each row at the streams behind it; J itself is never made, unless that is
cheaper. M is the identity but for the output layer: where that one moves less freely, fewer steps
are needed.

To a step belongs a second one of geodesic acceleration (Transtrum and Sethna 2012): minus half of
what the same system makes of the second derivative of r along d. It follows the bend of the valley
that one descends in, so that lambda may be smaller by orders of magnitude.

There are more parameters than rows: with the same points at every step the residuals would vanish
there and nowhere else. So the points are shifted at every step, and p, a part of the step before,
keeps what earlier points have shown (as SPRING does: Goldshlager, Abrahamsen and Lin 2024). For the
same reason lambda does not vanish.
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
SMALLEST_DAMPING = 1e-9
DAMPING_FACTOR = 2.0
"""What divides lambda after a step that was taken, and multiplies it after one that was not."""
TRIALS = 12
"""How many lambdas a step may try on its points."""
MOMENTUM = 0.8
"""The part of the last step that a step starts from."""
TRIALS_WITH_MOMENTUM = 4
"""How many lambdas a step tries before it forgets the last one."""
OUTPUT_MOBILITY = 0.01
"""How freely the output layer's parameters move: its entry of M."""
PROBE = 0.1
"""The part of a step over which the second derivative along it is taken."""
LONGEST_BEND = 1.0
"""How long twice the second step may be, as a part of the first."""
BLOCK_ROWS = 150
"""Rows of a block of the kernel, of which the lower triangle is made."""


class GaussNewton:
    """Levenberg-Marquardt steps with geodesic acceleration and momentum, on new points each."""

    def __init__(self, model: Model, theta: Tensor, rows_at: Callable[[int], "Rows"]) -> None:
        self.model = model
        self.theta = theta
        self.rows_at = rows_at
        self.damping = FIRST_DAMPING
        self.count = 0
        self.last = torch.zeros_like(theta)

    @torch.no_grad()
    def step(self) -> None:
        """One step, with the first lambda that makes the loss on its points smaller."""
        self.count += 1
        rows = self.rows_at(self.count)
        at = linearise(self.model, self.theta, rows)
        matrix = kernel(at)
        loss = float(at.residuals.square().sum())
        start = MOMENTUM * self.last
        for trial in range(TRIALS):
            if trial == TRIALS_WITH_MOMENTUM:
                start = torch.zeros_like(start)
            step = self.trial(rows, at, matrix, start)
            if step is not None:
                new = self.theta + step
                if float(residuals(self.model, new, rows).square().sum()) < loss:
                    self.theta.copy_(new)
                    self.last.copy_(step)
                    self.damping = max(self.damping / DAMPING_FACTOR, SMALLEST_DAMPING)
                    return
            self.damping *= DAMPING_FACTOR
        self.last.zero_()
        log.info("step %d: no lambda up to %.1e helps on its points", self.count, self.damping)

    def trial(self, rows: "Rows", at: "Linearised", matrix: Tensor, start: Tensor) -> Tensor | None:
        """The step for the present lambda, or None if it bends too far or rounding fails."""
        solve = solver(at, matrix, self.damping)
        if solve is None:
            return None
        step = start - solve(at.residuals + times(at, start))
        ahead, behind = (
            residuals(self.model, self.theta + sign * PROBE * step, rows) for sign in (1, -1)
        )
        bend = solve((ahead + behind - 2 * at.residuals) / PROBE**2)
        if not bend.norm() <= LONGEST_BEND * step.norm():
            return None
        return step - bend / 2

    def state_dict(self) -> dict[str, Any]:
        """All that the next step depends on, besides theta."""
        return {"damping": self.damping, "count": self.count, "last": self.last}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.damping, self.count = state["damping"], state["count"]
        self.last.copy_(state["last"])


class Rows(NamedTuple):
    """A row for each point and term: the points, the term, and the root of its weighted share."""

    points: Batch
    term: Tensor
    root: Tensor


class LayerGradients(NamedTuple):
    """For each row, the streams in front of a layer (H) and the gradients behind it (G).

    Which of the streams are values, which the bias joins; and the layer's entry of M.
    """

    before: list[Tensor]
    behind: list[Tensor]
    values: list[bool]
    mobility: float


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
            OUTPUT_MOBILITY if trace is traces[-1] else 1.0,
        )
        for trace in traces
    ]
    return Linearised(r.detach(), layers)


def kernel(at: Linearised) -> Tensor:
    """J M J^T, layer by layer in whichever form is cheaper."""
    total = at.residuals.new_zeros(len(at.residuals), len(at.residuals))
    for layer in at.layers:
        if _by_pairs(len(layer.behind[0]), len(layer.before[0]), len(layer.before)):
            _add_pairs(total, layer)
        else:
            _add_product(total, layer_jacobian(layer), layer.mobility)
        _add_product(total, bias_jacobian(layer), layer.mobility)
    return total.tril_() + total.tril(-1).T


def required_products(model: Model, rows: int) -> float:
    """Floating-point operations of the matrix products and factorisations of a typical step."""
    streams, shapes = model.streams, model.network.shapes
    products = sum(min(a * b, streams**2 * (a + b)) for a, b in shapes) * rows**2
    passes = 8 * streams * model.network.parameters * rows
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
    """M J^T times a number for each row: a direction in the parameters."""
    parts = []
    for layer in at.layers:
        pairs, moved = zip(layer.behind, layer.before, strict=True), layer.mobility * weights
        parts.append(torch.stack([(g * moved) @ h.T for g, h in pairs]).sum(0).flatten())
        parts.append(moved @ bias_jacobian(layer))
    return torch.cat(parts)


def times(at: Linearised, direction: Tensor) -> Tensor:
    """J times a direction in the parameters: a number for each row."""
    parts, rest = [], direction
    for layer in at.layers:
        outputs, inputs = len(layer.behind[0]), len(layer.before[0])
        weight, bias, rest = rest.tensor_split((outputs * inputs, outputs * (inputs + 1)))
        pairs, weight = zip(layer.behind, layer.before, strict=True), weight.view(outputs, inputs)
        parts += [(g * (weight @ h)).sum(0) for g, h in pairs]
        parts.append(bias_jacobian(layer) @ bias)
    return torch.stack(parts).sum(0)


def solver(at: Linearised, matrix: Tensor, damping: float) -> Function | None:
    """R -> M J^T (J M J^T + lambda I)^-1 r, or None where rounding leaves no positive matrix."""
    matrix = matrix.clone()
    matrix.diagonal().add_(damping)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        return None
    return lambda r: times_transposed(at, torch.cholesky_solve(r[:, None], factor)[:, 0])


def _by_pairs(outputs: int, inputs: int, streams: int) -> bool:
    """Whether the pairs of streams make a layer's part of the kernel cheaper than its Jacobian."""
    return streams**2 * (outputs + inputs) < outputs * inputs


def _blocks(rows: int) -> list[slice]:
    """Even blocks of rows."""
    count = max(1, -(-rows // BLOCK_ROWS))
    ends = [rows * k // count for k in range(count + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _add_product(total: Tensor, part: Tensor, mobility: float) -> None:
    """Add the lower blocks of a part's product with itself, times its entry of M."""
    for rows in _blocks(len(part)):
        below = total[rows, : rows.stop]
        below.addmm_(part[rows], part[: rows.stop].T, alpha=mobility)


def _add_pairs(total: Tensor, layer: LayerGradients) -> None:
    """Add the lower blocks of a layer's part, with the streams of its rows stacked."""
    blocks = _blocks(len(total))
    gradients, streams = (
        [torch.cat([stream[:, rows].T for stream in part]) for rows in blocks]
        for part in (layer.behind, layer.before)
    )
    for i, rows in enumerate(blocks):
        for j, columns in enumerate(blocks[: i + 1]):
            block = total[rows, columns]
            shape = (len(layer.before), len(block), len(layer.before), block.shape[1])
            g = (gradients[i] @ gradients[j].T).view(shape)
            h = (streams[i] @ streams[j].T).view(shape)
            for one, other in itertools.product(range(shape[0]), repeat=2):
                block.addcmul_(g[one, :, other], h[one, :, other], value=layer.mobility)
