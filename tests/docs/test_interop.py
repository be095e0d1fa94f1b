"""The examples: the layers hold the walls in other training loops too."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
RUN = "import runpy, sys; print(*runpy.run_path(sys.argv[1])['solve'](iterations=500))"


@pytest.mark.parametrize(
    "name",
    [
        "torch_loop",
        pytest.param("deepxde_layers", marks=pytest.mark.interop),
        pytest.param("pina_layers", marks=pytest.mark.interop),
    ],
)
def test_an_example_solves_its_problem_and_holds_its_walls(name, tmp_path):
    """In a process of its own: frameworks set precision, seeds and warnings for all."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, EXAMPLES / f"{name}.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    error, violation = map(float, done.stdout.splitlines()[-1].split())
    assert error < 0.05
    assert violation <= 1e-6
    assert not list(tmp_path.iterdir())


def test_the_exact_solution_of_the_examples_is_one():
    example = runpy.run_path(str(EXAMPLES / "torch_loop.py"))
    exact, slope, axis = example["exact"], example["slope"], example["AXIS"]
    x = torch.linspace(*axis.ends, 21, dtype=torch.float64).requires_grad_()
    t = torch.linspace(0, 1, 21, dtype=torch.float64).flip(0).requires_grad_()
    u = exact(x, t)
    u_x = slope(u, x)
    torch.testing.assert_close(slope(u, t), example["D"] * slope(u_x, x))
    assert u_x[[0, -1]].tolist() == pytest.approx(example["FLUXES"], abs=1e-12)
