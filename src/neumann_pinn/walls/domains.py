"""Domains of several coordinates with a smooth wall, at which the normal derivative is known.

A domain takes the place of an axis, with as many columns as it has coordinates. Near the wall, the
way from x to it is about d n, the distance times the normal: X = x + d n is flat there. So are t^2
and t^3, where t is a depth, 0 at the wall. What is flat is a smooth function of X, t^2 and t^3. A
network is given x t^2 and x t^3 as well: with them it is nearer to x deep inside.

Data are taken at x itself: functions must be smooth in the whole domain, although only what they
are at the wall matters. `Domain.normal` is a normal that is.

All of this is exact. How well it trains is another matter (docs/domains.md). At insulated walls of
balls and annuli it was far better than the wall in the loss; with fluxes that depends on the
solution, and with Gauss-Newton it was worse for a simple one of the coordinates.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import torch
from torch import Tensor

from neumann_pinn.walls.axes import INSULATED, Axis, Side
from neumann_pinn.walls.conditions import Condition, Free, Neumann

if TYPE_CHECKING:
    from neumann_pinn.walls.layers import Function

PROBES = 4096
"""Points at which the depth of an implicit domain is measured."""


class Level(NamedTuple):
    """Smooth functions of the points of a domain."""

    depth: Tensor
    """0 at the wall, positive inside, about 1 where that is far away."""
    distance: Tensor
    """0 at the wall with slope 1, positive inside."""
    normal: Tensor
    """The outward unit normal at the wall, continued into the domain."""


class Domain(ABC):
    """Several coordinates whose domain has a smooth wall; fluxes are outward, du/dn."""

    @property
    @abstractmethod
    def middle(self) -> Sequence[float]:
        """A point in the middle of the domain."""

    @property
    @abstractmethod
    def scale(self) -> float:
        """About the largest distance from there."""

    @property
    @abstractmethod
    def across(self) -> Axis:
        """What holds at the wall, as that of an axis: at its right, or at both ends of a shell."""

    @abstractmethod
    def level(self, x: Tensor) -> Level:
        """Depth, distance and normal."""

    @property
    def dimension(self) -> int:
        """The number of coordinates."""
        return len(self.middle)

    @property
    def size(self) -> int:
        """The number of features."""
        return 3 * self.dimension + 2

    def features(self, x: Tensor) -> Tensor:
        """What a network sees instead of the coordinates."""
        level = self.level(x)
        t, way = level.depth[:, None], level.distance[:, None] * level.normal / self.scale
        y = (x - x.new_tensor(self.middle)) / self.scale
        return torch.cat((y + way, t**2, t**3, y * t**2, y * t**3), 1)

    def depth(self, x: Tensor) -> Tensor:
        """A smooth function that is positive inside only, up to about 1, and 0 at the wall."""
        return self.level(x).depth

    def normal(self, x: Tensor) -> Tensor:
        """The outward unit normal at the wall, continued into the domain."""
        return self.level(x).normal

    def way(self, x: Tensor) -> Tensor:
        """The way to the wall, but for a term of second order in the distance."""
        level = self.level(x)
        return level.distance[:, None] * level.normal

    def coordinates(self, inputs: Tensor, column: int) -> Tensor:
        """The coordinates among the inputs."""
        return inputs[:, column : column + self.dimension]

    def on_wall(self, side: Side, x: Tensor) -> Tensor:
        """Where the data are taken."""
        return x

    def extension(self, side: Side, what: Literal["value", "slope"], x: Tensor) -> Tensor:
        """A function with du/dn = 1 at a wall, where it vanishes."""
        return -self.level(x).distance

    def factor(self, x: Tensor) -> Tensor:
        """No value is prescribed."""
        return x.new_ones(len(x))

    def bump(self, x: Tensor) -> Tensor:
        """The depth."""
        return self.depth(x)

    def at(self, side: Side) -> Condition:
        """What holds at a wall."""
        return self.across.at(side)

    @property
    def flat(self) -> tuple[Side, ...]:
        """The walls where features must be flat."""
        return self.across.flat

    @property
    def held(self) -> tuple[Side, ...]:
        """The walls at which anything is prescribed."""
        return self.across.held

    @property
    def is_homogeneous(self) -> bool:
        """Whether all fluxes are zero."""
        return self.across.is_homogeneous

    is_periodic = False


@dataclass(frozen=True)
class Ball(Domain):
    """The points within a radius of a center: a disk if it has two coordinates.

    With y = (x - center) / radius, t = 1 - |y|^2, and X is y (3 - |y|^2) / 2.
    """

    center: Sequence[float]
    radius: float = 1.0
    wall: Neumann = INSULATED

    def __post_init__(self) -> None:
        _check_center(self.center)
        _check_wall("wall", self.wall)
        if not 0 < self.radius < math.inf:
            raise ValueError(f"radius {self.radius} of a ball: give a positive number")

    @property
    def middle(self) -> Sequence[float]:
        return self.center

    @property
    def scale(self) -> float:
        return self.radius

    @property
    def across(self) -> Axis:
        return Axis(0.0, self.radius, Free(), self.wall)

    def level(self, x: Tensor) -> Level:
        y = (x - x.new_tensor(self.center)) / self.radius
        t = 1 - (y**2).sum(1)
        return Level(t, self.radius / 2 * t, y)


@dataclass(frozen=True)
class Annulus(Domain):
    """The points between two radii around a center: a shell, in any dimension.

    With s = 0 at the inner and 1 at the outer wall, t = 4 s (1 - s), and X has the direction of x
    and the radius inner + (outer - inner) s^2 (3 - 2 s).
    """

    center: Sequence[float]
    inner: float
    outer: float
    at_inner: Neumann = INSULATED
    at_outer: Neumann = INSULATED

    def __post_init__(self) -> None:
        _check_center(self.center)
        _check_wall("at_inner", self.at_inner)
        _check_wall("at_outer", self.at_outer)
        if not 0 < self.inner < self.outer < math.inf:
            raise ValueError(
                f"annulus from {self.inner} to {self.outer}: give two positive radii, the inner "
                "one first"
            )

    @property
    def middle(self) -> Sequence[float]:
        return self.center

    @property
    def scale(self) -> float:
        return self.outer

    @property
    def across(self) -> Axis:
        return Axis(self.inner, self.outer, self.at_inner, self.at_outer)

    def level(self, x: Tensor) -> Level:
        radius, direction = self._polar(x)
        s = self.across.from_wall("left", radius)
        t = 4 * s * (1 - s)
        return Level(t, (self.outer - self.inner) / 4 * t, (2 * s - 1)[:, None] * direction)

    def extension(self, side: Side, what: Literal["value", "slope"], x: Tensor) -> Tensor:
        outward = 1 if side == "right" else -1
        return outward * self.across.extension(side, what, self._polar(x)[0])

    def _polar(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The distance from the center, and the direction."""
        away = x - x.new_tensor(self.center)
        radius = (away**2).sum(1).sqrt()
        return radius, away / radius[:, None]


