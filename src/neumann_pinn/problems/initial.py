"""Initial conditions on the unit interval, with their cosine coefficients.

These classes also check configurations, so torch is imported only where it is used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from neumann_pinn.walls.trigonometry import cospi, sinpi

if TYPE_CHECKING:
    from torch import Tensor


class InitialCondition(Protocol):
    """The initial condition of a heat problem."""

    def __call__(self, x: Tensor) -> Tensor:
        """The initial temperature at x."""

    def coefficients(self, terms: int) -> Tensor:
        """The cosine coefficients a_0 ... a_terms, in float64."""

    def magnitude(self, terms: int) -> float:
        """Its size, up to a factor; 0 if its series, cut off after `terms`, vanishes."""

    def wall_slopes(self) -> tuple[float, float]:
        """The slopes at x = 0 and x = 1; both vanish if it fits insulated walls."""


@dataclass(frozen=True)
class Cosines:
    """A sum of amplitude * cos(pi * frequency * x); `amplitudes` maps frequency to amplitude."""

    amplitudes: Mapping[int, float]

    def __post_init__(self) -> None:
        for frequency in self.amplitudes:
            if frequency < 0 or frequency != int(frequency):
                raise ValueError(
                    f"frequency {frequency} of a sum of cosines: give a whole number >= 0, "
                    "only those are flat at both walls"
                )

    def __call__(self, x: Tensor) -> Tensor:
        total = x.new_zeros(x.shape)
        for frequency, amplitude in self.amplitudes.items():
            total = total + amplitude * cospi(frequency * x)
        return total

    def coefficients(self, terms: int) -> Tensor:
        import torch

        self._check_terms(terms)
        a = torch.zeros(terms + 1, dtype=torch.float64)
        for frequency, amplitude in self.amplitudes.items():
            a[frequency] = amplitude if frequency else 2 * amplitude
        return a

    def magnitude(self, terms: int) -> float:
        self._check_terms(terms)
        return _largest(2 * a for a in self.amplitudes.values())

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0

    def _check_terms(self, terms: int) -> None:
        highest = max(self.amplitudes, default=0)
        if highest > terms:
            raise ValueError(
                f"a cosine of frequency {highest} needs a series of at least {highest} terms, "
                f"not {terms}"
            )


@dataclass(frozen=True)
class Polynomial:
    """g(x) = c_0 + c_1 x + c_2 x^2 + ..., with `powers` the tuple (c_0, c_1, ...)."""

    powers: tuple[float, ...]

    def __call__(self, x: Tensor) -> Tensor:
        total = x.new_zeros(x.shape)
        for c in reversed(self.powers):
            total = total * x + c
        return total

    def coefficients(self, terms: int) -> Tensor:
        import torch

        j = torch.arange(1, terms + 1, dtype=torch.float64)
        moments = cosine_moments(len(self.powers) - 1, j)
        c = torch.tensor(self.powers, dtype=torch.float64)
        mean = (c / torch.arange(1, len(c) + 1, dtype=torch.float64)).sum()
        return torch.cat((2 * mean[None], 2 * (c @ moments)))

    def magnitude(self, terms: int) -> float:
        return _largest(2 * len(self.powers) * c for c in self.powers)

    def wall_slopes(self) -> tuple[float, float]:
        slopes = [m * c for m, c in enumerate(self.powers)][1:]
        return (slopes[0] if slopes else 0.0), math.fsum(slopes)


def cosine_moments(degree: int, j: Tensor) -> Tensor:
    """The integrals C_m = int_0^1 x^m cos(pi j x) dx, m = 0 ... degree, for whole j >= 1.

    Integrating by parts twice, C_m = m ((-1)^j - (m-1) C_{m-2}) / (pi j)^2. Going up, this
    loses digits once m(m-1) > (pi j)^2; going down, before that. Each moment is taken from the
    direction in which the error shrinks.
    """
    import torch

    square = (math.pi * j) ** 2
    sign = cospi(j)
    above = 2 * degree + 60
    up = [torch.zeros_like(square), (sign - 1) / square]
    for m in range(2, degree + 1):
        up.append(m * (sign - (m - 1) * up[m - 2]) / square)
    down = [torch.zeros_like(square)] * (above + 3)
    for m in range(above, -1, -1):
        down[m] = (sign - square * down[m + 2] / (m + 2)) / (m + 1)
    return torch.stack(
        [torch.where(m * (m - 1) > square, down[m], up[m]) for m in range(degree + 1)]
    )


@dataclass(frozen=True)
class Step:
    """`left` for x < position, `right` for x > position, their mean at the position itself."""

    position: float
    left: float = 1.0
    right: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.position < 1:
            raise ValueError(f"position {self.position} of a step: give a number between 0 and 1")

    def __call__(self, x: Tensor) -> Tensor:
        side = (x - self.position).sign()
        return (self.left * (1 - side) + self.right * (1 + side)) / 2

    def coefficients(self, terms: int) -> Tensor:
        import torch

        j = torch.arange(1, terms + 1, dtype=torch.float64)
        waves = 2 * (self.left - self.right) * sinpi(j * self.position) / (math.pi * j)
        mean = self.left * self.position + self.right * (1 - self.position)
        return torch.cat((torch.tensor([2 * mean], dtype=torch.float64), waves))

    def magnitude(self, terms: int) -> float:
        return _largest((2 * self.left, 2 * self.right))

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class Samples:
    """Values at evenly spaced nodes from 0 to 1, interpolated by a sum of cosines."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError("samples: give at least two values, the first at x = 0, last at x = 1")

    @classmethod
    def read(cls, path: Path) -> Samples:
        """Read a CSV with the columns x (evenly spaced from 0 to 1) and u."""
        import pandas as pd

        table = pd.read_csv(path)
        missing = {"x", "u"} - set(table.columns)
        if missing:
            raise ValueError(
                f"{path}: no column {', '.join(sorted(missing))}; a table of samples needs the "
                "columns x and u"
            )
        table = table[["x", "u"]].apply(pd.to_numeric, errors="coerce")
        if not np.isfinite(table.to_numpy()).all():
            raise ValueError(f"{path}: every x and u must be a finite number")
        if len(table) < 2 or not np.allclose(table["x"], np.linspace(0, 1, len(table)), atol=1e-6):
            raise ValueError(
                f"{path}: the column x must run evenly spaced from 0 to 1, both included; "
                "interpolate the table to such nodes first"
            )
        return cls(tuple(float(u) for u in table["u"]))

    def interpolant(self) -> np.ndarray:
        """The cosine coefficients a_0, a_1, ... of the interpolating sum; a_0 is twice the mean."""
        from scipy.fft import dct

        last = len(self.values) - 1
        a = dct(np.asarray(self.values, dtype=np.float64), type=1) / last
        a[last] /= 2
        return a

    def __call__(self, x: Tensor) -> Tensor:
        import torch

        a = torch.from_numpy(self.interpolant())
        return torch.cat([_cosine_sum(a, part) for part in x.double().split(4096)]).to(x.dtype)

    def coefficients(self, terms: int) -> Tensor:
        import torch

        a = torch.from_numpy(self.interpolant()[: terms + 1])
        return torch.nn.functional.pad(a, (0, terms + 1 - len(a)))

    def magnitude(self, terms: int) -> float:
        return _largest(self.interpolant()[: terms + 1].tolist())

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0


def _largest(numbers: Iterable[float]) -> float:
    """The largest magnitude; infinite if any number is not finite."""
    sizes = [abs(number) for number in numbers]
    return max(sizes, default=0.0) if all(map(math.isfinite, sizes)) else math.inf


def _cosine_sum(a: Tensor, x: Tensor) -> Tensor:
    """a_0/2 + sum_j a_j cos(pi j x)."""
    import torch

    j = torch.arange(len(a), dtype=torch.float64)
    weights = torch.cat((a[:1] / 2, a[1:]))
    return weights @ cospi(j[:, None] * x)
