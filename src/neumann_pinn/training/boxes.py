"""Training vanilla, existing and cosine networks on the problems beyond the study."""

import math
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn

from neumann_pinn.model.model import Model
from neumann_pinn.model.network import Network
from neumann_pinn.problems.box import EVALUATION, HELD_OUT, Problem
from neumann_pinn.training.batches import box_batch, inputs_at
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.evaluation import Evaluation, HeldOut
from neumann_pinn.training.loop import Run, Task, train_task
from neumann_pinn.training.loss import LossTerms
from neumann_pinn.training.protocol import Protocol, check_beyond_the_study
from neumann_pinn.training.trainers import AdamTrainer
from neumann_pinn.training.trajectory import trajectory_key
from neumann_pinn.walls.axes import Axis
from neumann_pinn.walls.embeddings import Cosine, Embedding, Identity
from neumann_pinn.walls.layers import CosineEmbedding, FreeTerm, OutputTransform, RobinLift

WALL_POINTS = 1000
"""Points on each wall at which its condition is checked."""


def make_model(
    problem: Problem, method: str, width: int = 100, depth: int = 3, free_term: bool = False
) -> Model:
    """A method's model for a problem."""
    if method not in problem.methods:
        raise ValueError(
            f"method {method!r} on {problem.name}: choose one of {', '.join(problem.methods)}"
        )
    model = Model(
        "none",
        (Identity(),) * len(problem.axes),
        width,
        depth,
        axes=problem.axes,
        steady=problem.steady,
        find_diffusivity=bool(problem.samples),
        free_term=free_term,
    )
    if method == "vanilla":
        return model
    layer = _wall_layer(problem)
    lift = None if layer.is_insulated else layer.lift
    if method == "existing":
        return replace(model, constraint="output_transform", lift=lift)
    embeddings: tuple[Embedding, ...] = tuple(
        Cosine(axis=axis) if axis.held else Identity() for axis in problem.axes
    )
    return replace(
        model,
        constraint="cosine_embedding",
        embeddings=embeddings,
        lift=lift,
        factor=layer.factor if layer.is_robin else None,
    )


def evaluation(problem: Problem, model: Model, protocol: Protocol, machine: Machine) -> Evaluation:
    """The relative error at as many points of the box as the protocol's grid has nodes."""
    points = problem.inside(math.prod(protocol.grid), EVALUATION)
    size = machine.block_size(len(points), model.streams)
    blocks = [
        (inputs_at(problem, model, part), problem.exact(part), torch.ones_like(part[:, 0]))
        for part in points.split(size)
    ]
    return Evaluation(
        lambda theta, inputs: model.outputs(theta, inputs).value, blocks, protocol.dtype, machine
    )


def train(
    problem: Problem,
    model: Model,
    protocol: Protocol,
    *,
    seed: int = 0,
    machine: Machine | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> Run:
    """Train one run on a problem; see `train_task`."""
    machine = machine or Machine.choose()
    check_beyond_the_study(protocol)

    def trainer() -> AdamTrainer:
        points = box_batch(problem, model, protocol)
        return AdamTrainer(model, points, protocol, seed, machine, problem.reaction)

    def held_out() -> HeldOut:
        points = box_batch(problem, model, protocol, HELD_OUT)
        terms = LossTerms(model, points, protocol, machine, problem.reaction)
        return HeldOut(terms, protocol.weights)

    task = Task(
        trainer,
        lambda: evaluation(problem, model, protocol, machine),
        held_out,
        protocol,
        trajectory_key(problem, model, protocol, seed),
    )
    return train_task(task, machine, checkpoints, checkpoint_seconds)


class Assembled(nn.Module):
    """A trained model as one module made of the layers: points -> u, as a column."""

    def __init__(self, problem: Problem, model: Model, theta: Tensor) -> None:
        super().__init__()
        network, free, _ = model.split(theta)
        axes: list[Axis | Cosine] = [
            embedding if isinstance(embedding, Cosine) else replace(axis, walls="none")
            for embedding, axis in zip(model.embeddings, problem.axes, strict=True)
        ]
        self.network: nn.Module = nn.Sequential(
            CosineEmbedding(axes), _perceptron(model.network, network)
        )
        if model.constraint == "output_transform":
            self.network = OutputTransform(self.network, problem.axes, problem.fluxes)
        self.walls = _wall_layer(problem) if model.constraint == "cosine_embedding" else None
        self.free = (
            FreeTerm(_perceptron(model.free_network, free), problem.axes)
            if model.free_term
            else None
        )

    def forward(self, points: Tensor) -> Tensor:
        u = self.network(points)
        if self.walls is not None:
            u = self.walls(points, u)
        if self.free is not None:
            u = u + self.free(points)
        return u


def wall_violation(problem: Problem, module: nn.Module) -> float:
    """The largest |du/dx_i + coefficient u - flux| at the held walls, in float64, by autograd."""
    misses = []
    for wall in problem.walls:
        points = problem.on_wall(wall, WALL_POINTS).requires_grad_()
        u = module(points)[:, 0]
        (gradient,) = torch.autograd.grad(u.sum(), points)
        coefficient, flux = problem.condition(wall, points)
        misses.append((gradient[:, wall[0]] + coefficient * u - flux).detach().abs())
    return float(torch.cat(misses).max())


def outcome(problem: Problem, model: Model, run: Run) -> dict[str, float | None]:
    """What a run's history does not record: the wall violation, and the D of an inverse problem."""
    theta = run.best_theta.double()
    found = problem.known_diffusivity * math.exp(float(theta[-1]))
    return {
        "wall_violation": wall_violation(problem, Assembled(problem, model, theta)),
        "found_diffusivity": found if model.find_diffusivity else None,
    }


def _wall_layer(problem: Problem) -> RobinLift:
    return RobinLift(problem.axes, problem.fluxes, problem.coefficients or None)


def _perceptron(network: Network, theta: Tensor) -> nn.Sequential:
    modules: list[nn.Module] = []
    for layer in network.layers(theta):
        outputs, inputs = layer.weight.shape
        linear = nn.Linear(inputs, outputs, dtype=theta.dtype)
        linear.load_state_dict({"weight": layer.weight, "bias": layer.bias[:, 0]})
        modules += [linear, nn.Tanh()]
    return nn.Sequential(*modules[:-1])
