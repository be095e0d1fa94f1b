"""Problems on intervals and boxes: an equation, its wall conditions, the exact solution.

All are of the form u_t - D Laplacian(u) + c . grad(u) + R(u) = source. Points are rows: the space
coordinates, then t unless the problem is steady. Torch is imported only where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neumann_pinn.walls.axes import SIDES, Axis, Side

if TYPE_CHECKING:
    from torch import Tensor

    from neumann_pinn.walls.layers import Function, WallPair

METHODS = ("vanilla", "existing", "cosine")
INSULATED: WallPair = (0.0, 0.0)
TRAINING, EVALUATION, SAMPLES, HELD_OUT = range(4)
"""The numbers of the sets of points inside a problem."""
FAR = 1_000_000
"""How far apart these sets start in the Halton sequence."""


@dataclass(frozen=True)
class Problem:
    """An equation on a box, its wall conditions, and its exact solution.

    A Neumann or Robin condition, du/dx_i + coefficient u = flux, holds at every held wall of
    `axes`. At the other walls u itself is known, and also at t = 0 unless the problem is steady; an
    inverse problem has noisy samples of u and a guess for D instead.
    """

    name: str
    label: str
    axes: tuple[Axis, ...]
    diffusivity: float
    exact: Function = field(repr=False)
    fluxes: tuple[WallPair, ...] = field(repr=False)
    coefficients: tuple[tuple[float, float], ...] = ()
    velocity: tuple[float, ...] = ()
    reaction: Function | None = field(default=None, repr=False)
    manufactured: bool = False
    """Whether there is a source: the one that makes `exact` a solution."""
    steady: bool = False
    samples: int = 0
    noise: float = 0.0
    guess: float = 0.0

    @property
    def walls(self) -> list[tuple[int, Side]]:
        """Every held wall, as its axis and side."""
        return [(i, side) for i, axis in enumerate(self.axes) for side in axis.held]

    @property
    def free_walls(self) -> list[tuple[int, Side]]:
        """Every wall that is not held."""
        every = ((i, side) for i in range(len(self.axes)) for side in SIDES)
        return [wall for wall in every if wall not in self.walls]

    @property
    def methods(self) -> list[str]:
        """The methods that apply: the existing one only handles fluxes on an interval."""
        applies = len(self.axes) == 1 and not self.coefficients
        return [method for method in METHODS if method != "existing" or applies]

    @property
    def known_diffusivity(self) -> float:
        """The D that training starts from: in an inverse problem, the guess."""
        return self.guess or self.diffusivity

    def source(self, points: Tensor) -> Tensor | None:
        """The source at the points, if there is one."""
        if not self.manufactured:
            return None
        source = self.operator(self.exact, points)
        if self.reaction:
            source = source + self.reaction(self.exact(points))
        return source

    def operator(self, function: Function, points: Tensor) -> Tensor:
        """u_t - D Laplacian(u) + c . grad(u) of any function, by nested autograd."""
        from neumann_pinn.problems.derivatives import derivatives

        at = derivatives(function, points, len(self.axes))
        velocity = at.slopes.new_tensor(self.velocity or (0.0,) * len(self.axes))
        return at.rate - self.diffusivity * at.laplacian + at.slopes @ velocity

    def condition(self, wall: tuple[int, Side], points: Tensor) -> tuple[float, Tensor]:
        """Coefficient and flux of the condition at points on a held wall."""
        from neumann_pinn.walls.layers import flux_at

        i, side = wall
        coefficient = self.coefficients[i][SIDES[side]] if self.coefficients else 0.0
        return coefficient, flux_at(self.fluxes[i][SIDES[side]], points)

    def inside(self, n: int, number: int = TRAINING) -> Tensor:
        """Evenly spread points in space and time, a different set for each number."""
        return self._fill(n, {}, number * FAR)

    def on_wall(self, wall: tuple[int, Side], n: int) -> Tensor:
        """Evenly spread points on a wall, at all times."""
        i, side = wall
        return self._fill(n, {i: self.axes[i].wall(side)})

    def at_start(self, n: int) -> Tensor:
        """Evenly spread points at t = 0."""
        return self._fill(n, {len(self.axes): 0.0})

    def noisy_samples(self) -> tuple[Tensor, Tensor]:
        """The data of an inverse problem: points, and values with normal noise, always the same."""
        import torch

        points = self.inside(self.samples, SAMPLES)
        noise = torch.randn(len(points), generator=torch.Generator().manual_seed(0))
        return points, self.exact(points) + self.noise * noise.double()

    def _fill(self, n: int, fixed: dict[int, float], skip: int = 0) -> Tensor:
        """Halton points in the box times [0,1], with some of the columns fixed."""
        import torch
        from scipy.stats import qmc  # a second's import, which every job would pay

        lows = [axis.low for axis in self.axes] + [0.0] * (not self.steady)
        highs = [axis.high for axis in self.axes] + [1.0] * (not self.steady)
        free = [column for column in range(len(lows)) if column not in fixed]
        points = torch.empty(n, len(lows), dtype=torch.float64)
        for column, value in fixed.items():
            points[:, column] = value
        halton = qmc.Halton(max(len(free), 1), scramble=False).fast_forward(skip + 1)
        sequence = torch.from_numpy(halton.random(n))
        for column, share in zip(free, sequence.T, strict=False):
            points[:, column] = lows[column] + (highs[column] - lows[column]) * share
        return points
