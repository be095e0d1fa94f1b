"""Gauss-Newton in the space of residuals, on collapsed jets.

Given the residuals r of N rows (points and their terms) and their Jacobian J (N x parameters), a
Levenberg-Marquardt step d minimises |r + J d|^2 + lambda (d - p)^T M^-1 (d - p):

    d = p - M J^T (J M J^T + lambda I)^-1 (r + J p),

which only needs the factorisation of an N x N matrix. A layer's part of J M J^T is its entry of M
times a sum over pairs of streams, (G_i G_j^T) * (H_i H_j^T), where H are the streams before the
layer and G the gradients of each row with respect to the streams after it; J itself is never
formed, unless that is cheaper. M is the identity except for the output layer: if that layer moves
less freely, fewer steps are needed.

What the existing constraint takes from the walls depends only on time. Where points share times,
these are few numbers, and each row depends on some of them: J = P + C W, where P is the Jacobian of
what the rows take from their own points, W that of the numbers at the walls, and the sparse C links
the two.

Each step is followed by a second one for geodesic acceleration (Transtrum and Sethna 2012): minus
half the solution of the same system for the second derivative of r along d. It follows the curved
valley of the descent, so that lambda can be smaller by orders of magnitude.

There are more parameters than rows: with the same points at every step the residuals would vanish
there and nowhere else. So the points are shifted at every step, and p, a fraction of the previous
step, retains what earlier points have shown (as in SPRING: Goldshlager, Abrahamsen and Lin 2024).
For the same reason lambda stays above zero.
"""

import itertools
import logging
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.model import Model
from neumann_pinn.model.streams import Outputs
from neumann_pinn.model.traced import Trace, traced_outputs
from neumann_pinn.training.loss import Batch, term_errors
from neumann_pinn.training.trees import select
from neumann_pinn.walls.layers import Function

log = logging.getLogger(__name__)

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 1e9
DAMPING_FACTOR = 2.0
"""Divides lambda after a step that was accepted, and multiplies it after a rejected one."""
TRIALS = 12
"""The number of lambdas that a step may try on its points."""
MOMENTUM = 0.8
"""The fraction of the last step that a step starts from."""
TRIALS_WITH_MOMENTUM = 4
"""The number of lambdas that a step tries before it forgets the last step."""
OUTPUT_SCALE = 0.01
"""The output layer's entry of M; all other entries are 1."""
PROBE = 0.1
"""The fraction of a step over which the second derivative along it is taken."""
LARGEST_ACCELERATION = 1.0
"""The largest length of the acceleration, twice the second step, relative to the first."""
BLOCK_ROWS = 150
"""Rows per block of the kernel, of which only the lower triangle is computed."""


class GaussNewton:
    """Levenberg-Marquardt steps with geodesic acceleration and momentum, each on new points."""

    def __init__(self, model: Model, theta: Tensor, rows_at: Callable[[int], "Rows"]) -> None:
        self.model = model
        self.theta = theta
        self.rows_at = rows_at
        self.damping = FIRST_DAMPING
        self.count = 0
        self.last = torch.zeros_like(theta)

    @torch.no_grad()
    def step(self) -> None:
        """One step, with the first lambda that reduces the loss on its points."""
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
            self.damping = min(self.damping * DAMPING_FACTOR, LARGEST_DAMPING)
        self.last.zero_()
        log.info("step %d: no lambda up to %.1e helps on its points", self.count, self.damping)

    def trial(self, rows: "Rows", at: "Linearised", matrix: Tensor, start: Tensor) -> Tensor | None:
        """The step for the current lambda, or None if it curves too far or has no solution."""
        solve = solver(at, matrix, self.damping)
        if solve is None:
            return None
        step = start - solve(at.residuals + change_along(at, start))
        ahead, back = (
            residuals(self.model, self.theta + sign * PROBE * step, rows) for sign in (1, -1)
        )
        acceleration = solve((ahead + back - 2 * at.residuals) / PROBE**2)
        if not acceleration.norm() <= LARGEST_ACCELERATION * step.norm():
            return None
        return step - acceleration / 2

    def state_dict(self) -> dict[str, Any]:
        """Everything but theta that the next step depends on."""
        return {"damping": self.damping, "count": self.count, "last": self.last}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.damping, self.count = state["damping"], state["count"]
        self.last.copy_(state["last"])


class Rows(NamedTuple):
    """A row for each point and loss term: the points, the term, the root of its weighted share."""

    points: Batch
    term: Tensor
    root: Tensor


class LayerGradients(NamedTuple):
    """For some numbers, the streams before a layer (H) and their gradients after it (G).

    The bias is added to the first stream, the value. `scale` is the layer's entry of M.
    """

    before: tuple[Tensor, ...]
    after: tuple[Tensor, ...]
    scale: float


