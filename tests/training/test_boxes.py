"""The problems beyond the study: exact solutions, jets against nested autograd, training."""

import json
import math
from dataclasses import replace

import pandas as pd
import pytest
import torch
from nested_autograd import derivative
from studies import COMPILE, Study, small_config

from neumann_pinn import Axis, Cosine, Machine, Model, Protocol
from neumann_pinn.model.grid import make_grid
from neumann_pinn.problems.box import EVALUATION
from neumann_pinn.problems.catalogue import PROBLEMS
from neumann_pinn.study.generalisations import summary
from neumann_pinn.training import boxes
from neumann_pinn.training.batches import box_batch, inputs_at
from neumann_pinn.training.boxes import Assembled, make_model
from neumann_pinn.training.trainers import AdamTrainer

SMALL = Protocol(
    iterations=40, evaluate_every=20, domain=60, initial=30, boundary=20, grid=(20, 10)
)
EAGER = Machine.choose("cpu", compile=False)
MODEL = Model("cosine_embedding", (Cosine(),))
PAIRS = [(name, method) for name, problem in PROBLEMS.items() for method in problem.methods]


def random_theta(model):
    generator = torch.Generator().manual_seed(1)
    theta = model.initial(0)
    return theta + 0.1 * torch.randn(theta.shape, generator=generator).double()


def solution(problem, model, theta):
    """The model as layers whose weights are views of theta, so that gradients reach it."""
    module = Assembled(problem, model, theta.detach())
    network, free, _ = model.split(theta)
    layers = model.network.layers(network)
    if model.free_term:
        layers += model.free_network.layers(free)
    linears = [part for part in module.modules() if isinstance(part, torch.nn.Linear)]
    for linear, layer in zip(linears, layers, strict=True):
        del linear.weight, linear.bias
        linear.weight, linear.bias = layer.weight, layer.bias[:, 0]
    return module


def fields(problem, model, theta, points):
    """u, its slopes and the residual without source, by nested autograd through the layers."""
    axes = len(problem.axes)
    points = points.clone().requires_grad_()
    u = solution(problem, model, theta)(points)[:, 0]
    gradient = derivative(u, points)
    _, _, log_scale = model.split(theta)
    diffusivity = problem.known_diffusivity * log_scale.exp().sum() if len(log_scale) else None
    residual = torch.zeros_like(u) if problem.steady else gradient[:, axes]
    for i in range(axes):
        second = derivative(gradient[:, i], points)[:, i]
        residual = residual - (diffusivity or problem.diffusivity) * second
        if problem.velocity:
            residual = residual + problem.velocity[i] * gradient[:, i]
    if problem.reaction:
        residual = residual + problem.reaction(u)
    return u, gradient[:, :axes], residual


