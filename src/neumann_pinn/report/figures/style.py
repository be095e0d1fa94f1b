"""What all figures share: colours, hatches and lines of the methods, the stamp, the files."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

CONSTRAINTS = {
    "none": "Vanilla (walls in the loss)",
    "output_transform": "Existing hard constraint",
    "cosine_embedding": "New hard constraint (cosines)",
    "hard_walls": "All walls and the start hard",
}
PALETTE = ("#0173b2", "#de8f05", "#029e73", "#d55e00")
"""The first four of seaborn's colour-blind palette; importing it takes longer than drawing."""
COLOURS = dict(zip(CONSTRAINTS, PALETTE, strict=True))
DARK = "0.15"
LINES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (1, 1)), (0, (5, 1)))
HATCHES = ("", "///", "xxx", "...", "ooo", "\\\\\\")
MARKERS = ("o", "s", "^", "D", "v", "P")
WIDTH = 7.2
"""Inches: the width of a page's text."""
STAMP_CHARACTERS = 135
"""How many characters of a stamp fit into a line."""


@dataclass(frozen=True)
class Style:
    """How a method is shown: by its label, its constraint and its number of features of x."""

    label: str
    constraint: str
    size: int


def read_styles(parameters: Mapping[str, Sequence[Any]]) -> dict[str, Style]:
    """Styles from lists of their parts."""
    return {name: Style(*parts) for name, parts in parameters.items()}


def by_size(styles: Mapping[str, Style], choices: Sequence[Any]) -> dict[int, Any]:
    """A line, hatch or marker for each size of embedding; one feature looks like no embedding."""
    sizes = sorted({style.size for style in styles.values()})
    return {size: choices[i % len(choices)] for i, size in enumerate(sizes)}


def size_words(size: int) -> str:
    """What a legend calls a number of features."""
    return "one feature of x" if size == 1 else f"{size} features of x"


def method_lines(styles: Mapping[str, Style]) -> dict[str, dict[str, Any]]:
    """Colour and line of each method: the constraint's and the embedding size's."""
    lines = by_size(styles, LINES)
    return {
        name: {"color": COLOURS[style.constraint], "linestyle": lines[style.size]}
        for name, style in styles.items()
    }


def method_handles(styles: Mapping[str, Style]) -> list[Line2D]:
    """A legend's entry for each method."""
    lines = method_lines(styles)
    return [Line2D([], [], label=style.label, **lines[name]) for name, style in styles.items()]


def panels(count: int, height: float, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with `count` panels in rows of three; the rest of the last row is empty."""
    columns = 3
    rows = -(-count // columns)
    figure, grid = plt.subplots(
        rows,
        columns,
        figsize=(WIDTH, height * rows + 0.3),
        layout=ConstrainedLayoutEngine(w_pad=0.08),
        squeeze=False,
        **options,
    )
    for axes in list(grid.flat)[count:]:
        axes.set_axis_off()
    return figure, list(grid.flat)[:count]


def figure_style() -> Any:
    """The settings under which all figures are drawn."""
    return mpl.rc_context(
        {
            **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor"), DARK),
            **dict.fromkeys(("xtick.color", "ytick.color"), DARK),
            "axes.axisbelow": True,
            "grid.color": "0.8",
            "lines.solid_capstyle": "round",
            "font.family": "DejaVu Sans",
            "font.size": 8,
            "axes.titlesize": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "hatch.linewidth": 0.5,
            "pdf.fonttype": 42,
            "svg.hashsalt": "neumann-pinn",
            "legend.frameon": False,
        }
    )


def stamp(figure: Figure, protocol: str) -> None:
    """Write the protocol on the figure, in as many lines as it takes."""
    lines = [textwrap.fill(line, STAMP_CHARACTERS) for line in protocol.splitlines()]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=6.5, color="0.35")


def save(figure: Figure, paths: Sequence[Path]) -> None:
    """Write a figure to each path, with nothing in the file that changes from run to run."""
    metadata = {
        ".pdf": {"CreationDate": None},
        ".png": {"Software": None},
        ".svg": {"Date": None},
    }
    with figure_style():
        for path in paths:
            figure.savefig(path, metadata=metadata[path.suffix], dpi=200)
    plt.close(figure)
