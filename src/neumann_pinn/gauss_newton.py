"""Gauss-Newton in the space of residuals, on collapsed jets.

With the residuals r of N rows (points and their terms) and their Jacobian J (N x parameters), a
step d of Levenberg and Marquardt makes |r + J d|^2 + lambda (d - p)^T M^-1 (d - p) smallest:

    d = p - M J^T (J M J^T + lambda I)^-1 (r + J p),

which needs a factorisation of N x N only. A layer's part of J M J^T is its entry of M times a sum
over pairs of streams, (G_i G_j^T) * (H_i H_j^T), where H are the streams in front of the layer and
G the gradients of each row at the streams behind it; J itself is never made, unless that is
cheaper. M is the identity but for the output layer: where that one moves less freely, fewer steps
are needed.

What the existing constraint takes from the walls depends on the time alone. Where points share
times it is few numbers of which each row sees some: J = P + C W, with the Jacobian P of what the
rows take from their own points, W of the numbers at the walls, and the sparse C between them.

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

from neumann_pinn.constraint import Function, Model, Outputs, Trace
from neumann_pinn.engine import select
from neumann_pinn.loss import Batch, term_errors

log = logging.getLogger(__name__)

FIRST_DAMPING = 1e-2
SMALLEST_DAMPING, LARGEST_DAMPING = 1e-9, 1e9
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
            self.damping = min(self.damping * DAMPING_FACTOR, LARGEST_DAMPING)
        self.last.zero_()
        log.info("step %d: no lambda up to %.1e helps on its points", self.count, self.damping)

    def trial(self, rows: "Rows", at: "Linearised", matrix: Tensor, start: Tensor) -> Tensor | None:
        """The step for the present lambda, or None if it bends too far or cannot be solved for."""
        solve = solver(at, matrix, self.damping)
        if solve is None:
            return None
        step = start - solve(at.residuals + change_along(at, start))
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
    """For each of some numbers, the streams in front of a layer (H) and the gradients behind (G).

    The bias joins the first stream, the value. And the layer's entry of M.
    """

    before: tuple[Tensor, ...]
    behind: tuple[Tensor, ...]
    mobility: float


class Linearised(NamedTuple):
    """Residuals of all rows at some parameters, and all that their Jacobian P + C W is made of.

    P (points) and W (walls) are there layer by layer. Row k of C has the number shares[i, k] in
    column places[i, k], for each i, and zeros elsewhere.
    """

    residuals: Tensor
    points: list[LayerGradients]
    walls: list[LayerGradients]
    shares: Tensor
    places: Tensor


def make_rows(batch: Batch, weights: tuple[float, float, float]) -> Rows:
    """The rows of a batch: the equation at all points, values and walls at theirs."""
    scaled = batch.shares * batch.shares.new_tensor(weights)[:, None]
    term, point = scaled.nonzero(as_tuple=True)
    n = batch.shares.shape[1]
    return Rows(select(batch, n, point), term, scaled[term, point].sqrt())


def residuals(model: Model, theta: Tensor, rows: Rows) -> Tensor:
    """The rows' residuals; the sum of their squares is the loss."""
    return _of_rows(model.traced_outputs(theta, rows.points.inputs).outputs, rows)


def linearise(model: Model, theta: Tensor, rows: Rows) -> Linearised:
    """Residuals with what their Jacobian is made of, by a pass forward and one back for each."""
    theta = theta.detach().requires_grad_()
    with torch.enable_grad():
        traced = model.traced_outputs(theta, rows.points.inputs)
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
    """J M J^T between some numbers and others, layer by layer in whichever form is cheaper."""
    rows, columns = len(one[0].behind[0].T), len(other[0].behind[0].T)
    total = one[0].behind[0].new_zeros(rows, columns)
    for a, b in zip(one, other, strict=True):
        if _by_pairs(len(a.behind[0]), len(a.before[0]), len(a.before), len(b.before)):
            _add_pairs(total, a, b)
        else:
            part = layer_jacobian(a)
            others = part if a is b else layer_jacobian(b)
            _add_product(total, part, others, a is b, a.mobility)
        _add_product(total, bias_jacobian(a), bias_jacobian(b), a is b, a.mobility)
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
    gradients = torch.stack(layer.behind).permute(2, 1, 0)
    streams = torch.stack(layer.before).permute(2, 0, 1)
    return (gradients @ streams).flatten(1)


def bias_jacobian(layer: LayerGradients) -> Tensor:
    """The part of J that belongs to a layer's bias: N x outputs."""
    return layer.behind[0].T


def direction_of(at: Linearised, weights: Tensor) -> Tensor:
    """M J^T times a number for each row: a direction in the parameters."""
    at_walls = weights.new_zeros(at.walls[0].behind[0].shape[1])
    at_walls.index_add_(0, at.places.flatten(), (at.shares * weights).flatten())
    return _direction(at.points, weights) + _direction(at.walls, at_walls)


