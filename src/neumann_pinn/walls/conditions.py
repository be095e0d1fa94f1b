"""What holds at a wall.

Data are numbers, tensors with one element, or functions of the inputs at the wall, a row for each
point; a function may be a module, and a tensor a parameter: they are then trained with the rest.
Slopes are derivatives along the coordinate, du/dx_i; the outward normal derivative at a left wall
is its negative. Nothing here imports torch, so that configurations can be checked without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from neumann_pinn.walls.layers import Data, Function


class Prescribed(NamedTuple):
    """u itself, or du/dx_i + coefficient u, has the given data at a wall."""

    what: Literal["value", "slope"]
    data: Data
    coefficient: float | Function = 0.0


class Condition:
    """What holds at a wall."""

    is_flat = False
    """Whether the network itself must be flat there."""
    zeros = 0
    """The order of the zero that the network's factor has there."""

    @property
    def prescribed(self) -> tuple[Prescribed, ...]:
        """What has known data."""
        return ()


@dataclass(frozen=True)
class Free(Condition):
    """Nothing: whatever is asked of that end is asked elsewhere, in a loss for example."""


@dataclass(frozen=True)
class Neumann(Condition):
    """du/dx_i = flux."""

    flux: Data = 0.0

    is_flat = True

    @property
    def prescribed(self) -> tuple[Prescribed, ...]:
        return (Prescribed("slope", self.flux),)


@dataclass(frozen=True)
class Robin(Condition):
    """du/dx_i + coefficient u = flux."""

    coefficient: float | Function
    flux: Data = 0.0

    is_flat = True

    @property
    def prescribed(self) -> tuple[Prescribed, ...]:
        return (Prescribed("slope", self.flux, self.coefficient),)


@dataclass(frozen=True)
class Dirichlet(Condition):
    """u = value."""

    value: Data = 0.0

    zeros = 1

    @property
    def prescribed(self) -> tuple[Prescribed, ...]:
        return (Prescribed("value", self.value),)


@dataclass(frozen=True)
class Clamped(Condition):
    """u = value and du/dx_i = slope."""

    value: Data = 0.0
    slope: Data = 0.0

    zeros = 2

    @property
    def prescribed(self) -> tuple[Prescribed, ...]:
        return (Prescribed("value", self.value), Prescribed("slope", self.slope))


@dataclass(frozen=True)
class Periodic(Condition):
    """u and all its derivatives are the same at both ends of the axis."""


def varies(data: Any) -> bool:
    """Whether data are anything but a number."""
    return callable(data) or hasattr(data, "shape")
