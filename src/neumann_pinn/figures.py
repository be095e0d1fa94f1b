"""The figures, each with the protocol that made it on its face."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from neumann_pinn.accuracy import CLOCKS
from neumann_pinn.budget import Budget

CONSTRAINTS = {
    "none": "Vanilla (walls in the loss)",
    "output_transform": "Existing hard constraint",
    "cosine_embedding": "New hard constraint (cosines)",
}
COLOURS = dict(zip(CONSTRAINTS, sns.color_palette("colorblind", 3), strict=True))
LINES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (1, 1)), (0, (5, 1)))
HATCHES = ("", "///", "xxx", "...", "ooo", "\\\\\\")


@dataclass(frozen=True)
class Style:
    """What a reader sees of a method: its label, its constraint and its number of features of x."""

    label: str
    constraint: str
    size: int


def improvement_bars(
    table: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """The paper's figures 2 and 3: relative improvement on the best vanilla, best first."""
    table = table[table["clock"] == clock]
    hatches = _hatches(styles)
    with _look():
        figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
        axes.set_yscale("function", functions=(_squeeze, _stretch))
        width = 0.86 / len(styles)
        for group, setting in enumerate(settings):
            runs = table[table["setting"] == setting].groupby("method", sort=False)
            values = runs["relative_improvement"]
            order = values.mean(skipna=False).sort_values(ascending=False, na_position="last").index
            for place, method in enumerate(order):
                style = styles[method]
                x = group - 0.43 + (place + 0.5) * width
                value = values.get_group(method).mean(skipna=False)
                if np.isnan(value):
                    diverged = runs["error"].get_group(method).isna().any()
                    words = "diverged" if diverged else "no vanilla to compare with"
                    axes.annotate(words, (x, 3), rotation=90, ha="center", fontsize=5)
                    continue
                axes.bar(
                    x,
                    value,
                    0.9 * width,
                    color=COLOURS[style.constraint],
                    hatch=hatches[style.size],
                    edgecolor="black",
                    linewidth=0.4,
                )
                if len(values.get_group(method)) > 1:
                    low, high = values.get_group(method).agg(["min", "max"])
                    axes.plot([x, x], [low, high], color="black", linewidth=0.8)
        lowest = min(-1000.0, float(table["relative_improvement"].fillna(0).min()))
        ticks = [-(10.0**p) for p in range(5, 0, -1) if 10**p <= -lowest * 3]
        axes.set_ylim(lowest * 1.5, 100)
        axes.yaxis.set_major_locator(FixedLocator([*ticks, 0, 20, 40, 60, 80, 100]))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(lambda y, _: f"{y:+,.0f} %" if y else "0")
        guides = {50: "half the error", 90: "a tenth", -100: "twice", -900: "ten times"}
        for y, words in guides.items():
            axes.axhline(y, color="0.6", linewidth=0.6, zorder=0)
            axes.annotate(
                words,
                (len(settings) - 0.5, y),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                color="0.35",
                fontsize=7,
                annotation_clip=False,
            )
        axes.axhline(0, color="black", linewidth=0.8)
        axes.set_xlim(-0.5, len(settings) - 0.5)
        axes.set_xticks(range(len(settings)), [fill(label, 14) for label in settings.values()])
        axes.tick_params(axis="x", length=0)
        axes.set_ylabel("Relative improvement")
        axes.set_title(f"Error against the best vanilla PINN, {CLOCKS[clock]}")
        handles = [
            Patch(facecolor=COLOURS[c], edgecolor="black", label=CONSTRAINTS[c])
            for c in CONSTRAINTS
            if any(s.constraint == c for s in styles.values())
        ]
        handles += [
            Patch(facecolor="white", edgecolor="black", hatch=hatch, label=_size_words(size))
            for size, hatch in hatches.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        _stamp(figure, protocol)
    return figure


def error_curves(
    histories: Mapping[tuple[str, str, int], pd.DataFrame],
    budget: Budget,
    against: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
    wall_clock: bool = False,
) -> Figure:
    """Error at the lowest loss so far against iterations or time, one panel for each setting.

    Time is by the budget's costs, or with `wall_clock` what each run recorded.
    """
    lines = {size: LINES[i % len(LINES)] for i, size in enumerate(_hatches(styles))}
    columns = 3
    rows = -(-(len(settings) + 1) // columns)
    with _look():
        figure, grid = plt.subplots(
            rows,
            columns,
            figsize=(7.2, 2.1 * rows + 0.3),
            sharex=True,
            layout="constrained",
            squeeze=False,
        )
        panels = list(grid.flat)
        for axes, (setting, label) in zip(panels, settings.items(), strict=False):
            for method, style in styles.items():
                runs = [h for (s, m, _), h in histories.items() if (s, m) == (setting, method)]
                for history in runs:
                    x = history["iteration"]
                    if against == "time" and wall_clock:
                        x = history["seconds"]
                    elif against == "time":
                        x = x * budget.costs[method] / 1e3
                    axes.plot(
                        x,
                        history["error_at_best_loss"],
                        color=COLOURS[style.constraint],
                        linestyle=lines[style.size],
                        linewidth=1,
                        alpha=1 if len(runs) == 1 else 0.6,
                    )
            scale = budget.costs[budget.vanilla] / 1e3 if against == "time" else 1
            limit = budget.iterations * scale
            axes.axvline(limit, color="0.5", linewidth=0.6)
            axes.set_yscale("log")
            axes.set_title(label)
        panels[0].set_xlim(0, limit * 1.02)
        for axes in grid[:, 0]:
            axes.set_ylabel("Relative $L^2$ error")
        name = "Iterations" if against == "iterations" else "Training time / s"
        for axes in panels[: len(settings)]:
            axes.set_xlabel(name)
            axes.tick_params(labelbottom=True)
        for axes in panels[len(settings) :]:
            axes.set_axis_off()
        handles = [
            Line2D(
                [],
                [],
                color=COLOURS[style.constraint],
                linestyle=lines[style.size],
                label=style.label,
            )
            for style in styles.values()
        ]
        panels[len(settings)].legend(handles=handles, loc="center", fontsize=7, frameon=False)
        _stamp(figure, protocol)
    return figure


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure under each name, with nothing in it that changes from time to time."""
    for path in paths:
        metadata = {"CreationDate": None} if path.suffix == ".pdf" else {"Software": None}
        figure.savefig(path, metadata=metadata, dpi=200)
    plt.close(figure)


def _look() -> Any:
    return mpl.rc_context(
        {
            **sns.axes_style("ticks"),
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "hatch.linewidth": 0.5,
            "pdf.fonttype": 42,
            "legend.frameon": False,
        }
    )


def _stamp(figure: Figure, protocol: str) -> None:
    figure.suptitle(protocol, x=0.01, ha="left", fontsize=6.5, color="0.35")


def _hatches(styles: Mapping[str, Style]) -> dict[int, str]:
    """A hatch for each size of embedding; a single feature looks like no embedding."""
    sizes = sorted({style.size for style in styles.values()})
    return {size: HATCHES[i % len(HATCHES)] for i, size in enumerate(sizes)}


def _size_words(size: int) -> str:
    return "one feature of x" if size == 1 else f"{size} features of x"


def _squeeze(y: np.ndarray) -> np.ndarray:
    """Linear above 0, -5 ln(1 + |y|) below."""
    return np.where(y >= 0, y, -5 * np.log1p(np.abs(y)))


def _stretch(y: np.ndarray) -> np.ndarray:
    return np.where(y >= 0, y, -np.expm1(np.abs(y) / 5))
