"""Embeddings of one space coordinate x in [0,1], with their first two derivatives.

All features are computed in float64 with exact argument reduction; whoever uses them casts last.
Rows are features and columns are points; what does not vary over the points has one column.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from neumann_pinn.trigonometry import cospi, sinpi


class Features(NamedTuple):
    """Features of x and their derivatives: each features x points, or features x 1."""

    value: Tensor
    first: Tensor
    second: Tensor


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
        b, angle = _angles(self.frequencies, x)
        wave = math.pi * b
        cos, sin = cospi(angle), sinpi(angle)
        value = torch.stack((cos, sin), 1).flatten(0, 1)
        first = torch.stack((-wave * sin, wave * cos), 1).flatten(0, 1)
        return Features(value, first, -(wave**2).repeat_interleave(2, 0) * value)


@dataclass(frozen=True)
class Cosine:
    """cos(pi b x) for distinct whole b, 1 among them: flat at both walls (equation 6)."""

    frequencies: tuple[int, ...]

    def __post_init__(self) -> None:
        b = self.frequencies
        if any(f != int(f) or f < 1 for f in b):
            raise ValueError(
                f"frequencies {b} of a cosine embedding: give whole numbers >= 1, "
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
    def sample(cls, size: int, std: float, seed: int) -> "Cosine":
        """Frequency 1, then |N(0, std)| rounded; zeros and repeats are drawn again."""
        if not 1 <= size <= 3 * std + 1:
            raise ValueError(
                f"size {size} of a cosine embedding: with std = {std} there are not enough "
                f"different whole frequencies, give a size from 1 to {int(3 * std) + 1} or a "
                "larger std"
            )
        generator = _generator(size, seed)
        frequencies = [1]
        while len(frequencies) < size:
            b = round(abs(generator.normal(0, std)))
            if b > 0 and b not in frequencies:
                frequencies.append(b)
        return cls(tuple(frequencies))

    @property
    def size(self) -> int:
        return len(self.frequencies)

    def features(self, x: Tensor) -> Features:
        b, angle = _angles(self.frequencies, x)
        wave = math.pi * b
        value = cospi(angle)
        return Features(value, -wave * sinpi(angle), -(wave**2) * value)


def _angles(frequencies: Sequence[float], x: Tensor) -> tuple[Tensor, Tensor]:
    b = torch.tensor(frequencies, dtype=torch.float64, device=x.device)[:, None]
    return b, b * x.double()


def _generator(size: int, seed: int) -> np.random.Generator:
    """A generator of this draw alone, whatever else is drawn and in which order."""
    return np.random.default_rng([seed, size])
