"""A space coordinate: its interval, which of its two walls are held, and the wall profiles.

Rows are features and columns are points; anything that is the same at all points has one column.
Only methods of tensors are called, so that configurations can be checked without torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from torch import Tensor

Side = Literal["left", "right"]
Walls = Literal["both", "left", "right", "none"]
SIDES: dict[Side, int] = {"left": 0, "right": 1}
"""The position of each wall in a pair."""


class Features(NamedTuple):
    """Functions of x and their derivatives, each features x points or features x 1."""

    value: Tensor
    first: Tensor
    second: Tensor


@dataclass(frozen=True)
class Axis:
    """x in [low, high], with a Neumann condition held at both walls, one of them or none."""

    low: float = 0.0
    high: float = 1.0
    walls: Walls = "both"

    def __post_init__(self) -> None:
        if not float("-inf") < self.low < self.high < float("inf"):
            raise ValueError(
                f"axis from {self.low} to {self.high}: give two finite numbers, the lower one first"
            )
        if self.walls not in get_args(Walls):
            raise ValueError(f"walls {self.walls!r}: choose one of {', '.join(get_args(Walls))}")

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends of the interval."""
        return self.low, self.high

    @property
    def held(self) -> tuple[Side, ...]:
        """The walls at which a Neumann condition is held."""
        sides: dict[Walls, tuple[Side, ...]] = {
            "both": ("left", "right"),
            "left": ("left",),
            "right": ("right",),
            "none": (),
        }
        return sides[self.walls]

    def wall(self, side: Side) -> float:
        """The coordinate of a wall."""
        return self.low if side == "left" else self.high

    def position(self, x: Tensor) -> Tensor:
        """The fraction of the way from the held wall, the left one of two; exact at the walls."""
        low, high = self._rounded_ends(x)
        if self.walls == "right":
            return (high - x) / (high - low)
        return (x - low) / (high - low)

    def profile(self, side: Side, x: Tensor) -> Features:
        """The function f with f = 0, f' = 1 at a held wall and f = f' = 0 at the other held one.

        If both walls are held, these are the cubics of equation 4 on any interval; if only one is,
        f is the signed distance from it.
        """
        low, high = self._rounded_ends(x)
        if self.walls != "both":
            one = x.new_ones(x.shape)
            return Features(x - (low if side == "left" else high), one, 0 * one)
        below, above = x - low, high - x
        square = (high - low) ** 2
        if side == "left":
            value, first = below * above**2, above * (above - 2 * below)
            return Features(value / square, first / square, (2 * below - 4 * above) / square)
        value, first = -(below**2) * above, below * (below - 2 * above)
        return Features(value / square, first / square, (4 * below - 2 * above) / square)

    def bump(self, x: Tensor) -> Tensor:
        """A function that is positive inside, at most 1, and vanishes at every held wall."""
        low, high = self._rounded_ends(x)
        value = x.new_ones(x.shape)
        for side in self.held:
            distance = x - low if side == "left" else high - x
            value = value * distance * (len(self.held) / (high - low))
        return value

    def _rounded_ends(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The ends rounded to the precision of x, as they are in points on the walls."""
        return x.new_full((), self.low), x.new_full((), self.high)


def free_factor(axes: Sequence[Axis], points: Tensor) -> Tensor:
    """phi^2, where phi is the product of the bumps: value and slope vanish at every held wall."""
    product = points.new_ones(len(points))
    for i, axis in enumerate(axes):
        product = product * axis.bump(points[:, i])
    return product**2


UNIT = Axis()
"""[0, 1] with both walls held, the axis of the study."""
