"""docs/tutorial.md: its blocks, pasted in order, do what it says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"


@pytest.mark.slow
def test_the_tutorial_trains_and_draws_its_pictures(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)
    script = "import matplotlib\nmatplotlib.use('Agg')\n" + "\n".join(blocks)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    numbers = re.findall(r"(\w+): error (\S+), largest miss at the walls (\S+)", done.stdout)
    (held, error, miss), (plain, _, plain_miss) = numbers
    assert (held, plain) == ("held", "plain")
    assert float(error) < 1e-2
    assert float(miss) <= 1e-6 < 1e-4 < float(plain_miss)
    pictures = {path.name for path in tmp_path.iterdir()}
    assert pictures == {path.name for path in TUTORIAL.with_suffix("").iterdir()}


@pytest.mark.slow
def test_the_core_trains_as_the_readme_shows(tmp_path):
    readme = (TUTORIAL.parents[1] / "README.md").read_text()
    (block,) = (b for b in re.findall(r"```python\n(.*?)```", readme, re.DOTALL) if "train(" in b)
    script = block.replace("iterations=5000", "iterations=200")
    assert script != block
    command = [sys.executable, "-c", script]
    said = subprocess.check_output(command, text=True, cwd=tmp_path)
    assert re.match(r"finished, error \S+ after 200 iterations", said)
    assert list((tmp_path / "checkpoints").glob("*.pt"))


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/tutorial.md",
        "docs/cookbook.md",
        "docs/domains.md",
        "docs/gauss_newton.md",
    ],
)
def test_every_link_leads_to_a_file(name):
    path = TUTORIAL.parents[1] / name
    links = re.findall(r"\]\(([^)#:]+)\)", path.read_text())
    assert [link for link in links if not (path.parent / link).is_file()] == []


def test_every_name_of_the_table_exists():
    names = set(re.findall(r"`(?:\+ )?([A-Z]\w+)[(.`]", TUTORIAL.read_text()))
    package = __import__("neumann_pinn")
    assert {"CosineEmbedding", "WallLift", "HardWalls", "FreeTerm"} <= names
    assert all(hasattr(package, name) for name in names)
