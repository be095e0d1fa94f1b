"""Residuals of a model and their Jacobian J, layer by layer, without J itself.

A layer's part of J M J^T is its entry of M times a sum over pairs of streams,
(G_i G_j^T) * (H_i H_j^T), where H are the streams before the layer and G the gradients of each
number with respect to the streams after it; J is never formed, unless that is cheaper. M is the
identity except for output layers: if these move less freely, fewer steps are needed.

Rows come in groups, one for each term of the loss and each unknown. A group leaves out the streams
that it does not depend on: a known value needs one of the three that a residual of the heat
equation needs.

What the existing constraint takes from the walls depends only on time. Where points share times,
these are few numbers, and each row depends on some of them: J = P + C W, where P is the Jacobian of
what the rows take from their own points, W that of the numbers at the walls, and the sparse C links
the two.
"""

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from neumann_pinn.model.model import Model
from neumann_pinn.model.traced import Trace, TracedPasses
from neumann_pinn.training.loss import Batch, all_errors
from neumann_pinn.walls.layers import Function

OUTPUT_SCALE = 0.01
"""The output layers' entry of M; all other entries are 1."""
BLOCK_ROWS = 200
"""Rows per block of the kernel, of which only the lower triangle is computed."""


class Term(NamedTuple):
    """The rows of an unknown's loss term: both numbers, points, roots of their weighted shares."""

    unknown: int
    number: int
    points: Tensor
    root: Tensor


class Part(NamedTuple):
    """Some numbers at a layer: the streams before it (H), their gradients after it (G).

    `bias` is the gradient with respect to the value, if they depend on it.
    """

    before: tuple[Tensor, ...]
    after: tuple[Tensor, ...]
    bias: Tensor | None


class LayerParts(NamedTuple):
    """A layer's shape, its entry of M, and its parts: one for each group of numbers."""

    outputs: int
    inputs: int
    scale: float
    parts: list[Part]

    @property
    def by_pairs(self) -> bool:
        """Whether its part of the kernel is cheaper by pairs of streams than by its Jacobian."""
        streams = max((len(part.after) for part in self.parts), default=0)
        return streams**2 * (self.outputs + self.inputs) < self.outputs * self.inputs


class Residuals:
    """The weighted residuals at the points of a batch; the sum of their squares is the loss."""

    def __init__(
        self,
        model: Model,
        batch: Batch,
        weights: tuple[float, float, float],
        reaction: Function | None = None,
    ) -> None:
        self.model, self.batch, self.reaction = model, batch, reaction
        self.terms = []
        for unknown, known in enumerate(batch.fields):
            for number, (weight, shares) in enumerate(zip(weights, known.shares, strict=True)):
                points = (weight * shares).nonzero()[:, 0]
                if len(points):
                    root = (weight * shares[points]).sqrt()
                    self.terms.append(Term(unknown, number, points, root))

    def __call__(self, theta: Tensor) -> Tensor:
        """The residuals of all rows."""
        return self._joined(self._by_term(theta, TracedPasses(self.batch.size, theta.device)))

    def linearise(self, theta: Tensor) -> "Linearised":
        """The residuals and the parts of their Jacobian, by one pass forward and a few back."""
        theta = theta.detach().requires_grad_()
        passes = TracedPasses(self.batch.size, theta.device)
        with torch.enable_grad():
            by_term = self._by_term(theta, passes)
            rows = sum(len(part) for part in passes.seen)
            groups, shares = [], [theta.new_zeros(rows, 0)]
            for numbers, term in zip(by_term, self.terms, strict=True):
                groups.append(_gradients(numbers, passes.points, term.points))
                shares.append(_links(numbers, passes.seen, term.points))
            groups += [_gradients(part, passes.walls) for part in passes.at_walls]
        layers = [
            LayerParts(
                len(trace.after[0]),
                len(trace.before[0]),
                OUTPUT_SCALE if trace.is_output else 1.0,
                [parts[k] for parts in groups],
            )
            for k, trace in enumerate(passes.points)
        ]
        first = passes.times * torch.arange(rows, device=theta.device)
        columns = [passes.columns[:0], *(passes.columns[term.points] for term in self.terms)]
        return Linearised(
            self._joined(by_term).detach(),
            layers,
            [len(term.points) for term in self.terms] + [part.numel() for part in passes.at_walls],
            torch.cat(shares, 1),
            first[:, None] + torch.cat(columns),
        )

    def _by_term(self, theta: Tensor, passes: TracedPasses) -> list[Tensor]:
        """The rows' residuals, a tensor for each term."""
        errors = all_errors(self.model, theta, self.batch, self.reaction, passes)
        return [t.root * errors[t.unknown][t.number][t.points] for t in self.terms]

    def _joined(self, parts: list[Tensor]) -> Tensor:
        return torch.cat([self.batch.fields[0].shares.new_zeros(0), *parts])