@dataclass(frozen=True)
class Implicit(Domain):
    """The points of a box where f > 0, for a smooth f whose gradient vanishes nowhere on the wall.

    f takes a row for each point and returns one number for each. t = f / max f, and the way to the
    wall is -t grad t / (|grad t|^2 + 4 t), as in a ball. The wall is exact for any f, but features
    are as intricate as its level sets. Where these are far from round, a network trains better on
    the coordinates themselves, in an `OutputTransform` (docs/domains.md).
    """

    f: "Function"
    low: Sequence[float]
    high: Sequence[float]
    wall: Neumann = INSULATED
    top: float = field(init=False, repr=False)

    def __post_init__(self) -> None:
        _check_wall("wall", self.wall)
        if (
            len(self.low) != len(self.high)
            or not all(a < b for a, b in self._sides)
            or not self.low
        ):
            raise ValueError(
                f"box from {self.low} to {self.high}: give two corners, the lower one first"
            )
        shares = torch.quasirandom.SobolEngine(len(self.low)).draw(PROBES, dtype=torch.float64)
        low, high = shares.new_tensor(self.low), shares.new_tensor(self.high)
        top = float(self.f(low + (high - low) * shares).detach().max())
        if not 0 < top < math.inf:
            raise ValueError(f"f is at most {top} in the box: give one that is positive inside")
        object.__setattr__(self, "top", top)

    @property
    def middle(self) -> Sequence[float]:
        return [(a + b) / 2 for a, b in self._sides]

    @property
    def scale(self) -> float:
        return max(b - a for a, b in self._sides) / 2

    @property
    def across(self) -> Axis:
        return Axis(0.0, 1.0, Free(), self.wall)

    def level(self, x: Tensor) -> Level:
        value, pull_back = torch.func.vjp(self.f, x)  # type: ignore[misc]
        (gradient,) = pull_back(torch.ones_like(value))
        t, gradient = value / self.top, self.scale / self.top * gradient
        slope = ((gradient**2).sum(1) + 4 * t).sqrt()
        return Level(t, self.scale * t / slope, -gradient / slope[:, None])

    @property
    def _sides(self) -> list[tuple[float, float]]:
        return list(zip(self.low, self.high, strict=False))


def _check_center(center: Sequence[float]) -> None:
    if not len(center) or not all(math.isfinite(c) for c in center):
        raise ValueError(f"center {center}: give a finite number for each coordinate")


def _check_wall(name: str, wall: Condition) -> None:
    if not isinstance(wall, Neumann):
        raise ValueError(f"{name} {wall!r}: a smooth wall holds fluxes, give Neumann(flux)")
