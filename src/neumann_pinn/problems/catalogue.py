"""Eleven problems with known solutions, beyond the study's insulated interval.

Their functions only call methods of the points, so listing the problems does not need torch.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from neumann_pinn.problems.problem import INSULATED, Problem
from neumann_pinn.walls.axes import Axis

if TYPE_CHECKING:
    from torch import Tensor


def _interval() -> Problem:
    axis, d, left, right = Axis(-1.5, 2.0), 0.3, 1.0, -0.5
    length = axis.high - axis.low
    wave = 2 * math.pi / length

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        y = x - axis.low
        parabola = left * y + (right - left) * (y**2 / 2 + d * t) / length
        return parabola + (-d * wave**2 * t).exp() * (wave * y).cos()

    return Problem("Constant flux on [-1.5, 2]", (axis,), d, exact, ((left, right),))


def _one_wall() -> Problem:
    axis, d, flux = Axis(0.0, 2.0, "left"), 0.2, -0.8
    wave = math.pi / 2 / axis.high

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        u = flux * (x - axis.high)
        for b, amplitude in ((1, 1.0), (3, 0.5)):
            decay = (-d * (b * wave) ** 2 * t).exp()
            u = u + amplitude * decay * (b * wave * x).cos()
        return u

    return Problem("Flux left, value right", (axis,), d, exact, ((flux, 0.0),))


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

    return Problem(label, axes, d, exact, (INSULATED,) * len(axes))


def _box_flux() -> Problem:
    axes, d, a, b = (Axis(0.0, 1.0), Axis(-1.0, 1.0)), 0.2, 2.0, 1.5

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

    fluxes = ((along_x, along_x), (along_y, along_y))
    return Problem("2D box, flux at all walls", axes, d, exact, fluxes)


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

    return Problem("Flux that changes in time", (Axis(),), d, exact, ((flux, flux),))


def _poisson() -> Problem:
    axes = (Axis(-1.0, 1.0), Axis(0.0, 1.0, "left"))

    def exact(points: Tensor) -> Tensor:
        x, y = points.T
        return (-(x**2)).exp() * (2 * y).cos()

    def flux(points: Tensor) -> Tensor:
        return -2 * points[:, 0] * exact(points)

    fluxes = ((flux, flux), INSULATED)
    return Problem("2D Poisson, steady", axes, 1.0, exact, fluxes, manufactured=True, steady=True)


def _reaction() -> Problem:
    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-t).exp() * ((math.pi * x).cos() + x**2 / 2)

    return Problem(
        "Advection and reaction",
        (Axis(),),
        0.05,
        exact,
        ((0.0, lambda points: (-points[:, 1]).exp()),),
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
        (INSULATED,),
        samples=100,
        noise=0.01,
        guess=0.3,
    )


def _cooling() -> Problem:
    d, wave = 0.3, 1.0

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-d * wave**2 * t).exp() * (wave * x).cos()

    return Problem(
        "Robin wall",
        (Axis(),),
        d,
        exact,
        (INSULATED,),
        coefficients=((0.0, wave * math.tan(wave)),),
    )


def _dirichlet() -> Problem:
    """The heat problem on which others have compared second-order optimizers."""
    d = 0.25

    def exact(points: Tensor) -> Tensor:
        x, t = points.T
        return (-d * math.pi**2 * t).exp() * (math.pi * x).sin()

    return Problem("Known values at both walls", (Axis(walls="none"),), d, exact, (INSULATED,))


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
}
"""The problems by name."""
