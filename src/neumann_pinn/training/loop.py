"""The training loop of a run: steps, evaluations, checkpoints, signals; resumable bit for bit."""

import logging
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor

from neumann_pinn.files import locked
from neumann_pinn.training import history
from neumann_pinn.training.checkpoints import Checkpoints
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.evaluation import Evaluation, HeldOut
from neumann_pinn.training.history import Row
from neumann_pinn.training.progress import Progress
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.trainers import Trainer

log = logging.getLogger(__name__)

Status = Literal["training", "finished", "diverged"]


class InterruptedRunError(Exception):
    """A run was asked to stop; its checkpoint has been written."""

    def __init__(self, signal_number: int, iteration: int) -> None:
        super().__init__(
            f"{signal.Signals(signal_number).name} at iteration {iteration}: checkpoint written, "
            "the next call resumes there"
        )
        self.signal_number = signal_number


@dataclass(frozen=True)
class Task:
    """What a run trains. Its parts are made only if there is something left to train.

    Checkpoints belong to the `key`, which stands for everything that shapes the trajectory.
    """

    make_trainer: Callable[[], Trainer]
    make_evaluation: Callable[[], Evaluation]
    make_held_out: Callable[[], HeldOut]
    protocol: Protocol
    key: str


@dataclass(frozen=True)
class Run:
    """The results of a training run."""

    history: pd.DataFrame
    status: Status
    theta: Tensor
    """The parameters after the last iteration."""
    best_theta: Tensor
    """The parameters with the lowest loss of all evaluations."""
    block_size: int
    eager_reason: str | None
    """Why the run was not compiled; None if it was, or if there is nothing to compile."""
    resumed_at: int
    """The iteration from which this call continued; 0 for a fresh run."""

    def summary(self) -> str:
        """How it ended, in one line."""
        last = self.history.iloc[-1]
        eager = f" (not compiled: {self.eager_reason})" if self.eager_reason else ""
        return (
            f"{self.status}, error {last['error_at_best_loss']:.2e} after "
            f"{last['iteration']:,.0f} iterations in {last['seconds']:.0f} s{eager}"
        )