class Linearised(NamedTuple):
    """The residuals of all rows at some parameters, and the parts of their Jacobian P + C W.

    Groups of numbers are the rows of each term, then those at the walls; `sizes` counts them. Row k
    of C has the entry shares[i, k] in column places[i, k], for each i, and zeros elsewhere.
    """

    residuals: Tensor
    layers: list[LayerParts]
    sizes: list[int]
    shares: Tensor
    places: Tensor

    def kernel(self, precision: torch.dtype) -> Tensor:
        """J M J^T = P M P^T + C X + X^T C^T with X = W M P^T + W M W^T C^T / 2."""
        every = self._products(precision)
        rows = len(self.residuals)
        total = every[:rows, :rows]
        if len(self.shares):
            half = every[rows:, rows:] / 2
            part = self._spread(every[rows:, :rows] + self._spread(half).T)
            total = total + part + part.T
        return total

    def direction(self, weights: Tensor) -> Tensor:
        """M J^T times a weight for each row: a direction in parameter space."""
        at_walls = weights.new_zeros(sum(self.sizes) - len(weights))
        at_walls.index_add_(0, self.places.flatten(), (self.shares * weights).flatten())
        groups = torch.cat((weights, at_walls)).split(self.sizes)
        pieces = []
        for layer in self.layers:
            weight = weights.new_zeros(layer.outputs, layer.inputs)
            bias = weights.new_zeros(layer.outputs)
            for part, moved in zip(layer.parts, groups, strict=True):
                for g, h in zip(part.after, part.before, strict=True):
                    weight.addmm_(g * moved, h.T, alpha=layer.scale)
                if part.bias is not None:
                    bias.addmv_(part.bias, moved, alpha=layer.scale)
            pieces += [weight.flatten(), bias]
        return torch.cat(pieces)

    def along(self, direction: Tensor) -> Tensor:
        """J times a direction in parameter space: a number for each row."""
        changes = [direction.new_zeros(size) for size in self.sizes]
        rest = direction
        for layer in self.layers:
            size = layer.outputs * layer.inputs
            weight, bias, rest = rest.tensor_split((size, size + layer.outputs))
            weight = weight.view(layer.outputs, layer.inputs)
            for part, change in zip(layer.parts, changes, strict=True):
                for g, h in zip(part.after, part.before, strict=True):
                    change += (g * (weight @ h)).sum(0)
                if part.bias is not None:
                    change += bias @ part.bias
        rows = len(self.residuals)
        every = torch.cat((*changes, direction.new_zeros(0)))
        return every[:rows] + self._spread(every[rows:])

    def _spread(self, numbers: Tensor) -> Tensor:
        """C times a vector or a matrix."""
        shares = self.shares if numbers.dim() == 1 else self.shares[:, :, None]
        return (shares * numbers[self.places]).sum(0)

    def _products(self, precision: torch.dtype) -> Tensor:
        """The products of all numbers' gradients, block by block, each pair of blocks once."""
        size = sum(self.sizes)
        total = self.residuals.new_empty(size, size)
        blocks = list(_blocks(self.sizes))
        dense = self._dense().to(precision)
        paired = [layer for layer in self.layers if layer.by_pairs]
        stacks = [[_stack(layer, block, precision) for layer in paired] for block in blocks]
        for i, one in enumerate(blocks):
            for j, other in enumerate(blocks[: i + 1]):
                block = dense[one.rows] @ dense[other.rows].T
                for a, b in zip(stacks[i], stacks[j], strict=True):
                    _add_pairs(block, a, b)
                total[one.rows, other.rows] = block
                if i != j:
                    total[other.rows, one.rows] = block.T
        return total

    def _dense(self) -> Tensor:
        """The gradients for all biases, and for the weights of layers that do not go by pairs.

        Times the root of their entry of M.
        """
        columns = []
        for layer in self.layers:
            root = math.sqrt(layer.scale)
            for jacobian in (bias_jacobian, weight_jacobian)[: 1 if layer.by_pairs else 2]:
                parts = zip(layer.parts, self.sizes, strict=True)
                none = jacobian(layer, Part((), (), None), 0, self.residuals)
                found = [root * jacobian(layer, part, size, none) for part, size in parts]
                columns.append(torch.cat([none, *found]))
        return torch.cat(columns, 1)


