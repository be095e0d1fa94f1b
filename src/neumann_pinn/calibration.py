"""What an iteration of each method costs, measured once and side by side."""

import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median

import pandas as pd

from neumann_pinn.constraint import Model
from neumann_pinn.engine import Machine
from neumann_pinn.heat import Heat
from neumann_pinn.train import Evaluation, Protocol, Trainer


def calibrate(
    problem: Heat, models: Mapping[str, Model], protocol: Protocol, machine: Machine, rounds: int
) -> pd.DataFrame:
    """Milliseconds an iteration of each method: medians of interleaved rounds.

    Also compiles each method's evaluation, so that the runs find all they need compiled.
    """
    reference = problem.reference(*protocol.grid)
    trainers: dict[str, Trainer] = {}
    with machine.prepared(), ExitStack() as stack:
        for name, model in models.items():
            trainer = Trainer(problem, model, protocol, 0, machine)
            trainers[name] = stack.enter_context(closing(trainer))
            Evaluation(reference, model, protocol.dtype, machine, trainer.theta).close()
        seconds: dict[str, list[float]] = {name: [] for name in models}
        for turn in range(rounds + 1):
            for name, trainer in trainers.items():
                machine.synchronize()
                start = time.perf_counter()
                for _ in range(5):
                    trainer.step()
                machine.synchronize()
                if turn:  # the first round warms up
                    seconds[name].append((time.perf_counter() - start) / 5)
    return pd.DataFrame({"method": list(models), "ms": [1e3 * median(s) for s in seconds.values()]})


def read(path: Path) -> dict[str, float]:
    """Milliseconds by method, from the table that a calibration wrote."""
    table = pd.read_csv(path)
    return dict(zip(table["method"], table["ms"], strict=True))
