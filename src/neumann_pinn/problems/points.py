"""Collocation points of a problem: Hammersley sets, with times that may be shared or graded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from neumann_pinn.problems.problem import Problem, Wall
from neumann_pinn.walls.axes import SIDES, Axis

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
"""The bases of the coordinates."""


@dataclass(frozen=True)
class Counts:
    """How many points there are for each axis: inside, at the start, on its two walls."""

    domain: int
    initial: int
    boundary: int


@dataclass(frozen=True)
class Points:
    """Rows of coordinates in float64: inside, at the start (none if steady), on each wall."""

    inside: Tensor
    start: Tensor
    walls: dict[Wall, Tensor]


def make_points(
    problem: Problem,
    counts: Counts,
    *,
    shift: int | None = None,
    sharing: int = 1,
    grading: float = 1.0,
) -> Points:
    """The points of a problem.

    `shift` moves all sets periodically in space and time, differently for each number. `sharing`
    gives one time to each group of about that many neighbours in time. `grading` draws times to
    the start, t -> t^grading: what the heat equation smooths out quickly is only there.
    """
    axes = len(problem.axes)
    moves = _shifts(problem, shift)
    unit = _unit_inside(problem, axes * counts.domain, sharing)
    inside = _placed(problem, (unit + moves[0]) % 1, grading)
    start = torch.zeros(0 if problem.steady else axes * counts.initial, problem.columns).double()
    if len(start):
        start[:, :axes] = (_halton(len(start), axes) + moves[1]) % 1
    walls = {}
    for i in range(axes):
        for side, place in SIDES.items():
            half = (counts.boundary + 1) // 2
            first = i * counts.boundary + place * half
            count = counts.boundary - half if place else half
            unit = (_halton(count, problem.columns - 1, first) + moves[2]) % 1
            fixed = torch.full((count, 1), float(place), dtype=torch.float64)
            walls[i, side] = _placed(
                problem, torch.cat((unit[:, :i], fixed, unit[:, i:]), 1), grading
            )
    return Points(inside, _placed(problem, start, 1.0), walls)


def inside(problem: Problem, count: int, shift: int) -> Tensor:
    """Evenly spread points in space and time, others for each shift."""
    unit = _unit_inside(problem, count, 1)
    return _placed(problem, (unit + _shifts(problem, shift)[0]) % 1, 1.0)


def on_wall(problem: Problem, wall: Wall, count: int) -> Tensor:
    """Evenly spread points on a wall, at all times."""
    counts = Counts(1, 1, 2 * count)
    return make_points(problem, counts).walls[wall]


def spread_places(axes: Sequence[Axis], count: int) -> Tensor:
    """Evenly spread places in a box, at the nodes of a grid on an interval, ends included."""
    last = torch.linspace(0, 1, count, dtype=torch.float64)[:, None]
    return _scaled(axes, torch.cat((_halton(count, len(axes) - 1), last), 1))


def grid_points(x: Tensor, t: Tensor, steady: bool) -> Tensor:
    """Rows of coordinates for all places x (n x axes) at all times t, time by time."""
    places = x.double().repeat(len(t), 1)
    if steady:
        return places
    return torch.cat((places, t.double().repeat_interleave(len(x))[:, None]), 1)


def _unit_inside(problem: Problem, count: int, sharing: int) -> Tensor:
    """A Hammersley set in the unit cube: for one axis and time, that of DeepXDE."""
    last = torch.arange(1, count + 1, dtype=torch.float64) / (count + 1)
    if sharing > 1 and not problem.steady:
        groups = -(-count // sharing)
        group = torch.arange(count) * groups // count
        last = (group.double() + 0.5) / groups
    return torch.cat((_halton(count, problem.columns - 1), last[:, None]), 1)


def _halton(count: int, columns: int, first: int = 0) -> Tensor:
    """Radical inverses of first + 1, first + 2, ... (0 is left out: it lies on a wall)."""
    rest = torch.arange(first + 1, first + count + 1)[:, None].expand(count, columns)
    base = torch.tensor(PRIMES[:columns], dtype=torch.int64)
    inverse, digit = torch.zeros(count, columns, dtype=torch.float64), 1 / base.double()
    while rest.any():
        inverse += digit * (rest % base)
        rest, digit = rest // base, digit / base
    return inverse


def _shifts(problem: Problem, number: int | None) -> list[Tensor]:
    """The shifts of a number, by Roberts' sequence, which fills a cube of all of them evenly.

    Without a number nothing moves.
    """
    axes, columns = len(problem.axes), problem.columns
    sizes = [columns, 0 if problem.steady else axes, columns - 1]
    ratio = _golden(sum(sizes))
    shifts = [(0.5 + (number or 0) * ratio**-power) % 1 for power in range(1, sum(sizes) + 1)]
    moves = torch.tensor(shifts, dtype=torch.float64) * (number is not None)
    return list(moves.split(sizes))


def _golden(dimensions: int) -> float:
    """The root of g^(d + 1) = g + 1, the golden ratio of d dimensions."""
    g = 2.0
    while (
        smaller := g - (g ** (dimensions + 1) - g - 1) / ((dimensions + 1) * g**dimensions - 1)
    ) < g:
        g = smaller
    return g


def _placed(problem: Problem, unit: Tensor, grading: float) -> Tensor:
    """Points of the unit cube in the box, with graded times."""
    space, t = unit.tensor_split((len(problem.axes),), 1)
    return torch.cat((_scaled(problem.axes, space), t**grading), 1)


def _scaled(axes: Sequence[Axis], unit: Tensor) -> Tensor:
    low, high = (unit.new_tensor([getattr(axis, end) for axis in axes]) for end in ("low", "high"))
    return low + (high - low) * unit
