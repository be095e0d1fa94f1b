"""A run's page and its picture."""

import base64
import io
import re

import matplotlib.image
import numpy as np
import pytest
from drawings import BLUE, GREEN, ORANGE, PROTOCOL, history
from matplotlib.colors import to_rgb

from neumann_pinn.report.pages import history_picture, run_page

TERMS = {"loss_pde": BLUE, "loss_initial": ORANGE, "loss_boundary": GREEN}
RUN = {"status": "finished", "error": 0.01234, "iterations": 15000, "packages": {"torch": "2.6"}}

LEGEND = 520
"""The column of pixels where the axes have ended."""


@pytest.fixture(scope="module")
def picture():
    return history_picture(history())


def drawn_at(picture, colour):
    """Where a picture has this colour or, at a line's edge, a mixture with white."""
    ink = 1 - matplotlib.image.imread(io.BytesIO(picture))[..., :3]
    full = 1 - np.array(to_rgb(colour))
    share = ink @ full / (full @ full)
    others = np.abs(ink - share[..., None] * full).max(axis=-1)
    return np.argwhere((share > 0.4) & (others < 0.02))


@pytest.mark.parametrize("colour", TERMS.values())
def test_a_picture_has_a_line_for_each_term_of_the_loss(picture, colour):
    assert np.ptp(drawn_at(picture, colour)[:, 1]) > 400


@pytest.mark.parametrize("term", TERMS)
def test_a_term_that_is_nothing_throughout_is_neither_drawn_nor_named(term):
    picture = history_picture(history().assign(**{term: [0.0, np.nan] * 3}))
    shown = [name for name, colour in TERMS.items() if len(drawn_at(picture, colour))]
    assert shown == [name for name in TERMS if name != term]


def test_an_error_far_above_the_losses_is_a_black_line_far_above_theirs():
    picture = history_picture(history().assign(error=50 * history()["error"]))
    image = matplotlib.image.imread(io.BytesIO(picture))[..., :3]
    highest = np.argwhere(image.max(axis=-1) < 0.01)[:, 0].min()
    losses = np.concatenate([drawn_at(picture, colour) for colour in TERMS.values()])
    assert losses[:, 0].min() - highest > 50


def test_the_smaller_term_is_the_lower_line(picture):
    pde, walls = (drawn_at(picture, colour)[:, 0].mean() for colour in (BLUE, GREEN))
    assert pde < walls


def test_a_line_goes_on_after_evaluations_that_were_zero(picture):
    gap = history()
    gap.loc[2:3, "loss_pde"] = 0.0
    lines = (drawn_at(one, BLUE)[:, 1] for one in (picture, history_picture(gap)))
    whole, broken = (columns[columns < LEGEND] for columns in lines)
    assert 0 < len(broken) < len(whole)
    assert (whole.min(), whole.max()) == (broken.min(), broken.max())


def test_a_picture_is_the_same_every_time_and_names_no_software(picture):
    assert picture == history_picture(history())
    assert b"Software" not in picture


def test_a_page_holds_its_picture_and_loads_nothing(picture):
    page = run_page("low, vanilla, replicate 0", RUN, history(), PROTOCOL)
    (source,) = re.findall(r'src="([^"]*)"', page)
    start, content = source.split(",")
    assert start == "data:image/png;base64"
    assert base64.b64decode(content) == picture
    assert "http" not in page.replace(content, "")


def test_a_page_says_how_the_run_ended_and_lists_its_record():
    page = run_page("low, vanilla, replicate 0", RUN, history(), PROTOCOL)
    assert "<h1>low, vanilla, replicate 0</h1>" in page
    assert f"<p>{PROTOCOL}</p>" in page
    assert "<p>finished, error 1.23e-02 after 15,000 iterations</p>" in page
    rows = re.findall(r"<tr><th>(.*?)</th><td>(.*?)</td></tr>", page)
    assert rows == [
        ("status", "finished"),
        ("error", "0.01234"),
        ("iterations", "15000"),
        ("packages", "{&quot;torch&quot;: &quot;2.6&quot;}"),
    ]
