"""The bar charts of relative improvement."""

import io
import math
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from drawings import (
    BLUE,
    COLOURS,
    ERRORS,
    GREEN,
    ORANGE,
    PROTOCOL,
    REFERENCES,
    SETTINGS,
    STYLES,
    accuracy_table,
    contains,
    mean,
    tick_words,
    words_of,
)
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.improvement import improvement_bars

HATCHES = {1: "", 20: "///", 50: "xxx"}
GUIDES = {"half the error": 0.5, "a tenth": 0.1, "twice": 2, "ten times": 10}


def draw(errors=ERRORS, references=REFERENCES, styles=STYLES):
    table = accuracy_table("fixed_time", errors, references)
    settings = {setting: SETTINGS[setting] for setting in errors}
    return improvement_bars(table, "fixed_time", settings, styles, PROTOCOL)


@pytest.fixture(scope="module")
def figure():
    return draw()


@pytest.fixture
def axes(figure):
    return figure.axes[0]


def improvement(setting, error):
    return 100 * (1 - error / mean(ERRORS[setting][REFERENCES[setting]]))


def ranked(setting):
    """The methods that have not diverged, best first."""
    means = {method: mean(errors) for method, errors in ERRORS[setting].items()}
    return sorted((m for m in means if not math.isnan(means[m])), key=means.get)


def middle(bar):
    return bar.get_x() + bar.get_width() / 2


def bars_of(axes, setting):
    """A setting's bars from left to right."""
    group = list(SETTINGS).index(setting)
    return sorted((bar for bar in axes.patches if abs(middle(bar) - group) < 0.5), key=middle)


def replicate_lines(axes):
    return [line for line in axes.lines if line.get_xdata()[0] == line.get_xdata()[1]]


def notes(axes, words):
    return [text for text in axes.texts if text.get_text() == words]


@pytest.mark.parametrize("setting", SETTINGS)
def test_bars_stand_best_first_in_each_setting(axes, setting):
    heights = [bar.get_height() for bar in bars_of(axes, setting)]
    expected = [improvement(setting, mean(ERRORS[setting][m])) for m in ranked(setting)]
    assert heights == pytest.approx(expected, abs=1e-9)
    assert heights == sorted(heights, reverse=True)


def test_there_is_a_bar_for_each_method_that_has_not_diverged_and_no_other(axes):
    assert len(axes.patches) == len(SETTINGS) * len(STYLES) - 1


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_bar_has_the_colour_of_its_constraint_and_the_hatch_of_its_size(axes, setting):
    drawn = [(to_hex(bar.get_facecolor()), bar.get_hatch()) for bar in bars_of(axes, setting)]
    assert drawn == [(COLOURS[m], HATCHES[STYLES[m].size]) for m in ranked(setting)]


@pytest.mark.parametrize("setting", SETTINGS)
def test_bars_stand_apart_and_within_their_setting(axes, setting):
    group = list(SETTINGS).index(setting)
    edges = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars_of(axes, setting)]
    assert all(right < left for (_, right), (left, _) in pairwise(edges))
    assert group - 0.5 < edges[0][0]
    assert edges[-1][1] < group + 0.5


def test_a_line_on_each_bar_goes_from_the_worst_replicate_to_the_best(axes):
    lines = iter(sorted(replicate_lines(axes), key=lambda line: line.get_xdata()[0]))
    for setting in SETTINGS:
        for bar, method in zip(bars_of(axes, setting), ranked(setting), strict=True):
            line = next(lines)
            replicates = [improvement(setting, error) for error in ERRORS[setting][method]]
            assert line.get_xdata()[0] == pytest.approx(middle(bar))
            assert sorted(line.get_ydata()) == pytest.approx([min(replicates), max(replicates)])
    assert not list(lines)


def test_one_replicate_has_no_line():
    errors = {"low": {method: (replicates[0],) for method, replicates in ERRORS["low"].items()}}
    (axes,) = draw(errors).axes
    assert len(axes.patches) == len(STYLES)
    assert not replicate_lines(axes)


def test_a_diverged_method_stands_last_as_a_word_without_a_bar(axes):
    (note,) = notes(axes, "diverged")
    bars = bars_of(axes, "high")
    assert len(bars) == len(STYLES) - 1
    assert bars[-1].get_x() + bars[-1].get_width() < note.xy[0] < 1.5
    assert not notes(axes, "no vanilla to compare with")


