"""Markers for single runs: against cost, by replicate, and of the problems beyond the study."""

import math

import numpy as np
import pandas as pd
import pytest
from drawings import (
    BLUE,
    COLOURS,
    COSTS,
    ERRORS,
    GREEN,
    LABELS,
    ORANGE,
    PROTOCOL,
    RED,
    SETTINGS,
    STYLES,
    accuracy_table,
    contains,
    digits,
    mean,
    seen,
    tick_words,
    words_of,
)
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.cost import error_against_cost
from neumann_pinn.report.figures.generalisations import generalisations
from neumann_pinn.report.figures.spread import spread as draw_spread

MARKERS = {1: "o", 20: "s", 50: "^"}
SOLVERS = {"Crank-Nicolson": "#000000", "Cosine transform": "#808080"}
SECONDS = (0.001, 0.02, 0.3)
SOLVER_ERRORS = {"Crank-Nicolson": (0.04, 0.01, 0.0025), "Cosine transform": (1e-3, 1e-9, 0.0)}
LEAST = 1e-16


def baseline(factor):
    """Two solvers at three resolutions."""
    rows = [
        {"solver": solver, "seconds": seconds, "error": factor * error}
        for solver, errors in SOLVER_ERRORS.items()
        for seconds, error in zip(SECONDS, errors, strict=True)
    ]
    return pd.DataFrame(rows)


FACTORS = dict(zip(SETTINGS, (1, 2, 3), strict=True))


@pytest.fixture(scope="module")
def cost():
    baselines = {setting: baseline(factor) for setting, factor in FACTORS.items()}
    table = accuracy_table("fixed_iterations")
    return error_against_cost(table, COSTS, baselines, SETTINGS, STYLES, PROTOCOL)


@pytest.fixture(scope="module")
def spread():
    return draw_spread(accuracy_table("fixed_time"), "fixed_time", SETTINGS, STYLES, PROTOCOL)


def look(line):
    return to_hex(line.get_color()), line.get_marker()


def point(line):
    return digits([line.get_xdata()[0], line.get_ydata()[0]])


def test_a_method_stands_at_its_seconds_and_the_mean_of_its_errors(cost):
    for axes, setting in zip(cost.axes, SETTINGS, strict=False):
        drawn = {point(line): look(line) for line in axes.lines if line.get_linestyle() == "None"}
        assert drawn == {
            digits([1000 * COSTS[method] / 1000, mean(ERRORS[setting][method])]): (
                COLOURS[method],
                MARKERS[style.size],
            )
            for method, style in STYLES.items()
        }


def test_a_solver_is_a_line_over_its_resolutions_with_an_exact_one_at_the_floor(cost):
    for axes, (setting, factor) in zip(cost.axes, FACTORS.items(), strict=False):
        drawn = [line for line in axes.lines if line.get_linestyle() == "-"]
        assert [to_hex(line.get_color()) for line in drawn] == list(SOLVERS.values()), setting
        for line, solver in zip(drawn, SOLVERS, strict=True):
            expected = [max(factor * error, LEAST) for error in SOLVER_ERRORS[solver]]
            assert list(line.get_xdata()) == list(SECONDS)
            assert list(line.get_ydata()) == pytest.approx(expected, rel=1e-12, abs=0)


def test_cost_has_two_logarithmic_axes_that_contain_everything(cost):
    for axes, (setting, label) in zip(cost.axes, SETTINGS.items(), strict=False):
        assert axes.get_xscale() == axes.get_yscale() == "log", setting
        assert axes.get_title() == label
        assert axes.get_xlabel() == "Seconds"
        assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
        assert contains(axes.get_ylim(), np.concatenate([line.get_ydata() for line in axes.lines]))
    assert [axes.get_ylabel() for axes in cost.axes[:3]] == ["Relative $L^2$ error", "", ""]


def test_the_legend_of_cost_has_each_method_s_marker_and_each_solver_s_line(cost):
    legend = cost.axes[len(SETTINGS)].get_legend()
    assert words_of(legend) == [*LABELS.values(), *SOLVERS]
    methods = [(COLOURS[method], MARKERS[style.size]) for method, style in STYLES.items()]
    solvers = [(colour, ".") for colour in SOLVERS.values()]
    assert [look(line) for line in legend.get_lines()] == methods + solvers
    assert [axes.axison for axes in cost.axes] == [True] * 3 + [False] * 3
    assert cost.get_suptitle() == f"{PROTOCOL}\nSolvers: finer from left to right"


