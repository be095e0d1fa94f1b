"""Lines of training: error while training, against loss, and of two optimizers."""

from functools import cache

import numpy as np
import pytest
from drawings import (
    BUDGET,
    COLOURS,
    COSTS,
    LABELS,
    LINES,
    PROTOCOL,
    SETTINGS,
    STYLES,
    contains,
    digits,
    histories,
    history,
    seen,
    words_of,
)
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.curves import error_curves
from neumann_pinn.report.figures.loss import error_against_loss
from neumann_pinn.report.figures.optimizers import error_against_seconds

RUNS = histories()
ERROR = "Relative $L^2$ error"
OPTIMIZERS = {"one: Adam": "#d55e00", "two: Gauss-Newton": "#0072b2"}


@cache
def curves(against="iterations", wall_clock=False):
    return error_curves(RUNS, BUDGET, against, SETTINGS, STYLES, PROTOCOL, wall_clock)


def shown_panels(figure):
    return [axes for axes in figure.axes if axes.axison]


def guides(axes):
    """Lines from the bottom to the top."""
    return [line for line in axes.lines if list(line.get_ydata()) == [0, 1]]


def runs_of(setting, runs=RUNS):
    return [(method, run) for (of, method, _), run in runs.items() if of == setting]


X_VALUES = {
    ("iterations", False): lambda run, method: run["iteration"],
    ("time", False): lambda run, method: run["iteration"] * COSTS[method] / 1000,
    ("time", True): lambda run, method: run["seconds"],
}


@pytest.mark.parametrize(("against", "wall_clock"), X_VALUES)
def test_a_curve_is_the_error_at_the_lowest_loss_in_its_method_s_colour(against, wall_clock):
    figure = curves(against, wall_clock)
    for axes, setting in zip(shown_panels(figure), SETTINGS, strict=True):
        drawn = [seen(line) for line in axes.lines if line not in guides(axes)]
        expected = [
            (
                digits(X_VALUES[against, wall_clock](run, method)),
                digits(run["error_at_best_loss"]),
                COLOURS[method],
                LINES[method],
            )
            for method, run in runs_of(setting)
        ]
        assert sorted(drawn) == sorted(expected)


@pytest.mark.parametrize(
    ("against", "end", "words"),
    [("iterations", 1000, "Iterations"), ("time", 10.0, "Training time / s")],
)
def test_a_guide_stands_where_the_budget_ends_and_the_axis_soon_after(against, end, words):
    for axes in shown_panels(curves(against)):
        (guide,) = guides(axes)
        assert list(guide.get_xdata()) == pytest.approx([end, end])
        left, right = axes.get_xlim()
        assert left == 0
        assert end < right < 1.1 * end
        assert axes.get_xlabel() == words


def test_by_the_wall_clock_the_guide_stands_where_vanilla_ended():
    for axes, setting in zip(shown_panels(curves("time", True)), SETTINGS, strict=True):
        end = RUNS[setting, "vanilla", 0]["seconds"].iloc[-1]
        (guide,) = guides(axes)
        assert list(guide.get_xdata()) == pytest.approx([end, end])


def test_by_the_wall_clock_every_panel_reaches_to_its_own_guide():
    slower = dict(zip(SETTINGS, (3, 2, 1), strict=True))
    runs = {run: h.assign(seconds=slower[run[0]] * h["seconds"]) for run, h in RUNS.items()}
    figure = error_curves(runs, BUDGET, "time", SETTINGS, STYLES, PROTOCOL, wall_clock=True)
    ends = [guides(axes)[0].get_xdata()[0] for axes in shown_panels(figure)]
    assert ends == pytest.approx([45, 30, 15])
    for axes, end in zip(shown_panels(figure), ends, strict=True):
        assert contains(axes.get_xlim(), [0, end])


@pytest.mark.parametrize(("replicates", "alpha"), [((0,), 1), ((0, 1), 0.6)])
def test_several_replicates_are_lighter_than_one(replicates, alpha):
    settings = {"low": "Low"}
    figure = error_curves(histories(replicates), BUDGET, "time", settings, STYLES, PROTOCOL)
    for axes in shown_panels(figure):
        lines = [line for line in axes.lines if line not in guides(axes)]
        assert len(lines) == len(replicates) * len(STYLES)
        assert {line.get_alpha() for line in lines} == {alpha}


@pytest.fixture(scope="module")
def figures():
    runs = dict(zip(OPTIMIZERS, (RUNS, RUNS), strict=True))
    return {
        "curves": curves(),
        "loss": error_against_loss(RUNS, SETTINGS, STYLES, PROTOCOL),
        "optimizers": error_against_seconds(runs, SETTINGS, PROTOCOL),
    }


def test_each_setting_has_a_panel_with_its_label_and_the_rest_is_empty(figures):
    for figure in figures.values():
        assert [axes.get_title() for axes in shown_panels(figure)] == list(SETTINGS.values())
        assert [axes.axison for axes in figure.axes] == [True] * 3 + [False] * 3


def test_errors_are_logarithmic_and_all_within_the_limits(figures):
    for figure in figures.values():
        for axes in shown_panels(figure):
            assert axes.get_yscale() == "log"
            lines = [line for line in axes.lines if line not in guides(axes)]
            assert contains(axes.get_ylim(), np.concatenate([line.get_ydata() for line in lines]))


def test_the_first_panel_of_a_row_names_the_errors(figures):
    for figure in figures.values():
        assert [axes.get_ylabel() for axes in shown_panels(figure)] == [ERROR, "", ""]


