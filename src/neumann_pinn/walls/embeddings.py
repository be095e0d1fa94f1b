"""Embeddings of one space coordinate x, with their first two derivatives.

All features are computed in float64 with exact argument reduction and cast only afterwards. Rows
are features and columns are points; anything that is the same at all points has one column. As in
`axes`, nothing here imports torch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from neumann_pinn.walls.axes import CIRCLE, UNIT, Axis, Features
from neumann_pinn.walls.trigonometry import cospi, sinpi

if TYPE_CHECKING:
    from torch import Tensor


class Embedding(Protocol):
    """A fixed map of the space coordinate before the network."""

    @property
    def size(self) -> int:
        """The number of features it makes from x."""

    @property
    def frequencies(self) -> tuple[float, ...]:
        """The frequencies of its features, as multiples of pi."""

    def on(self, axis: Axis) -> Embedding:
        """The same embedding of another axis."""

    def features(self, x: Tensor) -> Features:
        """The features at x and their x-derivatives, in float64."""


@dataclass(frozen=True)
class Identity:
    """x itself."""

    size = 1
    frequencies = ()

    def on(self, axis: Axis) -> Identity:
        return self

    def features(self, x: Tensor) -> Features:
        x = x.double()
        one = x.new_ones(1, 1)
        return Features(x[None, :], one, 0 * one)


@dataclass(frozen=True)
class Fourier:
    """cos(pi b x), sin(pi b x) for each frequency b (Wang, Wang and Perdikaris 2021)."""

    frequencies: tuple[float, ...]

    @classmethod
    def sample(cls, size: int, std: float, seed: int) -> Fourier:
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

    def on(self, axis: Axis) -> Fourier:
        return self

    def features(self, x: Tensor) -> Features:
        return _waves(x.double(), self.frequencies, 1.0)


@dataclass(frozen=True)
class Cosine:
    """Cosines that are flat at the flat walls of an axis, one for each frequency b.

    For both walls (equations 6 and B.2) cos(pi b y), where y runs from 0 to 1 and b is whole; for
    one wall (equation B.5) cos(pi/2 b y), where y is 0 at that wall and b is any positive number.
    """

    frequencies: tuple[float, ...] = (1,)
    axis: Axis = UNIT

    def __post_init__(self) -> None:
        if not self.axis.flat:
            raise ValueError(
                "a cosine embedding makes a wall flat: give an axis with a Neumann or Robin wall, "
                "or x itself"
            )
        whole = "flat at both walls" if len(self.axis.flat) == 2 else ""
        _check_frequencies("a cosine embedding", self.frequencies, whole)

    @classmethod
    def first(cls, size: int, axis: Axis = UNIT) -> Cosine:
        """The frequencies 1 ... size."""
        return cls(tuple(range(1, size + 1)), axis)

    @classmethod
    def sample(cls, size: int, std: float, seed: int, axis: Axis = UNIT) -> Cosine:
        """Frequency 1, then |N(0, std)|, rounded if both walls are held; no zeros, no repeats."""
        whole = len(axis.flat) == 2
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

    def on(self, axis: Axis) -> Embedding:
        return Cosine(self.frequencies, axis) if axis.flat else natural(axis, self.frequencies)

    @property
    def rates(self) -> tuple[float, ...]:
        """The angle of each cosine, divided by pi and by the position along the axis."""
        half = len(self.axis.flat) % 2 + 1
        return tuple(b / half for b in self.frequencies)

    def features(self, x: Tensor) -> Features:
        wave, angle = self._waves(x.double())
        value = cospi(angle)
        return Features(value, -wave * sinpi(angle), -(wave**2) * value)

    def _waves(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The wave number of each cosine (with its sign), and its angle divided by pi at x."""
        rates = x.new_tensor(self.rates)[:, None]
        low, high = self.axis.ends
        toward = -1 if self.axis.flat == ("right",) else 1
        return toward * math.pi * rates / (high - low), rates * self.axis.position(x)


