"""A setting's solution as maps, and the wall slopes of every method."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from neumann_pinn.report.figures.style import (
    WIDTH,
    Style,
    figure_style,
    method_handles,
    method_lines,
    stamp,
)
from neumann_pinn.study.predictions import Prediction

FLOOR = 1e-10
"""Where a slope of exactly zero is drawn on the logarithmic axis."""


def solution_maps(
    prediction: Prediction, setting: str, styles: Mapping[str, Style], protocol: str
) -> Figure:
    """Reference, best prediction and its error over x and t; |u_x| at both walls over t."""
    with figure_style():
        figure = plt.figure(figsize=(WIDTH, 4.6), layout="constrained")
        halves: Any = figure.subfigures(2, 1, height_ratios=[1, 1.1])
        upper, lower = halves
        maps = upper.subplots(1, 3, sharey=True)
        best = styles[str(prediction.best_method)].label
        error = prediction.best - prediction.reference
        extreme = float(np.abs(prediction.reference).max())
        low = -extreme if prediction.reference.min() < 0 else 0.0
        _map(maps[0], prediction, prediction.reference, f"{setting}: reference", (low, extreme))
        _map(maps[1], prediction, prediction.best, f"Best: {best}", (low, extreme))
        size = float(np.abs(error).max())
        _map(maps[2], prediction, error, "Its error", (-size, size), "PuOr")
        maps[0].set_ylabel("$t$")
        walls = lower.subplots(1, 3, width_ratios=[1, 1, 0.75])
        walls[0].sharey(walls[1])
        for wall, axes in enumerate(walls[:2]):
            _slopes(axes, prediction, wall, styles)
        walls[0].set_ylabel("Wall slope")
        walls[2].set_axis_off()
        walls[2].legend(handles=method_handles(styles), loc="center", fontsize=7)
        stamp(figure, protocol)
    return figure


def _map(
    axes: Axes,
    at: Prediction,
    values: np.ndarray,
    title: str,
    limits: tuple[float, float],
    colours: str = "viridis",
) -> None:
    image = axes.imshow(
        values,
        extent=(at.x[0], at.x[-1], at.t[0], at.t[-1]),
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
    )
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02)
    bar.ax.ticklabel_format(style="sci", scilimits=(-2, 3))
    bar.ax.yaxis.get_offset_text().set_fontsize(6)
    bar.ax.tick_params(labelsize=6)
    axes.set_title(title, fontsize=8)
    axes.set_xlabel("$x$")


def _slopes(axes: Axes, at: Prediction, wall: int, styles: Mapping[str, Style]) -> None:
    lines = method_lines(styles)
    for method, slopes in zip(at.methods, at.wall_slopes[:, wall], strict=True):
        axes.plot(at.wall_t, np.maximum(np.abs(slopes), FLOOR), linewidth=1, **lines[str(method)])
    axes.set_yscale("log")
    ticks = [FLOOR, 1e-8, 1e-6, 1e-4, 1e-2, 1.0, 1e2]
    highest = max(1.0, float(np.nanmax(np.abs(at.wall_slopes))))
    shown = [tick for tick in ticks if tick <= 3 * highest]
    axes.set_ylim(FLOOR / 3, 3 * highest)
    axes.set_yticks(shown, ["0", *(f"$10^{{{round(np.log10(tick))}}}$" for tick in shown[1:])])
    axes.minorticks_off()
    axes.set_title(f"$|u_x({wall}, t)|$", fontsize=8)
    axes.set_xlabel("$t$")
