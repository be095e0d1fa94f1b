"""The problems beyond the study: exact solutions, jets against nested autograd, training."""

import json
import math
from dataclasses import replace

import assembled
import pytest
import torch
from assembled import evolution, fields, found_on_wall, modules
from beyond import ALL, COMBINED_PAIRS, METHODS, PAIRS, WITH_FREE, model_of, random_theta
from nested_autograd import derivative
from small_runs import EAGER, assert_same
from studies import COMPILE

from neumann_pinn import PROBLEMS, Axis, Cosine, Machine, Neumann, Protocol, train
from neumann_pinn.model.constraints import CONSTRAINTS, constraint_named
from neumann_pinn.model.model import NetworkModel
from neumann_pinn.problems.points import Counts, grid_points, inside, make_points, on_wall
from neumann_pinn.problems.problem import SAMPLES
from neumann_pinn.study.generalisations import summary
from neumann_pinn.training import evaluation
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.evaluation import found_diffusivity
from neumann_pinn.training.run import HELD_OUT
from neumann_pinn.training.trainers import AdamTrainer
from neumann_pinn.walls.conditions import Prescribed
from neumann_pinn.walls.layers import data_at

SMALL = Protocol(
    iterations=40, evaluate_every=20, domain=60, initial=30, boundary=20, grid=(20, 10)
)
NEWTON = Protocol(
    iterations=4,
    evaluate_every=2,
    domain=20,
    initial=10,
    boundary=6,
    grid=(20, 10),
    grading=1.5,
    precision="float64",
    optimizer="gauss_newton",
    growth=4,
)
ADAM = replace(NEWTON, optimizer="adam", precision="float32")
MODEL = NetworkModel(CONSTRAINTS["cosine_embedding"], (Cosine(),))


def inputs_at(problem, model, points):
    return model.inputs(points, problem.known_diffusivity, problem.velocity)


def outputs_at(problem, model, theta, points):
    """What jets find for each unknown."""
    parts = zip(problem.fields, model.fields, model.split(theta), strict=True)
    return [field.outputs(own, inputs_at(unknown, field, points)) for unknown, field, own in parts]


def flat(tree):
    """The tensors of a tree."""
    if isinstance(tree, torch.Tensor):
        return [tree]
    return [tensor for branch in tree for tensor in flat(branch)]


def test_methods_apply_to_intervals_and_cosines_to_any_held_wall():
    applying = {name: [k for n, k in PAIRS if n == name] for name in PROBLEMS}
    for name in ("dirichlet", "ring", "kink"):
        assert applying.pop(name) == ["vanilla", "hard"]
    for name in ("box2", "box3", "box_flux", "poisson", "mixed", "wave", "species"):
        assert applying.pop(name) == ["vanilla", "cosine", "hard"]
    assert list(applying.values()) == [list(METHODS)] * 6


