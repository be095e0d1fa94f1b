"""The numbers that claims are judged by: errors and costs, from this study or published."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from neumann_pinn.study import published


class NotDecidableError(Exception):
    """Why the numbers at hand do not decide a claim."""


class Error(NamedTuple):
    """A method's error: the geometric mean over the seeds and the range; infinite if diverged."""

    method: str
    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.method} {self.mean:.2e}" if self.mean < math.inf else f"{self.method} diverged"
        )


@dataclass(frozen=True)
class Evidence:
    """Errors by clock, setting, method and seed; milliseconds per iteration by method."""

    accuracy: pd.DataFrame
    costs: Mapping[str, float]
    digits: int | None = None
    """Significant digits of the errors, if they were rounded."""

    def error(self, clock: str, setting: str, methods: Sequence[str]) -> Error:
        """The error of the best of some methods."""
        return min((self._error(clock, setting, name) for name in methods), key=lambda e: e.mean)

    def _error(self, clock: str, setting: str, method: str) -> Error:
        table = self.accuracy
        rows = (table["clock"] == clock) & (table["setting"] == setting)
        errors = table.loc[rows & (table["method"] == method), "error"].fillna(math.inf).tolist()
        if not errors:
            raise NotDecidableError(f"no {method} on {setting} in this study")
        half_units = [self._half_unit(error) for error in errors]
        return Error(
            method,
            math.exp(sum(map(math.log, errors)) / len(errors)) if len(errors) > 1 else errors[0],
            min(error - half for error, half in zip(errors, half_units, strict=True)),
            max(error + half for error, half in zip(errors, half_units, strict=True)),
        )

    def _half_unit(self, error: float) -> float:
        if self.digits is None or math.isinf(error):
            return 0.0
        return 0.5 * 10.0 ** (math.floor(math.log10(error)) - self.digits + 1)

    def cost(self, method: str) -> float:
        """Milliseconds per iteration."""
        if method not in self.costs:
            raise NotDecidableError(f"no cost of {method} in this study")
        return self.costs[method]

    @classmethod
    def published(cls) -> "Evidence":
        """The paper's own numbers; costs are published only for methods without embeddings."""
        ms = published.costs()
        costs = {
            "vanilla": ms["none"],
            "existing": ms["output_transform"],
            "cosine1": ms["cosine_embedding"],
        }
        return cls(published.accuracy(), costs, published.DIGITS)