class Linearised(NamedTuple):
    """The residuals of all rows at some parameters, and the parts of their Jacobian P + C W.

    P (points) and W (walls) are stored layer by layer. Row k of C has the entry shares[i, k] in
    column places[i, k], for each i, and zeros elsewhere.
    """

    residuals: Tensor
    points: list[LayerGradients]
    walls: list[LayerGradients]
    shares: Tensor
    places: Tensor


def make_rows(batch: Batch, weights: tuple[float, float, float]) -> Rows:
    """The rows of a batch: the equation at all points, values and walls at their own points."""
    scaled = batch.shares * batch.shares.new_tensor(weights)[:, None]
    term, point = scaled.nonzero(as_tuple=True)
    n = batch.shares.shape[1]
    return Rows(select(batch, n, point), term, scaled[term, point].sqrt())


def residuals(model: Model, theta: Tensor, rows: Rows) -> Tensor:
    """The rows' residuals; the sum of their squares is the loss."""
    return _of_rows(traced_outputs(model, theta, rows.points.inputs).outputs, rows)


def linearise(model: Model, theta: Tensor, rows: Rows) -> Linearised:
    """The residuals and the parts of their Jacobian, by one pass forward and a few back."""
    theta = theta.detach().requires_grad_()
    with torch.enable_grad():
        traced = traced_outputs(model, theta, rows.points.inputs)
        r = _of_rows(traced.outputs, rows)
        (shares,) = _gradients(r, [traced.seen])
        points = _layers(traced.points, [r])
        walls = _layers(traced.walls, list(traced.at_walls.tensor_split(2)))
    first = traced.at_walls.shape[1] * torch.arange(len(shares), device=r.device)
    return Linearised(r.detach(), points, walls, shares, first[:, None] + traced.columns)


def kernel(at: Linearised) -> Tensor:
    """J M J^T = P M P^T + C X + X^T C^T with X = W M P^T + W M W^T C^T / 2."""
    total = products(at.points, at.points)
    if len(at.shares):
        half = products(at.walls, at.walls) / 2
        part = _spread(at, products(at.walls, at.points) + _spread(at, half).T)
        total += part
        total += part.T
    return total


def products(one: list[LayerGradients], other: list[LayerGradients]) -> Tensor:
    """J M J^T between two sets of numbers, layer by layer in whichever form is cheaper."""
    rows, columns = len(one[0].after[0].T), len(other[0].after[0].T)
    total = one[0].after[0].new_zeros(rows, columns)
    for a, b in zip(one, other, strict=True):
        if _by_pairs(len(a.after[0]), len(a.before[0]), len(a.before), len(b.before)):
            _add_pairs(total, a, b)
        else:
            part = layer_jacobian(a)
            others = part if a is b else layer_jacobian(b)
            _add_product(total, part, others, a is b, a.scale)
        _add_product(total, bias_jacobian(a), bias_jacobian(b), a is b, a.scale)
    return total.tril_() + total.tril(-1).T if one is other else total


def required_products(model: Model, rows: int, times: int) -> float:
    """Floating-point operations of the matrix products and factorisations of a typical step."""

    def of_a_pair(streams: int, others: int) -> int:
        return sum(min(a * b, streams * others * (a + b)) for a, b in model.network.shapes)

    at_walls = model.streams - 3
    numbers = at_walls // 2 * times
    inner = of_a_pair(3, 3) * rows**2 + of_a_pair(4, 4) * numbers**2
    across = 2 * of_a_pair(3, 4) * rows * numbers
    passes = 8 * model.network.parameters * (3 * rows + at_walls * times)
    return inner + across + passes + 2 * rows**3 / 3


def layer_jacobian(layer: LayerGradients) -> Tensor:
    """The part of J that belongs to a layer's weights: N x outputs * inputs."""
    gradients = torch.stack(layer.after).permute(2, 1, 0)
    streams = torch.stack(layer.before).permute(2, 0, 1)
    return (gradients @ streams).flatten(1)


def bias_jacobian(layer: LayerGradients) -> Tensor:
    """The part of J that belongs to a layer's bias: N x outputs."""
    return layer.after[0].T


def direction_of(at: Linearised, weights: Tensor) -> Tensor:
    """M J^T times a weight for each row: a direction in parameter space."""
    at_walls = weights.new_zeros(at.walls[0].after[0].shape[1])
    at_walls.index_add_(0, at.places.flatten(), (at.shares * weights).flatten())
    return _direction(at.points, weights) + _direction(at.walls, at_walls)


def change_along(at: Linearised, direction: Tensor) -> Tensor:
    """J times a direction in parameter space: a number for each row."""
    return _change(at.points, direction) + _spread(at, _change(at.walls, direction))


