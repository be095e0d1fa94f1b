"""The classical solvers against the exact series."""

import itertools
import math

import pytest

from neumann_pinn import Cosines, Polynomial, heat
from neumann_pinn.problems.solvers import solve

SETTINGS = {
    "low": heat(Cosines({2: 1.0}), 2),
    "high": heat(Cosines({50: 1.0}), 50),
    "poly4": heat(Polynomial((0.0, 0.0, 16.0, -32.0, 16.0)), 1),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_crank_nicolson_is_of_second_order_over_the_whole_of_space_and_time(name):
    table = solve(SETTINGS[name]).query("solver == 'Crank-Nicolson'").set_index("resolution")
    errors = [table.loc[n, "error"] for n in (400, 800, 1600)]
    orders = [math.log2(coarse / fine) for coarse, fine in itertools.pairwise(errors)]
    assert orders == pytest.approx([2, 2], abs=0.05)


@pytest.mark.parametrize("name", ["low", "high"])
def test_the_cosine_transform_is_exact_once_the_waves_are_resolved(name):
    table = solve(SETTINGS[name]).query("solver == 'Cosine transform'").set_index("resolution")
    assert table.loc[64:, "error"].max() < 1e-13


def test_the_cosine_transform_converges_fast_on_a_polynomial():
    table = solve(SETTINGS["poly4"]).query("solver == 'Cosine transform'").set_index("resolution")
    assert table.loc[128, "error"] < 1e-8
    assert (table["seconds"] > 0).all()
