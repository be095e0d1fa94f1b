"""Gauss-Newton for any torch module, with residuals of the user's own.

The steps are those of `gauss_newton`. What differs is the Jacobian J, which is formed here: every
point gets a copy of the parameters, so that one backward pass gives the gradient of each residual
for its own copy. That takes N x P numbers, and N^2 P operations for the kernel J M J^T.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from neumann_pinn.training.gauss_newton import GaussNewtonSteps
from neumann_pinn.training.linearised import OUTPUT_SCALE
from neumann_pinn.walls.layers import Function

Residual = Callable[[Function, Tensor], Tensor]
"""A function u and points (n x d) -> by how much u misses something at each of them (n)."""
STATE = ("damping", "count", "norm")
BLOCK_ROWS = 256
"""Points whose gradients are taken together, and rows of a block of the kernel."""


class GaussNewton(torch.optim.Optimizer):
    """Gauss-Newton steps for a module that minimise the mean squares of some residuals.

    Each of `residuals` is a function of u and of points, a row for each point, and returns one
    number for each point: by how much u misses an equation, a value or a wall there. u is the
    module, to be called on these points as a whole and differentiated by autograd (the points
    require gradients) or torch.func.
    `step` takes the points of each residual in the same order; give it new ones every time, or the
    network will fit those points and nothing between them. The module must be in float64.

    The parameters are those of the module, and state_dict() continues a training as with any
    optimizer of torch. The last linear layer counts as the output: it moves less freely.
    """

    def __init__(self, module: nn.Module, *residuals: Residual) -> None:
        names, parameters = zip(*module.named_parameters(), strict=True)
        for name, parameter in zip(names, parameters, strict=True):
            if parameter.dtype != torch.float64:
                raise ValueError(
                    f"parameter {name} has {parameter.dtype}: the systems to be solved need "
                    "float64, call module.double()"
                )
        if not residuals:
            raise ValueError("residuals: give at least one function of u and of points")
        super().__init__(parameters, {})
        self.module, self.residuals = module, residuals
        fresh = GaussNewtonSteps(parameters[0])
        self.param_groups[0].update({name: getattr(fresh, name) for name in STATE})
        for parameter in parameters:
            self.state[parameter]["last"] = torch.zeros_like(parameter)

    def step(self, *points: Tensor) -> float:  # type: ignore[override]
        """One step on a set of points for each residual; returns the loss before it."""
        if len(points) != len(self.residuals):
            raise ValueError(
                f"{len(points)} sets of points for {len(self.residuals)} residuals: give one each"
            )
        group = self.param_groups[0]
        parameters = group["params"]
        theta = nn.utils.parameters_to_vector(parameters).detach()
        steps = GaussNewtonSteps(theta)
        last = [self.state[parameter]["last"] for parameter in parameters]
        numbers = {name: group[name] for name in STATE}
        steps.load_state_dict({**numbers, "last": nn.utils.parameters_to_vector(last)})
        loss = steps.step(_Rows(self.module, self.residuals, points))
        with torch.no_grad():
            nn.utils.vector_to_parameters(theta, parameters)
            for old, new in zip(last, _split(steps.last, parameters), strict=True):
                old.copy_(new)
        group.update({name: getattr(steps, name) for name in STATE})
        return loss


class _Rows:
    """The residuals of a module as a function of its parameters."""

    def __init__(
        self, module: nn.Module, residuals: tuple[Residual, ...], points: tuple[Tensor, ...]
    ) -> None:
        self.module, self.residuals, self.points = module, residuals, points
        self.named = dict(module.named_parameters())
        self.scales = torch.cat([scale.flatten() for scale in _scales(module)])

    def __call__(self, theta: Tensor) -> Tensor:
        parts = []
        for residual, points in zip(self.residuals, self.points, strict=True):
            u = self._function(theta.expand(len(points), -1)[:1])
            parts.append(_numbers(residual, u, points).detach() / math.sqrt(len(points)))
        return torch.cat(parts)

    @torch.enable_grad()
    def linearise(self, theta: Tensor) -> "_Dense":
        residuals, rows = [], []
        for residual, points in zip(self.residuals, self.points, strict=True):
            for part in points.split(BLOCK_ROWS):
                copies = theta.expand(len(part), -1).detach().requires_grad_()
                numbers = _numbers(residual, self._function(copies), part) / math.sqrt(len(points))
                (gradients,) = torch.autograd.grad(numbers.sum(), copies)
                residuals.append(numbers.detach())
                rows.append(gradients)
        return _Dense(torch.cat(residuals), torch.cat(rows), self.scales)

    def _function(self, copies: Tensor) -> Function:
        """The function u with a copy of the parameters for each point, or with one for all."""
        pieces = dict(zip(self.named, _split(copies, list(self.named.values())), strict=True))
        if len(copies) == 1:
            one = {name: piece[0] for name, piece in pieces.items()}
            return lambda points: torch.func.functional_call(self.module, one, (points,))

        def at_point(parameters: dict[str, Tensor], point: Tensor) -> Tensor:
            u: Tensor = torch.func.functional_call(self.module, parameters, (point[None],))
            return u[0]

        return lambda points: torch.func.vmap(at_point)(pieces, points)


class _Dense:
    """Residuals with their Jacobian as a matrix."""

    def __init__(self, residuals: Tensor, jacobian: Tensor, scales: Tensor) -> None:
        self.residuals, self.jacobian, self.scales = residuals, jacobian, scales

    def kernel(self, precision: torch.dtype) -> Tensor:
        rows = (self.jacobian * self.scales.sqrt()).to(precision)
        total = self.residuals.new_empty(len(rows), len(rows))
        ends = [*range(0, len(rows), BLOCK_ROWS), len(rows)]
        for start, end in itertools.pairwise(ends):
            block = rows[start:end] @ rows[:end].T
            total[start:end, :end] = block
            total[:end, start:end] = block.T
        return total

    def direction(self, weights: Tensor) -> Tensor:
        return self.scales * (weights @ self.jacobian)

    def along(self, direction: Tensor) -> Tensor:
        return self.jacobian @ direction


def _numbers(residual: Residual, u: Function, points: Tensor) -> Tensor:
    """The residuals at some points, checked."""
    with torch.enable_grad():
        numbers = residual(u, points.detach().clone().requires_grad_())
    if not isinstance(numbers, Tensor) or numbers.shape != (len(points),):
        what = tuple(numbers.shape) if isinstance(numbers, Tensor) else repr(numbers)
        raise ValueError(
            f"a residual returned {what} for {len(points)} points: return one number for each, a "
            f"tensor of shape ({len(points)},)"
        )
    return numbers


def _scales(module: nn.Module) -> Iterator[Tensor]:
    """The diagonal of M for each parameter: one, but for the last linear layer."""
    linear = [part for part in module.modules() if isinstance(part, nn.Linear)]
    output = set(linear[-1].parameters()) if linear else set()
    for parameter in module.parameters():
        yield torch.full_like(parameter, OUTPUT_SCALE if parameter in output else 1.0).detach()


def _split(flat: Tensor, like: list[Any]) -> list[Tensor]:
    """The parts of a flat tensor, or of one with a row for each point, shaped as parameters."""
    parts = flat.split([parameter.numel() for parameter in like], -1)
    return [
        part.unflatten(-1, parameter.shape) if parameter.dim() else part[..., 0]
        for part, parameter in zip(parts, like, strict=True)
    ]
