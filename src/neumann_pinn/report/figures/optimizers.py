"""Error against seconds, two protocols side by side: what another optimizer buys."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from neumann_pinn.report.figures.style import figure_style, panels, stamp

PROTOCOL_COLOURS = ("#d55e00", "#0072b2")
"""Vermilion and blue, which everyone can tell apart."""

Histories = Mapping[tuple[str, str, int], pd.DataFrame]


def error_against_seconds(
    protocols: Mapping[str, Histories], settings: Mapping[str, str], protocol: str
) -> Figure:
    """All runs of two protocols as thin lines, the best run of each as a thick one."""
    with figure_style():
        figure, axes_of = panels(len(settings) + 1, 2.1, sharex=True, sharey=True)
        for axes, (setting, label) in zip(axes_of, settings.items(), strict=False):
            for colour, histories in zip(PROTOCOL_COLOURS, protocols.values(), strict=True):
                runs = [h for (of, _, _), h in histories.items() if of == setting]
                best = min(runs, key=_last_error)
                for run in runs:
                    shown = run[run["seconds"] > 0]
                    axes.plot(
                        shown["seconds"],
                        shown["error_at_best_loss"],
                        color=colour,
                        linewidth=1.6 if run is best else 0.5,
                        alpha=1 if run is best else 0.5,
                    )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_title(label)
            axes.set_xlabel("Training time / s")
            axes.tick_params(labelbottom=True)
        for axes in axes_of[:-1:3]:
            axes.set_ylabel("Relative $L^2$ error")
        handles = [
            Line2D([], [], color=colour, linewidth=1.6, label=name)
            for colour, name in zip(PROTOCOL_COLOURS, protocols, strict=True)
        ]
        for width, name in ((1.6, "the best method"), (0.5, "the other methods")):
            handles.append(Line2D([], [], color="0.4", linewidth=width, label=name))
        axes_of[-1].set_axis_off()
        axes_of[-1].legend(handles=handles, loc="center", fontsize=7)
        stamp(figure, f"{protocol}\nSeconds as each run recorded them, while others were running")
    return figure


def _last_error(run: pd.DataFrame) -> float:
    """A run's error at the end; infinite if it diverged."""
    last = run.iloc[-1]
    if not np.isfinite(last[["loss", "error", "error_at_best_loss"]].to_numpy(float)).all():
        return np.inf
    return float(last["error_at_best_loss"])
