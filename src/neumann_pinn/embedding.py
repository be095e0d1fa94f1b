"""Embeddings of one space coordinate x, with their first two derivatives.

All features are computed in float64 with exact argument reduction; whoever uses them casts last.
Rows are features and columns are points; what does not vary over the points has one column.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from neumann_pinn.axis import UNIT, Axis, Features
from neumann_pinn.trigonometry import cospi, sinpi


class Embedding(Protocol):
    """A fixed map of the space coordinate in front of the network."""

    @property
    def size(self) -> int:
        """How many features it makes of x."""

    @property
    def frequencies(self) -> tuple[float, ...]:
        """The multiples of pi in its features."""

    def features(self, x: Tensor) -> Features:
        """The features at x and their x-derivatives, in float64."""


@dataclass(frozen=True)
class Identity:
    """x itself."""

    size = 1
    frequencies = ()

    def features(self, x: Tensor) -> Features:
        one = torch.ones(1, 1, dtype=torch.float64, device=x.device)
        return Features(x.double()[None, :], one, 0 * one)


@dataclass(frozen=True)
class Fourier:
    """cos(pi b x), sin(pi b x) for each frequency b (Wang, Wang and Perdikaris 2021)."""

    frequencies: tuple[float, ...]

    @classmethod
    def sample(cls, size: int, std: float, seed: int) -> "Fourier":
        """`size` features in pairs: frequency 1, then real frequencies from N(0, std)."""
        if size < 2 or size % 2:
            raise ValueError(
                f"size {size} of a Fourier embedding: cosines and sines come in pairs, "
                "give an even number >= 2"
            )
        others = _generator(size, seed).normal(0, std, size // 2 - 1)
        return cls((1.0, *(float(b) for b in others)))

    @property
    def size(self) -> int:
        return 2 * len(self.frequencies)

    def features(self, x: Tensor) -> Features:
        b = torch.tensor(self.frequencies, dtype=torch.float64, device=x.device)[:, None]
        angle = b * x.double()
        wave = math.pi * b
        cos, sin = cospi(angle), sinpi(angle)
        value = torch.stack((cos, sin), 1).flatten(0, 1)
        first = torch.stack((-wave * sin, wave * cos), 1).flatten(0, 1)
        return Features(value, first, -(wave**2).repeat_interleave(2, 0) * value)


@dataclass(frozen=True)
class Cosine:
    """Cosines that are flat at the held walls of an axis, one for each frequency b.

    With both walls (equations 6 and B.2) cos(pi b y), where y goes from 0 to 1 and b is whole; with
    one wall (equation B.5) cos(pi/2 b y), where y is 0 at that wall and b is any positive number.
    """

    frequencies: tuple[float, ...] = (1,)
    axis: Axis = UNIT

    def __post_init__(self) -> None:
        b = self.frequencies
        if self.axis.walls == "none":
            raise ValueError(
                "a cosine embedding holds a wall: give an axis with walls, or x itself"
            )
        if any(not 0 < f < math.inf for f in b):
            raise ValueError(f"frequencies {b} of a cosine embedding: give positive numbers")
        if self.axis.walls == "both" and any(f != int(f) for f in b):
            raise ValueError(
                f"frequencies {b} of a cosine embedding: give whole numbers, "
                "no others are flat at both walls"
            )
        if 1 not in b:
            raise ValueError(
                f"frequencies {b} of a cosine embedding: add 1, without it different x "
                "can share all features"
            )
        if len(set(b)) < len(b):
            raise ValueError(f"frequencies {b} of a cosine embedding: give each only once")

    @classmethod
    def first(cls, size: int, axis: Axis = UNIT) -> "Cosine":
        """The frequencies 1 ... size."""
        return cls(tuple(range(1, size + 1)), axis)

    @classmethod
    def sample(cls, size: int, std: float, seed: int, axis: Axis = UNIT) -> "Cosine":
        """Frequency 1, then |N(0, std)|, rounded with both walls; zeros and repeats again."""
        whole = axis.walls == "both"
        if size < 1 or not 0 < std < math.inf:
            raise ValueError(
                f"size {size} and std {std} of a cosine embedding: give a size of at least 1 and a "
                "positive std"
            )
        if whole and size > 3 * std + 1:
            raise ValueError(
                f"size {size} of a cosine embedding: with std = {std} there are not enough "
                f"different whole frequencies, give a size from 1 to {int(3 * std) + 1} or a "
                "larger std"
            )
        generator = _generator(size, seed)
        frequencies: list[float] = [1]
        while len(frequencies) < size:
            b = abs(float(generator.normal(0, std)))
            b = round(b) if whole else b
            if b > 0 and b not in frequencies:
                frequencies.append(b)
        return cls(tuple(frequencies), axis)

    @property
    def size(self) -> int:
        return len(self.frequencies)

    @property
    def rates(self) -> Tensor:
        """The angle of each feature over pi and over the position on the axis: a column."""
        half = 1 if self.axis.walls == "both" else 2
        return torch.tensor(self.frequencies, dtype=torch.float64)[:, None] / half

    def features(self, x: Tensor) -> Features:
        x, rates = x.double(), self.rates.to(x.device)
        angle = rates * self.axis.position(x)
        low, high = self.axis.ends
        toward = -1 if self.axis.walls == "right" else 1
        wave = toward * math.pi * rates / (high - low)
        value = cospi(angle)
        return Features(value, -wave * sinpi(angle), -(wave**2) * value)


def _generator(size: int, seed: int) -> np.random.Generator:
    """A generator of this draw alone, whatever else is drawn and in which order."""
    return np.random.default_rng([seed, size])
