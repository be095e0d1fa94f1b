"""The heat map of errors."""

import math

import numpy as np
import pandas as pd
import pytest
from drawings import ERRORS, LABELS, PROTOCOL, SETTINGS, accuracy_table, mean, tick_words
from matplotlib.colors import to_hex, to_rgb

from neumann_pinn.report.figures.heatmap import error_heatmap

PUBLISHED = {
    setting: {method: 0.1 * mean(errors) for method, errors in methods.items()}
    for setting, methods in ERRORS.items()
}
MISSING = ("poly", "cosine50")


def rows(errors):
    """One replicate of each setting and method, and other errors at the other clock."""
    return pd.DataFrame(
        [
            {"clock": clock, "setting": s, "method": m, "replicate": 0, "error": error**power}
            for clock, power in (("fixed_iterations", 3), ("fixed_time", 1))
            for s, methods in errors.items()
            for m, error in methods.items()
        ]
    )


def draw(ours, theirs, settings=SETTINGS, methods=LABELS):
    return error_heatmap(ours, theirs, "fixed_time", settings, methods, PROTOCOL)


@pytest.fixture(scope="module")
def figure():
    published = rows(PUBLISHED)
    missing = (published["setting"] == MISSING[0]) & (published["method"] == MISSING[1])
    return draw(accuracy_table("fixed_time"), published[~missing])


@pytest.fixture(scope="module")
def spectrum():
    """Errors from the lightest cell to the darkest, without a gap between."""
    settings = {f"s{i}": f"S{i}" for i in range(8)}
    methods = {f"m{i}": f"M{i}" for i in range(8)}
    logs = np.linspace(-8, 1, 64).reshape(8, 8)
    errors = {
        s: dict(zip(methods, 10**row, strict=True)) for s, row in zip(settings, logs, strict=True)
    }
    return draw(rows(errors), rows(errors), settings, methods)


def cells(figure, panel):
    """The texts in a panel's cells, by the labels under and beside them."""
    axes, left = figure.axes[panel], figure.axes[0]
    columns = [words.replace("\n", " ") for words in tick_words(axes.get_xticklabels())]
    lines = tick_words(left.get_yticklabels())
    places = {text: [int(place) for place in text.get_position()] for text in axes.texts}
    return {(columns[column], lines[row]): text for text, (column, row) in places.items()}


def cell_colours(axes):
    """Rows and columns of colours."""
    mesh = axes.collections[0]
    return mesh.to_rgba(mesh.get_array())


def least_contrast(axes):
    """The lowest contrast of a number with its cell."""
    colours = cell_colours(axes)
    places = {text: [int(place) for place in text.get_position()] for text in axes.texts}
    return min(contrast(text.get_color(), colours[y, x]) for text, (x, y) in places.items())


def luminance(colour):
    """Relative luminance as WCAG 2 defines it."""
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_the_test_s_own_contrast_is_that_of_wcag():
    assert contrast("white", "black") == pytest.approx(21)
    assert contrast("#767676", "white") == pytest.approx(4.54, abs=0.005)


def test_each_cell_has_the_number_of_its_method_and_setting(figure):
    ours = {
        (SETTINGS[s], LABELS[m]): f"{mean(errors):.1e}"
        for s, methods in ERRORS.items()
        for m, errors in methods.items()
        if not math.isnan(mean(errors))
    }
    theirs = {
        (SETTINGS[s], LABELS[m]): f"{error:.1e}"
        for s, methods in PUBLISHED.items()
        for m, error in methods.items()
        if not math.isnan(error) and (s, m) != MISSING
    }
    for panel, expected in enumerate((ours, theirs)):
        texts = cells(figure, panel)
        assert {cell: text.get_text() for cell, text in texts.items()} == expected


def test_what_diverged_or_was_not_published_is_an_empty_grey_cell(figure):
    places = {0: [("high", "existing")], 1: [("high", "existing"), MISSING]}
    for panel, empty in places.items():
        axes = figure.axes[panel]
        values = axes.collections[0].get_array()
        drawn = np.ma.getmaskarray(values).reshape(len(LABELS), len(SETTINGS))
        rows_and_columns = {(list(LABELS).index(m), list(SETTINGS).index(s)) for s, m in empty}
        assert {tuple(place) for place in np.argwhere(drawn).tolist()} == rows_and_columns
        assert not {(SETTINGS[s], LABELS[m]) for s, m in empty} & cells(figure, panel).keys()
        assert len(axes.texts) == len(LABELS) * len(SETTINGS) - len(empty)
        assert to_hex(axes.get_facecolor()) == to_hex("0.92")


def test_every_number_can_be_read_on_its_cell(spectrum):
    for axes in spectrum.axes[:2]:
        assert len(axes.texts) == 64
        assert least_contrast(axes) >= 4.5


def test_numbers_beside_empty_cells_can_be_read_too(figure):
    for axes in figure.axes[:2]:
        assert least_contrast(axes) >= 4.5


def test_a_larger_error_is_darker_over_the_whole_scale(spectrum):
    (axes, *_) = spectrum.axes
    values = axes.collections[0].get_array().ravel()
    light = [luminance(colour) for row in cell_colours(axes) for colour in row]
    in_order = np.array(light)[np.argsort(values)]
    assert (np.diff(in_order) <= 1e-4).all()
    assert in_order[0] > 0.6
    assert in_order[-1] < 0.05


def test_one_error_has_one_colour_in_both_panels():
    ours = {"low": {"vanilla": 0.5, "existing": 1e-3, "cosine1": 1e-5}}
    theirs = {"low": {"vanilla": 1e-3, "existing": 1e-7, "cosine1": math.nan}}
    methods = {method: LABELS[method] for method in ours["low"]}
    figure = draw(rows(ours), rows(theirs), {"low": "Low"}, methods)
    left, right = (cell_colours(axes)[:, 0] for axes in figure.axes[:2])
    assert to_hex(left[1]) == to_hex(right[0])
    assert len({to_hex(colour) for colour in (*left, right[1])}) == 4


def test_the_colour_bar_has_the_whole_powers_of_ten_and_says_at_which_clock(figure):
    bar = figure.axes[2]
    drawn = [mean(e) for methods in ERRORS.values() for e in methods.values()]
    drawn += [e for s, ms in PUBLISHED.items() for m, e in ms.items() if (s, m) != MISSING]
    low, high = math.log10(np.nanmin(drawn)), math.log10(np.nanmax(drawn))
    powers = range(math.ceil(low), math.floor(high) + 1)
    assert bar.get_ylim() == pytest.approx((low, high))
    assert list(bar.get_yticks()) == list(powers)
    assert tick_words(bar.get_yticklabels()) == [f"$10^{{{power}}}$" for power in powers]
    assert bar.get_ylabel() == "Relative $L^2$ error, same training time"


def test_the_panels_say_whose_errors_they_are(figure):
    assert [axes.get_title() for axes in figure.axes[:2]] == [
        "This study",
        "Paper (1,000,000 iterations)",
    ]
    assert figure.get_suptitle() == f"{PROTOCOL}\nEmpty: diverged or not published"


def test_methods_stand_from_top_to_bottom_in_their_order(figure):
    axes = figure.axes[0]
    heights = axes.transData.transform([(0, tick) for tick in axes.get_yticks()])[:, 1]
    assert (np.diff(heights) < 0).all()
    assert tick_words(axes.get_yticklabels()) == list(LABELS.values())
