"""The paper's bar charts: relative improvement on the best vanilla PINN."""

from collections.abc import Mapping
from textwrap import fill

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, NullLocator

from neumann_pinn.report.figures.style import (
    COLOURS,
    CONSTRAINTS,
    HATCHES,
    WIDTH,
    Style,
    by_size,
    figure_style,
    size_words,
    stamp,
)
from neumann_pinn.study.accuracy import mean_improvements
from neumann_pinn.study.budget import CLOCKS


def improvement_bars(
    table: pd.DataFrame,
    clock: str,
    settings: Mapping[str, str],
    styles: Mapping[str, Style],
    protocol: str,
) -> Figure:
    """The paper's figures 2 and 3: relative improvement on the best vanilla, best first."""
    table = table[table["clock"] == clock]
    hatches = by_size(styles, HATCHES)
    with figure_style():
        figure, axes = plt.subplots(figsize=(WIDTH, 3.6), layout="constrained")
        axes.set_yscale("function", functions=(_squeeze, _stretch))
        width = 0.86 / len(styles)
        for group, setting in enumerate(settings):
            runs = table[table["setting"] == setting]
            values = mean_improvements(runs).sort_values(ascending=False, na_position="last")
            for place, (method, value) in enumerate(values.items()):
                style = styles[str(method)]
                rows = runs[runs["method"] == method]
                x = group - 0.43 + (place + 0.5) * width
                if np.isnan(value):
                    diverged = rows["error"].isna().any()
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
                low, high = rows["relative_improvement"].agg(["min", "max"])
                if len(rows) > 1:
                    axes.plot([x, x], [low, high], color="black", linewidth=0.8)
                if method == rows["reference"].iloc[0]:
                    above = 3 + max(high, 0)
                    axes.annotate("reference", (x, above), rotation=90, ha="center", fontsize=5)
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
            Patch(facecolor="white", edgecolor="black", hatch=hatch, label=size_words(size))
            for size, hatch in hatches.items()
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
        stamp(figure, protocol)
    return figure


def _squeeze(y: np.ndarray) -> np.ndarray:
    """Linear above 0, -5 ln(1 + |y|) below."""
    return np.where(y >= 0, y, -5 * np.log1p(np.abs(y)))


def _stretch(y: np.ndarray) -> np.ndarray:
    return np.where(y >= 0, y, -np.expm1(np.abs(y) / 5))
