"""Errors by method and setting at a glance, ours and the published ones."""

from collections.abc import Mapping
from textwrap import fill
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neumann_pinn.report.figures.style import WIDTH, figure_style, stamp
from neumann_pinn.study.accuracy import geometric_means
from neumann_pinn.study.budget import CLOCKS
from neumann_pinn.study.published import ITERATIONS

PAPER = f"Paper ({ITERATIONS:,} iterations)"


def error_heatmap(
    table: pd.DataFrame,
    published: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    methods: Mapping[str, str],
    protocol: str,
) -> Figure:
    """Our errors and the published ones as colours and numbers, on one logarithmic scale."""
    ours, theirs = (_matrix(errors, clock, settings, methods) for errors in (table, published))
    logs = np.log10(np.concatenate((ours.to_numpy().ravel(), theirs.to_numpy().ravel())))
    low, high = float(np.nanmin(logs)), float(np.nanmax(logs))
    with figure_style():
        height = 1.3 + 0.24 * len(methods)
        figure, panels = plt.subplots(
            1, 2, figsize=(WIDTH, height), sharey=True, layout="constrained"
        )
        for axes, errors, title in ((panels[0], ours, "This study"), (panels[1], theirs, PAPER)):
            sns.heatmap(
                np.log10(errors),
                ax=axes,
                annot=errors.map(lambda e: "" if np.isnan(e) else f"{e:.1e}"),
                fmt="",
                annot_kws={"fontsize": 5.5},
                cmap="cividis_r",
                vmin=low,
                vmax=high,
                linewidths=0.5,
                cbar=False,
                xticklabels=[fill(label, 11) for label in settings.values()],
                yticklabels=list(methods.values()),
            )
            for text, colour in zip(axes.texts, _cell_colours(axes), strict=True):
                text.set_color(_readable_on(colour))
            axes.set_facecolor("0.92")
            axes.set_title(title)
            axes.set(xlabel="", ylabel="")
            axes.tick_params(length=0, labelsize=6.5)
            axes.tick_params(axis="x", rotation=0, labelsize=6)
        bar = figure.colorbar(panels[1].collections[0], ax=panels, pad=0.01, aspect=30)
        ticks = range(int(np.ceil(low)), int(np.floor(high)) + 1)
        bar.set_ticks(list(ticks), labels=[f"$10^{{{tick}}}$" for tick in ticks])
        bar.set_label(f"Relative $L^2$ error, {CLOCKS[clock]}", fontsize=7)
        bar.outline.set_visible(False)
        stamp(figure, f"{protocol}\nEmpty: diverged or not published")
    return figure


def _cell_colours(axes: Axes) -> np.ndarray:
    """The colours of the cells that have numbers, in the order of the numbers."""
    mesh: Any = axes.collections[0]
    mesh.update_scalarmappable()
    return np.asarray(mesh.get_facecolors())[~np.ma.getmaskarray(mesh.get_array()).ravel()]


def _readable_on(colour: np.ndarray) -> str:
    """Black or white, whichever has the higher contrast (WCAG 2: luminance above 0.179)."""
    linear = np.where(
        colour[:3] <= 0.04045, colour[:3] / 12.92, ((colour[:3] + 0.055) / 1.055) ** 2.4
    )
    return "black" if linear @ (0.2126, 0.7152, 0.0722) > 0.179 else "white"


def _matrix(
    table: pd.DataFrame, clock: str, settings: Mapping[str, str], methods: Mapping[str, str]
) -> pd.DataFrame:
    """Geometric means over the replicates, methods x settings; missing ones are NaN."""
    columns = {}
    for setting in settings:
        group = table[(table["clock"] == clock) & (table["setting"] == setting)]
        columns[setting] = geometric_means(group).reindex(list(methods))
    return pd.DataFrame(columns)