def row_of(axes, label):
    """The height at which a method's name stands."""
    names = dict(zip(tick_words(axes.get_yticklabels()), axes.get_yticks(), strict=True))
    return names[label]


def marks(axes, marker, height):
    return [
        line
        for line in axes.lines
        if line.get_marker() == marker and set(line.get_ydata()) == {height}
    ]


@pytest.mark.parametrize("method", STYLES)
def test_a_dot_for_each_replicate_and_a_bar_for_their_mean_stand_beside_the_method_s_name(
    spread, method
):
    height = row_of(spread.axes[0], LABELS[method])
    for axes, setting in zip(spread.axes, SETTINGS, strict=True):
        errors = [error for error in ERRORS[setting][method] if not math.isnan(error)]
        (dots,), (bar,) = (marks(axes, marker, height) for marker in "o|")
        assert sorted(dots.get_xdata()) == sorted(errors)
        assert bar.get_xdata() == pytest.approx([mean(ERRORS[setting][method])], nan_ok=True)
        assert {to_hex(line.get_color()) for line in (dots, bar)} == {COLOURS[method]}


def test_replicates_of_the_first_method_stand_at_the_top(spread):
    heights = [row_of(spread.axes[0], label) for label in LABELS.values()]
    assert heights == sorted(heights, reverse=True)
    assert contains(spread.axes[0].get_ylim(), heights)


def test_replicates_are_spread_on_a_logarithmic_axis_with_the_clock_under_it(spread):
    for axes, label in zip(spread.axes, SETTINGS.values(), strict=True):
        assert axes.get_xscale() == "log"
        assert axes.get_title() == label
        assert axes.get_xlabel() == "Relative $L^2$ error, same training time"
        assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
    assert spread.get_suptitle() == f"{PROTOCOL}\nDot: a replicate; bar: geometric mean"


@pytest.mark.parametrize("count", [2, 4, 5])
def test_every_column_of_replicates_has_its_axis_named_at_the_bottom(count):
    settings = {f"s{i}": f"S{i}" for i in range(count)}
    table = accuracy_table(
        "fixed_time", dict.fromkeys(settings, ERRORS["low"]), dict.fromkeys(settings, "vanilla")
    )
    figure = draw_spread(table, "fixed_time", settings, STYLES, PROTOCOL)
    shown = [axes for axes in figure.axes if axes.axison]
    lowest = {axes.get_subplotspec().colspan.start: axes for axes in shown}
    assert len(shown) == count
    assert all(axes.get_xlabel() for axes in lowest.values())


def test_errors_of_one_decade_have_a_number_under_them_too():
    errors = {"low": {method: (0.2 + i / 10, 0.25) for i, method in enumerate(STYLES)}}
    table = accuracy_table("fixed_time", errors)
    figure = draw_spread(table, "fixed_time", {"low": "Low"}, STYLES, PROTOCOL)
    axes = figure.axes[0]
    low, high = axes.get_xlim()
    labels = axes.get_xticklabels(which="both")
    assert [x for x in labels if x.get_text() and low <= x.get_position()[0] <= high]


PROBLEMS = {"slab": "Slab", "robin": "Robin walls", "square": "Square"}
METHODS = {
    "vanilla": (BLUE, "o"),
    "existing": (ORANGE, "s"),
    "cosine": (GREEN, "^"),
    "hard": (RED, "D"),
}
NAMES = ("none", "output_transform", "cosine_embedding", "hard_walls")
CONSTRAINTS = dict(zip(METHODS, NAMES, strict=True))
FLOOR = 1e-17
BEYOND = pd.DataFrame(
    [
        ("slab", "vanilla", 0.1, 0.5, 20.0),
        ("slab", "existing", 0.03, 1e-9, 60.0),
        ("slab", "cosine", 0.002, 0.0, 25.0),
        ("slab", "hard", 0.001, 1e-16, 28.0),
        ("robin", "vanilla", 0.4, 3.0, 22.0),
        ("robin", "existing", 0.2, 0.0, 75.0),
        ("robin", "cosine", 0.005, 1e-12, 24.0),
        ("square", "vanilla", 0.7, 0.02, 41.0),
        ("square", "cosine", 0.006, 1e-19, 47.0),
    ],
    columns=["problem", "method", "error", "wall_violation", "seconds"],
).assign(constraint=lambda table: table["method"].map(CONSTRAINTS))
MEASURES = {
    "error": "Relative $L^2$ error",
    "wall_violation": "Largest violation at the walls",
    "seconds": "Seconds of training",
}


