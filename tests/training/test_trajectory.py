"""The key of a run's checkpoints: what changes it, and what must not."""

import subprocess
import sys
from dataclasses import replace

import torch
from small_runs import LOW, SMALL, small

from neumann_pinn import (
    PROBLEMS,
    Axis,
    Cosine,
    Cosines,
    Identity,
    Protocol,
    heat,
    make_model,
    method,
)
from neumann_pinn.model.constraints import CONSTRAINTS
from neumann_pinn.model.model import Factored, Lifted, NetworkModel, Sum, UnknownDiffusivity
from neumann_pinn.training import trajectory
from neumann_pinn.training.trajectory import describe, trajectory_key

PROTOCOL = Protocol(iterations=100, **SMALL)
MODEL = NetworkModel(CONSTRAINTS["cosine_embedding"], (Cosine(),), width=8, depth=2)
PLAIN = NetworkModel(CONSTRAINTS["none"], (Identity(),), width=8, depth=2)


def key(problem=LOW, model=MODEL, protocol=PROTOCOL, seed=0):
    return trajectory_key(problem, model, protocol, seed)


def test_the_key_knows_all_that_shapes_a_run_but_not_its_length():
    assert key() == key(protocol=Protocol(iterations=400, **SMALL))
    assert key(model=small("cosine20")) == key(model=small("cosine20"))
    others = [
        key(seed=1),
        key(model=small("cosine20")),
        key(model=method("cosine20")),
        key(heat(Cosines({2: 1.0}), 3)),
        key(heat(Cosines({2: 1.1}), 2)),
        key(model=PLAIN),
        key(model=replace(PLAIN, constraint=CONSTRAINTS["output_transform"])),
        key(model=replace(MODEL, constraint=CONSTRAINTS["none"])),
        key(model=Sum(MODEL, PLAIN)),
        key(model=Sum(PLAIN, MODEL)),
        key(model=UnknownDiffusivity(MODEL)),
    ]
    changes = {"learning_rate": 2e-3, "domain": 201, "grid": (21, 10), "grading": 2.0, "growth": 7}
    for change in ({name: value} for name, value in changes.items()):
        others.append(key(protocol=Protocol(iterations=100, **SMALL | change)))
    assert len({key(), *others}) == len(others) + 1


def test_models_with_different_functions_have_different_keys():
    functions = [lambda points, c=c: c * points[:, 0] for c in (1, 2)]
    keys = {key(model=wrap(MODEL, f)) for wrap in (Lifted, Factored) for f in functions}
    assert len({key(), *keys}) == 5


def test_problems_with_different_functions_have_different_keys():
    problem = PROBLEMS["box_flux"]
    model = make_model(problem, CONSTRAINTS["none"], Identity(), 8, 2)
    others = [
        replace(problem, exact=lambda points: problem.exact(points) + 1e-6),
        replace(problem, axes=(Axis(), Axis(-1.0, 1.0))),
        replace(problem, reaction=lambda u: u**3),
        replace(problem, diffusivity=0.21),
        replace(problem, initial=lambda points: 2 * problem.exact(points)),
        replace(problem, velocity=(0.0, 0.1)),
        replace(problem, samples=20, guess=0.1),
    ]
    assert len({key(other, model) for other in (problem, *others)}) == len(others) + 1


def test_coupled_problems_with_different_unknowns_have_different_keys():
    problem = PROBLEMS["species"]
    model = make_model(problem, CONSTRAINTS["none"], Identity(), 8, 2)
    (second,) = problem.coupled
    others = [
        replace(problem, coupled=(replace(second, diffusivity=0.11),)),
        replace(problem, coupled=(replace(second, exact=problem.exact),)),
        replace(problem, reaction=lambda values: problem.reaction(values.flip(0))),
        replace(problem, reaction=lambda values: problem.reaction(values).flip(0)),
    ]
    assert len({key(other, model) for other in (problem, *others)}) == len(others) + 1
    named = replace(problem, coupled=(replace(second, label="another name"),))
    assert key(named, model) == key(problem, model)


def test_the_last_bit_of_another_processor_changes_no_key():
    def lift(points):
        return torch.sin(3 * points[:, 0]) + points[:, 1] ** 2

    one = key(model=Lifted(MODEL, lift))
    assert one == key(model=Lifted(MODEL, lambda points: lift(points) * (1 + 2**-52)))
    assert one == key(model=Lifted(MODEL, lambda points: lift(points) - 2**-53))
    assert key() == key(heat(Cosines({2: 1.0 + 2**-52}), 2))


def test_what_a_problem_is_called_changes_no_key():
    assert key() == key(replace(LOW, label="low"))


def test_functions_are_told_apart_by_their_values_inside_the_box():
    axis = Axis(-3, -2)
    points = trajectory._points(replace(LOW, axes=(axis,)))
    assert ((points[:, 0] > -3) & (points[:, 0] < -2)).all()
    assert ((points[:, 1] > 0) & (points[:, 1] < 1)).all()
    assert len(points.unique(dim=0)) == len(points)
    assert describe(torch.zeros(2), points) == [0.0, 0.0]


PRINT_KEY = "import sys; sys.path[:0] = sys.argv[1:]; from test_trajectory import key; print(key())"


def test_another_process_finds_the_same_key(request):
    folders = [str(folder) for folder in request.path.parents[:2]]
    command = [sys.executable, "-c", PRINT_KEY, *folders]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said.strip() == key()