def change_along(at: Linearised, direction: Tensor) -> Tensor:
    """J times a direction in the parameters: a number for each row."""
    return _change(at.points, direction) + _spread(at, _change(at.walls, direction))


def solver(at: Linearised, matrix: Tensor, damping: float) -> Function | None:
    """R -> M J^T (J M J^T + lambda I)^-1 r, or None where rounding leaves no positive matrix."""
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
    """The gradients of numbers, each of which depends on its own column only."""
    return torch.autograd.grad(numbers.sum(), at, retain_graph=True, materialize_grads=True)


def _layers(traces: list[Trace], numbers: list[Tensor]) -> list[LayerGradients]:
    """The gradients of numbers at each layer, where a column of streams has one number of each."""
    streams = [stream for trace in traces for stream in trace.behind]
    gradients = zip(*(_gradients(part, streams) for part in numbers), strict=True)
    return [
        LayerGradients(
            tuple(stream.detach().repeat(1, len(numbers)) for stream in trace.before),
            tuple(torch.cat(next(gradients), 1) for _ in trace.behind),
            OUTPUT_MOBILITY if trace is traces[-1] else 1.0,
        )
        for trace in traces
    ]


def _spread(at: Linearised, numbers: Tensor) -> Tensor:
    """C times a vector or a matrix."""
    shares = at.shares if numbers.dim() == 1 else at.shares[:, :, None]
    return (shares * numbers[at.places]).sum(0)


def _direction(layers: list[LayerGradients], weights: Tensor) -> Tensor:
    """M J^T times weights, with the Jacobian J of the layers' numbers."""
    parts = []
    for layer in layers:
        pairs, moved = zip(layer.behind, layer.before, strict=True), layer.mobility * weights
        parts.append(torch.stack([(g * moved) @ h.T for g, h in pairs]).sum(0).flatten())
        parts.append(moved @ bias_jacobian(layer))
    return torch.cat(parts)


def _change(layers: list[LayerGradients], direction: Tensor) -> Tensor:
    """J times a direction, with the Jacobian J of the layers' numbers."""
    parts, rest = [], direction
    for layer in layers:
        outputs, inputs = len(layer.behind[0]), len(layer.before[0])
        weight, bias, rest = rest.tensor_split((outputs * inputs, outputs * (inputs + 1)))
        pairs, weight = zip(layer.behind, layer.before, strict=True), weight.view(outputs, inputs)
        parts += [(g * (weight @ h)).sum(0) for g, h in pairs]
        parts.append(bias_jacobian(layer) @ bias)
    return torch.stack(parts).sum(0)


def _by_pairs(outputs: int, inputs: int, streams: int, others: int) -> bool:
    """Whether pairs of streams make a layer's part of the kernel cheaper than its Jacobian."""
    return streams * others * (outputs + inputs) < outputs * inputs


def _blocks(rows: int) -> list[slice]:
    """Even blocks of rows."""
    count = max(1, -(-rows // BLOCK_ROWS))
    ends = [rows * k // count for k in range(count + 1)]
    return [slice(start, end) for start, end in itertools.pairwise(ends)]


def _add_product(total: Tensor, a: Tensor, b: Tensor, lower: bool, mobility: float) -> None:
    """Add a product of two parts, or the lower blocks of it, times their entry of M."""
    for rows in _blocks(len(a)):
        columns = slice(rows.stop if lower else len(b))
        total[rows, columns].addmm_(a[rows], b[columns].T, alpha=mobility)


def _add_pairs(total: Tensor, a: LayerGradients, b: LayerGradients) -> None:
    """Add two layers' part, with the streams of a block stacked; the lower blocks if it is one."""
    rows_of, columns_of = _blocks(len(total)), _blocks(total.shape[1])
    gradients, streams = _stacked(a.behind, rows_of), _stacked(a.before, rows_of)
    other_gradients, other_streams = gradients, streams
    if a is not b:
        other_gradients = _stacked(b.behind, columns_of)
        other_streams = _stacked(b.before, columns_of)
    for i, rows in enumerate(rows_of):
        for j, columns in enumerate(columns_of[: i + 1] if a is b else columns_of):
            block = total[rows, columns]
            shape = (len(a.before), len(block), len(b.before), block.shape[1])
            g = (gradients[i] @ other_gradients[j].T).view(shape)
            h = (streams[i] @ other_streams[j].T).view(shape)
            for one, other in itertools.product(range(shape[0]), range(shape[2])):
                block.addcmul_(g[one, :, other], h[one, :, other], value=a.mobility)


def _stacked(streams: tuple[Tensor, ...], blocks: list[slice]) -> list[Tensor]:
    """The columns of each block as rows, those of the first stream first."""
    return [torch.cat([stream[:, block].T for stream in streams]) for block in blocks]
