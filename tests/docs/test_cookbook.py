"""docs/cookbook.md: every recipe runs and finds its solution as well as it says."""

import re
from importlib.util import module_from_spec, spec_from_file_location

import pandas as pd
import pytest
import torch
from studies import ROOT

from neumann_pinn.study.accuracy import geometric_means

COOKBOOK = ROOT / "docs" / "cookbook.md"


def module(path):
    """A script as a module."""
    spec = spec_from_file_location(path.stem, path)
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


COOK = module(ROOT / "docs" / "draw_cookbook.py")
RECIPES = {name: (script, stated) for name, script, stated in COOK.recipes()}


@pytest.fixture
def usual_precision():
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.usefixtures("usual_precision")
def test_a_recipe_finds_its_solution_as_well_as_it_says(name):
    """Up to a factor of five: the last digits of training differ between machines."""
    script, stated = RECIPES[name]
    _, found, truth = COOK.solved(script)
    assert COOK.error(found, truth) <= 5 * stated


def test_every_recipe_has_its_error_and_its_picture():
    text = COOKBOOK.read_text()
    assert len(RECIPES) == len(re.findall(r"```python \w+", text)) >= 9
    pictures = {path.stem for path in COOKBOOK.with_suffix("").glob("*.png")}
    assert pictures == set(RECIPES)
    assert all(f"(cookbook/{name}.png)" in text for name in RECIPES)


def test_the_word_on_frequencies_quotes_the_published_errors():
    folder = ROOT / "results" / "published" / "gauss_newton"
    ours = pd.read_csv(folder / "accuracy.csv").query("clock == 'fixed_iterations'")
    words = COOKBOOK.read_text()
    for setting, group in ours.groupby("setting"):
        errors = geometric_means(group)
        cells = [f"{errors[f'cosine{size}']:.1e}" for size in (1, 20, 50)]
        assert f"| `{setting}` | {' | '.join(cells)} |" in words
