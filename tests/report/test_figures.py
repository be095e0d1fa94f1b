"""What all figures share."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn
from drawings import (
    BEYOND,
    BEYOND_LABELS,
    BUDGET,
    COSTS,
    LABELS,
    PROTOCOL,
    SETTINGS,
    STYLES,
    accuracy_table,
    contains,
    histories,
)

from neumann_pinn.report.figures.agreement import agreement
from neumann_pinn.report.figures.cost import error_against_cost
from neumann_pinn.report.figures.curves import error_curves
from neumann_pinn.report.figures.generalisations import generalisations
from neumann_pinn.report.figures.heatmap import error_heatmap
from neumann_pinn.report.figures.improvement import improvement_bars
from neumann_pinn.report.figures.loss import error_against_loss
from neumann_pinn.report.figures.maps import solution_maps
from neumann_pinn.report.figures.optimizers import error_against_seconds
from neumann_pinn.report.figures.peers import error_against_peers
from neumann_pinn.report.figures.spread import spread as draw_spread
from neumann_pinn.report.figures.style import (
    COLOURS,
    HATCHES,
    LINES,
    MARKERS,
    Style,
    by_size,
    figure_style,
    panels,
    read_styles,
    save,
    stamp,
)
from neumann_pinn.study import published
from neumann_pinn.study.predictions import Prediction
from neumann_pinn.study.statistics import Spread

SOLVER = pd.DataFrame({"solver": ["Crank-Nicolson"], "seconds": [0.1], "error": [0.01]})
WALLS = np.full((len(STYLES), 2, 4), 0.1)
X, T = np.linspace(0, 1, 5), np.linspace(0, 1, 4)
WAVE = np.cos(np.pi * X) * np.exp(-T)[:, None]
PREDICTION = Prediction(
    X, T, WAVE, 0.9 * WAVE, np.array("cosine1"), np.array(list(STYLES)), T, WALLS
)
TABLE = accuracy_table("fixed_time")
TWO = {name: SETTINGS[name] for name in ("low", "high")}
RUNS = histories(replicates=[0])
ONE_RUN = {0: RUNS["low", "vanilla", 0]}
PEERS = (published.peers(), "Gauss-Newton; 100-100-100", "a machine")
FIGURES = {
    "agreement": partial(agreement, TABLE, TABLE, Spread(0.5, 3.0), "fixed_time", TWO, STYLES),
    "cost": partial(error_against_cost, TABLE, COSTS, dict.fromkeys(TWO, SOLVER), TWO, STYLES),
    "curves": partial(error_curves, RUNS, BUDGET, "time", TWO, STYLES),
    "generalisations": partial(generalisations, BEYOND, BEYOND_LABELS),
    "heatmap": partial(error_heatmap, TABLE, TABLE, "fixed_time", TWO, LABELS),
    "improvement": partial(improvement_bars, TABLE, "fixed_time", TWO, STYLES),
    "loss": partial(error_against_loss, RUNS, TWO, STYLES),
    "maps": partial(solution_maps, PREDICTION, "Low frequency", STYLES),
    "optimizers": partial(error_against_seconds, {"Adam": RUNS, "Gauss-Newton": RUNS}, TWO),
    "peers": partial(error_against_peers, ONE_RUN, 0.5, *PEERS),
    "spread": partial(draw_spread, TABLE, "fixed_time", TWO, STYLES),
}
"""All but the schematic, which no protocol made."""


def small():
    """A figure with words, markers and hatches."""
    with figure_style():
        figure, axes = plt.subplots(figsize=(1, 1))
        axes.bar([1], [1], hatch="///")
        axes.plot([1, 2], [1, 2], "o-")
    return figure


@pytest.mark.parametrize("words", ["Protocol paper", "Protocol name: 1,000,000 iterations, " * 12])
def test_a_stamp_stays_on_its_figure(words):
    figure, _ = panels(3, 2.1)
    stamp(figure, words)
    figure.draw_without_rendering()
    (text,) = figure.texts
    extent = text.get_window_extent()
    assert text.get_text().replace("\n", " ") == words.strip()
    assert figure.bbox.x0 <= extent.x0
    assert extent.x1 <= figure.bbox.x1


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_carries_its_protocol_above_everything_and_keeps_within_the_page(name):
    figure = FIGURES[name](f"{PROTOCOL}\nProtocol beside it: 20 iterations")
    figure.draw_without_rendering()
    (words,) = (text for text in figure.texts if text.get_text() == figure.get_suptitle())
    assert words.get_text().splitlines()[:2] == [PROTOCOL, "Protocol beside it: 20 iterations"]
    boxes = list(filter(None, (axes.get_tightbbox() for axes in figure.findobj(plt.Axes))))
    assert max(box.y1 for box in boxes) <= words.get_window_extent().y0 + 1
    boxes += [legend.get_window_extent() for legend in figure.legends]
    assert contains((-1, figure.bbox.x1 + 1), [(box.x0, box.x1) for box in boxes])
    assert contains((-1, figure.bbox.y1 + 1), [(box.y0, box.y1) for box in boxes])
    assert figure.get_figwidth() == pytest.approx(7.2)


def test_a_figure_is_closed_once_it_is_saved_under_each_name(tmp_path):
    paths = [tmp_path / "one.png", tmp_path / "other.svg"]
    save(small(), paths)
    assert all(path.stat().st_size for path in paths)
    assert not plt.get_fignums()


@pytest.mark.parametrize("kind", ["pdf", "png", "svg"])
def test_a_file_is_the_same_every_time(kind, tmp_path):
    paths = [tmp_path / f"{name}.{kind}" for name in ("one", "other")]
    for path in paths:
        save(small(), [path])
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("kind", "mark"), [("pdf", b"/CreationDate"), ("png", b"Software"), ("svg", b"dc:date")]
)
def test_a_file_says_neither_when_nor_by_which_version_it_was_made(kind, mark, tmp_path):
    plain, ours = tmp_path / f"plain.{kind}", tmp_path / f"ours.{kind}"
    figure = small()
    figure.savefig(plain)
    save(figure, [ours])
    assert mark in plain.read_bytes()
    assert mark not in ours.read_bytes()


def test_a_pdf_has_fonts_that_journals_take(tmp_path):
    """TrueType and not Type 3."""
    save(small(), [tmp_path / "figure.pdf"])
    assert b"/Type3" not in (tmp_path / "figure.pdf").read_bytes()


@pytest.mark.parametrize(("count", "rows"), [(1, 1), (3, 1), (4, 2), (6, 2)])
def test_panels_stand_in_rows_of_three_and_the_rest_is_empty(count, rows):
    figure, axes_of = panels(count, 2.0)
    assert len(axes_of) == count
    assert len(figure.axes) == 3 * rows
    assert [axes.axison for axes in figure.axes] == [True] * count + [False] * (3 * rows - count)
    assert figure.get_size_inches()[1] == pytest.approx(2.0 * rows + 0.3)


def test_each_size_has_its_own_line_hatch_and_marker_and_the_smallest_the_plain_one():
    styles = {str(size): Style("", "none", size) for size in (50, 1, 20, 300, 7, 100)}
    for choices in (LINES, HATCHES, MARKERS):
        chosen = by_size(styles, choices)
        assert list(chosen) == [1, 7, 20, 50, 100, 300]
        assert len(set(chosen.values())) == 6
        assert chosen[1] == choices[0]


def test_styles_are_read_from_lists_of_their_parts():
    parts = {"cosine20": ["New HC, 20 cosines", "cosine_embedding", 20]}
    assert read_styles(parts) == {"cosine20": STYLES["cosine20"]}


def test_constraints_have_the_colours_of_seaborn_s_colour_blind_palette():
    assert list(COLOURS.values()) == list(seaborn.color_palette("colorblind", 4).as_hex())