def test_every_panel_has_numbers_under_it_though_they_share_an_axis(figures):
    for name, figure in figures.items():
        for axes in shown_panels(figure):
            labels = [label for label in axes.get_xticklabels() if label.get_text()]
            assert labels, name
            assert all(label.get_visible() for label in labels)


def test_the_legend_names_each_method_with_its_own_line(figures):
    for name in ("curves", "loss"):
        legend = figures[name].axes[len(SETTINGS)].get_legend()
        assert words_of(legend)[: len(STYLES)] == list(LABELS.values())
        handles = legend.get_lines()[: len(STYLES)]
        drawn = [(to_hex(line.get_color()), line.get_linestyle()) for line in handles]
        assert drawn == list(zip(COLOURS.values(), LINES.values(), strict=True))


def loss_panel(runs):
    return error_against_loss(runs, {"low": "Low"}, STYLES, PROTOCOL).axes[0]


def test_a_run_is_its_way_through_loss_and_error_with_a_dot_at_its_lowest_loss():
    run = history()
    axes = loss_panel({("low", "cosine20", 0): run, ("high", "vanilla", 0): history(2)})
    way, to_held_out, dot = axes.lines
    assert seen(way) == (
        digits(run["loss"]),
        digits(run["error"]),
        COLOURS["cosine20"],
        LINES["cosine20"],
    )
    assert (list(dot.get_xdata()), list(dot.get_ydata())) == ([0.02], [0.2])
    assert dot.get_marker() == "o"
    assert list(to_held_out.get_xdata()) == pytest.approx([0.02, 0.06])
    assert list(to_held_out.get_ydata()) == [0.2, 0.2]
    assert to_held_out.get_linewidth() > way.get_linewidth()
    assert {to_hex(line.get_color()) for line in axes.lines} == {COLOURS["cosine20"]}


def test_a_way_through_loss_and_error_ends_where_the_run_diverged():
    run = history()
    run.loc[4:, "loss"] = np.nan
    run.loc[5:, "error"] = np.inf
    way, _, dot = loss_panel({("low", "vanilla", 0): run}).lines
    assert digits(way.get_xdata()) == digits(run["loss"][:4])
    assert digits(way.get_ydata()) == digits(run["error"][:4])
    assert list(dot.get_xdata()) == [0.02]


def test_a_run_that_never_had_a_loss_is_not_drawn_against_it():
    run = history()
    run["loss"] = np.nan
    axes = loss_panel({("low", "vanilla", 0): run, ("low", "existing", 0): history()})
    assert {to_hex(line.get_color()) for line in axes.lines} == {COLOURS["existing"]}


def test_error_against_loss_has_two_logarithmic_axes_and_explains_its_marks(figures):
    figure = figures["loss"]
    for axes in shown_panels(figure):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        assert axes.get_xlabel() == "Loss"
        assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
    words = words_of(figure.axes[len(SETTINGS)].get_legend())
    assert words[len(STYLES) :] == ["lowest loss", "to the loss held out"]


def optimizers(first, second):
    """The panel of one setting: each side's histories by method."""
    sides = zip(OPTIMIZERS, (first, second), strict=True)
    protocols = {name: {("low", m, 0): run for m, run in side.items()} for name, side in sides}
    return error_against_seconds(protocols, {"low": "Low"}, PROTOCOL)


def thick(axes):
    return [line for line in axes.lines if line.get_linewidth() > 1]


def test_each_protocol_s_runs_have_its_colour_and_start_after_zero_seconds():
    runs = {"vanilla": history(1.0), "cosine20": history(0.5, 30.0)}
    others = {"vanilla": history(0.1, 80.0)}
    drawn = [seen(line) for line in optimizers(runs, others).axes[0].lines]
    expected = [
        (digits(run["seconds"][1:]), digits(run["error_at_best_loss"][1:]), colour, "-")
        for side, colour in zip((runs, others), OPTIMIZERS.values(), strict=True)
        for run in side.values()
    ]
    assert sorted(drawn) == sorted(expected)


def test_the_best_run_of_each_protocol_is_the_thick_one():
    runs = {"vanilla": history(0.7), "existing": history(0.3), "cosine20": history(0.5)}
    others = {"vanilla": history(0.02), "existing": history(0.09)}
    axes = optimizers(runs, others).axes[0]
    assert [line.get_ydata()[-1] for line in thick(axes)] == pytest.approx([0.06, 0.004])
    assert [to_hex(line.get_color()) for line in thick(axes)] == list(OPTIMIZERS.values())
    assert all(line.get_alpha() == (1 if line in thick(axes) else 0.5) for line in axes.lines)


def test_a_run_without_an_error_is_never_the_best():
    broken = history().assign(error_at_best_loss=np.nan)
    axes = optimizers({"vanilla": broken, "existing": history(0.3)}, {"vanilla": history()}).axes[0]
    assert thick(axes)[0].get_ydata()[-1] == pytest.approx(0.06)


def test_optimizers_are_compared_on_logarithmic_seconds_and_named(figures):
    figure = figures["optimizers"]
    for axes in shown_panels(figure):
        assert axes.get_xscale() == "log"
        assert axes.get_xlabel() == "Training time / s"
        assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
    legend = figure.axes[len(SETTINGS)].get_legend()
    assert words_of(legend) == [*OPTIMIZERS, "the best method", "the other methods"]
    handles = legend.get_lines()
    assert [to_hex(line.get_color()) for line in handles[:2]] == list(OPTIMIZERS.values())
    assert handles[2].get_linewidth() > handles[3].get_linewidth()
    assert figure.get_suptitle().startswith(f"{PROTOCOL}\nSeconds as each run recorded them")