class Block(NamedTuple):
    """Some numbers of a group: their rows among all numbers, and their columns in the group."""

    group: int
    rows: slice
    columns: slice


class Stack(NamedTuple):
    """A block's streams below each other: G (streams * rows x outputs), H (... x inputs)."""

    after: Tensor
    before: Tensor
    rows: int


def weight_jacobian(layer: LayerParts, part: Part, size: int, like: Tensor) -> Tensor:
    """The gradients of a part for a layer's weights: numbers x outputs * inputs."""
    if not part.after:
        return like.new_zeros(size, layer.outputs * layer.inputs)
    gradients = torch.stack(part.after).permute(2, 1, 0)
    streams = torch.stack(part.before).permute(2, 0, 1)
    return (gradients @ streams).flatten(1)


def bias_jacobian(layer: LayerParts, part: Part, size: int, like: Tensor) -> Tensor:
    """The gradients of a part for a layer's bias: numbers x outputs."""
    return like.new_zeros(size, layer.outputs) if part.bias is None else part.bias.T


def _gradients(numbers: Tensor, traces: list[Trace], chosen: Tensor | None = None) -> list[Part]:
    """The gradients of numbers at each layer.

    Each number depends only on its own column; `chosen` are these columns, None if all are.
    """
    at = [stream for trace in traces for stream in trace.after]
    found = iter(torch.autograd.grad(numbers.sum(), at, retain_graph=True, allow_unused=True))

    def pick(stream: Tensor) -> Tensor:
        stream = stream.detach()
        return stream if chosen is None or len(chosen) == stream.shape[1] else stream[:, chosen]

    parts = []
    for trace in traces:
        pairs = [(before, next(found)) for before in trace.before]
        used = [(pick(before), pick(after)) for before, after in pairs if after is not None]
        before, after = zip(*used, strict=True) if used else ((), ())
        bias = after[0] if pairs and pairs[0][1] is not None else None
        parts.append(Part(before, after, bias))
    return parts


def _links(numbers: Tensor, seen: list[Tensor], chosen: Tensor) -> Tensor:
    """The gradients of numbers for what they have seen of the walls."""
    if not seen:
        return numbers.new_zeros(0, len(chosen))
    links = torch.autograd.grad(numbers.sum(), seen, retain_graph=True, materialize_grads=True)
    return torch.cat(links)[:, chosen]


def _blocks(sizes: list[int]) -> Iterator[Block]:
    """Blocks of rows of nearly equal size, none of them in two groups."""
    start = 0
    for group, size in enumerate(sizes):
        count = -(-size // BLOCK_ROWS)
        ends = [size * k // count for k in range(count + 1)]
        for first, last in itertools.pairwise(ends):
            yield Block(group, slice(start + first, start + last), slice(first, last))
        start += size


def _stack(layer: LayerParts, block: Block, precision: torch.dtype) -> Stack:
    """A block's streams below each other, G times the root of the layer's entry of M."""
    part = layer.parts[block.group]
    rows = block.columns.stop - block.columns.start

    def stacked(streams: tuple[Tensor, ...], width: int) -> Tensor:
        columns = [stream[:, block.columns].T for stream in streams]
        if not columns:
            return layer.parts[0].after[0].new_zeros(0, width, dtype=precision)
        return torch.cat(columns).to(precision)

    after = stacked(part.after, layer.outputs)
    return Stack(math.sqrt(layer.scale) * after, stacked(part.before, layer.inputs), rows)


def _add_pairs(block: Tensor, a: Stack, b: Stack) -> None:
    """Add the sum over pairs of streams, a product for each stream of b; one may have none."""
    if not (len(a.after) and len(b.after)):
        return
    pairs = zip(b.after.split(b.rows), b.before.split(b.rows), strict=True)
    for g, h in pairs:
        products = zip((a.after @ g.T).split(a.rows), (a.before @ h.T).split(a.rows), strict=True)
        for one, other in products:
            block.addcmul_(one, other)
