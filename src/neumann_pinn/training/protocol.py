"""How long to train, on how many points and with which optimizer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

FIRST_SHARE = 0.4
"""The share of the points that Gauss-Newton starts with, if they become more."""
LOSS_POINTS = 4096
"""Points per block where a loss is computed without its gradient."""


@dataclass(frozen=True)
class Protocol:
    """How long to train, on how many points, and how; the defaults are the paper's."""

    iterations: int = 1_000_000
    evaluate_every: int = 100
    learning_rate: float = 1e-4
    domain: int = 20_000
    initial: int = 500
    boundary: int = 1_000
    grading: float = 1.0
    """Times are drawn towards the start by t -> t^grading."""
    grid: tuple[int, int] = (500, 500)
    """Evaluation nodes in x and in t, ends included."""
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Weights of the PDE, initial and boundary terms."""
    precision: Literal["float32", "float64"] = "float32"
    optimizer: Literal["adam", "gauss_newton"] = "adam"
    """Adam, or Gauss-Newton steps on points that are shifted at every step."""
    growth: int = 0
    """Steps over which Gauss-Newton's points become more, from a part to all of them."""

    def __post_init__(self) -> None:
        for name in ("iterations", "evaluate_every", "domain", "initial", "boundary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: give at least 1")
        if self.iterations % self.evaluate_every:
            raise ValueError(
                f"iterations = {self.iterations}: give a multiple of evaluate_every = "
                f"{self.evaluate_every}, so that the last row of the history is the last iteration"
            )
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate = {self.learning_rate}: give a positive number")
        if not 1 <= self.grading < math.inf:
            raise ValueError(f"grading = {self.grading}: give at least 1, which leaves times alone")
        if self.growth < 0:
            raise ValueError(f"growth = {self.growth}: give a number of steps, 0 for none")
        if min(self.grid) < 2:
            raise ValueError(f"grid = {self.grid}: give at least 2 nodes in x and in t")
        if min(self.weights) < 0:
            raise ValueError(f"weights = {self.weights}: give no negative weight")
        if self.precision not in ("float32", "float64"):
            raise ValueError(f"precision {self.precision!r}: choose float32 or float64")
        if self.optimizer not in ("adam", "gauss_newton"):
            raise ValueError(f"optimizer {self.optimizer!r}: choose adam or gauss_newton")
        if self.optimizer == "gauss_newton" and self.precision != "float64":
            raise ValueError(
                "precision float32: Gauss-Newton solves systems that need float64, choose that"
            )

    def share(self, step: int) -> float:
        """The share of its points that a step has: all of them, but for the steps of the growth."""
        if not 0 < step < self.growth:
            return 1.0
        return FIRST_SHARE + (1 - FIRST_SHARE) * step / self.growth

    def typical(self) -> Protocol:
        """The same protocol with as many points at every step as in the middle of their growth."""
        share = self.share(self.growth // 2)
        counts = (math.ceil(share * count) for count in (self.domain, self.initial, self.boundary))
        domain, initial, boundary = counts
        return replace(self, domain=domain, initial=initial, boundary=boundary, growth=0)

    @property
    def dtype(self) -> torch.dtype:
        import torch

        return torch.float32 if self.precision == "float32" else torch.float64
