"""The LaTeX tables, each with the protocol that made it in its caption."""

from collections.abc import Iterable, Mapping
from textwrap import wrap

import numpy as np
import pandas as pd

from neumann_pinn.report.claims import EXPLANATION
from neumann_pinn.report.latex import escape, long_table, scientific, stacked, table
from neumann_pinn.study.accuracy import geometric_means, rank_correlations
from neumann_pinn.study.budget import CLOCKS
from neumann_pinn.study.published import ITERATIONS

HEADER_WIDTH = 13
"""Characters per line of a column's header."""
SHOWN = 4
"""How many comparisons a row of the claims' table shows."""


def accuracy_table(
    accuracy: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    labels: Mapping[str, str],
    protocol: str,
) -> str:
    """The paper's tables 2 and 3: best error bold, reference method italic."""
    accuracy = accuracy[accuracy["clock"] == clock]
    groups = {name: accuracy[accuracy["setting"] == name] for name in settings}
    means = {name: geometric_means(group) for name, group in groups.items()}
    rows = []
    for method, label in labels.items():
        cells = []
        for name, group in groups.items():
            of_method = group[group["method"] == method]
            style = "mathbf" if means[name][method] == means[name].min() else ""
            if not style and (of_method["reference"] == method).any():
                style = "mathit"
            cells.append(_error(means[name][method], of_method["error"], style))
        rows.append([escape(label), *cells])
    several = accuracy["replicate"].nunique() > 1
    caption = (
        f"Relative $L^2$ errors at the {CLOCKS[clock]}: best bold, best vanilla italic"
        + (", geometric mean and range over the replicates" if several else "")
        + f". {escape(protocol)}"
    )
    return table(["", *_headers(settings)], rows, caption, f"tab:{clock}")


def comparison_table(
    accuracy: pd.DataFrame,
    published: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    labels: Mapping[str, str],
    protocol: str,
) -> str:
    """Our errors above the published ones, where there are any, and their ratio."""
    rows = []
    for method, label in labels.items():
        cells = []
        for setting in settings:
            ours, theirs = (
                geometric_means(
                    errors[(errors["clock"] == clock) & (errors["setting"] == setting)]
                ).get(method, np.nan)
                for errors in (accuracy, published)
            )
            cells.append(_ratio(ours, theirs))
        rows.append([escape(label), *cells])
    ranks = rank_correlations(accuracy, published)[clock]
    known = [ranks.get(setting, np.nan) for setting in settings]
    rows.append(["Rank correlation", *("--" if np.isnan(r) else f"${r:.2f}$" for r in known)])
    caption = (
        f"Errors at the {CLOCKS[clock]}, here above published, their ratio in brackets, and the "
        "rank correlation of the two. "
        f"Here: {escape(protocol)}. Published: {ITERATIONS:,} iterations"
    )
    return table(["", *_headers(settings)], rows, caption, f"tab:compared_{clock}")


def settings_table(settings: Mapping[str, tuple[str, str, float]], protocol: str) -> str:
    """The settings: label, initial condition in LaTeX, and k of D = (k pi)^-2."""
    rows = [
        [escape(label), f"${g}$", f"$({_times(f'{k:g}')}\\pi)^{{-2}}$"]
        for label, g, k in settings.values()
    ]
    header = ["Setting", "Initial condition $g(x)$", "Diffusivity $D$"]
    return table(header, rows, f"Settings. {escape(protocol)}", "tab:settings")


def cost_table(
    costs: Mapping[str, float],
    published: Mapping[str, float],
    vanilla: str,
    labels: Mapping[str, str],
    protocol: str,
) -> str:
    """The cost of an iteration of each method, also relative to vanilla's, here and published."""
    rows = []
    for name, label in labels.items():
        cells = [escape(label), f"{costs[name]:.2f}", f"{costs[name] / costs[vanilla]:.2f}"]
        if name in published:
            cells += [f"{published[name]:.1f}", f"{published[name] / published[vanilla]:.2f}"]
        else:
            cells += ["--", "--"]
        rows.append(cells)
    header = ["Method", "ms", "relative", "published ms", "relative"]
    caption = (
        "Cost of an iteration in milliseconds and relative to vanilla: measured on the machine "
        "that trained, and published (Quadro RTX 5000, 21,500 points; without embeddings only). "
        f"{escape(protocol)}"
    )
    return table(header, rows, caption, "tab:cost")


def claims_table(claims: pd.DataFrame, protocol: str) -> str:
    """The paper's claims with our verdict and that of its own tables."""
    rows = [
        [
            escape(str(row.statement)),
            escape(str(row.place)),
            escape(str(row.verdict)),
            escape(_shortened(str(row.detail))),
            escape(str(row.published_verdict)),
        ]
        for row in claims.itertuples()
    ]
    header = ["Claim", "Place", "Here", "Numbers", "In its tables"]
    caption = f"The paper's claims. {escape(EXPLANATION)} {escape(protocol)}"
    return long_table(header, rows, caption, "tab:claims", (0.27, 0.13, 0.09, 0.32, 0.09))


