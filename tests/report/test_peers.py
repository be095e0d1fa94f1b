"""Our histories next to those that others published of the same problem."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from drawings import PROTOCOL, contains, digits, history, seen, words_of
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.peers import OPTIMIZERS, error_against_peers
from neumann_pinn.report.figures.style import save
from neumann_pinn.study import published

SCALE = 0.5
NAME, MACHINE = "Gauss-Newton; 7-7", "CPU, 3 threads"
DARK, GREY = "#262626", "#cccccc"
LOWEST = [0.6, 0.5, 0.2, 0.1, 0.1]
"""The lowest errors of a made-up history, without the one before training."""
NETWORKS = {
    ("ENGD_full", "mlp-tanh-64"): [0.3, 1e-3, 1e-7],
    ("KFAC", "mlp-tanh-64"): [0.3, 1e-3, 1e-4],
    ("KFAC", "mlp-tanh-8-4"): [0.4, 1e-2, 1e-6],
    ("SGD", "mlp-tanh-64"): [0.5, 0.4, 0.3],
}
SECONDS = [1.0, 20.0, 300.0]
THEIRS = pd.DataFrame(
    [
        (*run, second, step, error)
        for run, errors in NETWORKS.items()
        for step, (second, error) in enumerate(zip(SECONDS, errors, strict=True))
    ],
    columns=["optimizer", "network", "seconds", "step", "lowest_error_so_far"],
)


def peers(*ours, theirs=THEIRS):
    return error_against_peers(dict(enumerate(ours)), SCALE, theirs, NAME, MACHINE, PROTOCOL)


def drawn(figure, colour):
    return [line for line in figure.axes[0].lines if to_hex(line.get_color()) == colour]


@pytest.mark.parametrize("scales", [(1.0,), (1.0, 0.1)])
def test_ours_is_the_lowest_error_so_far_in_their_measure_for_each_replicate(scales):
    runs = [history(scale, 20.0) for scale in scales]
    lines = drawn(peers(*runs), DARK)
    assert len(lines) == len(runs)
    for line, run, scale in zip(lines, runs, scales, strict=True):
        assert digits(line.get_xdata()) == digits(run["seconds"][1:])
        assert digits(line.get_ydata()) == digits(SCALE * scale * np.array(LOWEST))


def test_ours_stands_out():
    figure = peers(history())
    (ours,) = drawn(figure, DARK)
    others = [line for line in figure.axes[0].lines if line is not ours]
    assert ours.get_marker() == "o"
    assert all(line.get_marker() == "None" for line in others)
    assert ours.get_linewidth() > max(line.get_linewidth() for line in others)
    assert ours.get_zorder() > max(line.get_zorder() for line in others)


@pytest.mark.parametrize(
    ("run", "line"),
    [(("ENGD_full", "mlp-tanh-64"), "-"), (("KFAC", "mlp-tanh-8-4"), "--")],
)
def test_the_better_network_of_a_named_optimizer_is_in_its_colour(run, line):
    colour = OPTIMIZERS[run[0]][1]
    (shown,) = drawn(peers(history()), colour)
    assert seen(shown) == (digits(SECONDS), digits(NETWORKS[run]), colour, line)


def test_all_other_histories_are_grey():
    lines = drawn(peers(history()), GREY)
    errors = sorted(digits(line.get_ydata()) for line in lines)
    expected = [("KFAC", "mlp-tanh-64"), ("SGD", "mlp-tanh-64")]
    assert errors == sorted(digits(NETWORKS[run]) for run in expected)


def test_errors_hold_until_a_lower_one_was_seen():
    lines = peers(history()).axes[0].lines
    assert {line.get_drawstyle() for line in lines} == {"steps-post"}


def test_both_axes_are_logarithmic_named_and_hold_all_lines():
    axes = peers(history()).axes[0]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert axes.get_xlabel() == "Seconds of training"
    assert axes.get_ylabel() == "Lowest root mean square error so far"
    assert contains(axes.get_xlim(), np.concatenate([line.get_xdata() for line in axes.lines]))
    assert contains(axes.get_ylim(), np.concatenate([line.get_ydata() for line in axes.lines]))


@pytest.mark.parametrize(("count", "replicates"), [(1, "replicate 0"), (3, "replicates 0, 1, 2")])
def test_the_legend_names_ours_first_and_then_theirs_with_their_networks(count, replicates):
    legend = peers(*[history()] * count).axes[0].get_legend()
    assert words_of(legend) == [
        f"Ours: {NAME}\n({replicates})",
        "ENGD, full; 64",
        "KFAC; 8-4",
        "their other optimizers, networks",
    ]
    colours = [to_hex(line.get_color()) for line in legend.get_lines()]
    assert colours == [DARK, OPTIMIZERS["ENGD_full"][1], OPTIMIZERS["KFAC"][1], GREY]


def test_protocol_and_machines_are_on_its_face():
    words = " ".join(peers(history()).get_suptitle().split())
    assert words.startswith(f"{PROTOCOL} Ours: {MACHINE}. Theirs (Dangel, Mueller, Zeinhofer 2024)")
    for part in ("RTX 6000 GPU", "the machine is not recorded", "best of about 50"):
        assert part in words


def test_a_run_that_diverged_keeps_the_error_that_it_had():
    run = history()
    run.loc[3:, "error"] = [np.nan, np.inf, np.nan]
    (line,) = drawn(peers(run), DARK)
    assert digits(line.get_ydata()) == digits(SCALE * np.array([0.6, 0.5, 0.5, 0.5, 0.5]))


def test_words_are_clear_of_each_other():
    figure = peers(*[history()] * 3, theirs=published.peers())
    figure.draw_without_rendering()
    axes = figure.axes[0]
    (heading,) = figure.texts
    words = [heading, axes.title, axes.get_legend()]
    boxes = [part.get_window_extent() for part in words]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    assert all(figure.bbox.contains(*corner) for box in boxes for corner in box.get_points())


@pytest.mark.parametrize("error", [np.nan, np.inf])
def test_a_run_that_never_had_an_error_is_not_drawn(tmp_path, error):
    figure = peers(history().assign(error=error), history())
    broken, whole = drawn(figure, DARK)
    assert len(broken.get_xdata()) == 0
    assert len(whole.get_xdata()) == len(LOWEST)
    save(figure, [tmp_path / "peers.png"])


def test_only_a_broken_run_can_be_drawn_too(tmp_path):
    save(peers(history().assign(error=np.nan)), [tmp_path / "peers.png", tmp_path / "peers.pdf"])
    assert (tmp_path / "peers.pdf").stat().st_size > 1000


def test_six_of_the_published_histories_are_named():
    figure = peers(history(), theirs=published.peers())
    assert words_of(figure.axes[0].get_legend())[1:-1] == [
        "ENGD, full; 64",
        "ENGD, per layer; 64",
        "KFAC; 256-256-128-128",
        "Hessian-free; 256-256-128-128",
        "Adam; 64",
        "L-BFGS; 256-256-128-128",
    ]
    assert len(drawn(figure, GREY)) == 9


def test_published_histories_fall_as_time_goes_by():
    for _, run in published.peers().groupby(["optimizer", "network"]):
        assert run["seconds"].is_monotonic_increasing
        assert run["lowest_error_so_far"].is_monotonic_decreasing


@pytest.mark.parametrize(
    ("run", "lowest", "seconds"),
    [
        (("ENGD_full", "mlp-tanh-64"), 2.7e-8, (38, 96, 202)),
        (("ENGD_per_layer", "mlp-tanh-64"), 3.6e-8, (158, 195, 263)),
        (("KFAC", "mlp-tanh-256-256-128-128"), 2.0e-8, (233, 341, 497)),
        (("HessianFree", "mlp-tanh-256-256-128-128"), 2.2e-7, (177, 637)),
        (("Adam", "mlp-tanh-64"), 7.9e-5, ()),
        (("LBFGS", "mlp-tanh-256-256-128-128"), 1.2e-4, ()),
    ],
)
def test_published_histories_reach_what_their_summary_says(run, lowest, seconds):
    history = published.peers().set_index(["optimizer", "network"]).sort_index().loc[run]
    errors = history["lowest_error_so_far"]
    assert errors.min() == pytest.approx(lowest, rel=0.02)
    reached = [history["seconds"][errors <= goal].min() for goal in (1e-5, 1e-6, 1e-7)]
    assert [s for s in reached if s == s] == pytest.approx(seconds, abs=1)
