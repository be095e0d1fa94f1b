"""Problems with known solutions, beyond the study's insulated interval.

Listing them does not need torch: their functions call methods of the points, or import it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from neumann_pinn.problems.problem import Problem
from neumann_pinn.walls.axes import Axis
from neumann_pinn.walls.conditions import Clamped, Dirichlet, Free, Neumann, Periodic, Robin

if TYPE_CHECKING:
    from torch import Tensor


def _interval() -> Problem:
    d, left, right = 0.3, 1.0, -0.5
    axis = Axis(-1.5, 2.0, Neumann(left), Neumann(right))
    length = axis.high - axis.low
    wave = 2 * math.pi / length

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        y = x - axis.low
        parabola = left * y + (right - left) * (y**2 / 2 + d * t) / length
        return parabola + (-d * wave**2 * t).exp() * (wave * y).cos()

    return Problem("Constant flux on [-1.5, 2]", (axis,), d, exact)


def _one_wall() -> Problem:
    d, flux = 0.2, -0.8
    axis = Axis(0.0, 2.0, Neumann(flux), Dirichlet())
    wave = math.pi / 2 / axis.high

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = flux * (x - axis.high)
        for b, amplitude in ((1, 1.0), (3, 0.5)):
            decay = (-d * (b * wave) ** 2 * t).exp()
            u = u + amplitude * decay * (b * wave * x).cos()
        return u

    return Problem("Flux left, value right", (axis,), d, exact)


def _heated_box(label: str, axes: tuple[Axis, ...], modes: list[tuple[int, ...]]) -> Problem:
    """A sum of decaying products of cosines, which is flat at every wall."""
    d = 0.05

    def exact(points: Tensor) -> Tensor:
        u = points.new_zeros(len(points))
        for mode in modes:
            term = points.new_ones(len(points))
            for i, (axis, b) in enumerate(zip(axes, mode, strict=True)):
                wave = math.pi * b / (axis.high - axis.low)
                decay = (-d * wave**2 * points[:, -1]).exp()
                term = term * decay * (wave * (points[:, i] - axis.low)).cos()
            u = u + term
        return u

    return Problem(label, axes, d, exact)


def _box_flux() -> Problem:
    d, a, b = 0.2, 2.0, 1.5

    def angles(points: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        x, y, t = points.T
        return a * x + 0.3, b * y - 0.5, (-d * (a**2 + b**2) * t).exp()

    def exact(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return decay * p.sin() * q.cos()

    def along_x(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return a * decay * p.cos() * q.cos()

    def along_y(points: Tensor) -> Tensor:
        p, q, decay = angles(points)
        return -b * decay * p.sin() * q.sin()

    axes = (
        Axis(0.0, 1.0, Neumann(along_x), Neumann(along_x)),
        Axis(-1.0, 1.0, Neumann(along_y), Neumann(along_y)),
    )
    return Problem("2D box, flux at all walls", axes, d, exact)


def _pulse() -> Problem:
    d, rate = 0.5, 2 * math.pi
    wave = math.sqrt(rate / 2 / d)

    def phase(points: Tensor) -> tuple[Tensor, Tensor]:
        x, t = points.T
        return (-wave * x).exp(), rate * t - wave * x

    def exact(points: Tensor) -> Tensor:
        decay, angle = phase(points)
        return decay * angle.cos()

    def flux(points: Tensor) -> Tensor:
        decay, angle = phase(points)
        return wave * decay * (angle.sin() - angle.cos())

    axis = Axis(0.0, 1.0, Neumann(flux), Neumann(flux))
    return Problem("Flux that changes in time", (axis,), d, exact)


def _poisson() -> Problem:
    def exact(points: Tensor) -> Tensor:
        x, y = points.T
        return (-(x**2)).exp() * (2 * y).cos()

    def flux(points: Tensor) -> Tensor:
        return -2 * points[:, 0] * exact(points)

    axes = (Axis(-1.0, 1.0, Neumann(flux), Neumann(flux)), Axis(0.0, 1.0, right=Dirichlet(exact)))
    return Problem("2D Poisson, steady", axes, 1.0, exact, manufactured=True, order=0)


def _reaction() -> Problem:
    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-t).exp() * ((math.pi * x).cos() + x**2 / 2)

    return Problem(
        "Advection and reaction",
        (Axis(right=Neumann(lambda points: (-points[:, 1]).exp())),),
        0.05,
        exact,
        velocity=(0.3,),
        reaction=lambda u: u**3 - u,
        manufactured=True,
    )


def _inverse() -> Problem:
    d = 0.1

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = x.new_ones(x.shape)
        for b, amplitude in ((1, 1.0), (2, 0.5)):
            decay = (-d * (math.pi * b) ** 2 * t).exp()
            u = u + amplitude * decay * (math.pi * b * x).cos()
        return u

    return Problem(
        "Find D from noisy samples",
        (Axis(),),
        d,
        exact,
        samples=100,
        noise=0.01,
        guess=0.3,
    )


def _cooling() -> Problem:
    d, wave = 0.3, 1.0

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-d * wave**2 * t).exp() * (wave * x).cos()

    axis = Axis(right=Robin(wave * math.tan(wave)))
    return Problem("Robin wall", (axis,), d, exact)


def _dirichlet() -> Problem:
    """The heat problem on which others have compared second-order optimizers."""
    d = 0.25

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-d * math.pi**2 * t).exp() * (math.pi * x).sin()

    axis = Axis(0.0, 1.0, Dirichlet(), Dirichlet())
    return Problem("Known values at both walls", (axis,), d, exact)


def _ring() -> Problem:
    axis, d, speed = Axis(0.0, 2.0, Periodic(), Periodic()), 0.05, 0.7

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = x.new_zeros(x.shape)
        for b, amplitude in ((1, 1.0), (3, 0.5)):
            wave = math.pi * b
            u = u + amplitude * (-d * wave**2 * t).exp() * (wave * (x - speed * t)).sin()
        return u

    return Problem("Advection around a ring", (axis,), d, exact, velocity=(speed,))


def _mixed() -> Problem:
    d, a, b = 0.1, 2.0, math.pi

    def exact(points: Tensor) -> Tensor:
        x, y, t = points.T
        return (-d * (a**2 + b**2) * t).exp() * (a * x).sin() * (b * y).cos()

    axes = (
        Axis(0.0, 1.0, Dirichlet(), Robin(-a / math.tan(a))),
        Axis(0.0, 2.0, Periodic(), Periodic()),
    )
    return Problem("2D box: value, Robin, periodic", axes, d, exact)


def _wave() -> Problem:
    def exact(points: Tensor) -> Tensor:
        x, t = math.pi * points.T
        return x.cos() * t.cos() + 0.5 * (2 * x).cos() * (2 * t).sin()

    def rate(points: Tensor) -> Tensor:
        return math.pi * (2 * math.pi * points[:, 0]).cos()

    return Problem("Wave equation, insulated", (Axis(),), 1.0, exact, order=2, rate=rate)


def _kink() -> Problem:
    """The steady sine-Gordon equation u'' = sin u, continued from one end."""

    def exact(points: Tensor) -> Tensor:
        return 4 * points[:, 0].exp().atan()

    axis = Axis(0.0, 3.0, Clamped(math.pi, 2.0), Free())
    return Problem(
        "Value and slope at one end", (axis,), 1.0, exact, reaction=lambda u: u.sin(), order=0
    )


def _species() -> Problem:
    """The Brusselator, with sources that make a known solution of it."""
    square, a, b = (Axis(), Axis()), 1.0, 2.0

    def first(points: Tensor) -> Tensor:
        x, y, t = points.T
        return a + 0.5 * (-t).exp() * (math.pi * x).cos() * (math.pi * y).cos()

    def second(points: Tensor) -> Tensor:
        x, y, t = points.T
        return b / a + 0.5 * (2 * t).cos() * ((2 * math.pi * x).cos() + (math.pi * y).cos())

    def reaction(values: Tensor) -> Tensor:
        import torch

        u, v = values
        return torch.stack(((b + 1) * u - u**2 * v - a, u**2 * v - b * u))

    return Problem(
        "Two species on a square",
        square,
        0.05,
        first,
        reaction=reaction,
        manufactured=True,
        coupled=(Problem("second species", square, 0.1, second),),
    )


PROBLEMS = {
    "interval": _interval(),
    "one_wall": _one_wall(),
    "box2": _heated_box("2D box, insulated", (Axis(), Axis(0.0, 2.0)), [(1, 1), (2, 0)]),
    "box3": _heated_box("3D box, insulated", (Axis(),) * 3, [(1, 1, 0), (0, 1, 1), (2, 0, 1)]),
    "box_flux": _box_flux(),
    "pulse": _pulse(),
    "poisson": _poisson(),
    "reaction": _reaction(),
    "inverse": _inverse(),
    "cooling": _cooling(),
    "dirichlet": _dirichlet(),
    "ring": _ring(),
    "mixed": _mixed(),
    "wave": _wave(),
    "kink": _kink(),
    "species": _species(),
}
"""The problems by name."""
