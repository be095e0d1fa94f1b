"""The package as a whole: its public names, what it imports when, and what it is installed with."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from studies import CONFIG, ROOT, Study

import neumann_pinn
from neumann_pinn.training.sources import PACKAGE

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STUDY = PROJECT["optional-dependencies"]["study"]


def pinned():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pairs}


def python(code, *arguments):
    """Run some code in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_public_names_are_there_and_types_know_them():
    for name in neumann_pinn.__all__:
        assert getattr(neumann_pinn, name) is not None
    assert set(neumann_pinn.__all__) <= set(dir(neumann_pinn))
    (block,) = (
        node
        for node in ast.parse((PACKAGE / "__init__.py").read_text()).body
        if isinstance(node, ast.If)
    )
    typed = {
        alias.asname: line.module.removeprefix("neumann_pinn.")
        for line in block.body
        for alias in line.names
    }
    assert typed == neumann_pinn._MODULES
    assert (PACKAGE / "py.typed").is_file()
    with pytest.raises(AttributeError, match="no attribute 'Axes'"):
        neumann_pinn.Axes  # noqa: B018


def test_no_module_has_the_name_of_a_public_function():
    """Otherwise which of the two `neumann_pinn.train` is would depend on what came first."""
    modules = {path.stem for path in PACKAGE.iterdir()}
    assert not modules & set(neumann_pinn.__all__)


def test_importing_the_package_imports_nothing_else():
    code = "import sys; import neumann_pinn; print([m for m in sys.modules if 'torch' in m])"
    assert python(code) == "[]\n"


@pytest.mark.parametrize("room", ["study", "report"])
def test_study_and_report_do_not_import_torch(room):
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in (PACKAGE / room).rglob("*.py")
    ]
    code = "import importlib, sys; [importlib.import_module(m) for m in sys.argv[1:]]"
    said = python(f"{code}; print('torch' in sys.modules)", *modules)
    assert said == "False\n"


READ = """
import sys
sys.modules["torch"] = None  # importing it is an error from here on
from snakemake.cli import main
main(["-n", "--cores", "2", "--quiet", "rules"])
"""


def test_reading_the_snakefile_needs_no_torch(tmp_path):
    study = Study(tmp_path / "study", CONFIG)
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=study.folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"^train +45$", done.stdout + done.stderr, re.MULTILINE)


BASE = """
import json, sys
for name in json.loads(sys.argv[1]):
    sys.modules[name] = None  # as if it were not installed
import neumann_pinn.training.adam
import neumann_pinn.training.gauss_newton
import neumann_pinn.training.trainers
from neumann_pinn import METHODS, PROBLEMS, Cosine, CosineEmbedding, GaussNewton, Model
from neumann_pinn import heat, make_model, method
from neumann_pinn.model.constraints import CONSTRAINTS
[method(name).initial(0) for name in METHODS]
models = [make_model(p, CONSTRAINTS["hard_walls"], Cosine()) for p in PROBLEMS.values()]
assert all(isinstance(model, Model) for model in models)
exec(sys.argv[2])
print(u(torch.rand(5, 3)).shape)
try:
    from neumann_pinn import train
except ImportError as error:
    print(error)
"""
NOT_EVERYWHERE = ["fcntl", "resource"]


def readme_example():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return next(block for block in blocks if "HardWalls" in block)


def test_walls_model_and_optimizers_do_with_torch_and_numpy_on_any_platform():
    names = {"pyyaml": "yaml"}
    extras = [Requirement(line).name for line in STUDY]
    hidden = [*NOT_EVERYWHERE, *(names.get(name, name) for name in extras)]
    said = python(BASE, json.dumps(hidden), readme_example())
    assert said.splitlines()[0] == "torch.Size([5, 1])"
    assert re.search(r"neumann_pinn.train needs \w+: pip install 'neumann-pinn\[study\]'", said)


def test_the_base_needs_torch_and_numpy_and_nothing_else():
    assert {Requirement(line).name for line in PROJECT["dependencies"]} == {"numpy", "torch"}


def test_the_lock_has_every_requirement_in_a_version_that_it_allows():
    versions = pinned()
    for lines in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()):
        for requirement in map(Requirement, lines):
            if requirement.name != "neumann-pinn":
                version = versions[canonicalize_name(requirement.name)]
                assert requirement.specifier.contains(version), requirement
    assert not re.search(r"://|@", (ROOT / "constraints.txt").read_text())


def brought_by(name, extra, seen):
    """All distributions that one with an extra brings, each with the extras that are asked for."""
    for line in distribution(name).requires or []:
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for more in ("", *requirement.extras):
            part = canonicalize_name(requirement.name), more
            if part not in seen:
                seen.add(part)
                brought_by(*part, seen)
    return seen


def test_what_is_installed_here_is_what_the_lock_says():
    """Everything that the README's two commands bring, whatever else there is."""
    versions = pinned()
    brought = {name for name, _ in brought_by("neumann-pinn", "test", set())} - {"neumann-pinn"}
    assert {"torch", "snakemake", "pytest", "filelock", "sympy"} <= brought
    installed = {name: distribution(name).version.partition("+")[0] for name in brought}
    assert installed == {name: versions.get(name) for name in brought}


def test_conda_asks_for_the_versions_of_the_lock():
    lines = yaml.safe_load((ROOT / "envs" / "neumann-pinn.yaml").read_text())["dependencies"]
    asked = dict(line.split(" ", 1) for line in lines)
    assert asked.pop("python") == PROJECT["requires-python"]
    assert asked.pop("cxx-compiler") == "*"
    names = {"matplotlib-base": "matplotlib", "seaborn-base": "seaborn", "pytorch": "torch"}
    names["snakemake-minimal"] = "snakemake"
    versions = pinned()
    needed = [Requirement(line).name for line in (*PROJECT["dependencies"], *STUDY)]
    conda = {names.get(name, name): bounds for name, bounds in asked.items()}
    assert conda == {name: f"=={versions[canonicalize_name(name)]}" for name in needed}


def test_readme_and_ci_install_from_the_lock():
    readme, ci = ((ROOT / name).read_text() for name in ("README.md", ".ci/run"))
    commands = re.findall(r"^.*pip install.*$", readme, re.MULTILINE)
    assert sum("-c constraints.txt" in line for line in commands) >= 2
    for line in re.findall(r"^.*/pip install.*$", ci, re.MULTILINE):
        assert "-c constraints.txt" in line
