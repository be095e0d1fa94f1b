"""Error against seconds, ours next to the histories that others published of the same problem."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.pyplot import subplots

from neumann_pinn.report.figures.style import DARK, WIDTH, figure_style, stamp

OPTIMIZERS = {
    "ENGD_full": ("ENGD, full", "#0173b2"),
    "ENGD_per_layer": ("ENGD, per layer", "#56b4e9"),
    "KFAC": ("KFAC", "#029e73"),
    "HessianFree": ("Hessian-free", "#de8f05"),
    "Adam": ("Adam", "#cc78bc"),
    "LBFGS": ("L-BFGS", "#ca9161"),
}
"""The others' optimizers that are named, with their colours."""
OURS: dict[str, Any] = {"color": DARK, "linewidth": 2, "marker": "o", "markersize": 3.5}
UNNAMED: dict[str, Any] = {"color": "0.8", "linewidth": 0.7}
THEIRS = (
    "Theirs (Dangel, Mueller, Zeinhofer 2024): their scripts ask for an RTX 6000 GPU; the machine "
    "is not recorded; best of about 50 hyperparameter settings each"
)


def error_against_peers(
    ours: Mapping[int, pd.DataFrame],
    scale: float,
    theirs: pd.DataFrame,
    name: str,
    machine: str,
    protocol: str,
) -> Figure:
    """The lowest error so far, in the others' measure: our runs by replicate, and theirs.

    Our errors are relative; `scale` is the root mean square of the solution. Of each named
    optimizer the network with the lowest error is in colour; all others are grey.
    """
    by_run = theirs.groupby(["optimizer", "network"])
    histories = {(str(optimizer), str(network)): run for (optimizer, network), run in by_run}
    which = f"replicate{'s' if len(ours) > 1 else ''} {', '.join(map(str, ours))}"
    handles = [Line2D([], [], label=f"Ours: {name}\n({which})", **OURS)]
    with figure_style():
        figure, axes = subplots(figsize=(WIDTH, 3.4), layout="constrained")
        for optimizer, (words, colour) in OPTIMIZERS.items():
            networks = {key: run for key, run in histories.items() if key[0] == optimizer}
            if not networks:
                continue
            best = min(networks, key=lambda key: networks[key]["lowest_error_so_far"].min())
            layers = best[1].removeprefix("mlp-tanh-")
            line: dict[str, Any] = {"color": colour, "linestyle": "--" if "-" in layers else "-"}
            axes.step(*_points(histories.pop(best)), where="post", **line)
            handles.append(Line2D([], [], label=f"{words}; {layers}", **line))
        for history in histories.values():
            axes.step(*_points(history), where="post", **UNNAMED, zorder=1)
        handles.append(Line2D([], [], label="their other optimizers, networks", **UNNAMED))
        for history in ours.values():
            lowest = scale * np.fmin.accumulate(history["error"])
            shown = (history["seconds"] > 0) & np.isfinite(lowest)
            axes.step(history["seconds"][shown], lowest[shown], where="post", **OURS, zorder=3)
        axes.set(xscale="log", yscale="log", xlabel="Seconds of training")
        axes.set_ylabel("Lowest root mean square error so far")
        axes.set_title("Heat with known values at both walls, walls in the loss")
        axes.grid(axis="y", linewidth=0.5)
        axes.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            title="Optimizer; hidden layers",
            alignment="left",
            fontsize=7,
            title_fontsize=7,
        )
        stamp(figure, f"{protocol}\nOurs: {machine}. {THEIRS}")
    return figure


def _points(history: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    return history["seconds"], history["lowest_error_so_far"]