def test_where_all_vanilla_variants_diverged_nothing_is_compared():
    """The table is read from a CSV file, where no reference is no text."""
    errors = {"low": ERRORS["low"] | dict.fromkeys(("vanilla", "fourier"), (math.nan, math.nan))}
    text = accuracy_table("fixed_time", errors, {"low": ""}).to_csv(index=False)
    table = pd.read_csv(io.StringIO(text))
    (axes,) = improvement_bars(table, "fixed_time", {"low": "Low"}, STYLES, PROTOCOL).axes
    assert not axes.patches
    assert len(notes(axes, "diverged")) == 2
    assert len(notes(axes, "no vanilla to compare with")) == len(STYLES) - 2
    assert not notes(axes, "reference")


def test_the_reference_of_each_setting_is_named_at_its_bar(axes):
    bars = [bars_of(axes, s)[ranked(s).index(REFERENCES[s])] for s in SETTINGS]
    assert [bar.get_height() for bar in bars] == pytest.approx([0] * len(SETTINGS))
    places = [note.xy[0] for note in notes(axes, "reference")]
    assert places == pytest.approx([middle(bar) for bar in bars])


@pytest.mark.parametrize(("words", "times"), GUIDES.items())
def test_guide_lines_are_at_what_their_words_say(axes, words, times):
    height = 100 * (1 - times)
    (note,) = notes(axes, words)
    assert note.xy[1] == pytest.approx(height)
    guides = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    assert len(guides) == len(GUIDES) + 1
    assert sum(list(line.get_ydata()) == pytest.approx([height] * 2) for line in guides) == 1


@pytest.mark.parametrize("worst", [1.0, 1e3, 1e6])
def test_limits_contain_every_bar_and_every_replicate(worst):
    errors = {"low": ERRORS["low"] | {"cosine50": (worst, 4 * worst)}}
    (axes,) = draw(errors).axes
    replicates = np.concatenate([line.get_ydata() for line in replicate_lines(axes)])
    assert contains(axes.get_ylim(), [bar.get_height() for bar in axes.patches])
    assert contains(axes.get_ylim(), replicates)
    assert contains(axes.get_ylim(), [-900, 100])


def test_the_scale_is_linear_above_zero_squeezed_below_and_never_turns_round(axes):
    scale = axes.yaxis.get_transform()
    gains = scale.transform(np.array([0.0, 25, 50, 100]))
    assert gains == pytest.approx([0, 25, 50, 100])
    losses = scale.transform(-np.logspace(-3, 6, 50))
    assert (np.diff(losses) < 0).all()
    assert losses[-1] > -100
    assert scale.inverted().transform(losses) == pytest.approx(-np.logspace(-3, 6, 50))


def test_ticks_have_signs_and_thousands_are_apart(axes):
    ticks = axes.get_yticks()
    assert {-1000, -100, -10, 0, 20, 100} <= set(ticks)
    words = dict(zip(ticks, axes.yaxis.get_major_formatter().format_ticks(ticks), strict=True))
    assert (words[-1000], words[0], words[20]) == ("-1,000 %", "0", "+20 %")


def test_each_setting_is_named_under_the_middle_of_its_bars(axes):
    assert list(axes.get_xticks()) == [0, 1, 2]
    labels = [words.replace("\n", " ") for words in tick_words(axes.get_xticklabels())]
    assert labels == list(SETTINGS.values())
    first, *_, last = bars_of(axes, "low")
    assert middle(first) == pytest.approx(-middle(last))
    assert axes.get_xlim() == (-0.5, 2.5)


def test_the_legend_names_constraints_by_colour_and_sizes_by_hatch(figure):
    (legend,) = figure.legends
    assert words_of(legend) == [
        "Vanilla (walls in the loss)",
        "Existing hard constraint",
        "New hard constraint (cosines)",
        "one feature of x",
        "20 features of x",
        "50 features of x",
    ]
    patches = legend.get_patches()
    assert [to_hex(patch.get_facecolor()) for patch in patches[:3]] == [BLUE, ORANGE, GREEN]
    assert [patch.get_hatch() for patch in patches[3:]] == list(HATCHES.values())


def test_the_legend_leaves_out_a_constraint_that_no_method_has():
    kept = {name: style for name, style in STYLES.items() if name != "existing"}
    figure = draw({"low": {name: ERRORS["low"][name] for name in kept}}, styles=kept)
    assert "Existing hard constraint" not in words_of(figure.legends[0])
    assert len(words_of(figure.legends[0])) == 5


def test_title_and_axis_say_what_is_compared(axes):
    assert axes.get_title() == "Error against the best vanilla PINN, same training time"
    assert axes.get_ylabel() == "Relative improvement"
