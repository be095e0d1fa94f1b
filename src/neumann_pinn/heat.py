"""Heat problems on the unit interval with insulated walls, and their exact solutions.

The paper's equation A.1: u(x,t) = a_0/2 + sum_j a_j exp(-D pi^2 j^2 t) cos(pi j x), where a_j are
the cosine coefficients of the initial condition.
"""

import io
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import pandas as pd
import torch
from scipy.fft import dct
from torch import Tensor

from neumann_pinn.files import write_whole
from neumann_pinn.trigonometry import cospi, sinpi


class InitialCondition(Protocol):
    """What a heat problem starts from."""

    def __call__(self, x: Tensor) -> Tensor:
        """The initial temperature at x."""

    def coefficients(self, terms: int) -> Tensor:
        """The cosine coefficients a_0 ... a_terms, in float64."""

    def wall_slopes(self) -> tuple[float, float]:
        """The slopes at x = 0 and x = 1; both vanish if the insulated walls are respected."""


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
        total = torch.zeros_like(x)
        for frequency, amplitude in self.amplitudes.items():
            total = total + amplitude * cospi(frequency * x)
        return total

    def coefficients(self, terms: int) -> Tensor:
        highest = max(self.amplitudes, default=0)
        if highest > terms:
            raise ValueError(
                f"a cosine of frequency {highest} needs a series of at least {highest} terms, "
                f"not {terms}"
            )
        a = torch.zeros(terms + 1, dtype=torch.float64)
        for frequency, amplitude in self.amplitudes.items():
            a[frequency] = amplitude if frequency else 2 * amplitude
        return a

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class Polynomial:
    """g(x) = c_0 + c_1 x + c_2 x^2 + ..., with `powers` the tuple (c_0, c_1, ...)."""

    powers: tuple[float, ...]

    def __call__(self, x: Tensor) -> Tensor:
        total = torch.zeros_like(x)
        for c in reversed(self.powers):
            total = total * x + c
        return total

    def coefficients(self, terms: int) -> Tensor:
        j = torch.arange(1, terms + 1, dtype=torch.float64)
        moments = cosine_moments(len(self.powers) - 1, j)
        c = torch.tensor(self.powers, dtype=torch.float64)
        mean = (c / torch.arange(1, len(c) + 1, dtype=torch.float64)).sum()
        return torch.cat((2 * mean[None], 2 * (c @ moments)))

    def wall_slopes(self) -> tuple[float, float]:
        slopes = [m * c for m, c in enumerate(self.powers)][1:]
        return (slopes[0] if slopes else 0.0), math.fsum(slopes)


def cosine_moments(degree: int, j: Tensor) -> Tensor:
    """The integrals C_m = int_0^1 x^m cos(pi j x) dx, m = 0 ... degree, for whole j >= 1.

    Integrating by parts twice, C_m = m ((-1)^j - (m-1) C_{m-2}) / (pi j)^2. Upwards this loses
    digits once m(m-1) > (pi j)^2, downwards before that; each moment is taken from the direction
    in which its error shrinks.
    """
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
    """`left` for x < position, `right` for x > position, their mean in between."""

    position: float
    left: float = 1.0
    right: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.position < 1:
            raise ValueError(f"position {self.position} of a step: give a number between 0 and 1")

    def __call__(self, x: Tensor) -> Tensor:
        side = torch.sign(x - self.position)
        return (self.left * (1 - side) + self.right * (1 + side)) / 2

    def coefficients(self, terms: int) -> Tensor:
        j = torch.arange(1, terms + 1, dtype=torch.float64)
        waves = 2 * (self.left - self.right) * sinpi(j * self.position) / (math.pi * j)
        mean = self.left * self.position + self.right * (1 - self.position)
        return torch.cat((torch.tensor([2 * mean], dtype=torch.float64), waves))

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True)
class Samples:
    """Values at evenly spaced nodes from 0 to 1, joined by their interpolating sum of cosines."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.values) < 2:
            raise ValueError("samples: give at least two values, the first at x = 0, last at x = 1")

    @classmethod
    def read(cls, path: Path) -> "Samples":
        """Read a CSV with the columns x (evenly spaced from 0 to 1) and u."""
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

    def _interpolant(self) -> Tensor:
        """Coefficients of the interpolating cosine sum, by a discrete cosine transform."""
        last = len(self.values) - 1
        a = dct(np.asarray(self.values, dtype=np.float64), type=1) / last
        a[last] /= 2
        return torch.from_numpy(a)

    def __call__(self, x: Tensor) -> Tensor:
        a = self._interpolant()
        return torch.cat([_cosine_sum(a, part) for part in x.double().split(4096)]).to(x.dtype)

    def coefficients(self, terms: int) -> Tensor:
        a = self._interpolant()[: terms + 1]
        return torch.nn.functional.pad(a, (0, terms + 1 - len(a)))

    def wall_slopes(self) -> tuple[float, float]:
        return 0.0, 0.0


def _cosine_sum(a: Tensor, x: Tensor) -> Tensor:
    """a_0/2 + sum_j a_j cos(pi j x)."""
    j = torch.arange(len(a), dtype=torch.float64)
    weights = torch.cat((a[:1] / 2, a[1:]))
    return weights @ cospi(j[:, None] * x)


@dataclass(frozen=True)
class Heat:
    """u_t = D u_xx on [0,1]^2 with insulated walls, u(x,0) = initial(x) and D = (k pi)^-2."""

    initial: InitialCondition
    k: float
    terms: int = 200

    def __post_init__(self) -> None:
        if not self.k > 0:
            raise ValueError(f"k = {self.k}: the diffusivity is (k pi)^-2, give a positive k")

    @property
    def diffusivity(self) -> float:
        return (self.k * math.pi) ** -2

    def reference(self, nodes_x: int, nodes_t: int) -> "Reference":
        """The solution at the nodes of an even grid, ends included."""
        x, t = (torch.linspace(0, 1, n, dtype=torch.float64) for n in (nodes_x, nodes_t))
        return Reference(self.initial.coefficients(self.terms), x, t, self.solution(x, t))

    def solution(self, x: Tensor, t: Tensor) -> Tensor:
        """The truncated series on the grid t x x, as one product of two small matrices."""
        j = torch.arange(self.terms + 1, dtype=torch.float64)
        a = self.initial.coefficients(self.terms)
        a[0] /= 2
        decay = torch.exp(-self.diffusivity * (math.pi * j) ** 2 * t.double()[:, None])
        return (decay * a) @ cospi(j[:, None] * x.double())


class Reference(NamedTuple):
    """Cosine coefficients, and the solution u (t x x) on a grid."""

    coefficients: Tensor
    x: Tensor
    t: Tensor
    u: Tensor

    def write(self, path: Path) -> None:
        """Write it as NPZ, whole or not at all."""
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **{k: v.numpy() for k, v in self._asdict().items()})
        write_whole(path, buffer.getvalue())

    @classmethod
    def read(cls, path: Path) -> "Reference":
        """Read it back; an error names the file."""
        try:
            with np.load(path, allow_pickle=False) as arrays:
                return cls(**{name: torch.from_numpy(arrays[name]) for name in cls._fields})
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise ValueError(
                f"{path}: not a reference solution ({error}); delete it to make it again"
            ) from error
