"""From histories to the paper's numbers: the two clocks and the relative improvement.

A run is trained once. `fixed_iterations` reads its history at the protocol's iterations;
`fixed_time` at the last evaluation within the time that plain vanilla takes for as many, by what an
iteration of each method costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

CLOCKS = ("fixed_time", "fixed_iterations")


@dataclass(frozen=True)
class Budget:
    """Iterations at both clocks; `costs` are milliseconds an iteration of each method."""

    iterations: int
    evaluate_every: int
    costs: Mapping[str, float]
    vanilla: str

    @classmethod
    def make(cls, parameters: Mapping[str, Any], calibrated: Mapping[str, float]) -> "Budget":
        """The budget of a protocol; measured costs where it does not name its own."""
        cost = parameters["cost"]
        return cls(
            parameters["iterations"],
            parameters["evaluate_every"],
            cost if isinstance(cost, Mapping) else calibrated,
            parameters["vanilla"],
        )

    def at_fixed_time(self, method: str) -> int:
        """The last evaluation within vanilla's time, in iterations of this method."""
        affordable = self.iterations * self.costs[self.vanilla] / self.costs[method]
        return int(affordable * (1 + 1e-12)) // self.evaluate_every * self.evaluate_every

    def to_train(self, method: str) -> int:
        """How long a run must be for both clocks."""
        return max(self.iterations, self.at_fixed_time(method))


def by_constraint(costs: Mapping[str, float], constraints: Mapping[str, str]) -> dict[str, float]:
    """Milliseconds of each method from those of each constraint."""
    return {method: costs[constraint] for method, constraint in constraints.items()}


def accuracy(
    histories: Mapping[tuple[str, str, int], pd.DataFrame],
    statuses: Mapping[tuple[str, str, int], str],
    budget: Budget,
    constraints: Mapping[str, str],
    wall_clock: bool,
) -> pd.DataFrame:
    """A tidy table: for each clock and run the error, and the improvement on the best vanilla.

    With `wall_clock`, fixed time is each run's own recorded seconds instead of the costs.
    """
    rows = []
    for (setting, method, seed), history in histories.items():
        for clock in CLOCKS:
            within = history["iteration"] <= budget.iterations
            if clock == "fixed_time" and wall_clock:
                vanilla = histories[setting, budget.vanilla, seed]
                limit = vanilla.loc[vanilla["iteration"] <= budget.iterations, "seconds"].iloc[-1]
                within = history["seconds"] <= limit
            elif clock == "fixed_time":
                within = history["iteration"] <= budget.at_fixed_time(method)
            last = history.loc[within].iloc[-1]
            diverged = statuses[setting, method, seed] == "diverged"
            rows.append(
                {
                    "clock": clock,
                    "setting": setting,
                    "method": method,
                    "seed": seed,
                    "error": np.nan if diverged else last["error_at_best_loss"],
                    "iterations": int(last["iteration"]),
                    "seconds": last["seconds"],
                    "status": statuses[setting, method, seed],
                }
            )
    table = pd.DataFrame(rows)
    table["reference"] = ""
    table["relative_improvement"] = np.nan
    for _, group in table.groupby(["clock", "setting"], sort=False):
        means = geometric_means(group)
        vanillas = means[[constraints[m] == "none" for m in means.index]].dropna()
        if len(vanillas):
            best = float(vanillas.min())
            table.loc[group.index, "reference"] = str(vanillas.idxmin())
            table.loc[group.index, "relative_improvement"] = 100 * (best - group["error"]) / best
    return table


def geometric_means(table: pd.DataFrame) -> pd.Series:
    """The geometric mean of the errors over the seeds, by method, in the methods' order."""
    return table.groupby("method", sort=False)["error"].agg(
        lambda errors: np.exp(np.log(errors).mean()) if len(errors) > 1 else errors.iloc[0]
    )


def winners(table: pd.DataFrame) -> pd.DataFrame:
    """The best method of each setting at each clock."""
    rows = []
    for (clock, setting), group in table.groupby(["clock", "setting"], sort=False):
        means = geometric_means(group).dropna()
        if len(means):
            rows.append((setting, clock, f"{means.idxmin()} ({means.min():.2e})"))
    best = pd.DataFrame(rows, columns=["setting", "clock", "best"])
    return best.pivot(index="setting", columns="clock", values="best").reindex(
        index=best["setting"].unique(), columns=list(CLOCKS)
    )
