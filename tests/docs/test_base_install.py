"""The package in an environment with torch and numpy and nothing else."""

import re
import subprocess
import sys
from statistics import median

import pytest
from studies import ROOT

EXAMPLES = ROOT / "docs" / "examples"
TIME = "import time; t = time.perf_counter(); {}; print(time.perf_counter() - t)"
WALLS = "import neumann_pinn; neumann_pinn.CosineEmbedding, neumann_pinn.HardWalls"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A fresh virtual environment: its pip and its python."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    lock = ("-c", ROOT / "constraints.txt")
    subprocess.run([folder / "bin" / "pip", "install", "-q", "torch", "numpy", *lock], check=True)
    return folder / "bin" / "pip", folder / "bin" / "python"


def installed(pip):
    return set(subprocess.check_output([pip, "freeze", "--all"], text=True).splitlines())


@pytest.mark.slow
def test_the_base_brings_nothing_more_and_its_examples_run(environment, tmp_path):
    pip, python = environment
    before = installed(pip)
    source = tmp_path / "source"
    files = ("src", "pyproject.toml", "README.md", "LICENSE")
    source.mkdir()
    subprocess.run(["cp", "-r", *(ROOT / name for name in files), source], check=True)
    subprocess.run([pip, "install", "-q", source], check=True)
    (new,) = installed(pip) - before
    assert new.startswith("neumann-pinn")

    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    walls = next(block for block in blocks if "HardWalls" in block)
    code = f"{walls}\nprint(u(torch.rand(4, 3)).shape)"
    said = subprocess.check_output([python, "-c", code], text=True, cwd=tmp_path)
    assert said == "torch.Size([4, 1])\n"
    example = EXAMPLES / "torch_loop.py"
    said = subprocess.check_output([python, example], text=True, cwd=tmp_path)
    error, violation = re.search(r"error (\S+), .* walls (\S+)", said).groups()
    assert float(error) < 0.05
    assert float(violation) <= 1e-6
    example = EXAMPLES / "gauss_newton_walls.py"
    said = subprocess.check_output([python, example], text=True, cwd=tmp_path)
    assert float(re.search(r"error (\S+)", said)[1]) < 1e-3

    def seconds(code):
        return float(subprocess.check_output([python, "-c", TIME.format(code)], cwd=tmp_path))

    pairs = [(seconds("import torch"), seconds(f"import torch; {WALLS}")) for _ in range(7)]
    more = median(ours - torch for torch, ours in pairs)
    print(f"importing the walls takes {more:.3f} s more than importing torch")
    assert more <= 0.3
