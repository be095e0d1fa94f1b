"""The error of a model against the exact solution, and its loss on held-out points."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from neumann_pinn.model.grid import make_grid, predict
from neumann_pinn.model.model import Model
from neumann_pinn.problems.reference import Reference
from neumann_pinn.training.engine import BlockSum, Machine
from neumann_pinn.training.loss import LossTerms
from neumann_pinn.training.trees import cast


class HeldOut:
    """theta -> the weighted loss on points that are not trained on."""

    def __init__(self, terms: LossTerms, weights: Sequence[float]) -> None:
        self.terms, self.weights = terms, weights

    def __call__(self, theta: Tensor) -> float:
        return sum(w * term for w, term in zip(self.weights, self.terms(theta), strict=True))


class Evaluation:
    """theta -> the relative L2 error of predictions at known points.

    A block holds the constants that `predict` needs at some points, u there, and which points
    count. Not compiled: it is called once every hundred iterations, so compiling it would take
    longer than it saves in all but the longest runs.
    """

    def __init__(
        self,
        predict: Callable[[Tensor, Any], Tensor],
        blocks: Sequence[tuple[Any, Tensor, Tensor]],
        dtype: torch.dtype,
        machine: Machine,
    ) -> None:
        self.norm = math.sqrt(sum(float((count * u**2).sum()) for _, u, count in blocks))

        def square_error(theta: Tensor, block: tuple[Any, Tensor, Tensor]) -> tuple[Tensor]:
            constants, u, count = block
            return ((count * (predict(theta, constants) - u) ** 2).sum(),)

        blocks = [cast(block, dtype, machine.device) for block in blocks]
        self.square_error = BlockSum(square_error, blocks, machine)

    @classmethod
    def on_grid(
        cls, reference: Reference, model: Model, dtype: torch.dtype, machine: Machine
    ) -> "Evaluation":
        """The error on the grid of a reference solution."""
        _, x, t, u = reference
        rows = machine.block_size(len(t), len(x))
        padding = -len(t) % rows
        counts = torch.cat((torch.ones(len(t)), torch.zeros(padding))).double()
        t = torch.cat((t, t[-1:].expand(padding)))
        u = torch.cat((u, u[-1:].expand(padding, -1)))
        blocks = [
            (make_grid(model, x, t), u, count[:, None])
            for t, u, count in zip(t.split(rows), u.split(rows), counts.split(rows), strict=True)
        ]
        return cls(partial(predict, model), blocks, dtype, machine)

    def __call__(self, theta: Tensor) -> float:
        (square,) = self.square_error(theta)
        return math.sqrt(float(square)) / self.norm

    def close(self) -> None:
        """End the threads."""
        self.square_error.close()
