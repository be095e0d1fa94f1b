"""A space coordinate: its interval, which of its two walls a constraint holds, and wall profiles.

Rows are features and columns are points; what does not vary over the points has one column.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import Tensor

Side = Literal["left", "right"]
Walls = Literal["both", "left", "right", "none"]


class Features(NamedTuple):
    """Functions of x and their derivatives: each features x points, or features x 1."""

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
        """Where a wall is."""
        return self.low if side == "left" else self.high

    def position(self, x: Tensor) -> Tensor:
        """The share of the way from the held wall, the left one of two; exact at the walls."""
        low, high = self._rounded_ends(x)
        if self.walls == "right":
            return (high - x) / (high - low)
        return (x - low) / (high - low)

    def profile(self, side: Side, x: Tensor) -> Features:
        """The function f with f = 0, f' = 1 at a held wall and f = f' = 0 at the other held one.

        With both walls these are the cubics of equation 4, brought to any interval; with one wall
        it is the distance from it.
        """
        low, high = self._rounded_ends(x)
        if self.walls != "both":
            one = torch.ones_like(x)
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
        value = torch.ones_like(x)
        for side in self.held:
            distance = x - low if side == "left" else high - x
            value = value * distance * (len(self.held) / (high - low))
        return value

    def _rounded_ends(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The ends in the precision of x, as points on the walls have them."""
        return x.new_full((), self.low), x.new_full((), self.high)


def free_factor(axes: Sequence[Axis], points: Tensor) -> Tensor:
    """phi^2, where phi is the product of the bumps: no held wall sees what it multiplies."""
    product = torch.ones_like(points[:, 0])
    for i, axis in enumerate(axes):
        product = product * axis.bump(points[:, i])
    return product**2


UNIT = Axis()
"""[0, 1] with both walls held, the axis of the study."""
