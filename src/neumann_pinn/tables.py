"""LaTeX tables, each with the protocol that made it; they need booktabs."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from neumann_pinn.accuracy import CLOCKS, geometric_means


def accuracy_table(
    table: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    labels: Mapping[str, str],
    protocol: str,
) -> str:
    """The paper's tables 2 and 3: best error bold, reference method italic."""
    table = table[table["clock"] == clock]
    groups = {name: table[table["setting"] == name] for name in settings}
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
    caption = (
        f"Relative $L^2$ errors at the {CLOCKS[clock]}: best bold, best vanilla italic"
        + (", geometric mean and range over the seeds" if table["seed"].nunique() > 1 else "")
        + f". {escape(protocol)}"
    )
    header = ["", *(escape(label) for label in settings.values())]
    return _tabular(header, rows, caption, f"tab:{clock}")


def settings_table(settings: Mapping[str, tuple[str, str, float]], protocol: str) -> str:
    """The settings: label, initial condition in LaTeX, and k of D = (k pi)^-2."""
    rows = [[escape(label), f"${g}$", f"$({k:g}\\pi)^{{-2}}$"] for label, g, k in settings.values()]
    header = ["Setting", "Initial condition $g(x)$", "Diffusivity $D$"]
    return _tabular(header, rows, f"Settings. {escape(protocol)}", "tab:settings")


def cost_table(
    costs: Mapping[str, float], vanilla: str, labels: Mapping[str, str], protocol: str
) -> str:
    """What an iteration of each method costs, and as a multiple of plain vanilla's."""
    rows = [
        [escape(label), f"{costs[name]:.2f}", f"{costs[name] / costs[vanilla]:.2f}"]
        for name, label in labels.items()
    ]
    header = ["Method", "ms an iteration", "relative to vanilla"]
    caption = f"Cost of an iteration, measured on the machine that trained. {escape(protocol)}"
    return _tabular(header, rows, caption, "tab:cost")


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
        return f"{left:g} \\text{{ for }} x < {at:g}, \\text{{ else }} {right:g}"
    return f"\\text{{samples of }}\\texttt{{{escape(str(value))}}}"


def escape(text: str) -> str:
    """Text in which LaTeX sees no commands."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: f"\\{c}" for c in "&%$#_{}"}
    return "".join(special.get(c, c) for c in text)


def _error(mean: float, errors: pd.Series, style: str) -> str:
    if np.isnan(mean):
        return "diverged"
    text = _scientific(mean)
    if style:
        text = f"\\{style}{{{text}}}"
    if len(errors) > 1:
        text += f"\\;[{_scientific(errors.min())}, {_scientific(errors.max())}]"
    return f"${text}$"


def _scientific(value: float) -> str:
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}\\cdot10^{{{int(exponent)}}}"


def _sum(terms: object) -> str:
    text = ""
    for factor, term in terms:  # type: ignore[attr-defined]
        size = "" if abs(factor) == 1 and term else f"{abs(factor):g}"
        sign = "-" if factor < 0 else "+" if text else ""
        text += f"{sign}{size}{term}"
    return text or "0"


def _times(b: object) -> str:
    return "" if str(b) == "1" else str(b)


def _power(m: int) -> str:
    return "" if m == 0 else "x" if m == 1 else f"x^{{{m}}}"


def _tabular(header: list[str], rows: list[list[str]], caption: str, label: str) -> str:
    body = " \\\\\n    ".join(" & ".join(row) for row in rows)
    return (
        "\\begin{table}\n"
        f"  \\caption{{{caption}}}\n"
        f"  \\label{{{label}}}\n"
        "  \\centering\n"
        f"  \\begin{{tabular}}{{l{'c' * (len(header) - 1)}}}\n"
        "    \\toprule\n"
        f"    {' & '.join(header)} \\\\\n"
        "    \\midrule\n"
        f"    {body} \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "\\end{table}\n"
    )
