"""What a user reads in the terminal at the start and at the end of a call."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from neumann_pinn.report.claims import claims_summary
from neumann_pinn.report.stamp import stamp, stamp_beyond
from neumann_pinn.study import published
from neumann_pinn.study.accuracy import rank_correlations, winners
from neumann_pinn.study.budget import Budget
from neumann_pinn.study.definition import Study


def plan(
    study: Study, runs: Sequence[Path], costs: Mapping[str, float], source: str, cores: int
) -> str:
    """What a call is going to train; `source` says where the milliseconds in `costs` come from."""
    left = [path for path in runs if not path.exists()]
    budget = Budget.make(study.budget(), costs)
    methods = [path.parts[-3] for path in left]
    seconds = sum(budget.to_train(method) * costs[method] / 1e3 for method in methods)
    minutes = math.ceil(seconds / 60 / cores)
    return (
        f"{stamp(study)}\n{len(runs)} runs, {len(runs) - len(left)} of them done\n"
        f"about {minutes} minute{'s' if minutes != 1 else ''} of training on {cores} "
        f"core{'s' if cores != 1 else ''} ({source}), plus a few seconds to start each job"
    )


def plan_beyond(study: Study, runs: Sequence[Path]) -> str:
    """The same for the problems beyond the study."""
    done = sum(path.exists() for path in runs)
    return f"{stamp_beyond(study)}\n{len(runs)} runs beyond the study, {done} of them done"


def summary(study: Study, accuracy: Path, claims: Path) -> str:
    """Which methods are best, and where everything is."""
    if not accuracy.exists():
        return f"Results are in {study.results}/"
    table = pd.read_csv(accuracy)
    lines = [
        f"\n{stamp(study)}",
        "Best method and its error, by setting:",
        winners(table).to_string(),
        "",
        "Rank correlation with the published errors:",
        rank_correlations(table, published.accuracy()).to_string(float_format="{:.2f}".format),
        "",
    ]
    if claims.exists():
        lines.append(f"Claims:  {claims_summary(pd.read_csv(claims))}: {study.results}/claims.md")
    lines += [
        f"Errors:  {accuracy}",
        f"Figures: {study.results}/figures/",
        f"Tables:  {study.results}/tables/",
    ]
    return "\n".join(lines)


def summary_beyond(study: Study, table: Path) -> str:
    """The same for the problems beyond the study."""
    text = generalisations_text(pd.read_csv(table))
    return f"\n{stamp_beyond(study)}\n{text}\n\nTable and figures: {table.parent}/"


def generalisations_text(table: pd.DataFrame) -> str:
    """The table of the runs beyond the study, for a terminal."""
    formats = {
        "error": "{:.2e}".format,
        "wall_violation": "{:.1e}".format,
        "seconds": "{:.1f}".format,
        "found_diffusivity": "{:.4f}".format,
        "diffusivity_limit": "{:.4f}".format,
    }
    shown = table[["problem", "method", "replicate", *formats]]
    return shown.to_string(index=False, formatters=formats, na_rep="")
