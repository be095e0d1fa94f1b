"""Our errors against the published ones, and how well their ranks agree."""

import math

import numpy as np
import pytest
from drawings import COLOURS, ERRORS, LABELS, PROTOCOL, SETTINGS, STYLES, accuracy_table, mean
from matplotlib.colors import to_hex

from neumann_pinn.report.figures.agreement import agreement
from neumann_pinn.report.tables import comparison_table
from neumann_pinn.study.accuracy import rank_correlations
from neumann_pinn.study.statistics import Spread, interval

SPREAD = Spread(0.5, 3.0)
SINGLE = Spread(0.5 / math.sqrt(2), 3.0)
OURS = accuracy_table("fixed_time")
PUBLISHED = OURS[OURS["replicate"] == 0].assign(error=lambda table: 3 * table["error"])


@pytest.fixture(scope="module")
def figure():
    return agreement(OURS, PUBLISHED, SPREAD, "fixed_time", SETTINGS, STYLES, PROTOCOL)


def drawn(axes):
    """Place, colour and interval of each point."""
    found = {}
    for container in axes.containers:
        line, _, (bars,) = container.lines
        (low, high) = bars.get_segments()[0][:, 1]
        place = (float(line.get_xdata()[0]), float(line.get_ydata()[0]))
        found[place] = (to_hex(line.get_color()), low, high)
    return found


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_point_for_each_method_has_its_interval(figure, setting):
    points = drawn(figure.axes[list(SETTINGS).index(setting)])
    assert len(points) == len(STYLES)
    for method, errors in ERRORS[setting].items():
        known = [error for error in errors if not math.isnan(error)]
        (place,) = (p for p in points if p == pytest.approx((3 * errors[0], mean(known))))
        colour, low, high = points[place]
        assert colour == COLOURS[method]
        expected = np.exp(interval(list(np.log(known)), SINGLE))
        assert (low, high) == pytest.approx(tuple(expected[1:]))


def test_titles_say_how_well_the_ranks_agree(figure):
    ranks = rank_correlations(OURS, PUBLISHED)["fixed_time"]
    for axes, (setting, label) in zip(figure.axes, SETTINGS.items(), strict=False):
        assert axes.get_title() == f"{label}\nrank correlation {ranks[setting]:.2f}"
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_what_is_published_of_no_method_is_not_drawn():
    nothing = PUBLISHED[PUBLISHED["setting"] == "none"]
    figure = agreement(OURS, nothing, SPREAD, "fixed_time", SETTINGS, STYLES, PROTOCOL)
    assert all(not axes.containers for axes in figure.axes)
    assert figure.axes[0].get_title().endswith("rank correlation unknown")


def test_rank_correlations_are_one_for_the_same_order_and_minus_one_for_the_reverse():
    known = OURS.dropna()
    same = rank_correlations(known, known)
    turned = rank_correlations(known, known.assign(error=1 / known["error"]))
    assert same.to_numpy() == pytest.approx(1)
    assert turned.to_numpy() == pytest.approx(-1)
    assert list(same.index) == list(SETTINGS)


def test_few_methods_have_no_rank_correlation():
    two = OURS[OURS["method"].isin(["vanilla", "cosine1"])]
    assert rank_correlations(two, PUBLISHED).isna().to_numpy().all()


def test_the_table_of_both_ends_with_their_rank_correlation():
    table = comparison_table(OURS, PUBLISHED, "fixed_time", SETTINGS, LABELS, PROTOCOL)
    ranks = rank_correlations(OURS, PUBLISHED)["fixed_time"]
    cells = " & ".join(f"${ranks[setting]:.2f}$" for setting in SETTINGS)
    assert f"Rank correlation & {cells}" in table
