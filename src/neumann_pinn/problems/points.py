"""Collocation points: Hammersley sets, and the same sets with shared, shifted or graded times."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

GOLDEN = 1.1673039782614187
"""The root of g^5 = g + 1, the golden ratio of four dimensions."""


@dataclass(frozen=True)
class Points:
    """Points (x, t) in float64: first in the domain, then at the start, then on the walls."""

    x: Tensor
    t: Tensor
    domain: int
    initial: int
    boundary: int

    def __len__(self) -> int:
        return self.domain + self.initial + self.boundary


def van_der_corput(n: int) -> Tensor:
    """The radical inverses in base 2 of 1 ... n (0 is left out: it lies on a wall)."""
    rest = torch.arange(1, n + 1)
    inverse, digit = torch.zeros(n, dtype=torch.float64), 0.5
    while rest.any():
        inverse += digit * (rest % 2)
        rest, digit = rest // 2, digit / 2
    return inverse


def hammersley(domain: int, initial: int, boundary: int) -> Points:
    """Hammersley sets for the domain, the initial line and the two walls.

    Domain and initial points are those of DeepXDE's `Hammersley`. DeepXDE tosses a coin for the
    wall of each boundary point; here the first half of them lies on the left wall, the rest on
    the right, and in both halves the times fill [0,1] evenly.
    """
    i = torch.arange(1, domain + 1, dtype=torch.float64)
    on_left = (boundary + 1) // 2
    walls = torch.cat((torch.zeros(on_left), torch.ones(boundary - on_left))).double()
    x = torch.cat((van_der_corput(domain), van_der_corput(initial), walls))
    at_start = torch.zeros(initial, dtype=torch.float64)
    t = torch.cat((i / (domain + 1), at_start, van_der_corput(boundary)))
    return Points(x, t, domain, initial, boundary)


def sharing_times(points: Points, count: int) -> Points:
    """The same sets, with one time for each group of about `count` neighbours in time."""
    groups = -(-points.domain // count)
    group = torch.arange(points.domain) * groups // points.domain
    t = points.t.clone()
    t[: points.domain] = (group.double() + 0.5) / groups
    return replace(points, t=t)


def shifted(points: Points, number: int) -> Points:
    """The same sets, shifted periodically in space and time, differently for each number.

    The shifts follow Roberts' sequence, which fills the cube evenly.
    """
    shifts = [(0.5 + number * GOLDEN**-power) % 1 for power in range(1, 5)]
    x, t = points.x.clone(), points.t.clone()
    domain, initial, boundary = (
        slice(0, points.domain),
        slice(points.domain, points.domain + points.initial),
        slice(points.domain + points.initial, len(points)),
    )
    x[domain] = (x[domain] + shifts[0]) % 1
    t[domain] = (t[domain] + shifts[1]) % 1
    x[initial] = (x[initial] + shifts[2]) % 1
    t[boundary] = (t[boundary] + shifts[3]) % 1
    return replace(points, x=x, t=t)


def graded(points: Points, grading: float) -> Points:
    """The same sets with times drawn towards the start, t -> t^grading.

    Whatever the heat equation smooths out quickly is only there near the start.
    """
    return replace(points, t=points.t**grading)
