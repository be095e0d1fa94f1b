"""Heat problems on the unit interval with insulated walls, and their exact solutions.

The paper's equation A.1: u(x,t) = a_0/2 + sum_j a_j exp(-D pi^2 j^2 t) cos(pi j x), where a_j are
the cosine coefficients of the initial condition. As in `initial`, torch is imported only where it
is used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neumann_pinn.problems.initial import InitialCondition
from neumann_pinn.problems.reference import Reference
from neumann_pinn.walls.trigonometry import cospi

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True)
class Heat:
    """u_t = D u_xx on [0,1]^2 with insulated walls, u(x,0) = initial(x) and D = (k pi)^-2."""

    initial: InitialCondition
    k: float
    terms: int = 200

    def __post_init__(self) -> None:
        if not self.k > 0:
            raise ValueError(f"k = {self.k}: the diffusivity is (k pi)^-2, give a positive k")

    @property
    def diffusivity(self) -> float:
        return (self.k * math.pi) ** -2

    def reference(self, nodes_x: int, nodes_t: int) -> Reference:
        """The solution at the nodes of a uniform grid, ends included."""
        import torch

        x, t = (torch.linspace(0, 1, n, dtype=torch.float64) for n in (nodes_x, nodes_t))
        return Reference(self.initial.coefficients(self.terms), x, t, self.solution(x, t))

    def solution(self, x: Tensor, t: Tensor) -> Tensor:
        """The truncated series on the grid t x x, as one product of two small matrices."""
        import torch

        j = torch.arange(self.terms + 1, dtype=torch.float64)
        a = self.initial.coefficients(self.terms)
        a[0] /= 2
        decay = torch.exp(-self.diffusivity * (math.pi * j) ** 2 * t.double()[:, None])
        return (decay * a) @ cospi(j[:, None] * x.double())
