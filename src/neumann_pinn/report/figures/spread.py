"""How much the errors differ from replicate to replicate."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from neumann_pinn.report.figures.style import COLOURS, Style, figure_style, panels, stamp
from neumann_pinn.study.accuracy import geometric_means
from neumann_pinn.study.budget import CLOCKS


def spread(
    table: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """Each replicate's error as a dot, the geometric mean as a bar; one panel for each setting."""
    table = table[table["clock"] == clock]
    places = {method: len(styles) - 1 - i for i, method in enumerate(styles)}
    with figure_style():
        figure, axes_of = panels(len(settings), 0.5 + 0.19 * len(styles), sharey=True)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=True):
            group = table[table["setting"] == setting]
            for method, style in styles.items():
                errors = group.loc[group["method"] == method, "error"].dropna()
                colour = COLOURS[style.constraint]
                heights = [places[method]] * len(errors)
                axes.plot(errors, heights, "o", markersize=3, color=colour, alpha=0.6)
                mean = geometric_means(group)[method]
                axes.plot([mean], [places[method]], "|", markersize=9, color=colour)
            axes.set_xscale("log")
            axes.xaxis.set_minor_formatter(LogFormatterSciNotation(minor_thresholds=(1, 0.5)))
            axes.set_yticks(list(places.values()), [style.label for style in styles.values()])
            axes.tick_params(axis="y", labelsize=6.5)
            axes.grid(axis="x", linewidth=0.3)
            axes.set_title(label)
        for axes in axes_of[-3:]:
            axes.set_xlabel(f"Relative $L^2$ error, {CLOCKS[clock]}", fontsize=7)
        stamp(figure, f"{protocol}\nDot: a replicate; bar: geometric mean")
    return figure