@dataclass(frozen=True)
class Flat(Cosine):
    """Cosines, and sin^3 of the angle of the lowest one: flat at the same walls, but odd there.

    Near a wall at distance d cosines are series in d^2. A solution with a third derivative there
    (in general all but those that could be continued by reflection) is not a smooth function of
    them; of d^2 and d^3 it is.
    """

    @property
    def size(self) -> int:
        return len(self.frequencies) + 1

    def features(self, x: Tensor) -> Features:
        cosines = super().features(x)
        wave, angle = (part[self.lowest] for part in self._waves(x.double()))
        cos, sin = cospi(angle), sinpi(angle)
        odd = (sin**3, 3 * wave * sin**2 * cos, wave**2 * (6 * sin * cos**2 - 3 * sin**3))
        return Features(*(_below(*pair) for pair in zip(cosines, odd, strict=True)))

    @property
    def lowest(self) -> slice:
        """Where the frequency 1 stands."""
        place = self.frequencies.index(1)
        return slice(place, place + 1)


@dataclass(frozen=True)
class Waves:
    """cos(2 pi b y), sin(2 pi b y) for each whole b, where y runs from 0 to 1 along the axis."""

    frequencies: tuple[float, ...] = (1,)
    axis: Axis = CIRCLE

    def __post_init__(self) -> None:
        if not self.axis.is_periodic:
            raise ValueError(f"waves along {self.axis}: give a periodic axis")
        _check_frequencies("waves", self.frequencies, "periodic")

    @property
    def size(self) -> int:
        return 2 * len(self.frequencies)

    def on(self, axis: Axis) -> Embedding:
        return natural(axis, self.frequencies)

    @property
    def rates(self) -> tuple[float, ...]:
        """The angle of each pair, divided by pi and by the position along the axis."""
        return tuple(2 * b for b in self.frequencies)

    def features(self, x: Tensor) -> Features:
        low, high = self.axis.ends
        return _waves(self.axis.position(x.double()), self.rates, high - low)


def natural(axis: Axis, frequencies: tuple[float, ...] = (1,)) -> Embedding:
    """The features that an axis asks for: flat where slopes are prescribed, periodic, or x."""
    if axis.is_periodic:
        return Waves(frequencies, axis)
    return Flat(frequencies, axis) if axis.flat else Identity()


def _check_frequencies(what: str, b: tuple[float, ...], whole: str) -> None:
    """Reject frequencies that do not fit; `whole` says what only whole numbers are."""
    if any(not 0 < f < math.inf for f in b):
        raise ValueError(f"frequencies {b} of {what}: give positive numbers")
    if whole and any(f != int(f) for f in b):
        raise ValueError(f"frequencies {b} of {what}: give whole numbers, no others are {whole}")
    if 1 not in b:
        raise ValueError(
            f"frequencies {b} of {what}: add 1, without it different x can share all features"
        )
    if len(set(b)) < len(b):
        raise ValueError(f"frequencies {b} of {what}: give each only once")


def _below(upper: Tensor, lower: Tensor) -> Tensor:
    """Rows of features below others."""
    both = upper.new_empty(len(upper) + len(lower), upper.shape[1])
    both[: len(upper)], both[len(upper) :] = upper, lower
    return both


def _waves(y: Tensor, rates: tuple[float, ...], length: float) -> Features:
    """cos(pi r y), sin(pi r y) for each rate r; derivatives along x, where y is x / length."""
    r = y.new_tensor(rates)[:, None]
    wave = math.pi * r / length
    cos, sin = cospi(r * y), sinpi(r * y)
    value, first = y.new_empty(2 * len(r), len(y)), y.new_empty(2 * len(r), len(y))
    value[0::2], value[1::2] = cos, sin
    first[0::2], first[1::2] = -wave * sin, wave * cos
    return Features(value, first, -(wave**2).repeat_interleave(2, 0) * value)


def _generator(size: int, seed: int) -> np.random.Generator:
    """A separate generator for each draw, so that the order of draws does not matter."""
    return np.random.default_rng([seed, size])
