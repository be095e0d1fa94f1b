"""The method in one picture: cosine embedding, network, output lift (the paper's figure 1)."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, FancyBboxPatch

from neumann_pinn.report.figures.style import COLOURS, WIDTH, figure_style

FIRST = COLOURS["output_transform"]
HIGHER = COLOURS["cosine_embedding"]


def schematic() -> Figure:
    """How the walls are held: every feature of x is flat there, so the network is too."""
    with figure_style():
        figure, axes = plt.subplots(figsize=(WIDTH, 2.7))
        figure.subplots_adjust(left=0, right=1, bottom=0, top=1)
        axes.set(xlim=(0, 14.4), ylim=(0, 5.4), aspect="equal")
        axes.set_axis_off()
        _circle(axes, 0.7, 3.4, "$x$")
        _circle(axes, 0.7, 0.9, "$t$")
        features = (
            (4.3, r"$\cos(\pi x)$", 1, FIRST),
            (3.2, r"$\cos(\pi b_2 x)$", 3, HIGHER),
            (1.9, r"$\cos(\pi b_n x)$", 6, HIGHER),
        )
        neurons = (4.0, 3.2, 2.4, 1.6)
        for y, words, frequency, colour in features:
            _arrow(axes, (1.1, 3.4), (1.95, y), colour)
            _feature(axes, 2.0, y, words, frequency, colour)
            for neuron in neurons:
                _wire(axes, (5.0, y), (6.3, neuron))
        axes.text(3.5, 2.55, r"$\vdots$", ha="center", va="center", color=HIGHER)
        _wire(axes, (1.1, 0.9), (5.0, 0.9))
        for neuron in neurons:
            _wire(axes, (5.0, 0.9), (6.3, neuron))
        columns = (6.5, 7.5, 8.5)
        for left, right in itertools.pairwise(columns):
            for one, other in itertools.product(neurons, neurons):
                _wire(axes, (left, one), (right, other))
        for column, neuron in itertools.product(columns, neurons):
            axes.add_patch(
                Circle((column, neuron), 0.2, facecolor="white", edgecolor="black", zorder=3)
            )
        _circle(axes, 9.7, 2.8, r"$u^{\mathrm{NN}}$", 0.42)
        for neuron in neurons:
            _wire(axes, (8.7, neuron), (9.3, 2.8))
        _circle(axes, 11.1, 2.8, "+", 0.28)
        _arrow(axes, (10.15, 2.8), (10.8, 2.8), "black")
        _box(axes, 9.05, 0.35, 4.1, 0.95, "$x(1-x)^2 A + x^2(x-1) B$", COLOURS["none"])
        _arrow(axes, (11.1, 1.35), (11.1, 2.48), COLOURS["none"])
        _circle(axes, 12.7, 2.8, "$u(x,t)$", 0.62)
        _arrow(axes, (11.42, 2.8), (12.05, 2.8), "black")
        for x, y, words in (
            (3.5, 5.3, "cosines of whole frequencies:\nflat at $x = 0$ and $x = 1$"),
            (7.5, 5.3, "any network"),
            (11.4, 5.3, "$u_x(0,t) = A$ and $u_x(1,t) = B$\nwhatever the weights"),
            (11.1, 0.28, "lift, for walls with a flux"),
        ):
            axes.text(x, y, words, ha="center", va="top", fontsize=7)
    return figure


def _circle(axes: Axes, x: float, y: float, words: str, radius: float = 0.4) -> None:
    axes.add_patch(Circle((x, y), radius, facecolor="white", edgecolor="black", zorder=3))
    axes.text(x, y - 0.02, words, ha="center", va="center", zorder=4)


def _box(
    axes: Axes, x: float, y: float, width: float, height: float, words: str, colour: object
) -> None:
    style = "round,pad=0,rounding_size=0.15"
    axes.add_patch(
        FancyBboxPatch(
            (x, y), width, height, boxstyle=style, facecolor="white", edgecolor=colour, zorder=3
        )
    )
    axes.text(x + width / 2, y + height / 2, words, ha="center", va="center", zorder=4)


def _feature(axes: Axes, x: float, y: float, words: str, frequency: int, colour: object) -> None:
    """A box with the feature's name and its curve, flat at both ends."""
    _box(axes, x, y - 0.42, 3.0, 0.84, "", colour)
    axes.text(x + 0.95, y, words, ha="center", va="center", fontsize=7, zorder=4)
    at = np.linspace(0, 1, 200)
    axes.plot(
        x + 1.95 + 0.9 * at,
        y + 0.27 * np.cos(np.pi * frequency * at),
        color=colour,
        linewidth=1,
        zorder=4,
    )


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: object
) -> None:
    axes.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=8, color=colour, shrinkA=0, shrinkB=0
        )
    )


def _wire(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.plot(*zip(start, end, strict=True), color="0.75", linewidth=0.5, zorder=1)
