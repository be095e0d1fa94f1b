"""The numbers that claims are judged by: errors and costs, from this study or published."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neumann_pinn.study import published
from neumann_pinn.study.facts import Facts
from neumann_pinn.study.statistics import LEVEL, Interval, Spread, interval

if TYPE_CHECKING:
    import pandas as pd

DIVERGED = 10.0
"""The error that a diverged run counts as; predicting zero has an error of 1."""
PASSED = 2.0
"""A trivial predictor is clearly passed by an error that is smaller by this factor."""


class NotDecidableError(Exception):
    """Why the numbers at hand do not decide a claim."""


class NothingLearntError(NotDecidableError):
    """An error is no smaller than what predictions without training reach."""


class Errors(NamedTuple):
    """The error of the best of some methods in each replicate, and the best one's name."""

    best: str
    by_replicate: np.ndarray

    @property
    def mean(self) -> float:
        """Their geometric mean."""
        return float(np.exp(np.log(self.by_replicate).mean()))

    def __str__(self) -> str:
        return f"{self.best} {self.mean:.2e}"


@dataclass(frozen=True)
class Evidence:
    """Errors by clock, setting, method and replicate; milliseconds per iteration by method."""

    accuracy: pd.DataFrame
    costs: Mapping[str, float]
    facts: Mapping[str, Facts] = field(default_factory=dict)
    """What is known of the settings without training."""
    spread: Spread | None = field(default_factory=published.spread)
    """The known spread between replicates; None to take the numbers as they are printed."""

    def errors(self, clock: str, setting: str, methods: Sequence[str]) -> Errors:
        """The errors of the best of some methods."""
        for name in methods:
            if (clock, setting, name) not in self._errors:
                raise NotDecidableError(f"no {name} on {setting} in this study")
        each = [Errors(name, self._errors[clock, setting, name]) for name in methods]
        best = min(each, key=lambda errors: errors.mean)
        return Errors(best.best, np.min([errors.by_replicate for errors in each], 0))

    @cached_property
    def _errors(self) -> dict[Any, np.ndarray]:
        """The errors of each clock, setting and method, by replicate."""
        table = self.accuracy.sort_values("replicate")
        groups = table.groupby(["clock", "setting", "method"])["error"]
        return {key: np.minimum(e.fillna(DIVERGED).to_numpy(), DIVERGED) for key, e in groups}

    def interval(self, numbers: np.ndarray, level: float = LEVEL) -> Interval:
        """What numbers from each replicate say about their mean."""
        if self.spread is not None:
            return interval(numbers.tolist(), self.spread, level)
        mean = float(numbers.mean())
        return Interval(mean, mean - published.ROUNDING, mean + published.ROUNDING)

    def check_learnt(self, setting: str, errors: Errors) -> None:
        """Reject an error that has not clearly passed what predictions without training reach."""
        limit = self.facts[setting].trivial if setting in self.facts else 1.0
        if errors.mean > limit / PASSED:
            raise NothingLearntError(
                f"{setting}: {errors} has not clearly passed a trivial predictor ({limit:.2g}), "
                "train longer"
            )

    def cost(self, method: str) -> float:
        """Milliseconds per iteration."""
        if method not in self.costs:
            raise NotDecidableError(f"no cost of {method} in this study")
        return self.costs[method]

    @classmethod
    def published(cls, facts: Mapping[str, Facts]) -> Evidence:
        """The paper's own numbers as printed: one run each, of which the spread is not known.

        Costs are published only for methods without embeddings.
        """
        ms = published.costs()
        costs = {
            "vanilla": ms["none"],
            "existing": ms["output_transform"],
            "cosine1": ms["cosine_embedding"],
        }
        return cls(published.accuracy(), costs, facts, None)


def learnt(accuracy: pd.DataFrame, facts: Mapping[str, Facts]) -> pd.DataFrame:
    """The errors of methods that have clearly passed the trivial predictors of their setting."""
    groups = accuracy.groupby(["clock", "setting", "method"])["error"]
    means = groups.transform(lambda errors: np.exp(np.log(errors).mean()))
    limits = accuracy["setting"].map(lambda setting: facts[setting].trivial)
    return accuracy[means <= limits / PASSED]


def log_ratio(higher: Errors, lower: Errors) -> np.ndarray:
    """The logarithm of the ratio of two errors in each replicate."""
    return np.log(higher.by_replicate / lower.by_replicate)


def times(logarithm: float) -> str:
    """A log-ratio as a factor."""
    return f"{math.exp(logarithm):.3g}"
