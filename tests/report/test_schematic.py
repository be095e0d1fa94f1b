"""The picture of the method."""

import itertools

import numpy as np
import pytest
import sympy
from drawings import GREEN, ORANGE
from matplotlib.colors import to_hex
from matplotlib.patches import Circle, FancyBboxPatch
from matplotlib.text import Text
from sympy.parsing.sympy_parser import (
    convert_xor,
    implicit_multiplication,
    parse_expr,
    standard_transformations,
)

from neumann_pinn.report.figures.schematic import schematic

FEATURES = ["cos(\\pi x)", "cos(\\pi b_2 x)", "cos(\\pi b_n x)"]


@pytest.fixture(scope="module")
def axes():
    figure = schematic()
    figure.draw_without_rendering()
    return figure.axes[0]


def curves(axes):
    """The drawn features, from the top down."""
    lines = [line for line in axes.lines if len(line.get_xdata()) > 2]
    return sorted(lines, key=lambda line: -np.mean(line.get_ydata()))


def wires(axes):
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    return [tuple(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in lines]


def neurons(axes):
    """The small circles' centres, by column."""
    centres = sorted(
        patch.center for patch in axes.patches if isinstance(patch, Circle) and patch.radius == 0.2
    )
    return [list(group) for _, group in itertools.groupby(centres, key=lambda centre: centre[0])]


def test_every_feature_is_drawn_as_a_cosine_of_a_whole_frequency(axes):
    for line in curves(axes):
        y = line.get_ydata() - (line.get_ydata().max() + line.get_ydata().min()) / 2
        turns = np.sum(np.diff(np.sign(y)) != 0)
        at = np.linspace(0, 1, len(y))
        assert y == pytest.approx(y.max() * np.cos(np.pi * turns * at), abs=0.005)


def test_features_have_the_colours_of_the_constraints_that_use_them(axes):
    assert [to_hex(line.get_color()) for line in curves(axes)] == [ORANGE, GREEN, GREEN]


def test_the_lift_in_the_picture_has_the_slopes_that_the_picture_promises(axes):
    (words,) = (t.get_text() for t in axes.texts if t.get_text().endswith("B$"))
    transformations = (*standard_transformations, convert_xor, implicit_multiplication)
    x, a, b = sympy.symbols("x A B")
    lift = parse_expr(words.strip("$"), {"x": x, "A": a, "B": b}, transformations)
    slope = sympy.diff(lift, x)
    assert [sympy.simplify(slope.subs(x, wall)) for wall in (0, 1)] == [a, b]
    promise = "$u_x(0,t) = A$ and $u_x(1,t) = B$\nwhatever the weights"
    assert promise in [text.get_text() for text in axes.texts]


def test_every_neuron_is_wired_to_every_one_of_the_next_column(axes):
    columns = neurons(axes)
    assert [len(column) for column in columns] == [4, 4, 4]
    drawn = set(wires(axes))
    for left, right in itertools.pairwise(columns):
        assert set(itertools.product(left, right)) <= drawn


def test_every_feature_and_time_reach_every_neuron_of_the_first_column(axes):
    heights = [neuron[1] for neuron in neurons(axes)[0]]
    for sources in (4.3, 3.2, 1.9, 0.9):
        ends = [end[1] for start, end in wires(axes) if start == (5.0, sources)]
        assert sorted(ends) == heights


def boxes(axes):
    """Circles and boxes that hold words, with what they hold."""
    shapes = [p for p in axes.patches if isinstance(p, Circle | FancyBboxPatch)]
    extents = [shape.get_window_extent() for shape in shapes]
    for text in filter(Text.get_text, axes.texts):
        around = text.get_window_extent()
        middle = (around.x0 + around.x1) / 2, (around.y0 + around.y1) / 2
        for extent in extents:
            if extent.contains(*middle):
                yield text.get_text(), around, extent


def test_words_fit_into_their_circles_and_boxes(axes):
    held = list(boxes(axes))
    assert len(held) == 9
    for words, around, extent in held:
        assert extent.x0 <= around.x0, words
        assert around.x1 <= extent.x1, words


def test_the_features_are_named_in_their_boxes(axes):
    held = [words for words, _, _ in boxes(axes)]
    assert [words.strip("$\\") for words in held if "cos" in words] == FEATURES
