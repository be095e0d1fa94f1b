"""Problems with exact solutions on intervals and boxes, beyond the study's insulated interval.

All are of the form u_t - D Laplacian(u) + c . grad(u) + R(u) = source. Points are rows: the space
coordinates, then t unless the problem is steady.
"""

import hashlib
import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from neumann_pinn.axis import Axis, Side
from neumann_pinn.constraint import Function, derivatives
from neumann_pinn.layers import SIDES, WallPair, flux_at

INSULATED: WallPair = (0.0, 0.0)
FAR = 1_000_000
"""How far in the Halton sequence points for another purpose start."""


@dataclass(frozen=True)
class Problem:
    """An equation on a box, what holds at its walls, and its exact solution.

    A Neumann or Robin condition, du/dx_i + coefficient u = flux, holds at every held wall of
    `axes`. At the other walls u itself is known. At t = 0 it is known too, unless the problem is
    steady; an inverse problem knows only noisy samples of u, and a guess of D.
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
    """Whether there is a source: that which makes `exact` a solution."""
    steady: bool = False
    samples: int = 0
    noise: float = 0.0
    guess: float = 0.0

    @property
    def walls(self) -> list[tuple[int, Side]]:
        """Every held wall: its axis and its side."""
        return [(i, side) for i, axis in enumerate(self.axes) for side in axis.held]

    @property
    def free_walls(self) -> list[tuple[int, Side]]:
        """Every wall that is not held."""
        every = ((i, side) for i in range(len(self.axes)) for side in SIDES)
        return [wall for wall in every if wall not in self.walls]

    @property
    def known_diffusivity(self) -> float:
        """What a training is told of D: the guess in an inverse problem."""
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
        at = derivatives(function, points, len(self.axes))
        velocity = at.slopes.new_tensor(self.velocity or (0.0,) * len(self.axes))
        return at.rate - self.diffusivity * at.laplacian + at.slopes @ velocity

    def condition(self, wall: tuple[int, Side], points: Tensor) -> tuple[float, Tensor]:
        """Coefficient and flux of the condition at points on a held wall."""
        i, side = wall
        coefficient = self.coefficients[i][SIDES[side]] if self.coefficients else 0.0
        return coefficient, flux_at(self.fluxes[i][SIDES[side]], points)

    def inside(self, n: int, apart: int = 0) -> Tensor:
        """Evenly spread points in space and time; others for each number `apart`."""
        return self._fill(n, {}, apart * FAR)

    def on_wall(self, wall: tuple[int, Side], n: int) -> Tensor:
        """Evenly spread points on a wall, at all times."""
        i, side = wall
        return self._fill(n, {i: self.axes[i].wall(side)})

    def at_start(self, n: int) -> Tensor:
        """Evenly spread points at t = 0."""
        return self._fill(n, {len(self.axes): 0.0})

    def fingerprint(self) -> str:
        """A hash of its functions, by their values at some points."""
        points = self.inside(5)
        values = [self.exact(points), self.source(points)]
        values += [self.condition(wall, self.on_wall(wall, 5))[1] for wall in self.walls]
        if self.reaction:
            values.append(self.reaction(self.exact(points)))
        words = repr([None if value is None else value.tolist() for value in values])
        return hashlib.sha256(words.encode()).hexdigest()

    def noisy_samples(self) -> tuple[Tensor, Tensor]:
        """What an inverse problem knows: points and values with normal noise, always the same."""
        points = self.inside(self.samples, apart=2)
        noise = torch.randn(len(points), generator=torch.Generator().manual_seed(0))
        return points, self.exact(points) + self.noise * noise.double()

    def _fill(self, n: int, fixed: dict[int, float], skip: int = 0) -> Tensor:
        """Halton points in the box and [0,1], with some of the columns fixed."""
        from scipy.stats import qmc  # takes a second, which every job would pay

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


def _interval() -> Problem:
    axis, d, left, right = Axis(-1.5, 2.0), 0.3, 1.0, -0.5
    length = axis.high - axis.low
    wave = 2 * math.pi / length

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        y = x - axis.low
        parabola = left * y + (right - left) * (y**2 / 2 + d * t) / length
        return parabola + torch.exp(-d * wave**2 * t) * torch.cos(wave * y)

    return Problem("interval", "Constant flux on [-1.5, 2]", (axis,), d, exact, ((left, right),))


def _one_wall() -> Problem:
    axis, d, flux = Axis(0.0, 2.0, "left"), 0.2, -0.8
    wave = math.pi / 2 / axis.high

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = flux * (x - axis.high)
        for b, amplitude in ((1, 1.0), (3, 0.5)):
            decay = torch.exp(-d * (b * wave) ** 2 * t)
            u = u + amplitude * decay * torch.cos(b * wave * x)
        return u

    return Problem("one_wall", "Flux left, value right", (axis,), d, exact, ((flux, 0.0),))


def _heated_box(
    name: str, label: str, axes: tuple[Axis, ...], modes: list[tuple[int, ...]]
) -> Problem:
    """A sum of decaying products of cosines, which is flat at every wall."""
    d = 0.05

    def exact(points: Tensor) -> Tensor:
        u = torch.zeros_like(points[:, 0])
        for mode in modes:
            term = torch.ones_like(u)
            for i, (axis, b) in enumerate(zip(axes, mode, strict=True)):
                wave = math.pi * b / (axis.high - axis.low)
                decay = torch.exp(-d * wave**2 * points[:, -1])
                term = term * decay * torch.cos(wave * (points[:, i] - axis.low))
            u = u + term
        return u

    return Problem(name, label, axes, d, exact, (INSULATED,) * len(axes))


def _box_flux() -> Problem:
    axes, d, a, b = (Axis(0.0, 1.0), Axis(-1.0, 1.0)), 0.2, 2.0, 1.5

    def angles(points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, y, t = points.T
        return a * x + 0.3, b * y - 0.5, torch.exp(-d * (a**2 + b**2) * t)

    def exact(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return decay * torch.sin(p) * torch.cos(q)

    def along_x(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return a * decay * torch.cos(p) * torch.cos(q)

    def along_y(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return -b * decay * torch.sin(p) * torch.sin(q)

    fluxes = ((along_x, along_x), (along_y, along_y))
    return Problem("box_flux", "2D box, flux at all walls", axes, d, exact, fluxes)


def _pulse() -> Problem:
    d, rate = 0.5, 2 * math.pi
    wave = math.sqrt(rate / 2 / d)

    def phase(points: Tensor) -> tuple[Tensor, Tensor]:
        x, t = points.T
        return torch.exp(-wave * x), rate * t - wave * x

    def exact(points: Tensor) -> Tensor:
        decay, angle = phase(points)
        return decay * torch.cos(angle)

    def flux(points: Tensor) -> Tensor:
        decay, angle = phase(points)
        return wave * decay * (torch.sin(angle) - torch.cos(angle))

    return Problem("pulse", "Flux that changes in time", (Axis(),), d, exact, ((flux, flux),))


def _poisson() -> Problem:
    axes = (Axis(-1.0, 1.0), Axis(0.0, 1.0, "left"))

    def exact(points: Tensor) -> Tensor:
        x, y = points.T
        return torch.exp(-(x**2)) * torch.cos(2 * y)

    def flux(points: Tensor) -> Tensor:
        return -2 * points[:, 0] * exact(points)

    fluxes = ((flux, flux), INSULATED)
    return Problem(
        "poisson", "2D Poisson, steady", axes, 1.0, exact, fluxes, manufactured=True, steady=True
    )


def _reaction() -> Problem:
    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return torch.exp(-t) * (torch.cos(math.pi * x) + x**2 / 2)

    return Problem(
        "reaction",
        "Advection and reaction",
        (Axis(),),
        0.05,
        exact,
        ((0.0, lambda points: torch.exp(-points[:, 1])),),
        velocity=(0.3,),
        reaction=lambda u: u**3 - u,
        manufactured=True,
    )


def _inverse() -> Problem:
    d = 0.1

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = torch.ones_like(x)
        for b, amplitude in ((1, 1.0), (2, 0.5)):
            decay = torch.exp(-d * (math.pi * b) ** 2 * t)
            u = u + amplitude * decay * torch.cos(math.pi * b * x)
        return u

    return Problem(
        "inverse",
        "Find D from noisy samples",
        (Axis(),),
        d,
        exact,
        (INSULATED,),
        samples=100,
        noise=0.01,
        guess=0.3,
    )


def _cooling() -> Problem:
    d, wave = 0.3, 1.0

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return torch.exp(-d * wave**2 * t) * torch.cos(wave * x)

    return Problem(
        "cooling",
        "Robin wall",
        (Axis(),),
        d,
        exact,
        (INSULATED,),
        coefficients=((0.0, wave * math.tan(wave)),),
    )


PROBLEMS = {
    problem.name: problem
    for problem in (
        _interval(),
        _one_wall(),
        _heated_box("box2", "2D box, insulated", (Axis(), Axis(0.0, 2.0)), [(1, 1), (2, 0)]),
        _heated_box("box3", "3D box, insulated", (Axis(),) * 3, [(1, 1, 0), (0, 1, 1), (2, 0, 1)]),
        _box_flux(),
        _pulse(),
        _poisson(),
        _reaction(),
        _inverse(),
        _cooling(),
    )
}
"""The problems by name."""