def solver(at: Linearised, matrix: Tensor, damping: float) -> Function | None:
    """The map r -> M J^T (J M J^T + lambda I)^-1 r, or None if rounding makes it indefinite."""
    matrix = matrix.clone()
    matrix.diagonal().add_(damping)
    factor, failed = torch.linalg.cholesky_ex(matrix)
    if failed:
        return None
    return lambda r: direction_of(at, torch.cholesky_solve(r[:, None], factor)[:, 0])


def _of_rows(outputs: Outputs, rows: Rows) -> Tensor:
    """The rows' residuals, from the outputs at their points."""
    return rows.root * term_errors(outputs, rows.points).gather(0, rows.term[None])[0]


def _gradients(numbers: Tensor, at: list[Tensor]) -> tuple[Tensor, ...]:
    """The gradients of numbers, each of which depends only on its own column."""
    return torch.autograd.grad(numbers.sum(), at, retain_graph=True, materialize_grads=True)


def _layers(traces: list[Trace], numbers: list[Tensor]) -> list[LayerGradients]:
    """The gradients of numbers at each layer; each tensor has one number per column of streams."""
    streams = [stream for trace in traces for stream in trace.after]
    gradients = zip(*(_gradients(part, streams) for part in numbers), strict=True)
    return [
        LayerGradients(
            tuple(stream.detach().repeat(1, len(numbers)) for stream in trace.before),
            tuple(torch.cat(next(gradients), 1) for _ in trace.after),
            OUTPUT_SCALE if trace is traces[-1] else 1.0,
        )
        for trace in traces
    ]


def _spread(at: Linearised, numbers: Tensor) -> Tensor:
    """C times a vector or a matrix."""
    shares = at.shares if numbers.dim() == 1 else at.shares[:, :, None]
    return (shares * numbers[at.places]).sum(0)


def _direction(layers: list[LayerGradients], weights: Tensor) -> Tensor:
    """M J^T times weights, where J is the Jacobian of the layers' numbers."""
    parts = []
    for layer in layers:
        pairs, moved = zip(layer.after, layer.before, strict=True), layer.scale * weights
        parts.append(torch.stack([(g * moved) @ h.T for g, h in pairs]).sum(0).flatten())
        parts.append(moved @ bias_jacobian(layer))
    return torch.cat(parts)


def _change(layers: list[LayerGradients], direction: Tensor) -> Tensor:
    """J times a direction, where J is the Jacobian of the layers' numbers."""
    parts, rest = [], direction
    for layer in layers:
        outputs, inputs = len(layer.after[0]), len(layer.before[0])
        weight, bias, rest = rest.tensor_split((outputs * inputs, outputs * (inputs + 1)))
        pairs, weight = zip(layer.after, layer.before, strict=True), weight.view(outputs, inputs)
        parts += [(g * (weight @ h)).sum(0) for g, h in pairs]
        parts.append(bias_jacobian(layer) @ bias)
    return torch.stack(parts).sum(0)


def _by_pairs(outputs: int, inputs: int, streams: int, others: int) -> bool:
    """Whether a layer's part of the kernel is cheaper by pairs of streams than by its Jacobian."""
    return streams * others * (outputs + inputs) < outputs * inputs


def _blocks(rows: int) -> list[slice]:
    """Blocks of rows of nearly equal size."""
    count = max(1, -(-rows // BLOCK_ROWS))
    ends = [rows * k // count for k in range(count + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _add_product(total: Tensor, a: Tensor, b: Tensor, lower: bool, scale: float) -> None:
    """Add the product of two parts, or only its lower blocks, times their entry of M."""
    for rows in _blocks(len(a)):
        columns = slice(rows.stop if lower else len(b))
        total[rows, columns].addmm_(a[rows], b[columns].T, alpha=scale)


def _add_pairs(total: Tensor, a: LayerGradients, b: LayerGradients) -> None:
    """Add the part of two layers by stacked streams; only lower blocks if they are the same."""
    rows_of, columns_of = _blocks(len(total)), _blocks(total.shape[1])
    gradients, streams = _stacked(a.after, rows_of), _stacked(a.before, rows_of)
    other_gradients, other_streams = gradients, streams
    if a is not b:
        other_gradients = _stacked(b.after, columns_of)
        other_streams = _stacked(b.before, columns_of)
    for i, rows in enumerate(rows_of):
        for j, columns in enumerate(columns_of[: i + 1] if a is b else columns_of):
            block = total[rows, columns]
            shape = (len(a.before), len(block), len(b.before), block.shape[1])
            g = (gradients[i] @ other_gradients[j].T).view(shape)
            h = (streams[i] @ other_streams[j].T).view(shape)
            for one, other in itertools.product(range(shape[0]), range(shape[2])):
                block.addcmul_(g[one, :, other], h[one, :, other], value=a.scale)


def _stacked(streams: tuple[Tensor, ...], blocks: list[slice]) -> list[Tensor]:
    """The columns of each block as rows, starting with those of the first stream."""
    return [torch.cat([stream[:, block].T for stream in streams]) for block in blocks]