def _shortened(detail: str) -> str:
    """The first comparisons of many; a row of a long table cannot be longer than a page."""
    first = detail.split(" | ")[:SHOWN]
    return detail if len(first) < SHOWN else " | ".join((*first, "..."))


def generalisations_table(results: pd.DataFrame, problems: Mapping[str, str], protocol: str) -> str:
    """Error, wall violation and seconds of each method on each problem beyond the study.

    Over replicates these are the geometric mean, the largest and the median. The lowest error of a
    problem is bold.
    """
    rows = []
    for problem, label in problems.items():
        group = results[results["problem"] == problem]
        errors = geometric_means(group)
        for k, method in enumerate(errors.index):
            runs = group[group["method"] == method]
            error = "diverged"
            if not np.isnan(errors[method]):
                text = scientific(errors[method])
                best = errors[method] == errors.min()
                error = f"$\\mathbf{{{text}}}$" if best else f"${text}$"
            rows.append(
                [
                    escape(label) if k == 0 else "",
                    escape(method),
                    error,
                    _violation(runs["wall_violation"].max()),
                    f"{runs['seconds'].median():.1f}",
                    _found(runs.dropna(subset="found_diffusivity")),
                ]
            )
    header = ["Problem", "Method", "Error", "Wall violation", "Seconds", "Found $D$"]
    caption = (
        "Beyond the study: relative error, largest violation of a condition at the walls, "
        "seconds of training alongside other runs, and the $D$ that was found; $\\sigma$ is the "
        "smallest standard deviation that the samples' noise leaves to an unbiased estimate. "
        f"{escape(protocol)}"
    )
    return table(header, rows, caption, "tab:generalisations", "llccrc")


def _violation(miss: float) -> str:
    """A wall violation; none where no slope is prescribed."""
    if np.isnan(miss):
        return "--"
    return f"${scientific(miss)}$" if miss else "$0$"


def latex_initial(initial: Mapping[str, object]) -> str:
    """An initial condition of the configuration in LaTeX."""
    ((kind, value),) = initial.items()
    if kind == "cosines" and isinstance(value, Mapping):
        return _sum((float(a), f"\\cos({_times(b)}\\pi x)") for b, a in value.items())
    if kind == "polynomial" and isinstance(value, list):
        powers = [(float(c), _power(m)) for m, c in enumerate(value) if c]
        return _sum(reversed(powers))
    if kind == "step" and isinstance(value, Mapping):
        left, right, at = value["left"], value["right"], value["position"]
        return f"{left:g} \\mbox{{ for }} x < {at:g}, \\mbox{{ else }} {right:g}"
    return f"\\mbox{{samples of \\texttt{{{escape(str(value))}}}}}"


def _headers(settings: Mapping[str, str]) -> list[str]:
    wrapped = (wrap(label, HEADER_WIDTH) for label in settings.values())
    return [stacked([escape(line) for line in lines], "b") for lines in wrapped]


def _error(mean: float, errors: pd.Series, style: str) -> str:
    if np.isnan(mean):
        return "diverged"
    text = scientific(mean)
    if style:
        text = f"\\{style}{{{text}}}"
    if len(errors) == 1:
        return f"${text}$"
    return stacked([f"${text}$", f"\\scriptsize {errors.min():.1e} to {errors.max():.1e}"])


def _found(runs: pd.DataFrame) -> str:
    """The D that was found, and how far from the true one it is, compared with the noise."""
    if runs.empty:
        return ""
    found, limit = runs["found_diffusivity"].median(), runs["diffusivity_limit"].median()
    if np.isnan(limit):
        return f"{found:.4f}"
    misses = (found - runs["diffusivity"].median()) / limit
    return f"{found:.4f} (${misses:+.1f}\\sigma$)"


def _ratio(ours: float, theirs: float) -> str:
    if np.isnan(ours):
        return "diverged"
    if np.isnan(theirs):
        return f"${scientific(ours)}$"
    lines = [f"${scientific(ours)}$", f"\\scriptsize ${scientific(theirs)}$"]
    return stacked([*lines, f"\\scriptsize ({float(f'{ours / theirs:.3g}'):,g})"])


def _sum(terms: Iterable[tuple[float, str]]) -> str:
    text = ""
    for factor, term in terms:
        size = "" if abs(factor) == 1 and term else f"{abs(factor):g}"
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{size}{term}"
    return text or "0"


def _times(b: object) -> str:
    return "" if str(b) == "1" else str(b)


def _power(m: int) -> str:
    return "" if m == 0 else "x" if m == 1 else f"x^{{{m}}}"
