"""A coordinate: its interval, what holds at its two walls, and functions that follow from that.

Rows are features and columns are points; anything that is the same at all points has one column.
Only methods of tensors are called, so that configurations can be checked without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from neumann_pinn.walls.conditions import (
    Clamped,
    Condition,
    Dirichlet,
    Free,
    Neumann,
    Periodic,
    Robin,
    varies,
)

if TYPE_CHECKING:
    from torch import Tensor

    from neumann_pinn.walls.domains import Domain

Side = Literal["left", "right"]
SIDES: dict[Side, int] = {"left": 0, "right": 1}
"""The position of each wall in a pair."""
KINDS = (Neumann, Dirichlet, Robin, Clamped, Periodic, Free)
INSULATED = Neumann()


class Features(NamedTuple):
    """Functions of x and their derivatives, each features x points or features x 1."""

    value: Tensor
    first: Tensor
    second: Tensor


@dataclass(frozen=True)
class Axis:
    """x in [low, high], and what holds at its left and its right wall: both insulated by default.

    A periodic axis is `Axis(low, high, Periodic(), Periodic())`.
    """

    low: float = 0.0
    high: float = 1.0
    left: Condition = INSULATED
    right: Condition = INSULATED

    def __post_init__(self) -> None:
        if not float("-inf") < self.low < self.high < float("inf"):
            raise ValueError(
                f"axis from {self.low} to {self.high}: give two finite numbers, the lower one first"
            )
        for side in SIDES:
            if not isinstance(self.at(side), Condition):
                raise ValueError(
                    f"{side} wall {self.at(side)!r}: give one of "
                    f"{', '.join(kind.__name__ for kind in KINDS)}, as in Dirichlet(2.0)"
                )
        if isinstance(self.left, Periodic) != isinstance(self.right, Periodic):
            raise ValueError(
                f"walls {self.left} and {self.right}: an axis is periodic at both ends or at "
                "neither, give Periodic() for both"
            )

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def is_periodic(self) -> bool:
        """Whether the right end continues at the left one."""
        return isinstance(self.left, Periodic)

    @property
    def flat(self) -> tuple[Side, ...]:
        """The walls with a condition for the slope alone, where features must be flat."""
        return tuple(side for side in SIDES if self.at(side).is_flat)

    @property
    def held(self) -> tuple[Side, ...]:
        """The walls at which anything is prescribed."""
        return tuple(side for side in SIDES if self.at(side).prescribed)

    @property
    def is_homogeneous(self) -> bool:
        """Whether all that is prescribed is zero."""
        every = (p for side in self.held for p in self.at(side).prescribed)
        return not any(varies(p.data) or p.data for p in every)

    def at(self, side: Side) -> Condition:
        """What holds at a wall."""
        return self.left if side == "left" else self.right

    def opposite(self, side: Side) -> Condition:
        """What holds at the other wall."""
        return self.right if side == "left" else self.left

    def wall(self, side: Side) -> float:
        """The coordinate of a wall."""
        return self.low if side == "left" else self.high

    def slopes_only(self) -> Axis:
        """The same axis with nothing prescribed but slopes."""
        left, right = (wall if wall.is_flat else Free() for wall in (self.left, self.right))
        return Axis(self.low, self.high, left, right)

    dimension = 1

    def coordinates(self, inputs: Tensor, column: int) -> Tensor:
        """The coordinate among the inputs."""
        return inputs[:, column]

    def on_wall(self, side: Side, x: Tensor) -> Tensor:
        """The coordinate of a wall, which no longer depends on x."""
        return x.new_full(x.shape, self.wall(side))

    def normal(self, x: Tensor) -> Tensor:
        """The direction of slopes."""
        return x.new_ones(x.shape)

    def from_wall(self, side: Side, x: Tensor) -> Tensor:
        """The fraction of the way from a wall to the other one; exact at both."""
        low, high = self._rounded_ends(x)
        return (x - low if side == "left" else high - x) / (high - low)

    def position(self, x: Tensor) -> Tensor:
        """The fraction of the way from the flat wall, the left one of two or of none."""
        return self.from_wall("right" if self.flat == ("right",) else "left", x)

    def profile(self, side: Side, x: Tensor) -> Features:
        """The function f with f = 0, f' = 1 at a flat wall and f = f' = 0 at the other flat one.

        If both walls are flat, these are the cubics of equation 4 on any interval; if only one is,
        f is the signed distance from it.
        """
        low, high = self._rounded_ends(x)
        if len(self.flat) < 2:
            one = x.new_ones(x.shape)
            return Features(x - (low if side == "left" else high), one, 0 * one)
        below, above = x - low, high - x
        square = (high - low) ** 2
        if side == "left":
            value, first = below * above**2, above * (above - 2 * below)
            return Features(value / square, first / square, (2 * below - 4 * above) / square)
        value, first = -(below**2) * above, below * (below - 2 * above)
        return Features(value / square, first / square, (4 * below - 2 * above) / square)

    def extension(self, side: Side, what: Literal["value", "slope"], x: Tensor) -> Tensor:
        """A function with that value or slope 1 at a wall, and nothing else that a wall prescribes.

        Where a value and a slope matter at a wall, the other one vanishes there.
        """
        near, far = self.from_wall(side, x), self._other_from_wall(side, x)
        other = self.opposite(side)
        both_matter = isinstance(other, Clamped | Robin)
        if what == "slope":
            low, high = self._rounded_ends(x)
            slope = (high - low) * near if side == "left" else (low - high) * near
            if isinstance(other, Dirichlet):
                return slope * far
            return slope * far**2 if both_matter or other.is_flat else slope
        flat_here = isinstance(self.at(side), Clamped)
        if both_matter:
            return far**2 * (1 + 2 * near) if flat_here else far**2
        if isinstance(other, Dirichlet):
            return far * (1 + near) if flat_here else far
        return x.new_ones(x.shape)

    def factor(self, x: Tensor) -> Tensor:
        """A function that is positive inside and has the zeros of the walls.

        It is flat at walls where slopes are prescribed.
        """
        value = x.new_ones(x.shape)
        for side in SIDES:
            if zeros := self.at(side).zeros:
                near, other = self.from_wall(side, x), self.opposite(side)
                zero = near * (2 - near) if other.is_flat else near
                value = value * ((2 if other.zeros else 1) * zero) ** zeros
        return value

    def bump(self, x: Tensor) -> Tensor:
        """A function that is positive inside, at most 1, and vanishes at every held wall."""
        value = x.new_ones(x.shape)
        for side in self.held:
            value = value * len(self.held) * self.from_wall(side, x)
        return value

    def _other_from_wall(self, side: Side, x: Tensor) -> Tensor:
        return self.from_wall("right" if side == "left" else "left", x)

    def _rounded_ends(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The ends rounded to the precision of x, as they are in points on the walls."""
        return x.new_full((), self.low), x.new_full((), self.high)


def columns(axes: Sequence[Axis | Domain]) -> list[int]:
    """The first column of each axis, and that of the inputs after them."""
    return [0, *accumulate(axis.dimension for axis in axes)]


def free_factor(axes: Sequence[Axis | Domain], points: Tensor) -> Tensor:
    """phi^2, where phi is the product of the bumps: value and slope vanish at every held wall."""
    product = points.new_ones(len(points))
    for column, axis in zip(columns(axes), axes, strict=False):
        product = product * axis.bump(axis.coordinates(points, column))
    return product**2


UNIT = Axis()
"""[0, 1] with both walls insulated, the axis of the study."""
CIRCLE = Axis(0.0, 1.0, Periodic(), Periodic())
"""[0, 1] with its ends joined."""