@pytest.mark.parametrize("name", PROBLEMS)
def test_exact_solutions_solve_their_equations_and_walls(name):
    problem = PROBLEMS[name]
    points = inside(problem, 50, 0).requires_grad_()
    residuals = []
    for unknown in problem.fields:
        gradient = derivative(unknown.exact(points), points)
        residual = evolution(problem, gradient, points)
        for i in range(len(problem.axes)):
            residual = residual - unknown.diffusivity * derivative(gradient[:, i], points)[:, i]
            if unknown.velocity:
                residual = residual + unknown.velocity[i] * gradient[:, i]
        residuals.append(residual)
    residual = torch.stack(residuals)
    if problem.reaction:
        exact = torch.stack([unknown.exact(points) for unknown in problem.fields])
        residual = residual + problem.reaction(exact)
    source = problem.source(points)
    expected = torch.zeros_like(residual) if source is None else source
    torch.testing.assert_close(residual, expected, rtol=1e-10, atol=1e-12)
    assert (source is not None) == problem.manufactured
    if problem.rate:
        start = make_points(problem, Counts(1, 9, 1)).start.requires_grad_()
        rate = derivative(problem.exact(start), start)[:, -1]
        torch.testing.assert_close(rate, problem.rate(start), rtol=1e-10, atol=1e-12)
    for unknown in problem.fields:
        for wall, prescribed in unknown.prescribed("value") + unknown.prescribed("slope"):
            points = on_wall(problem, wall, 20).requires_grad_()
            found = found_on_wall(unknown.exact(points), points, wall, prescribed)
            data = data_at(prescribed.data, points)
            torch.testing.assert_close(found, data, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(("name", "method", "free"), WITH_FREE)
def test_jets_equal_nested_autograd_through_the_layers(name, method, free):
    problem = ALL[name]
    model = model_of(problem, method, free_term=free)
    theta = random_theta(model)
    points = torch.cat(
        [
            inside(problem, 30, 0),
            *(on_wall(problem, wall, 5) for wall, _ in problem.prescribed("slope")),
        ]
    )
    outs = outputs_at(problem, model, theta, points)
    value, operator = (torch.stack([getattr(o, n) for o in outs]) for n in ("value", "operator"))
    along = torch.stack([torch.stack(out.slopes, 1) for out in outs])
    if problem.reaction:
        operator = operator + problem.reaction(value)
    u, slopes, residual = fields(problem, model, theta, points)
    for one, other in ((value, u), (along, slopes), (operator, residual)):
        assert float((one - other).detach().norm()) <= 1e-10 * float(other.detach().norm())


@pytest.mark.parametrize(("name", "method", "free"), WITH_FREE)
def test_predictions_equal_the_layers_at_all_places_and_times(name, method, free):
    problem = ALL[name]
    model = model_of(problem, method, free_term=free)
    theta = random_theta(model)
    x, t, u = problem.reference(7, 4)
    with torch.no_grad():
        points = grid_points(x, t, problem.steady)
        truth = [module(points).view(len(t), -1) for _, module in modules(problem, model, theta)]
    found = model.values(theta, model.nodes(x, t))
    torch.testing.assert_close(found, torch.cat(truth, 1), rtol=1e-12, atol=1e-13)
    assert found.shape == u.shape


def test_constants_are_the_same_where_gradients_are_off():
    problem = PROBLEMS["box_flux"]
    model = model_of(problem, "cosine", 12, 2)
    points = inside(problem, 5, 0)
    constants = flat(inputs_at(problem, model, points))
    assert len(constants) > 10
    with torch.no_grad():
        again = flat(inputs_at(problem, model, points))
    for one, other in zip(again, constants, strict=True):
        assert (one == other).all()


def test_a_checkpoint_of_another_flux_is_not_resumed(tmp_path):
    problem = PROBLEMS["interval"]
    model = model_of(problem, "cosine", 12, 2)
    train(problem, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    other = replace(problem, axes=(replace(problem.axes[0], left=Neumann(2.0)),))
    model = model_of(other, "cosine", 12, 2)
    run = train(other, model, SMALL, machine=EAGER, checkpoints=tmp_path)
    assert run.resumed_at == 0


def test_points_for_training_for_the_held_out_loss_and_of_samples_are_others():
    problem = PROBLEMS["inverse"]
    protocol = replace(SMALL, domain=100)
    shifts = (None, HELD_OUT, 1, 2)
    sets = [points_of(problem, protocol, shift).inside for shift in shifts]
    samples, _ = problem.noisy_samples()
    assert samples.tolist() == inside(problem, 100, SAMPLES).tolist()
    assert len(torch.cat((*sets, samples)).unique(dim=0)) == 500


@pytest.mark.parametrize("compile", COMPILE)
@pytest.mark.parametrize(("name", "method"), [("inverse", "existing"), ("poisson", "cosine")])
def test_the_trainer_s_loss_and_gradient_equal_nested_autograd(name, method, compile):
    check_loss(name, method, Machine.choose("cpu", compile=compile))


@pytest.mark.parametrize(("name", "method"), PAIRS + COMBINED_PAIRS)
def test_losses_and_gradients_equal_nested_autograd(name, method):
    check_loss(name, method, EAGER)


def check_loss(name, method, machine):
    problem, model = ALL[name], model_of(ALL[name], method)
    points = make_points(problem, Counts(60, 30, 20))
    batch = make_batch(problem, model, points_of(problem, SMALL))
    theta = random_theta(model).requires_grad_()
    with machine.prepared():
        trainer = AdamTrainer(
            model, batch, replace(SMALL, precision="float64"), 0, machine, problem.reaction
        )
        gradient, terms = trainer.objective(theta.detach())
        trainer.close()

    values, slopes, groups = torch.zeros(()).double(), torch.zeros(()).double(), {}
    for unknown, module in modules(problem, model, theta):
        known, walls = known_of(unknown, method, points)
        groups |= {name: group for name, group, _ in known}
        groups |= {(name, "slope"): group for name, group, *_ in walls}
        for _, group, value in known:
            values = values + (module(group)[:, 0] - value).square().mean()
        missed = []
        for _, group, column, slope in walls:
            group = group.clone().requires_grad_()
            u = module(group)[:, 0]
            found = derivative(u, group)[:, column] + data_at(slope.coefficient, group) * u
            missed.append(found - data_at(slope.data, group).detach())
        if missed:
            slopes = slopes + torch.cat(missed).square().mean()
    every = torch.cat([points.inside, *groups.values()])
    source = problem.source(every)
    residual = fields(problem, model, theta, every)[2] - (0 if source is None else source)
    expected = torch.stack((residual.square().mean(1).sum(), values, slopes))
    (truth,) = torch.autograd.grad(expected.sum(), theta)
    torch.testing.assert_close(terms, expected.detach(), rtol=1e-10, atol=0)
    assert float((gradient - truth).norm()) <= 1e-10 * float(truth.norm())


def known_of(problem, method, points):
    """Names, points and data of what a loss needs of one unknown: values, and slopes."""
    known, walls = [], []
    if method != "hard":
        for wall, value in problem.prescribed("value"):
            known.append((wall, points.walls[wall], data_at(value.data, points.walls[wall])))
        if not problem.steady and not problem.samples:
            known.append(("start", points.start, problem.exact(points.start)))
    if problem.samples:
        known.append(("samples", *problem.noisy_samples()))
    if method == "vanilla":
        for wall, slope in problem.prescribed("slope"):
            walls.append((wall, points.walls[wall], wall[0], slope))
    if problem.rate and method != "hard":
        rate = Prescribed("slope", problem.rate)
        walls.append(("start", points.start, len(problem.axes), rate))
    return known, walls


@pytest.mark.parametrize(("name", "method", "free"), WITH_FREE)
def test_hard_constraints_hold_whatever_the_weights(name, method, free, monkeypatch):
    monkeypatch.setattr(evaluation, "WALL_POINTS", 40)
    problem = ALL[name]
    model = model_of(problem, method, free_term=free)
    theta = random_theta(model, seed=1 + free)
    violation = evaluation.wall_violation(problem, model, theta)
    if not any(axis.held for axis in problem.axes):
        assert violation is None
        return
    truth = assembled.wall_violation(problem, model, theta, 40)
    values = any(unknown.prescribed("value") for unknown in problem.fields)
    if method == "hard" or (method != "vanilla" and not values):
        assert violation <= 1e-12
        assert truth <= 1e-12
    else:
        assert violation > 1e-2
        assert violation == pytest.approx(truth, rel=1e-12)


def test_samples_are_noisy_and_always_the_same():
    problem = PROBLEMS["inverse"]
    points, values = problem.noisy_samples()
    noise = values - problem.exact(points)
    assert float(noise.std()) == pytest.approx(problem.noise, rel=0.2)
    assert values.tolist() == problem.noisy_samples()[1].tolist()


LAST_METHODS = dict(PAIRS)
"""One method for each problem."""


@pytest.mark.parametrize("protocol", [ADAM, NEWTON], ids=["adam", "gauss_newton"])
@pytest.mark.parametrize(
    ("name", "method"), [*LAST_METHODS.items(), ("inverse", "existing"), ("cooling", "existing")]
)
def test_a_run_resumes_to_the_bit(name, method, protocol, tmp_path):
    problem, model = PROBLEMS[name], model_of(PROBLEMS[name], method, 8, 2)
    whole = train(problem, model, protocol, machine=EAGER)
    assert whole.theta.tolist() != model.initial(0).to(whole.theta).tolist()
    half = replace(protocol, iterations=2)
    train(problem, model, half, machine=EAGER, checkpoints=tmp_path)
    resumed = train(problem, model, protocol, machine=EAGER, checkpoints=tmp_path)
    assert resumed.resumed_at == 2
    assert_same(resumed, whole)


def test_training_finds_the_diffusivity():
    problem = PROBLEMS["inverse"]
    model = model_of(problem, "cosine", 20, 2)
    protocol = replace(SMALL, iterations=1500, evaluate_every=100, learning_rate=2e-2)
    run = train(problem, model, protocol, machine=EAGER)
    found = found_diffusivity(problem, model, run.best_theta.double())
    assert abs(math.log(found / problem.diffusivity)) < 0.1
    assert abs(math.log(problem.guess / problem.diffusivity)) > 1


def test_gauss_newton_finds_the_diffusivity_in_a_few_steps():
    problem = PROBLEMS["inverse"]
    model = model_of(problem, "cosine", 20, 2)
    protocol = replace(NEWTON, iterations=20, domain=60, growth=0)
    run = train(problem, model, protocol, machine=EAGER)
    found = found_diffusivity(problem, model, run.best_theta)
    assert abs(math.log(found / problem.diffusivity)) < 0.05


def test_a_diffusivity_is_found_only_where_it_is_unknown():
    problem = PROBLEMS["interval"]
    model = model_of(problem, "cosine", 12, 2)
    assert found_diffusivity(problem, model, model.initial(0)) is None
    problem = PROBLEMS["inverse"]
    model = model_of(problem, "cosine", 12, 2)
    theta = model.initial(0)
    assert found_diffusivity(problem, model, theta) == problem.guess
    theta[0] = math.log(2)
    assert found_diffusivity(problem, model, theta) == pytest.approx(2 * problem.guess)


NONE, TRANSFORM, COSINES = (
    CONSTRAINTS[name] for name in ("none", "output_transform", "cosine_embedding")
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: model_of(PROBLEMS["box2"], "existing"), "choose cosine_embedding"),
        (lambda: model_of(PROBLEMS["dirichlet"], "existing"), "no wall has a prescribed slope"),
        (lambda: model_of(PROBLEMS["dirichlet"], "cosine"), "no wall has a prescribed slope"),
        (lambda: NetworkModel(TRANSFORM, (Cosine(),) * 2, axes=(Axis(),) * 2), "of 2 axes"),
        (lambda: NetworkModel(COSINES, (Cosine(),), axes=(Axis(0, 2),)), "cosine embedding of"),
        (lambda: NetworkModel(NONE, (Cosine(),), axes=(Axis(),) * 2), "one for each"),
        (lambda: constraint_named("cosine"), "none, output_transform, cosine_embedding"),
        (lambda: MODEL.inputs(torch.rand(3, 2), 0.0), "positive"),
        (lambda: MODEL.inputs(torch.rand(3, 2), 1.0, (1.0, 2.0)), "1 numbers"),
        (lambda: MODEL.inputs(torch.rand(3, 3), 1.0), "rows of 2 coordinates"),
        (lambda: MODEL.inputs(torch.rand(3), 1.0), "rows of 2 coordinates"),
    ],
)
def test_what_does_not_apply_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "changes",
    [
        {"axes": (Axis(), Axis(0.0, 2.0))},
        {"order": 0},
        {"samples": 10, "guess": 0.1},
        {"reaction": torch.sin},
        {"manufactured": True},
        {"coupled": PROBLEMS["species"].coupled},
    ],
)
def test_an_unknown_that_does_not_fit_is_refused(changes):
    problem = PROBLEMS["species"]
    (second,) = problem.coupled
    message = "another box or order" if changes.keys() & {"axes", "order"} else "with the first"
    with pytest.raises(ValueError, match=f"'second species'.*{message}"):
        replace(problem, coupled=(replace(second, **changes),))


def test_no_two_networks_of_unknowns_and_seeds_start_alike():
    model = model_of(PROBLEMS["species"], "hard")
    starts = [part for seed in range(3) for part in model.split(model.initial(seed))]
    assert len({tuple(part.tolist()) for part in starts}) == 6


def test_a_damaged_provenance_names_its_file(tmp_path):
    path = tmp_path / "box2" / "cosine" / "0" / "run.json"
    path.parent.mkdir(parents=True)
    for content in ("{", json.dumps({"error": 1.0}), "[]"):
        path.write_text(content)
        with pytest.raises(ValueError, match=r"run.json: .*delete it"):
            summary([path])
