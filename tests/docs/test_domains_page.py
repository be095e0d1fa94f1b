"""docs/domains.md quotes what docs/compare_domains.py has measured."""

import re
from importlib.util import module_from_spec, spec_from_file_location

import pandas as pd
import pytest
from studies import ROOT

PAGE = ROOT / "docs" / "domains.md"
RUNS = pd.read_csv(ROOT / "docs" / "domains" / "comparison.csv")


@pytest.fixture(scope="module")
def script():
    spec = spec_from_file_location("compare_domains", ROOT / "docs" / "compare_domains.py")
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_the_table_has_the_medians_of_the_runs(script):
    medians, words = script.summary(RUNS), PAGE.read_text()
    for (problem, optimizer, method), row in medians.iterrows():
        cells = f"{row['error']:.1e} | {row['violation']:.0e} | {row['steps']:.0f}"
        assert f"| {problem} | {optimizer} | {method} | {cells} |" in words
    assert len(re.findall(r"^\| .*e-", words, re.MULTILINE)) == len(medians)
    assert len(medians) == len(script.PROBLEMS) * 2 * len(script.METHODS)


def test_all_had_the_same_time_and_held_walls_hold(script):
    assert RUNS["seconds"].between(script.SECONDS, 1.2 * script.SECONDS).all()
    assert set(RUNS["seed"]) == set(range(script.SEEDS))
    held = RUNS["method"] != script.METHODS[0]
    assert RUNS[held]["violation"].max() < 1e-13 < 1e-8 < RUNS[~held]["violation"].min()
    assert f"{script.SECONDS:.0f} seconds" in PAGE.read_text()


def test_the_factors_in_the_prose_are_those_of_the_table(script):
    """Of errors with the wall in the loss and by one of the other methods."""
    words = " ".join(PAGE.read_text().split())
    errors = script.summary(RUNS)["error"].unstack()
    loss, transform, flat = (errors[method] for method in script.METHODS)
    newton = {name: (name, "Gauss-Newton") for name in script.PROBLEMS}
    gain, cost = loss / flat, flat / loss
    for sentence in (
        f"{gain[newton['insulated disk']]:.1f} on the disk and of "
        f"{gain[newton['insulated annulus']]:.0f} on the annulus",
        f"{gain[newton['heated disk']]:.1f} with Gauss-Newton and of "
        f"{gain['heated disk', 'Adam']:.1f} with Adam",
        f"a factor of {cost[newton['disk']]:.1f}, on the annulus of {cost[newton['annulus']]:.0f}, "
        f"on the clover of {cost[newton['clover']]:,.0f}",
        f"wins by a factor of {cost[newton['heated annulus']]:.1f}",
        "factors of {:.1f}, {:.1f} and {:.1f} there".format(
            *((transform / loss)[newton[name]] for name in ("disk", "annulus", "clover"))
        ),
    ):
        assert sentence in words
