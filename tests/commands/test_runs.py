"""A run's provenance: what it found at the walls, and which commit it was made by."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch
from studies import git

from neumann_pinn import (
    PROBLEMS,
    Cosine,
    Cosines,
    Identity,
    Machine,
    Protocol,
    heat,
    make_model,
    train,
)
from neumann_pinn.commands import runs
from neumann_pinn.model.constraints import CONSTRAINTS
from neumann_pinn.study.generalisations import summary
from neumann_pinn.training import history
from neumann_pinn.training.sources import PACKAGE

LOW = heat(Cosines({2: 1.0}), 2)
EAGER = Machine.choose("cpu", compile=False)
SMALL = Protocol(iterations=4, evaluate_every=2, domain=30, initial=10, boundary=10, grid=(8, 5))


def write(folder, problem, constraint, protocol=SMALL):
    """Train for a moment, write the run's three files and read its record back."""
    plain = constraint in ("none", "output_transform")
    embedding = Identity() if plain else Cosine((1, 2))
    model = make_model(problem, CONSTRAINTS[constraint], embedding, 8, 2)
    run = train(problem, model, protocol, seed=3, machine=EAGER)
    files = [folder / name for name in ("history.csv", "model.pt", "run.json")]
    runs.write(run, problem, model, protocol, 3, EAGER, *files)
    return run, json.loads(files[-1].read_text())


def test_a_run_is_written_with_its_history_its_parameters_and_its_record(tmp_path):
    run, record = write(tmp_path, LOW, "cosine_embedding")
    assert history.read(tmp_path / "history.csv").equals(run.history)
    parameters = torch.load(tmp_path / "model.pt", weights_only=True)
    assert torch.equal(parameters["best_theta"], run.best_theta)
    assert torch.equal(parameters["theta"], run.theta)
    last = run.history.iloc[-1]
    assert record["error"] == last["error_at_best_loss"]
    assert record["seconds"] == last["seconds"]
    assert (record["iterations"], record["replicate"], record["status"]) == (4, 3, "finished")
    assert (record["constraint"], record["embedding"]) == ("cosine_embedding", "Cosine")
    assert record["frequencies"] == [1, 2]
    assert record["network"] == {"width": 8, "depth": 2}
    assert record["protocol"]["growth"] == 0


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_a_record_says_how_far_the_walls_are_missed_in_whatever_precision(
    tmp_path, constraint, precision
):
    """Checked in float64: rounding in training is no violation."""
    protocol = Protocol(**(vars(SMALL) | {"precision": precision}))
    _, record = write(tmp_path, PROBLEMS["interval"], constraint, protocol)
    miss = record["wall_violation"]
    assert miss > 1e-2 if constraint == "none" else miss <= 1e-13
    assert record["constraint"] == constraint


def test_a_record_has_the_diffusivity_that_an_inverse_problem_has_found(tmp_path):
    run, record = write(tmp_path, PROBLEMS["inverse"], "cosine_embedding")
    guess = PROBLEMS["inverse"].guess
    assert record["found_diffusivity"] == guess * float(run.best_theta[0].double().exp())
    assert record["found_diffusivity"] not in (guess, PROBLEMS["inverse"].diffusivity)
    assert record["diffusivity"] == PROBLEMS["inverse"].diffusivity
    assert write(tmp_path, LOW, "cosine_embedding")[1]["found_diffusivity"] is None


def test_values_are_missed_at_walls_that_are_not_hard(tmp_path):
    missed = {
        name: write(tmp_path, PROBLEMS["dirichlet"], name)[1]["wall_violation"]
        for name in ("none", "hard_walls")
    }
    assert missed["none"] > 1e-2
    assert missed["hard_walls"] <= 1e-15


def test_where_nothing_is_prescribed_nothing_is_missed(tmp_path):
    folder = tmp_path / "runs" / "ring" / "vanilla" / "3"
    assert write(folder, PROBLEMS["ring"], "none")[1]["wall_violation"] is None
    assert summary([folder / "run.json"])["wall_violation"].isna().all()


def test_records_become_a_table_with_a_row_for_each_run(tmp_path):
    names = {"vanilla": "none", "hard": "cosine_embedding"}
    folders = {name: tmp_path / "runs" / "inverse" / name / "3" for name in names}
    records = {n: write(folders[n], PROBLEMS["inverse"], c)[1] for n, c in names.items()}
    table = summary(folder / "run.json" for folder in folders.values())
    assert list(table["problem"]) == ["inverse"] * 2
    assert list(table["method"]) == list(names)
    assert list(table["replicate"]) == [3, 3]
    for column in ("constraint", "status", "error", "wall_violation", "found_diffusivity"):
        assert list(table[column]) == [record[column] for record in records.values()]


PRINT = "from neumann_pinn.commands.runs import git_state; print(git_state())"


def state(folder):
    """What a package in this folder says of its commit."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", PRINT]
    return subprocess.check_output(command, text=True, env=environment, cwd="/").strip()


def repository(folder):
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "notes.txt").write_text("something else\n")


def test_a_checkout_says_its_commit_and_whether_it_was_changed(tmp_path):
    folder = tmp_path / "checkout"
    repository(folder)
    shutil.copytree(PACKAGE, folder / "neumann_pinn", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".gitignore").write_text("__pycache__\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    commit = git(folder, "rev-parse", "HEAD")
    assert state(folder) == str({"commit": commit, "dirty": False})
    (folder / "neumann_pinn" / "files.py").write_bytes((PACKAGE / "files.py").read_bytes() + b"#")
    assert state(folder) == str({"commit": commit, "dirty": True})


def test_a_package_installed_inside_another_repository_names_no_commit(tmp_path):
    folder = tmp_path / "project"
    repository(folder)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    shutil.copytree(PACKAGE, folder / "env" / "neumann_pinn")
    assert state(folder / "env") == "None"
