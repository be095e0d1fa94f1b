"""The study's problems: heat on the unit interval with insulated walls, and its exact solution.

The paper's equation A.1: u(x,t) = a_0/2 + sum_j a_j exp(-D pi^2 j^2 t) cos(pi j x), where a_j are
the cosine coefficients of the initial condition. As in `initial`, torch is imported only where it
is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neumann_pinn.problems.initial import InitialCondition
from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.axes import UNIT
from neumann_pinn.walls.trigonometry import cospi

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Series:
    """The truncated cosine series of an initial condition, each term with its decay."""

    initial: InitialCondition
    diffusivity: float
    terms: int

    def __call__(self, points: Tensor) -> Tensor:
        """The values of u at points (x, t)."""
        x, t = points.T
        decay, j = self._decay(t)
        return (decay * cospi(j * x[:, None])).sum(1)

    def on_grid(self, x: Tensor, t: Tensor) -> Tensor:
        """The values of u at places (n x 1) and times, as one product of two small matrices."""
        decay, j = self._decay(t)
        return decay @ cospi(j[:, None] * x.double()[:, 0])

    def _decay(self, t: Tensor) -> tuple[Tensor, Tensor]:
        """The factor of each cosine at each time, and the frequencies."""
        import torch

        j = torch.arange(self.terms + 1, dtype=torch.float64)
        a = self.initial.coefficients(self.terms)
        a[0] /= 2
        return torch.exp(-self.diffusivity * (math.pi * j) ** 2 * t.double()[:, None]) * a, j


def heat(initial: InitialCondition, k: float, terms: int = 200) -> Problem:
    """u_t = D u_xx on [0,1]^2 with insulated walls, u(x,0) = initial(x) and D = (k pi)^-2."""
    if not k > 0:
        raise ValueError(f"k = {k}: the diffusivity is (k pi)^-2, give a positive k")
    series = Series(initial, (k * math.pi) ** -2, terms)
    return Problem(
        f"{initial}, k = {k:g}",
        (UNIT,),
        series.diffusivity,
        series,
        initial=lambda points: initial(points[:, 0]),
    )