@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_solutions_solve_their_equations_and_walls(name):
    problem = PROBLEMS[name]
    points = problem.inside(50).requires_grad_()
    gradient = derivative(problem.exact(points), points)
    residual = torch.zeros(50).double() if problem.steady else gradient[:, -1]
    for i in range(len(problem.axes)):
        residual = residual - problem.diffusivity * derivative(gradient[:, i], points)[:, i]
        if problem.velocity:
            residual = residual + problem.velocity[i] * gradient[:, i]
    if problem.reaction:
        residual = residual + problem.reaction(problem.exact(points))
    source = problem.source(points)
    expected = torch.zeros(50).double() if source is None else source
    torch.testing.assert_close(residual, expected, rtol=1e-10, atol=1e-12)
    assert (source is not None) == problem.manufactured
    for wall in problem.walls:
        points = problem.on_wall(wall, 20).requires_grad_()
        u = problem.exact(points)
        coefficient, flux = problem.condition(wall, points)
        slope = derivative(u, points)[:, wall[0]]
        torch.testing.assert_close(slope + coefficient * u, flux, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("free", [False, True], ids=["", "free_term"])
@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_jets_equal_nested_autograd_through_the_layers(name, method, free):
    check_jets(PROBLEMS[name], method, free)


def check_jets(problem, method, free):
    model = make_model(problem, method, 12, 3, free_term=free)
    theta = random_theta(model)
    points = torch.cat([problem.inside(30), *(problem.on_wall(w, 5) for w in problem.walls)])
    out = model.outputs(theta, inputs_at(problem, model, points))
    u, slopes, residual = fields(problem, model, theta, points)
    ours = out.operator
    if problem.reaction:
        ours = ours + problem.reaction(out.value)
    for one, other in ((out.value, u), (torch.stack(out.slopes, 1), slopes), (ours, residual)):
        assert float((one - other).detach().norm()) <= 1e-10 * float(other.detach().norm())


EVERYTHING = replace(
    PROBLEMS["box_flux"],
    axes=(Axis(0.0, 1.0, "right"), Axis(-1.0, 1.0)),
    fluxes=((0.0, 1.0), PROBLEMS["box_flux"].fluxes[1]),
    coefficients=((0.0, -2.0), (0.7, 30.0)),
    velocity=(0.4, -1.3),
    reaction=lambda u: u**3 - u,
    manufactured=True,
    samples=50,
    guess=0.3,
)
"""One wall and two, Robin, advection, reaction and an unknown D on a box."""
RIGHT_WALL = replace(
    PROBLEMS["pulse"],
    axes=(Axis(-1.0, 2.0, "right"),),
    fluxes=((0.0, PROBLEMS["pulse"].fluxes[0][1]),),
    velocity=(0.4,),
    samples=50,
    guess=0.3,
)


@pytest.mark.parametrize("free", [False, True], ids=["", "free_term"])
@pytest.mark.parametrize(
    ("problem", "method"),
    [(EVERYTHING, "cosine"), (RIGHT_WALL, "existing"), (RIGHT_WALL, "cosine")],
)
def test_jets_equal_nested_autograd_where_all_comes_together(problem, method, free):
    check_jets(problem, method, free)


def test_constants_are_the_same_where_gradients_are_off():
    problem = PROBLEMS["box_flux"]
    model = make_model(problem, "cosine", 12, 2)
    points = problem.inside(5)
    lift = inputs_at(problem, model, points).lift
    with torch.no_grad():
        for one, other in zip(inputs_at(problem, model, points).lift[:3], lift[:3], strict=True):
            assert (one == other).all()


def test_a_checkpoint_of_another_flux_is_not_resumed(tmp_path):
    problem = PROBLEMS["interval"]
    model = make_model(problem, "cosine", 12, 2)
    boxes.train(problem, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    other = replace(problem, fluxes=((2.0, -0.5),))
    model = make_model(other, "cosine", 12, 2)
    run = boxes.train(other, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    assert run.resumed_at == 0


def test_points_for_training_evaluation_and_samples_are_others():
    problem = PROBLEMS["inverse"]
    sets = [problem.inside(100), problem.inside(100, EVALUATION), problem.noisy_samples()[0]]
    assert len(torch.cat(sets).unique(dim=0)) == 300


@pytest.mark.parametrize("compile", COMPILE)
@pytest.mark.parametrize(("name", "method"), [("inverse", "existing"), ("poisson", "cosine")])
def test_the_trainer_s_loss_and_gradient_equal_nested_autograd(name, method, compile):
    check_loss(name, method, Machine.choose("cpu", compile=compile))


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_losses_and_gradients_equal_nested_autograd(name, method):
    check_loss(name, method, EAGER)


def check_loss(name, method, machine):
    problem, model = PROBLEMS[name], make_model(PROBLEMS[name], method, 12, 3)
    batch = box_batch(problem, model, SMALL)
    theta = random_theta(model).requires_grad_()
    with machine.prepared():
        trainer = AdamTrainer(
            model, batch, replace(SMALL, precision="float64"), 0, machine, problem.reaction
        )
        gradient, terms = trainer.objective(theta.detach())
        trainer.close()

    axes = len(problem.axes)
    known = [problem.on_wall(wall, 10) for wall in problem.free_walls]
    if not problem.steady and not problem.samples:
        known.append(problem.at_start(30 * axes))
    values = [problem.exact(group) for group in known]
    if problem.samples:
        group, noisy = problem.noisy_samples()
        known.append(group)
        values.append(noisy)
    walls = [(w, problem.on_wall(w, 10)) for w in problem.walls] if method == "vanilla" else []
    every = torch.cat([problem.inside(60 * axes), *known, *(group for _, group in walls)])
    source = problem.source(every)
    residual = fields(problem, model, theta, every)[2] - (0 if source is None else source)
    initial = sum(
        (solution(problem, model, theta)(group)[:, 0] - value).square().mean()
        for group, value in zip(known, values, strict=True)
    )
    wall_errors = [torch.zeros(1).double()]
    for wall, group in walls:
        u, slopes, _ = fields(problem, model, theta, group)
        coefficient, flux = problem.condition(wall, group)
        wall_errors.append(slopes[:, wall[0]] + coefficient * u - flux)
    wall_term = torch.cat(wall_errors[1:] or wall_errors).square().mean()
    expected = torch.stack((residual.square().mean(), initial, wall_term))
    (truth,) = torch.autograd.grad(expected.sum(), theta)
    torch.testing.assert_close(terms, expected.detach(), rtol=1e-10, atol=0)
    assert float((gradient - truth).norm()) <= 1e-10 * float(truth.norm())


@pytest.mark.parametrize(("name", "method"), PAIRS)
def test_hard_constraints_hold_whatever_the_weights(name, method):
    problem, model = PROBLEMS[name], make_model(PROBLEMS[name], method, 12, 3)
    module = Assembled(problem, model, random_theta(model))
    violation = boxes.wall_violation(problem, module)
    assert violation > 1e-2 if method == "vanilla" else violation <= 1e-12


def test_samples_are_noisy_and_always_the_same():
    problem = PROBLEMS["inverse"]
    points, values = problem.noisy_samples()
    noise = values - problem.exact(points)
    assert float(noise.std()) == pytest.approx(problem.noise, rel=0.2)
    assert values.tolist() == problem.noisy_samples()[1].tolist()


@pytest.mark.parametrize(("name", "method"), [("box_flux", "cosine"), ("inverse", "existing")])
def test_a_run_resumes_to_the_bit(name, method, tmp_path):
    problem, model = PROBLEMS[name], make_model(PROBLEMS[name], method, 12, 2)
    whole = boxes.train(problem, model, SMALL, machine=EAGER)
    half = replace(SMALL, iterations=20)
    boxes.train(problem, model, half, machine=EAGER, checkpoints=tmp_path)
    resumed = boxes.train(problem, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    assert resumed.resumed_at == 20
    assert resumed.theta.tolist() == whole.theta.tolist()
    errors = [run.history["error"].tolist() for run in (resumed, whole)]
    assert errors[0] == errors[1]


def test_training_finds_the_diffusivity():
    problem = PROBLEMS["inverse"]
    model = make_model(problem, "cosine", 20, 2)
    protocol = replace(SMALL, iterations=4000, evaluate_every=500, learning_rate=5e-3, domain=150)
    run = boxes.train(problem, model, protocol, machine=EAGER)
    found = boxes.outcome(problem, model, run)["found_diffusivity"]
    assert abs(math.log(found / problem.diffusivity)) < 0.1
    assert abs(math.log(problem.guess / problem.diffusivity)) > 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: make_model(PROBLEMS["box2"], "existing"), "vanilla, cosine"),
        (lambda: Model("output_transform", (Cosine(),) * 2, axes=(Axis(),) * 2), "of 2 axes"),
        (lambda: Model("cosine_embedding", (Cosine(),), axes=(Axis(0, 2),)), "cosine embedding of"),
        (lambda: Model("none", (Cosine(),), axes=(Axis(),) * 2), "one for each"),
        (lambda: MODEL.inputs(torch.rand(3), torch.rand(3), 0.0), "positive"),
        (lambda: MODEL.inputs(torch.rand(3), torch.rand(3), 1.0, (1.0, 2.0)), "1 numbers"),
        (lambda: make_grid(replace(MODEL, free_term=True), *torch.rand(2, 3)), "plain model"),
    ],
)
def test_what_does_not_apply_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_damaged_provenance_names_its_file(tmp_path):
    path = tmp_path / "box2" / "cosine" / "0" / "run.json"
    path.parent.mkdir(parents=True)
    for content in ("{", json.dumps({"error": 1.0}), "[]"):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"run.json: .*delete it"):
            summary([path])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"optimizer": "gauss_newton", "precision": "float64"}, "adam only"),
        ({"grading": 2.0}, "points.grading = 2"),
    ],
)
def test_what_only_the_study_can_be_trained_with_is_refused(change, message):
    name, method = PAIRS[0]
    problem = PROBLEMS[name]
    model = make_model(problem, method, 12, 2)
    with pytest.raises(ValueError, match=message):
        boxes.train(problem, model, replace(SMALL, **change), machine=EAGER)


@pytest.mark.slow
def test_the_target_makes_one_table_and_one_figure_of_all_problems(tmp_path):
    study = Study(tmp_path / "study", small_config())
    output = study.snakemake("generalisations", "--cores", "2").stdout
    assert f"{len(PAIRS)} runs beyond the study, 0 of them done" in output
    folder = study.folder / "results" / "tiny" / "generalisations"
    table = pd.read_csv(folder / "generalisations.csv")
    assert list(zip(table["problem"], table["method"], strict=True)) == PAIRS
    assert (table["error"] > 0).all()
    held = table[table["method"] != "vanilla"]
    assert held["wall_violation"].max() <= 1e-13
    assert table[table["method"] == "vanilla"]["wall_violation"].min() > 1e-3
    assert table.set_index("problem")["found_diffusivity"].dropna().index.unique() == ["inverse"]
    for name in ("generalisations.pdf", "generalisations.png", "generalisations.tex"):
        assert (folder / name).stat().st_size > 1000
    assert not study.planned("generalisations")
    (folder / "runs/box_flux/cosine/0/run.json").unlink()
    assert study.planned("generalisations")["train_generalisation"] == 1
