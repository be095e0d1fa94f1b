"""The cost of an iteration of a method, measured in alternation with plain vanilla."""

import time
from contextlib import closing
from statistics import median

from neumann_pinn.model.model import Model
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.run import make_trainer
from neumann_pinn.training.trainers import Trainer

STEPS = {"adam": 5, "gauss_newton": 1}
"""Iterations per turn, by optimizer."""


def calibrate(
    problem: Problem, model: Model, vanilla: Model, protocol: Protocol, machine: Machine, turns: int
) -> tuple[float, float]:
    """Milliseconds per iteration of a method and of plain vanilla: medians of interleaved turns."""

    def trainer(model: Model) -> Trainer:
        return make_trainer(problem, model, protocol.typical(), 0, machine)

    with machine.prepared(), closing(trainer(model)) as ours, closing(trainer(vanilla)) as theirs:
        _turn(ours), _turn(theirs)  # warm up
        seconds = [(_turn(ours), _turn(theirs)) for _ in range(turns)]
    own, vanillas = zip(*seconds, strict=True)
    return 1e3 * median(own), 1e3 * median(vanillas)


def _turn(trainer: Trainer) -> float:
    """Take a turn; seconds per iteration."""
    steps = STEPS[trainer.protocol.optimizer]
    trainer.machine.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        trainer.step()
    trainer.machine.synchronize()
    return (time.perf_counter() - start) / steps
