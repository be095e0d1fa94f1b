"""Problems: an equation on an interval or a box, its wall conditions, the exact solution.

All are of the form u_t - D Laplacian(u) + c . grad(u) + R(u) = source. Points are rows: the space
coordinates, then t in [0, 1] unless the problem is steady. Torch is imported only where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from neumann_pinn.walls.axes import SIDES, Axis, Side

if TYPE_CHECKING:
    from torch import Tensor

    from neumann_pinn.walls.layers import Function, WallPair

Wall = tuple[int, Side]
"""A wall of a box: its axis and its side."""
INSULATED: WallPair = (0.0, 0.0)
SAMPLES = -2
"""The number of the shift of an inverse problem's samples."""


class Reference(NamedTuple):
    """Places x (n x axes), times t, and the solution u (times x places) there."""

    x: Tensor
    t: Tensor
    u: Tensor


@dataclass(frozen=True)
class Problem:
    """An equation on an interval or a box, its wall conditions, and its exact solution.

    A Neumann or Robin condition, du/dx_i + coefficient u = flux, holds at every held wall of
    `axes`. At the other walls u itself is known, and also at t = 0 unless the problem is steady; an
    inverse problem has noisy samples of u and a guess for D instead.
    """

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
    initial: Function | None = field(default=None, repr=False)
    """u at t = 0, if it is not taken from `exact`."""

    @property
    def walls(self) -> list[Wall]:
        """Every held wall, as its axis and side."""
        return [(i, side) for i, axis in enumerate(self.axes) for side in axis.held]

    @property
    def free_walls(self) -> list[Wall]:
        """Every wall that is not held."""
        every = ((i, side) for i in range(len(self.axes)) for side in SIDES)
        return [wall for wall in every if wall not in self.walls]

    @property
    def columns(self) -> int:
        """The number of coordinates, t included."""
        return len(self.axes) + (not self.steady)

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

    def condition(self, wall: Wall, points: Tensor) -> tuple[float, Tensor]:
        """Coefficient and flux of the condition at points on a held wall."""
        from neumann_pinn.walls.layers import flux_at

        i, side = wall
        coefficient = self.coefficients[i][SIDES[side]] if self.coefficients else 0.0
        return coefficient, flux_at(self.fluxes[i][SIDES[side]], points)

    def start(self, points: Tensor) -> Tensor:
        """The values of u at points with t = 0."""
        return (self.initial or self.exact)(points)

    def noisy_samples(self) -> tuple[Tensor, Tensor]:
        """The data of an inverse problem: points, and values with normal noise, always the same."""
        import torch

        from neumann_pinn.problems.points import inside

        points = inside(self, self.samples, SAMPLES)
        noise = torch.randn(len(points), generator=torch.Generator().manual_seed(0))
        return points, self.exact(points) + self.noise * noise.double()

    def reference(self, places: int, times: int) -> Reference:
        """The solution on a grid: evenly spread places and times, ends included."""
        import torch

        from neumann_pinn.problems.points import grid_points, spread_places

        x = spread_places(self.axes, places)
        t = torch.linspace(0, 1, 1 if self.steady else times, dtype=torch.float64)
        if hasattr(self.exact, "on_grid"):  # a series is far cheaper there
            return Reference(x, t, self.exact.on_grid(x, t))
        return Reference(x, t, self.exact(grid_points(x, t, self.steady)).view(len(t), len(x)))
