"""Error against cost: the PINN methods and classical solvers on the same axes."""

import itertools
from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from neumann_pinn.report.figures.style import (
    COLOURS,
    MARKERS,
    Style,
    by_size,
    figure_style,
    panels,
    stamp,
)
from neumann_pinn.study.accuracy import geometric_means

SOLVER_COLOURS = ("black", "0.5")
SMALLEST = 1e-16


def error_against_cost(
    table: pd.DataFrame,
    costs: Mapping[str, float],
    baselines: Mapping[str, pd.DataFrame],
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """Each method at the end of its fixed iterations, each solver at its resolutions."""
    table = table[table["clock"] == "fixed_iterations"]
    markers = by_size(styles, MARKERS)
    solvers = list(next(iter(baselines.values()))["solver"].unique())
    with figure_style():
        figure, axes_of = panels(len(settings) + 1, 2.1, sharex=True, sharey=True)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=False):
            group = table[table["setting"] == setting]
            errors = geometric_means(group)
            iterations = group.groupby("method", sort=False)["iterations"].first()
            for method, style in styles.items():
                axes.plot(
                    iterations[method] * costs[method] / 1e3,
                    errors[method],
                    linestyle="none",
                    marker=markers[style.size],
                    markersize=4,
                    markerfacecolor="none",
                    color=COLOURS[style.constraint],
                )
            for solver, colour in zip(solvers, itertools.cycle(SOLVER_COLOURS), strict=False):
                rows = baselines[setting][baselines[setting]["solver"] == solver]
                axes.plot(
                    rows["seconds"],
                    np.maximum(rows["error"], SMALLEST),
                    color=colour,
                    marker=".",
                    markersize=4,
                    linewidth=0.8,
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(label)
            axes.set_xlabel("Seconds")
            axes.tick_params(labelbottom=True)
        for axes in axes_of[:-1:3]:
            axes.set_ylabel("Relative $L^2$ error")
        handles = [
            Line2D(
                [],
                [],
                linestyle="none",
                marker=markers[style.size],
                markersize=4,
                markerfacecolor="none",
                color=COLOURS[style.constraint],
                label=style.label,
            )
            for style in styles.values()
        ]
        handles += [
            Line2D([], [], color=colour, marker=".", linewidth=0.8, label=solver)
            for solver, colour in zip(solvers, itertools.cycle(SOLVER_COLOURS), strict=False)
        ]
        axes_of[-1].set_axis_off()
        axes_of[-1].legend(handles=handles, loc="center", fontsize=7)
        stamp(figure, f"{protocol}\nSolvers: finer from left to right")
    return figure