def train_task(
    task: Task,
    machine: Machine,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> Run:
    """Train one run, from its last checkpoint in the folder `checkpoints` if there is one.

    A checkpoint is written every `checkpoint_seconds`, at the end, and on SIGTERM or SIGINT, which
    raise an `InterruptedRunError`. A later call with more `protocol.iterations` continues from
    there, and one with fewer returns the longer run unchanged. In the same folder, `progress.json`
    shows how far the run is; only one process at a time trains into a folder.
    """
    store = Checkpoints(checkpoints, task.key) if checkpoints else None
    lock = locked(checkpoints / "lock") if checkpoints else nullcontext()
    with lock, _stop_signals() as signals, machine.prepared():
        state = store.load() if store else None
        if state is not None and _is_done(state, task.protocol):
            return _run(state, resumed_at=state["iteration"])
        with closing(task.make_trainer()) as trainer, closing(task.make_evaluation()) as evaluation:
            progress = Progress(task.protocol.iterations, checkpoints)
            loop = _Loop(trainer, evaluation, task.make_held_out(), store, progress)
            if state is not None:
                loop.resume(state)
            return loop.train(signals, checkpoint_seconds)


class _Loop:
    """A run in progress."""

    def __init__(
        self,
        trainer: Trainer,
        evaluation: Evaluation,
        held_out: HeldOut,
        store: Checkpoints | None,
        progress: Progress,
    ) -> None:
        self.trainer, self.evaluation, self.held_out = trainer, evaluation, held_out
        self.store, self.progress = store, progress
        self.protocol = trainer.protocol
        self.best_theta = trainer.theta.clone()
        self.rows: list[Row] = []
        self.status: Status = "training"
        self.iteration, self.seconds, self.resumed_at = 0, 0.0, 0

    def state(self) -> dict[str, Any]:
        """Everything that the rest of the run depends on, and its results so far."""
        return {
            "iteration": self.iteration,
            "seconds": self.seconds,
            "status": self.status,
            "history": torch.tensor(self.rows, dtype=torch.float64).view(-1, len(Row._fields)),
            "theta": self.trainer.theta,
            "best_theta": self.best_theta,
            "optimizer": self.trainer.optimizer.state_dict(),
            "block_size": self.trainer.block_size,
            "eager_reason": self.trainer.eager_reason,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.iteration, self.seconds = state["iteration"], state["seconds"]
        self.resumed_at, self.status = state["iteration"], state["status"]
        self.rows = _rows(state)
        self.trainer.theta.copy_(state["theta"])
        self.best_theta.copy_(state["best_theta"])
        self.trainer.optimizer.load_state_dict(state["optimizer"])
        log.info("resuming at iteration %d of %d", self.iteration, self.protocol.iterations)

    def train(self, signals: list[int], checkpoint_seconds: float) -> Run:
        """Step until the last iteration, a signal or divergence."""
        every, last = self.protocol.evaluate_every, self.protocol.iterations
        machine = self.trainer.machine
        self.progress.start(self.iteration)
        save_at = time.monotonic() + checkpoint_seconds
        self.evaluate_if_due()
        while self.iteration < last and self.status != "diverged":
            machine.synchronize()
            start = time.perf_counter()
            while True:
                self.trainer.step()
                self.iteration += 1
                if self.iteration % every == 0 or signals or time.monotonic() >= save_at:
                    break
            machine.synchronize()
            self.seconds += time.perf_counter() - start
            self.evaluate_if_due()
            if self.iteration < last and (signals or time.monotonic() >= save_at):
                self.save()
                save_at = time.monotonic() + checkpoint_seconds
                if signals:
                    self.progress.close()
                    raise InterruptedRunError(signals[0], self.iteration)
        self.progress.close()
        if self.status == "diverged":
            log.warning("the loss is no longer finite at iteration %d: diverged", self.iteration)
        else:
            self.status = "finished"
        self.save()
        return _run(self.state(), self.resumed_at)

    def save(self) -> None:
        """Write a checkpoint, if there is a folder for it."""
        if self.store:
            self.store.save(self.state())

    def evaluate_if_due(self) -> None:
        """Add a row to the history every `evaluate_every` iterations."""
        at = self.rows[-1].iteration if self.rows else -1
        if self.iteration % self.protocol.evaluate_every == 0 and at < self.iteration:
            self.rows.append(self.evaluate())
            self.progress.show(self.rows[-1])

    def evaluate(self) -> Row:
        """Losses and error at the current parameters, which are kept if the best so far."""
        theta = self.trainer.theta
        terms = self.trainer.loss_terms()
        loss = sum(w * term for w, term in zip(self.protocol.weights, terms, strict=True))
        error = self.evaluation(theta)
        best_loss = self.rows[-1].best_loss if self.rows else math.inf
        error_at_best = self.rows[-1].error_at_best_loss if self.rows else math.nan
        if not (math.isfinite(loss) and math.isfinite(error)):
            self.status = "diverged"
        elif loss < best_loss:
            best_loss, error_at_best = loss, error
            self.best_theta.copy_(theta)
        pde, initial, boundary = terms
        return Row(
            self.iteration,
            self.seconds,
            pde,
            initial,
            boundary,
            loss,
            best_loss,
            self.held_out(theta),
            error,
            error_at_best,
        )


def _is_done(state: dict[str, Any], protocol: Protocol) -> bool:
    """Whether a checkpoint leaves nothing to train."""
    return state["status"] == "diverged" or state["iteration"] >= protocol.iterations


def _rows(state: dict[str, Any]) -> list[Row]:
    """A checkpoint's history."""
    return [Row(int(iteration), *values) for iteration, *values in state["history"].tolist()]


def _run(state: dict[str, Any], resumed_at: int) -> Run:
    """A run that has ended, from its state."""
    return Run(
        history.to_frame(_rows(state)),
        "diverged" if state["status"] == "diverged" else "finished",
        state["theta"].detach().cpu(),
        state["best_theta"].cpu(),
        state["block_size"],
        state["eager_reason"],
        resumed_at,
    )


@contextmanager
def _stop_signals() -> Iterator[list[int]]:
    """The signals asking the process to stop, as they arrive; only the main thread gets any."""
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    handled = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda n, _: received.append(n)) for number in handled]
    try:
        yield received
    finally:
        for number, handler in zip(handled, before, strict=True):
            signal.signal(number, handler)
