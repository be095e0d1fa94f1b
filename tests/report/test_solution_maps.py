"""Maps of a solution, and the slopes at its walls."""

import numpy as np
import pytest
from drawings import (
    COLOURS,
    LABELS,
    LINES,
    PROTOCOL,
    STYLES,
    contains,
    digits,
    seen,
    tick_words,
    words_of,
)
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.maps import solution_maps
from neumann_pinn.study.predictions import Prediction

X, T = np.linspace(0, 1, 5), np.linspace(0, 0.5, 4)
WAVE = np.cos(2 * np.pi * X) * np.exp(-T)[:, None]
OFF = 0.01 * np.arange(20).reshape(4, 5) - 0.05
WALL_T = np.linspace(0, 0.5, 7)
FLOOR = 1e-10


def slopes_of(*highest):
    """Slopes of both signs at both walls, up to these heights; exact zeros for the cosines."""
    slopes = np.zeros((len(STYLES), 2, len(WALL_T)))
    for method in range(3):
        for wall, height in enumerate(highest):
            slopes[method, wall] = -height * np.linspace(0.1, 1, len(WALL_T)) / (method + 1)
    return slopes


def draw(reference=WAVE, slopes=None):
    slopes = slopes_of(5.0, 0.2) if slopes is None else slopes
    methods = np.array(list(STYLES))
    prediction = Prediction(
        X, T, reference, reference + OFF, np.array("cosine20"), methods, WALL_T, slopes
    )
    return solution_maps(prediction, "Low frequency", STYLES, PROTOCOL)


@pytest.fixture(scope="module")
def figure():
    return draw()


def maps(figure):
    return [axes.images[0] for axes in figure.subfigs[0].axes[:3]]


def walls(figure):
    return figure.subfigs[1].axes[:2]


def test_the_maps_are_the_reference_the_best_prediction_and_what_lies_between(figure):
    for image, expected in zip(maps(figure), (WAVE, WAVE + OFF, OFF), strict=True):
        assert np.asarray(image.get_array()) == pytest.approx(expected)


def test_x_goes_to_the_right_and_t_upwards(figure):
    for axes, image in zip(figure.subfigs[0].axes, maps(figure), strict=False):
        assert image.get_extent() == [0, 1, 0, 0.5]
        assert image.origin == "lower"
        assert axes.get_xlabel() == "$x$"
        assert (axes.get_xlim(), axes.get_ylim()) == ((0, 1), (0, 0.5))
    assert figure.subfigs[0].axes[0].get_ylabel() == "$t$"


def test_reference_and_prediction_share_their_colours_and_the_error_s_are_even_about_zero(figure):
    reference, best, error = maps(figure)
    assert reference.get_clim() == best.get_clim() == (-1, 1)
    assert reference.get_cmap().name == best.get_cmap().name
    largest = np.abs(OFF).max()
    assert error.get_clim() == pytest.approx((-largest, largest))
    assert error.get_cmap().name != best.get_cmap().name


def test_the_colours_of_a_solution_that_is_never_negative_start_at_zero():
    reference, best, _ = maps(draw(WAVE + 1))
    assert reference.get_clim() == best.get_clim() == (0, 2)


def test_each_map_has_a_title_and_a_colour_bar(figure):
    axes = figure.subfigs[0].axes
    titles = [one.get_title() for one in axes[:3]]
    assert titles == ["Low frequency: reference", "Best: New HC, 20 cosines", "Its error"]
    assert [image.colorbar.ax for image in maps(figure)] == axes[3:]


@pytest.mark.parametrize("wall", [0, 1])
def test_each_method_s_slope_at_a_wall_has_its_colour_and_its_line(figure, wall):
    drawn = [seen(line) for line in walls(figure)[wall].lines]
    assert drawn == [
        (
            digits(WALL_T),
            digits(max(abs(slope), FLOOR) for slope in slopes[wall]),
            COLOURS[method],
            LINES[method],
        )
        for method, slopes in zip(STYLES, slopes_of(5.0, 0.2), strict=True)
    ]


def test_a_slope_of_exactly_zero_is_drawn_over_a_tick_that_says_zero(figure):
    for axes in walls(figure):
        exact = axes.lines[list(STYLES).index("cosine20")]
        assert set(exact.get_ydata()) == {FLOOR}
        assert axes.get_ylim()[0] < FLOOR / 2
        words = dict(zip(axes.get_yticks(), tick_words(axes.get_yticklabels()), strict=True))
        assert words.pop(FLOOR) == "0"
        assert all(label == f"$10^{{{round(np.log10(tick))}}}$" for tick, label in words.items())


@pytest.mark.parametrize(
    "highest", [(1e-3, 1e-5), (5.0, 0.2), (300.0, 1.0), (0.2, 5.0), (1.0, 300.0)]
)
def test_slopes_are_logarithmic_and_within_the_limits_at_both_walls(highest):
    figure = draw(slopes=slopes_of(*highest))
    for axes in walls(figure):
        assert axes.get_yscale() == "log"
        assert contains(axes.get_ylim(), np.concatenate([line.get_ydata() for line in axes.lines]))


def test_both_walls_are_named_and_have_one_scale(figure):
    first, second = walls(figure)
    assert [axes.get_title() for axes in (first, second)] == ["$|u_x(0, t)|$", "$|u_x(1, t)|$"]
    assert [axes.get_xlabel() for axes in (first, second)] == ["$t$", "$t$"]
    assert first.get_ylabel() == "Wall slope"
    assert first.get_ylim() == second.get_ylim()


def test_a_diverged_method_has_no_slopes_and_the_others_have():
    slopes = slopes_of(5.0, 0.2)
    slopes[0] = np.nan
    for axes in walls(draw(slopes=slopes)):
        assert np.isnan(axes.lines[0].get_ydata()).all()
        assert np.isfinite(axes.lines[1].get_ydata()).all()
        assert contains(axes.get_ylim(), axes.lines[1].get_ydata())


def test_the_legend_names_each_method(figure):
    panel = figure.subfigs[1].axes[2]
    assert not panel.axison
    assert words_of(panel.get_legend()) == list(LABELS.values())
    drawn = [to_hex(line.get_color()) for line in panel.get_legend().get_lines()]
    assert drawn == list(COLOURS.values())
