"""Training a model on a problem."""

from pathlib import Path

from neumann_pinn.model.model import Model
from neumann_pinn.problems.problem import Problem, Reference
from neumann_pinn.training.batches import make_batch, points_of
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
    problem: Problem,
    model: Model,
    protocol: Protocol,
    *,
    seed: int = 0,
    machine: Machine | None = None,
    reference: Reference | None = None,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> Run:
    """Train one run on a problem; see `train_task`.

    Errors are measured against `reference`, by default the problem's own solution.
    """
    machine = machine or Machine.choose()

    def evaluation() -> Evaluation:
        solution = reference or problem.reference(*protocol.grid)
        return Evaluation(solution, model, protocol.dtype, machine)

    def held_out() -> HeldOut:
        points = make_batch(problem, model, points_of(problem, protocol, HELD_OUT))
        terms = LossTerms(model, points, protocol, machine, problem.reaction)
        return HeldOut(terms, protocol.weights)

    task = Task(
        lambda: make_trainer(problem, model, protocol, seed, machine),
        evaluation,
        held_out,
        protocol,
        trajectory_key(problem, model, protocol, seed),
    )
    return train_task(task, machine, checkpoints, checkpoint_seconds)


def make_trainer(
    problem: Problem, model: Model, protocol: Protocol, seed: int, machine: Machine
) -> Trainer:
    """The trainer for a protocol's optimizer."""

    def points(shift: int | None = None) -> Batch:
        return make_batch(problem, model, points_of(problem, protocol, shift))

    if protocol.optimizer == "gauss_newton":
        return GaussNewtonTrainer(model, points, protocol, seed, machine, problem.reaction)
    return AdamTrainer(model, points(), protocol, seed, machine, problem.reaction)
