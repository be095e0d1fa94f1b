"""Error against loss: whether a small loss means a small error, and where runs overfit."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from neumann_pinn.report.figures.style import (
    Style,
    figure_style,
    method_handles,
    method_lines,
    panels,
    stamp,
)


def error_against_loss(
    histories: Mapping[tuple[str, str, int], pd.DataFrame],
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """Each run's path of loss and error, and how far its held-out loss is from its lowest loss."""
    lines = method_lines(styles)
    with figure_style():
        figure, axes_of = panels(len(settings) + 1, 2.1, sharex=True, sharey=True)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=False):
            for (of, method, _), history in histories.items():
                finite = history[np.isfinite(history[["loss", "error"]]).all(axis=1)]
                if of != setting or finite.empty:
                    continue
                axes.plot(finite["loss"], finite["error"], **lines[method], linewidth=0.6)
                best = finite.iloc[int(finite["loss"].argmin())]
                ends = [best["loss"], best["loss_held_out"]]
                colour = lines[method]["color"]
                axes.plot(ends, [best["error"]] * 2, color=colour, linewidth=2, alpha=0.5)
                axes.plot(ends[0], best["error"], "o", color=colour, markersize=3)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(label)
            axes.set_xlabel("Loss")
            axes.tick_params(labelbottom=True)
        for axes in axes_of[:-1:3]:
            axes.set_ylabel("Relative $L^2$ error")
        dot: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3}
        handles = [
            *method_handles(styles),
            Line2D([], [], color="0.3", label="lowest loss", **dot),
            Line2D([], [], color="0.3", linewidth=2, alpha=0.5, label="to the loss held out"),
        ]
        axes_of[-1].set_axis_off()
        axes_of[-1].legend(handles=handles, loc="center", fontsize=6.5)
        stamp(figure, protocol)
    return figure
