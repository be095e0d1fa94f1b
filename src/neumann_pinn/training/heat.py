"""Training on the study's heat problems."""

from pathlib import Path

from neumann_pinn.model.model import Model
from neumann_pinn.problems.heat import Heat
from neumann_pinn.problems.reference import Reference
from neumann_pinn.training.batches import heat_batch, points_of
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.evaluation import Evaluation, HeldOut
from neumann_pinn.training.loop import Run, Task, train_task
from neumann_pinn.training.loss import Batch, LossTerms
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.trainers import AdamTrainer, GaussNewtonTrainer, Trainer
from neumann_pinn.training.trajectory import trajectory_key

HELD_OUT = -1
"""The shift number of the held-out points; Gauss-Newton's steps use 1, 2, ..."""


def train(
    problem: Heat,
    model: Model,
    protocol: Protocol,
    *,
    seed: int = 0,
    machine: Machine | None = None,
    reference: Reference | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> Run:
    """Train one run on a heat problem; see `train_task`.

    Errors are measured against `reference`, by default the problem's own solution.
    """
    machine = machine or Machine.choose()

    def evaluation() -> Evaluation:
        solution = reference or problem.reference(*protocol.grid)
        return Evaluation.on_grid(solution, model, protocol.dtype, machine)

    def held_out() -> HeldOut:
        points = heat_batch(model, problem, points_of(model, protocol, HELD_OUT))
        return HeldOut(LossTerms(model, points, protocol, machine), protocol.weights)

    task = Task(
        lambda: make_trainer(problem, model, protocol, seed, machine),
        evaluation,
        held_out,
        protocol,
        trajectory_key(problem, model, protocol, seed),
    )
    return train_task(task, machine, checkpoints, checkpoint_seconds)


def make_trainer(
    problem: Heat, model: Model, protocol: Protocol, seed: int, machine: Machine
) -> Trainer:
    """The trainer for a protocol's optimizer."""

    def points(shift: int | None = None) -> Batch:
        return heat_batch(model, problem, points_of(model, protocol, shift))

    if protocol.optimizer == "gauss_newton":
        return GaussNewtonTrainer(model, points, protocol, seed, machine)
    return AdamTrainer(model, points(), protocol, seed, machine)
