"""Our errors against the published ones: a point for each method and setting."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from neumann_pinn.report.figures.style import (
    COLOURS,
    CONSTRAINTS,
    MARKERS,
    Style,
    by_size,
    figure_style,
    panels,
    size_words,
    stamp,
)
from neumann_pinn.study.accuracy import rank_correlations
from neumann_pinn.study.budget import CLOCKS
from neumann_pinn.study.statistics import Spread, interval


def agreement(
    table: pd.DataFrame,
    published: pd.DataFrame,
    spread: Spread,
    clock: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """Ours with its interval over the published error; the diagonal is equality.

    The spread is that of a ratio; a single error's is smaller by the root of 2.
    """
    ranks = rank_correlations(table, published)[clock]
    ours, theirs = (errors[errors["clock"] == clock] for errors in (table, published))
    markers = by_size(styles, MARKERS)
    single = Spread(spread.deviation / np.sqrt(2), spread.degrees)
    with figure_style():
        figure, axes_of = panels(len(settings), 2.3)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=True):
            ends = []
            for method, style in styles.items():
                here, there = (_errors(errors, setting, method) for errors in (ours, theirs))
                if not len(here) or not len(there):
                    continue
                mean, low, high = np.exp(interval(list(np.log(here)), single))
                axes.errorbar(
                    there[0],
                    mean,
                    [[mean - low], [high - mean]],
                    marker=markers[style.size],
                    color=COLOURS[style.constraint],
                    markersize=4,
                    linewidth=0.7,
                )
                ends += [mean, there[0]]
            axes.set(
                xscale="log",
                yscale="log",
                title=f"{label}\nrank correlation {_said(ranks, setting)}",
            )
            if ends:
                line = [min(ends) / 3, 3 * max(ends)]
                axes.plot(line, line, color="0.7", linewidth=0.7, zorder=0)
            axes.set_xlabel("Published error", fontsize=7)
        for axes in axes_of[::3]:
            axes.set_ylabel("Error here", fontsize=7)
        figure.legend(handles=_handles(styles), loc="outside lower center", ncols=3, fontsize=7)
        stamp(
            figure,
            f"{protocol}\n{CLOCKS[clock].capitalize()}; bars: 95 % intervals; line: equal errors",
        )
    return figure


def _errors(table: pd.DataFrame, setting: str, method: str) -> np.ndarray:
    rows = table[(table["setting"] == setting) & (table["method"] == method)]
    return rows["error"].dropna().to_numpy()


def _said(ranks: pd.Series, setting: str) -> str:
    value = ranks.get(setting, np.nan)
    return "unknown" if np.isnan(value) else f"{value:.2f}"


def _handles(styles: Mapping[str, Style]) -> list[Line2D]:
    """A legend's entries: colours for constraints, markers for sizes."""
    used = {style.constraint for style in styles.values()}
    colours = [
        Line2D([], [], color=COLOURS[name], marker="o", linestyle="none", label=label)
        for name, label in CONSTRAINTS.items()
        if name in used
    ]
    sizes = [
        Line2D([], [], color="0.4", marker=marker, linestyle="none", label=size_words(size))
        for size, marker in by_size(styles, MARKERS).items()
    ]
    return colours + sizes
