"""Training vanilla, existing and cosine networks on the problems beyond the study."""

import json
import math
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import torch
from torch import Tensor, nn

from neumann_pinn.axis import Axis
from neumann_pinn.constraint import Inputs, Model
from neumann_pinn.embedding import Cosine, Embedding, Identity
from neumann_pinn.engine import Machine
from neumann_pinn.layers import CosineEmbedding, FreeTerm, OutputTransform, RobinLift
from neumann_pinn.loss import Batch
from neumann_pinn.network import Network
from neumann_pinn.problems import Problem
from neumann_pinn.train import (
    TRAJECTORY_MODULES,
    AdamTrainer,
    Evaluation,
    HeldOut,
    Protocol,
    Run,
    train_task,
    trajectory_key,
)

METHODS = ("vanilla", "existing", "cosine")
MODULES = (*TRAJECTORY_MODULES, "layers", "problems", "generalisation")
"""The modules that shape a trajectory here."""
WALL_POINTS = 1000
"""Points on each wall at which its condition is looked at."""


def methods_for(problem: Problem) -> list[str]:
    """The methods that apply: the existing one holds the fluxes of an interval."""
    applies = len(problem.axes) == 1 and not problem.coefficients
    return [method for method in METHODS if method != "existing" or applies]


def make_model(
    problem: Problem, method: str, width: int = 100, depth: int = 3, free_term: bool = False
) -> Model:
    """A method's model for a problem."""
    if method not in methods_for(problem):
        raise ValueError(
            f"method {method!r} on {problem.name}: choose one of {', '.join(methods_for(problem))}"
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


def batch(problem: Problem, model: Model, protocol: Protocol, apart: int = 0) -> Batch:
    """The points that a model trains on, in float64; a protocol's numbers are for each axis.

    With another number `apart` those inside are others.
    """
    axes = len(problem.axes)
    on_each_wall = _on_each_wall(protocol)
    inside = problem.inside(axes * protocol.domain, apart)
    known = [(group, problem.exact(group)) for group in _known_points(problem, protocol)]
    if problem.samples:
        known.append(problem.noisy_samples())
    held = problem.walls if model.constraint == "none" else []
    walls = [(wall, problem.on_wall(wall, on_each_wall)) for wall in held]

    points = torch.cat([inside, *(group for group, _ in known), *(group for _, group in walls)])
    shares = torch.zeros(3, len(points), dtype=torch.float64)
    value, coefficient, flux = torch.zeros(3, 1, len(points), dtype=torch.float64)
    normals = torch.zeros(axes, len(points), dtype=torch.float64)
    shares[0] = 1 / len(points)
    start = len(inside)
    for group, values in known:
        place = slice(start, start := start + len(group))
        shares[1, place] = 1 / len(group)
        value[0, place] = values
    for wall, group in walls:
        place = slice(start, start := start + len(group))
        shares[2, place] = 1 / (len(walls) * on_each_wall)
        normals[wall[0], place] = 1
        coefficient[0, place], flux[0, place] = problem.condition(wall, group)
    source = problem.source(points)
    return Batch(
        inputs_at(problem, model, points),
        shares,
        value,
        normals,
        coefficient if coefficient.any() else (),
        flux if flux.any() else (),
        () if source is None else source[None],
    )


def inputs_at(problem: Problem, model: Model, points: Tensor) -> Inputs:
    """A model's constants at points of a problem."""
    axes = len(problem.axes)
    t = None if problem.steady else points[:, axes]
    return model.inputs(points[:, :axes], t, problem.known_diffusivity, problem.velocity)


def evaluation(problem: Problem, model: Model, protocol: Protocol, machine: Machine) -> Evaluation:
    """The relative error at as many points of the box as the protocol's grid has."""
    points = problem.inside(math.prod(protocol.grid), apart=1)
    size = machine.block_size(len(points), model.streams)
    blocks = [
        (inputs_at(problem, model, part), problem.exact(part), torch.ones_like(part[:, 0]))
        for part in points.split(size)
    ]
    return Evaluation(
        lambda theta, inputs: model.outputs(theta, inputs).value, blocks, protocol.dtype, machine
    )


def check(protocol: Protocol) -> None:
    """Refuse what only the study's own problems can be trained with."""
    if protocol.optimizer != "adam":
        raise ValueError(
            f"optimizer = {protocol.optimizer}: the problems beyond the study are trained with "
            "adam only, choose another protocol"
        )
    if protocol.grading != 1:
        raise ValueError(
            f"points.grading = {protocol.grading:g}: the problems beyond the study have no graded "
            "times, give 1 or choose another protocol"
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
    """Train one run on a problem, as `train_task` does."""
    machine = machine or Machine.choose()

    check(protocol)

    def trainer() -> AdamTrainer:
        points = batch(problem, model, protocol)
        return AdamTrainer(model, points, protocol, seed, machine, problem.reaction)

    def held_out() -> HeldOut:
        points = batch(problem, model, protocol, apart=3)
        return HeldOut(model, points, protocol, machine, problem.reaction)

    return train_task(
        trainer,
        lambda: evaluation(problem, model, protocol, machine),
        held_out,
        trajectory_key((problem, problem.fingerprint()), model, protocol, seed, MODULES),
        machine,
        checkpoints,
        checkpoint_seconds,
    )


class Assembled(nn.Module):
    """A trained model as one module of the layers: points -> u, a column."""

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
    """What a run's history does not tell: the walls, and D in an inverse problem."""
    theta = run.best_theta.double()
    found = problem.known_diffusivity * math.exp(float(theta[-1]))
    return {
        "wall_violation": wall_violation(problem, Assembled(problem, model, theta)),
        "found_diffusivity": found if model.find_diffusivity else None,
    }


def summary(paths: Iterable[Path]) -> pd.DataFrame:
    """The provenance files of runs as one table, a row for each run."""
    columns = ["status", "error", "wall_violation", "seconds", "iterations", "found_diffusivity"]
    rows = []
    for path in paths:
        problem, method, seed = path.parts[-4:-1]
        try:
            run = json.loads(path.read_text())
            cells = [run[column] for column in columns]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"{path}: not a run's provenance ({error}); delete it to train again"
            ) from error
        rows.append([problem, method, int(seed), *cells])
    return pd.DataFrame(rows, columns=["problem", "method", "seed", *columns])


def in_words(table: pd.DataFrame) -> str:
    """The table of `summary` for a terminal."""
    formats = {
        "error": "{:.2e}".format,
        "wall_violation": "{:.1e}".format,
        "seconds": "{:.1f}".format,
        "found_diffusivity": "{:.4f}".format,
    }
    shown = table[["problem", "method", "seed", *formats]]
    return shown.to_string(index=False, formatters=formats, na_rep="")


def _on_each_wall(protocol: Protocol) -> int:
    """A protocol's boundary points are for the two walls of an axis."""
    return max(protocol.boundary // 2, 1)


def _known_points(problem: Problem, protocol: Protocol) -> list[Tensor]:
    """Where u itself is prescribed: at the start, and at the walls that are not held."""
    groups = [problem.on_wall(wall, _on_each_wall(protocol)) for wall in problem.free_walls]
    if not problem.steady and not problem.samples:
        groups.append(problem.at_start(len(problem.axes) * protocol.initial))
    return groups


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