@pytest.fixture(scope="module")
def beyond():
    return generalisations(BEYOND, PROBLEMS, PROTOCOL)


@pytest.mark.parametrize("measure", MEASURES)
def test_each_run_beyond_the_study_is_a_marker_in_its_problem_s_row(beyond, measure):
    axes = beyond.axes[list(MEASURES).index(measure)]
    assert [look(line) for line in axes.lines] == list(METHODS.values())
    for line, method in zip(axes.lines, METHODS, strict=True):
        runs = BEYOND[BEYOND["method"] == method]
        values = runs[measure].clip(lower=FLOOR if measure == "wall_violation" else 0)
        assert list(line.get_xdata()) == pytest.approx(list(values), rel=1e-12, abs=0)
        rows = [list(PROBLEMS).index(problem) for problem in runs["problem"]]
        assert [round(y) for y in line.get_ydata()] == rows


def test_a_marker_is_that_of_the_constraint_whatever_the_method_is_called(beyond):
    renamed = BEYOND.assign(method=BEYOND["method"].map(lambda name: f"{name}_renamed"))
    for one, other in zip(
        beyond.axes, generalisations(renamed, PROBLEMS, PROTOCOL).axes, strict=True
    ):
        assert [seen(line) for line in one.lines] == [seen(line) for line in other.lines]


def test_where_no_slope_is_prescribed_only_the_violation_has_no_marker():
    none = (BEYOND["problem"] == "robin") & (BEYOND["method"] == "vanilla")
    table = BEYOND.assign(wall_violation=BEYOND["wall_violation"].mask(none))
    errors, walls, seconds = (
        axes.lines[0].get_xdata() for axes in generalisations(table, PROBLEMS, PROTOCOL).axes
    )
    assert list(np.isnan(walls)) == [False, True, False]
    assert not np.isnan([errors, seconds]).any()


def test_methods_of_one_problem_do_not_hide_each_other(beyond):
    heights = [line.get_ydata()[0] for line in beyond.axes[0].lines]
    assert min(np.diff(heights)) > 0.15
    assert max(heights) < 0.5


def test_an_exact_wall_stands_over_a_tick_that_says_zero(beyond):
    walls = beyond.axes[1]
    words = dict(zip(walls.get_xticks(), tick_words(walls.get_xticklabels()), strict=True))
    assert words.pop(FLOOR) == "0"
    assert all(label == f"$10^{{{round(math.log10(tick))}}}$" for tick, label in words.items())
    cosine = walls.lines[list(METHODS).index("cosine")]
    assert cosine.get_xdata()[0] == FLOOR


def test_measures_are_named_and_within_their_limits(beyond):
    for axes, (measure, words) in zip(beyond.axes, MEASURES.items(), strict=True):
        assert axes.get_xlabel() == words
        assert axes.get_xscale() == ("linear" if measure == "seconds" else "log")
        assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
    assert beyond.axes[2].get_xlim()[0] == 0


def test_problems_are_named_from_top_to_bottom_with_stripes_behind_every_other(beyond):
    for axes in beyond.axes:
        assert list(axes.get_ylim()) == [2.5, -0.5]
        stripes = [(patch.get_y(), patch.get_height()) for patch in axes.patches]
        assert stripes == [(-0.5, 1), (1.5, 1)]
    assert list(beyond.axes[0].get_yticks()) == [0, 1, 2]
    assert tick_words(beyond.axes[0].get_yticklabels()) == list(PROBLEMS.values())


def test_the_legend_of_the_problems_names_each_constraint_once(beyond):
    (legend,) = beyond.legends
    assert words_of(legend) == [
        "Vanilla (walls in the loss)",
        "Existing hard constraint",
        "New hard constraint (cosines)",
        "All walls and the start hard",
    ]
    assert [look(line) for line in legend.get_lines()] == list(METHODS.values())
