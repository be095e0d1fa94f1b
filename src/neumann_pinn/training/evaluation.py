"""The error of a model against the exact solution, and its loss on held-out points."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from neumann_pinn.model.model import Model, UnknownDiffusivity
from neumann_pinn.problems.points import on_wall
from neumann_pinn.problems.problem import Problem, Reference
from neumann_pinn.training.engine import BlockSum, Machine
from neumann_pinn.training.loss import LossTerms
from neumann_pinn.training.trees import cast
from neumann_pinn.walls.layers import data_at

WALL_POINTS = 1000
"""Points on each wall at which its condition is checked."""


class HeldOut:
    """theta -> the weighted loss on points that are not trained on."""

    def __init__(self, terms: LossTerms, weights: Sequence[float]) -> None:
        self.terms, self.weights = terms, weights

    def __call__(self, theta: Tensor) -> float:
        return sum(w * term for w, term in zip(self.weights, self.terms(theta), strict=True))


class Evaluation:
    """theta -> the relative L2 error of predictions on the grid of a reference solution.

    A block holds the constants for some of its times, u there, and which times count. Not compiled:
    it is called once every hundred iterations, so compiling it would take longer than it saves in
    all but the longest runs.
    """

    def __init__(
        self, reference: Reference, model: Model, dtype: torch.dtype, machine: Machine
    ) -> None:
        x, t, u = reference
        rows = machine.block_size(len(t), len(x))
        padding = -len(t) % rows
        counts = torch.cat((torch.ones(len(t)), torch.zeros(padding))).double()
        t = torch.cat((t, t[-1:].expand(padding)))
        u = torch.cat((u, u[-1:].expand(padding, -1)))
        blocks = [
            (model.nodes(x, t), u, count[:, None])
            for t, u, count in zip(t.split(rows), u.split(rows), counts.split(rows), strict=True)
        ]
        self.norm = math.sqrt(sum(float((count * u**2).sum()) for _, u, count in blocks))

        def square_error(theta: Tensor, block: tuple[Any, Tensor, Tensor]) -> tuple[Tensor]:
            nodes, u, count = block
            return ((count * (model.values(theta, nodes) - u) ** 2).sum(),)

        blocks = [cast(block, dtype, machine.device) for block in blocks]
        self.square_error = BlockSum(square_error, blocks, machine)

    def __call__(self, theta: Tensor) -> float:
        (square,) = self.square_error(theta)
        return math.sqrt(float(square)) / self.norm

    def close(self) -> None:
        """End the threads."""
        self.square_error.close()


def wall_violation(problem: Problem, model: Model, theta: Tensor) -> float | None:
    """By how much a value or slope at the walls is missed at most; None if none is prescribed."""
    misses = []
    for unknown, field, own in zip(problem.fields, model.fields, model.split(theta), strict=True):
        for wall, prescribed in unknown.prescribed("value") + unknown.prescribed("slope"):
            points = on_wall(problem, wall, WALL_POINTS)
            inputs = field.inputs(points, unknown.known_diffusivity, unknown.velocity)
            out = field.outputs(own, cast(inputs, theta.dtype, theta.device))
            found = out.value
            if prescribed.what == "slope":
                found = out.slopes[wall[0]] + data_at(prescribed.coefficient, points) * out.value
            misses.append((found - data_at(prescribed.data, points)).abs())
    return float(torch.cat(misses).max()) if misses else None


def found_diffusivity(problem: Problem, model: Model, theta: Tensor) -> float | None:
    """The D that an inverse problem has found; None if D was known."""
    if not isinstance(model, UnknownDiffusivity):
        return None
    return problem.known_diffusivity * math.exp(float(theta[0]))
