"""Problems: an equation on an interval or a box, its wall conditions, the exact solution.

All are of the form u_t - D Laplacian(u) + c . grad(u) + R(u) = source, of second order in time with
u_tt instead of u_t, or steady without either; or they are several such equations, one for each
unknown, that R couples. Points are rows: the space coordinates, then t in [0, 1] unless the problem
is steady. Torch is imported only where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from neumann_pinn.walls.axes import Axis, Side
from neumann_pinn.walls.conditions import Prescribed

if TYPE_CHECKING:
    from torch import Tensor

    from neumann_pinn.walls.layers import Function

Wall = tuple[int, Side]
"""A wall of a box: its axis and its side."""
SAMPLES = -2
"""The number of the shift of an inverse problem's samples."""


class Reference(NamedTuple):
    """Places x (n x axes), times t, and the solution u (times x places) there.

    Of several unknowns, each has the same places: u is times x unknowns * places.
    """

    x: Tensor
    t: Tensor
    u: Tensor


@dataclass(frozen=True)
class Problem:
    """An equation on an interval or a box, its wall conditions, and its exact solution.

    `axes` say what holds at the walls. At t = 0 u is known, unless the problem is steady; an
    inverse problem has noisy samples of u and a guess for D instead.
    """

    label: str
    axes: tuple[Axis, ...]
    diffusivity: float
    exact: Function = field(repr=False)
    velocity: tuple[float, ...] = ()
    reaction: Function | None = field(default=None, repr=False)
    """R, a function of all unknowns at some points (unknowns x n), of the same shape."""
    manufactured: bool = False
    """Whether there is a source: the one that makes `exact` a solution."""
    order: Literal[0, 1, 2] = 1
    """The order of the time derivative; 0 if the problem is steady."""
    samples: int = 0
    noise: float = 0.0
    guess: float = 0.0
    initial: Function | None = field(default=None, repr=False)
    """u at t = 0, if it is not taken from `exact`."""
    rate: Function | None = field(default=None, repr=False)
    """u_t at t = 0, which a problem of second order needs."""
    coupled: tuple[Problem, ...] = ()
    """Further unknowns on the same box, each with D, walls, start and solution of its own."""

    def __post_init__(self) -> None:
        for other in self.coupled:
            self._check_coupled(other)
        if (self.rate is not None) != (self.order == 2):
            raise ValueError(
                f"problem {self.label!r} of order {self.order} in time: give a rate at the start "
                "if the order is 2, and only then"
            )

    @property
    def fields(self) -> tuple[Problem, ...]:
        """All unknowns."""
        return (self, *self.coupled)

    @property
    def steady(self) -> bool:
        """Whether there is no time."""
        return self.order == 0

    def prescribed(self, what: str) -> list[tuple[Wall, Prescribed]]:
        """Every wall at which a value or a slope is prescribed."""
        return [
            ((i, side), prescribed)
            for i, axis in enumerate(self.axes)
            for side in axis.held
            for prescribed in axis.at(side).prescribed
            if prescribed.what == what
        ]

    @property
    def columns(self) -> int:
        """The number of coordinates, t included."""
        return len(self.axes) + (not self.steady)

    @property
    def known_diffusivity(self) -> float:
        """The D that training starts from: in an inverse problem, the guess."""
        return self.guess or self.diffusivity

    def source(self, points: Tensor) -> Tensor | None:
        """The source of each unknown at the points (unknowns x n), if there is one."""
        import torch

        if not self.manufactured:
            return None
        source = torch.stack([field.operator(field.exact, points) for field in self.fields])
        if self.reaction:
            source = source + self.reaction(torch.stack([f.exact(points) for f in self.fields]))
        return source

    def operator(self, function: Function, points: Tensor) -> Tensor:
        """The left side of the equation without R, for any function, by nested autograd."""
        from neumann_pinn.problems.derivatives import derivatives

        at = derivatives(function, points, len(self.axes), self.order)
        velocity = at.slopes.new_tensor(self.velocity or (0.0,) * len(self.axes))
        return at.evolution - self.diffusivity * at.laplacian + at.slopes @ velocity

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
        points = grid_points(x, t, self.steady)
        fields = [field.exact(points).view(len(t), len(x)) for field in self.fields]
        return Reference(x, t, torch.cat(fields, 1))

    def _check_coupled(self, other: Problem) -> None:
        """Reject an unknown that does not share this one's box and times."""
        boxes = ([axis.ends for axis in problem.axes] for problem in (self, other))
        if len({tuple(box) for box in boxes}) > 1 or self.order != other.order:
            raise ValueError(
                f"problem {self.label!r}: {other.label!r} has another box or order in time, "
                "give all unknowns the same"
            )
        if self.samples or other.samples or other.coupled or other.reaction or other.manufactured:
            raise ValueError(
                f"problem {self.label!r}: {other.label!r} is an unknown of it, give the reaction "
                "and whether there is a source with the first one; samples are for one unknown"
            )
