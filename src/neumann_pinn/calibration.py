"""What an iteration of a method costs, measured side by side with plain vanilla."""

import time
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from statistics import median

import pandas as pd

from neumann_pinn.constraint import Model
from neumann_pinn.engine import Machine
from neumann_pinn.heat import Heat
from neumann_pinn.train import Protocol, Trainer, make_trainer

STEPS = {"adam": 5, "gauss_newton": 1}
"""Iterations of a turn, by optimizer."""


def calibrate(
    problem: Heat, model: Model, vanilla: Model, protocol: Protocol, machine: Machine, turns: int
) -> tuple[float, float]:
    """Milliseconds an iteration of a method and of plain vanilla: medians of interleaved turns."""

    def trainer(model: Model) -> Trainer:
        return make_trainer(problem, model, protocol, 0, machine)

    with machine.prepared(), closing(trainer(model)) as ours, closing(trainer(vanilla)) as theirs:
        _turn(ours), _turn(theirs)  # warm up
        seconds = [(_turn(ours), _turn(theirs)) for _ in range(turns)]
    own, vanillas = zip(*seconds, strict=True)
    return 1e3 * median(own), 1e3 * median(vanillas)


def _turn(trainer: Trainer) -> float:
    """The seconds that an iteration takes."""
    steps = STEPS[trainer.protocol.optimizer]
    trainer.machine.synchronize()
    start = time.perf_counter()
    for _ in range(steps):
        trainer.step()
    trainer.machine.synchronize()
    return (time.perf_counter() - start) / steps


def table(method: str, ms: float, vanilla: str, vanilla_ms: float) -> pd.DataFrame:
    """A calibration as a table of one row."""
    row = {"method": method, "ms": ms, "vanilla": vanilla, "vanilla_ms": vanilla_ms}
    return pd.DataFrame([row])


def read(paths: Iterable[Path]) -> dict[str, float]:
    """Milliseconds by method, brought to one scale by what vanilla took beside each of them."""
    rows = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    scale = float(rows["vanilla_ms"].median())
    milliseconds = scale * rows["ms"] / rows["vanilla_ms"]
    costs = dict(zip(rows["method"].tolist(), milliseconds.tolist(), strict=True))
    return costs | {str(rows["vanilla"].iloc[0]): scale}
