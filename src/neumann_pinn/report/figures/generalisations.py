"""The problems beyond the study: error, wall violation and seconds of each method."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.pyplot import subplots

from neumann_pinn.report.figures.style import (
    COLOURS,
    CONSTRAINTS,
    MARKERS,
    WIDTH,
    figure_style,
    stamp,
)

EXACT = 1e-17
"""Where an exact zero is drawn on a logarithmic axis."""


def generalisations(table: pd.DataFrame, labels: Mapping[str, str], protocol: str) -> Figure:
    """A row for each problem, a panel for each measure, a marker for each run."""
    rows = {problem: row for row, problem in enumerate(labels)}
    with figure_style():
        figure, (errors, walls, seconds) = subplots(
            1,
            3,
            figsize=(WIDTH, 0.33 * len(labels) + 1.2),
            layout="constrained",
            sharey=True,
            width_ratios=(1, 1.3, 0.8),
        )
        for place, constraint in enumerate(CONSTRAINTS):
            group = table[table["constraint"] == constraint]
            if group.empty:
                continue
            y = [rows[problem] + 0.18 * (place - 1.5) for problem in group["problem"]]
            marks = {
                "linestyle": "none",
                "marker": MARKERS[place],
                "markersize": 4,
                "color": COLOURS[constraint],
                "label": CONSTRAINTS[constraint],
            }
            errors.plot(group["error"], y, **marks)
            walls.plot(np.maximum(group["wall_violation"], EXACT), y, **marks)
            seconds.plot(group["seconds"], y, **marks)
        errors.set(xscale="log", xlabel="Relative $L^2$ error")
        walls.set(xscale="log", xlabel="Largest violation at the walls", xlim=(EXACT / 3, None))
        walls.set_xticks([EXACT, 1e-14, 1e-11, 1e-8, 1e-5, 1e-2])
        walls.set_xticklabels(["0", *(f"$10^{{{k}}}$" for k in (-14, -11, -8, -5, -2))])
        walls.minorticks_off()
        seconds.set(xlabel="Seconds of training", xlim=(0, None))
        errors.set_yticks(range(len(labels)), labels.values())
        errors.invert_yaxis()
        for axes in (errors, walls, seconds):
            _stripes(axes, len(labels))
        figure.legend(
            *errors.get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=7
        )
        stamp(figure, protocol)
    return figure


def _stripes(axes: Axes, rows: int) -> None:
    axes.set_ylim(rows - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    for row in range(0, rows, 2):
        axes.axhspan(row - 0.5, row + 0.5, color="0.95", zorder=0, linewidth=0)
