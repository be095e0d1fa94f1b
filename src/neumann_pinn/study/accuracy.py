"""From histories to the paper's numbers: the two clocks and the relative improvement.

A run is trained once. `fixed_iterations` reads its history at the protocol's iterations;
`fixed_time` at the last evaluation within the time that plain vanilla takes for that many, given
the cost of an iteration of each method.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from neumann_pinn.study.budget import CLOCKS, Budget


def accuracy(
    histories: Mapping[tuple[str, str, int], pd.DataFrame],
    budget: Budget,
    constraints: Mapping[str, str],
    wall_clock: bool,
) -> pd.DataFrame:
    """A tidy table: each run's error at each clock, and its improvement on the best vanilla.

    With `wall_clock`, fixed time goes by each run's recorded seconds instead of the costs.
    """
    rows = []
    for (setting, method, replicate), history in histories.items():
        for clock in CLOCKS:
            wanted = budget.iterations
            if clock == "fixed_time":
                wanted = budget.at_fixed_time(method)
            within = history["iteration"] <= wanted
            if clock == "fixed_time" and wall_clock:
                within = history["seconds"] <= recorded_seconds(
                    histories[setting, budget.vanilla, replicate], budget.iterations
                )
            last = history.loc[within].iloc[-1]
            diverged = not np.isfinite([last["loss"], last["error"]]).all()
            if not (diverged or wall_clock) and last["iteration"] < wanted:
                raise ValueError(
                    f"the history of {setting}/{method}/{replicate} ends at iteration "
                    f"{last['iteration']:.0f}, before {wanted}: delete it to continue its training"
                )
            rows.append(
                {
                    "clock": clock,
                    "setting": setting,
                    "method": method,
                    "replicate": replicate,
                    "error": np.nan if diverged else last["error_at_best_loss"],
                    "iterations": int(last["iteration"]),
                    "seconds": last["seconds"],
                    "status": "diverged" if diverged else "finished",
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


def recorded_seconds(history: pd.DataFrame, iterations: int) -> float:
    """The recorded seconds of `iterations` iterations, extrapolated if the run ended before."""
    last = history[history["iteration"] <= iterations].iloc[-1]
    return float(last["seconds"] * iterations / max(last["iteration"], 1))


def geometric_means(table: pd.DataFrame) -> pd.Series:
    """The geometric mean of the errors over the replicates, by method, in the methods' order.

    A method with a diverged replicate has none.
    """
    return table.groupby("method", sort=False)["error"].agg(
        lambda errors: (
            np.exp(np.log(errors).mean(skipna=False)) if len(errors) > 1 else errors.iloc[0]
        )
    )


def mean_improvements(group: pd.DataFrame) -> pd.Series:
    """The improvement of each method's geometric mean on the reference's, at one clock and setting.

    A method with a diverged replicate has none; nor has any where all vanilla variants diverged.
    """
    means = geometric_means(group)
    reference = group["reference"].iloc[0]
    best = means.get(reference, np.nan)
    return 100 * (best - means) / best


def best_method(table: pd.DataFrame, clock: str, setting: str) -> str:
    """The method with the lowest error; the first one where all diverged."""
    group = table[(table["clock"] == clock) & (table["setting"] == setting)]
    return str(geometric_means(group).fillna(np.inf).idxmin())


def rank_correlations(table: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """Spearman's rank correlation with the published errors: settings x clocks.

    Over the methods that both have; unknown for fewer than three.
    """
    cells = {}
    for clock in CLOCKS:
        for setting in table["setting"].unique():
            ours, theirs = (
                geometric_means(t[(t["clock"] == clock) & (t["setting"] == setting)]).dropna()
                for t in (table, published)
            )
            both = ours.index.intersection(theirs.index)
            known = ours[both].rank().corr(theirs[both].rank()) if len(both) > 2 else np.nan
            cells[setting, clock] = known
    return pd.Series(cells).unstack().reindex(table["setting"].unique())[list(CLOCKS)]


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
