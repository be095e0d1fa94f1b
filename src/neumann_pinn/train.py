"""Training: full-batch Adam with a constant learning rate or Gauss-Newton, resumable to the bit."""

import ast
import hashlib
import importlib.util
import json
import logging
import math
import signal
import sys
import threading
import time
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import torch
from torch import Tensor
from tqdm import tqdm

from neumann_pinn import history
from neumann_pinn.checkpoint import Checkpoints
from neumann_pinn.constraint import Function, Model
from neumann_pinn.engine import BlockSum, Machine, cast, cut, pad
from neumann_pinn.files import locked, write_whole
from neumann_pinn.gauss_newton import GaussNewton, make_rows
from neumann_pinn.heat import Heat, Reference
from neumann_pinn.history import Row
from neumann_pinn.loss import Batch, batch, loss_terms
from neumann_pinn.points import Points, graded, hammersley, sharing_times, shifted

log = logging.getLogger(__name__)

LOG_SECONDS = 30.0
HELD_OUT = -1
"""The number of the shift of the held-out points; Gauss-Newton's steps have 1, 2, ..."""
POINTS_OF_A_TIME = 8
"""Domain points that share a time with Gauss-Newton: fewer times to know the walls at."""
TRAJECTORY_MODULES = (
    "trigonometry",
    "heat",
    "points",
    "axis",
    "embedding",
    "network",
    "jet",
    "constraint",
    "loss",
    "engine",
    "gauss_newton",
    "train",
)
"""The modules of this package that shape a trajectory."""

Status = Literal["training", "finished", "diverged"]


class InterruptedRunError(Exception):
    """A run that was asked to stop; its checkpoint is written."""

    def __init__(self, signal_number: int, iteration: int) -> None:
        super().__init__(
            f"{signal.Signals(signal_number).name} at iteration {iteration}: checkpoint written, "
            "the next call resumes there"
        )
        self.signal_number = signal_number


@dataclass(frozen=True)
class Protocol:
    """How long, on how many points and how one trains; the defaults are the paper's."""

    iterations: int = 1_000_000
    evaluate_every: int = 100
    learning_rate: float = 1e-4
    domain: int = 20_000
    initial: int = 500
    boundary: int = 1_000
    grading: float = 1.0
    """Times are drawn towards the start by t -> t^grading."""
    grid: tuple[int, int] = (500, 500)
    """Evaluation nodes in x and in t, ends included."""
    weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Weights of the PDE, initial and boundary terms."""
    precision: Literal["float32", "float64"] = "float32"
    optimizer: Literal["adam", "gauss_newton"] = "adam"
    """Adam, or Gauss-Newton steps on points that are shifted each time."""

    def __post_init__(self) -> None:
        for name in ("iterations", "evaluate_every", "domain", "initial", "boundary"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: give at least 1")
        if self.iterations % self.evaluate_every:
            raise ValueError(
                f"iterations = {self.iterations}: give a multiple of evaluate_every = "
                f"{self.evaluate_every}, so that the last row of the history is the last iteration"
            )
        if not self.learning_rate > 0:
            raise ValueError(f"learning_rate = {self.learning_rate}: give a positive number")
        if not 1 <= self.grading < math.inf:
            raise ValueError(f"grading = {self.grading}: give at least 1, which leaves times alone")
        if min(self.grid) < 2:
            raise ValueError(f"grid = {self.grid}: give at least 2 nodes in x and in t")
        if min(self.weights) < 0:
            raise ValueError(f"weights = {self.weights}: give no negative weight")
        if self.precision not in ("float32", "float64"):
            raise ValueError(f"precision {self.precision!r}: choose float32 or float64")
        if self.optimizer not in ("adam", "gauss_newton"):
            raise ValueError(f"optimizer {self.optimizer!r}: choose adam or gauss_newton")
        if self.optimizer == "gauss_newton" and self.precision != "float64":
            raise ValueError(
                "precision float32: Gauss-Newton solves systems that need float64, choose that"
            )

    @property
    def dtype(self) -> torch.dtype:
        return torch.float32 if self.precision == "float32" else torch.float64


@dataclass(frozen=True)
class Run:
    """What a training run leaves behind."""

    history: pd.DataFrame
    status: Status
    theta: Tensor
    """The parameters after the last iteration."""
    best_theta: Tensor
    """The parameters at the lowest loss that an evaluation saw."""
    block_size: int
    eager_reason: str | None
    """Why the run was not compiled; None if it was, or if there is nothing to compile."""
    resumed_at: int
    """The iteration from which this call went on; 0 for a fresh run."""

    def in_words(self) -> str:
        """How it ended, in a line."""
        last = self.history.iloc[-1]
        eager = f" (not compiled: {self.eager_reason})" if self.eager_reason else ""
        return (
            f"{self.status}, error {last['error_at_best_loss']:.2e} after "
            f"{last['iteration']:,.0f} iterations in {last['seconds']:.0f} s{eager}"
        )


def points_of(model: Model, protocol: Protocol, shift: int | None = None) -> Points:
    """The points that a model trains on, moved round if the number of a shift is given.

    There are none on the walls where a hard constraint holds them. All methods have the same domain
    and initial points: shared times, with Gauss-Newton, help the existing constraint only.
    """
    boundary = protocol.boundary if model.constraint == "none" else 0
    points = hammersley(protocol.domain, protocol.initial, boundary)
    if protocol.optimizer == "gauss_newton":
        points = sharing_times(points, POINTS_OF_A_TIME)
    if shift is not None:
        points = shifted(points, shift)
    return graded(points, protocol.grading)


class Trainer(typing.Protocol):
    """One run's parameters and optimizer, ready to take steps."""

    machine: Machine
    protocol: "Protocol"
    theta: Tensor
    block_size: int
    eager_reason: str | None
    optimizer: Any

    def step(self) -> None:
        """One iteration."""

    def loss_terms(self) -> list[float]:
        """The three mean squares at the present parameters."""

    def close(self) -> None:
        """End the threads."""


class AdamTrainer:
    """Adam on a fixed set of points, cut into blocks and compiled."""

    def __init__(
        self,
        model: Model,
        points: Batch,
        protocol: Protocol,
        seed: int,
        machine: Machine,
        reaction: Function | None = None,
    ) -> None:
        self.machine = machine
        self.protocol = protocol
        self.theta = model.initial(seed).to(machine.device, protocol.dtype)
        self.optimizer = torch.optim.Adam([self.theta], lr=protocol.learning_rate, fused=True)
        n = points.shares.shape[1]
        self.block_size = machine.block_size(n, model.streams)
        more = -n % self.block_size
        padded = pad(points, n, more)
        padded.shares[:, n:] = 0
        constants = cast(padded, protocol.dtype, machine.device)
        blocks = cut(constants, n + more, self.block_size)
        weights = protocol.weights

        def gradient_and_terms(theta: Tensor, block: Batch) -> tuple[Tensor, Tensor]:
            def loss(theta: Tensor) -> tuple[Tensor, Tensor]:
                terms = loss_terms(model, theta, block, reaction)
                return sum(w * term for w, term in zip(weights, terms, strict=True)), terms

            return torch.func.grad(loss, has_aux=True)(theta)

        self.objective = BlockSum(gradient_and_terms, blocks, machine, self.theta)
        self.eager_reason = self.objective.eager_reason

    def step(self) -> None:
        """One iteration of Adam on all points; nothing is read back from the device."""
        self.theta.grad, _ = self.objective(self.theta)
        self.optimizer.step()

    def loss_terms(self) -> list[float]:
        """The three mean squares at the present parameters."""
        _, terms = self.objective(self.theta)
        return terms.tolist()

    def close(self) -> None:
        """End the threads."""
        self.objective.close()


class GaussNewtonTrainer:
    """Gauss-Newton on a heat problem, with points that are shifted at every step."""

    def __init__(
        self, problem: Heat, model: Model, protocol: Protocol, seed: int, machine: Machine
    ) -> None:
        self.machine = machine
        self.protocol = protocol
        self.theta = model.initial(seed).to(machine.device, protocol.dtype)
        self.model = model

        def constants(shift: int | None = None) -> Batch:
            points = batch(model, problem, points_of(model, protocol, shift))
            return cast(points, protocol.dtype, machine.device)

        self.points = constants()
        self.block_size = self.points.shares.shape[1]
        self.eager_reason: str | None = None
        self.optimizer = GaussNewton(
            model, self.theta, lambda number: make_rows(constants(number), protocol.weights)
        )

    def step(self) -> None:
        """One step; the loss decides about it, and is read back from the device for that."""
        self.optimizer.step()

    def loss_terms(self) -> list[float]:
        """The three mean squares at the present parameters, on the points before any shift."""
        with torch.no_grad():
            return loss_terms(self.model, self.theta, self.points).tolist()

    def close(self) -> None:
        """No threads to end."""


def make_trainer(
    problem: Heat, model: Model, protocol: Protocol, seed: int, machine: Machine
) -> Trainer:
    """The trainer of a protocol's optimizer."""
    if protocol.optimizer == "gauss_newton":
        return GaussNewtonTrainer(problem, model, protocol, seed, machine)
    points = batch(model, problem, points_of(model, protocol))
    return AdamTrainer(model, points, protocol, seed, machine)


class HeldOut:
    """theta -> the loss on points that one does not train on."""

    def __init__(
        self,
        model: Model,
        points: Batch,
        protocol: Protocol,
        machine: Machine,
        reaction: Function | None = None,
    ) -> None:
        self.model, self.reaction = model, reaction
        self.points = cast(points, protocol.dtype, machine.device)
        self.weights = protocol.weights

    @torch.no_grad()
    def __call__(self, theta: Tensor) -> float:
        terms = loss_terms(self.model, theta, self.points, self.reaction).tolist()
        return sum(w * term for w, term in zip(self.weights, terms, strict=True))


class Evaluation:
    """theta -> the relative L2 error of predictions at known points.

    A block is whatever `predict` needs of some points, u there, and which of them count. Not
    compiled: it is called once in a hundred iterations, and compiling it would take longer than it
    saves in all but the longest runs.
    """

    def __init__(
        self,
        predict: Callable[[Tensor, Any], Tensor],
        blocks: Sequence[tuple[Any, Tensor, Tensor]],
        dtype: torch.dtype,
        machine: Machine,
    ) -> None:
        self.norm = math.sqrt(sum(float((count * u**2).sum()) for _, u, count in blocks))

        def square_error(theta: Tensor, block: tuple[Any, Tensor, Tensor]) -> tuple[Tensor]:
            constants, u, count = block
            return ((count * (predict(theta, constants) - u) ** 2).sum(),)

        blocks = [cast(block, dtype, machine.device) for block in blocks]
        self.square_error = BlockSum(square_error, blocks, machine)

    @classmethod
    def on_grid(
        cls, reference: Reference, model: Model, dtype: torch.dtype, machine: Machine
    ) -> "Evaluation":
        """The error on the grid of a reference solution."""
        _, x, t, u = reference
        rows = machine.block_size(len(t), len(x))
        padding = -len(t) % rows
        counts = torch.cat((torch.ones(len(t)), torch.zeros(padding))).double()
        t = torch.cat((t, t[-1:].expand(padding)))
        u = torch.cat((u, u[-1:].expand(padding, -1)))
        blocks = [
            (model.grid(x, t), u, count[:, None])
            for t, u, count in zip(t.split(rows), u.split(rows), counts.split(rows), strict=True)
        ]
        return cls(model.predict, blocks, dtype, machine)

    def __call__(self, theta: Tensor) -> float:
        (square,) = self.square_error(theta)
        return math.sqrt(float(square)) / self.norm

    def close(self) -> None:
        """End the threads."""
        self.square_error.close()


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
    """Train one run on a heat problem, as `train_task` does.

    The errors are against `reference`, by default the problem's own solution.
    """
    machine = machine or Machine.choose()

    def evaluation() -> Evaluation:
        solution = reference or problem.reference(*protocol.grid)
        return Evaluation.on_grid(solution, model, protocol.dtype, machine)

    def held_out() -> HeldOut:
        points = batch(model, problem, points_of(model, protocol, HELD_OUT))
        return HeldOut(model, points, protocol, machine)

    key = trajectory_key(problem, model, protocol, seed)
    return train_task(
        lambda: make_trainer(problem, model, protocol, seed, machine),
        evaluation,
        held_out,
        key,
        machine,
        checkpoints,
        checkpoint_seconds,
    )


def train_task(
    make_trainer: Callable[[], Trainer],
    make_evaluation: Callable[[], Evaluation],
    make_held_out: Callable[[], HeldOut],
    key: str,
    machine: Machine,
    checkpoints: Path | None = None,
    checkpoint_seconds: float = 60.0,
) -> Run:
    """Train one run, from its last checkpoint in the folder `checkpoints` if there is one.

    A checkpoint is written every `checkpoint_seconds`, at the end, and on SIGTERM or SIGINT, which
    end in an `InterruptedRunError`; a larger `protocol.iterations` later continues from there, and
    with a smaller one the longer run is returned as it is. Beside the checkpoints, `progress.json`
    says how far the run is; one process at a time trains into a folder. Checkpoints are of one
    `key`, which stands for all that shapes the trajectory.
    """
    store = checkpoints and Checkpoints(checkpoints, key)
    alone = locked(checkpoints / "lock") if checkpoints else nullcontext()
    with alone, _asked_to_stop() as asked, machine.prepared():
        trainer, evaluation, held_out = make_trainer(), make_evaluation(), make_held_out()
        try:
            progress = _Progress(trainer.protocol.iterations, checkpoints)
            save = store or None
            return _train(trainer, evaluation, held_out, save, checkpoint_seconds, progress, asked)
        finally:
            trainer.close()
            evaluation.close()


def _train(
    trainer: Trainer,
    evaluation: Evaluation,
    held_out: HeldOut,
    store: Checkpoints | None,
    checkpoint_seconds: float,
    progress: "_Progress",
    asked: list[int],
) -> Run:
    protocol, theta = trainer.protocol, trainer.theta
    best_theta = theta.clone()
    rows: list[Row] = []
    status: Status = "training"
    iteration, seconds = 0, 0.0

    state = store.load() if store else None
    if state is not None:
        iteration, seconds, status = state["iteration"], state["seconds"], state["status"]
        rows = history.from_tensor(state["history"])
        theta.copy_(state["theta"])
        best_theta.copy_(state["best_theta"])
        trainer.optimizer.load_state_dict(state["optimizer"])
        log.info("resuming at iteration %d of %d", iteration, protocol.iterations)
    resumed_at = iteration

    def save() -> None:
        if store:
            store.save(
                {
                    "iteration": iteration,
                    "seconds": seconds,
                    "status": status,
                    "history": history.to_tensor(rows),
                    "theta": theta,
                    "best_theta": best_theta,
                    "optimizer": trainer.optimizer.state_dict(),
                }
            )

    def evaluate() -> None:
        nonlocal status
        terms = trainer.loss_terms()
        loss = sum(w * term for w, term in zip(protocol.weights, terms, strict=True))
        error = evaluation(theta)
        best_loss = rows[-1].best_loss if rows else math.inf
        error_at_best = rows[-1].error_at_best_loss if rows else math.nan
        if not (math.isfinite(loss) and math.isfinite(error)):
            status = "diverged"
        elif loss < best_loss:
            best_loss, error_at_best = loss, error
            best_theta.copy_(theta)
        pde, initial, boundary = terms
        rows.append(
            Row(
                iteration,
                seconds,
                pde,
                initial,
                boundary,
                loss,
                best_loss,
                held_out(theta),
                error,
                error_at_best,
            )
        )

    def evaluate_if_due() -> None:
        at = rows[-1].iteration if rows else -1
        if iteration % protocol.evaluate_every == 0 and at < iteration:
            evaluate()
            progress.show(rows[-1])

    progress.start(iteration)
    save_at = time.monotonic() + checkpoint_seconds
    evaluate_if_due()
    while iteration < protocol.iterations and status != "diverged":
        trainer.machine.synchronize()
        start = time.perf_counter()
        while True:
            trainer.step()
            iteration += 1
            if iteration % protocol.evaluate_every == 0 or asked or time.monotonic() >= save_at:
                break
        trainer.machine.synchronize()
        seconds += time.perf_counter() - start
        evaluate_if_due()
        if iteration < protocol.iterations and (asked or time.monotonic() >= save_at):
            save()
            save_at = time.monotonic() + checkpoint_seconds
            if asked:
                progress.close()
                raise InterruptedRunError(asked[0], iteration)
    progress.close()
    if status == "diverged":
        log.warning("the loss is no longer finite at iteration %d: stopped as diverged", iteration)
    else:
        status = "finished"
    if iteration > resumed_at:
        save()
    return Run(
        history.to_frame(rows),
        status,
        theta.detach().cpu(),
        best_theta.cpu(),
        trainer.block_size,
        trainer.eager_reason,
        resumed_at,
    )


@contextmanager
def _asked_to_stop() -> Iterator[list[int]]:
    """The signals that asked the process to stop, as they come; only a main thread gets any."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    handled = (signal.SIGTERM, signal.SIGINT)
    before = [signal.signal(number, lambda n, _: asked.append(n)) for number in handled]
    try:
        yield asked
    finally:
        for number, handler in zip(handled, before, strict=True):
            signal.signal(number, handler)


class _Progress:
    """How far a run is: a bar on a terminal, a line every half minute in the log, a file."""

    def __init__(self, iterations: int, folder: Path | None) -> None:
        self.iterations = iterations
        self.file = folder and folder / "progress.json"

    def start(self, iteration: int) -> None:
        self.bar = tqdm(
            total=self.iterations, initial=iteration, unit="it", disable=not sys.stderr.isatty()
        )
        self.first = self.shown = iteration
        self.started = self.logged = self.written = time.monotonic()

    def show(self, row: Row) -> None:
        error = row.error_at_best_loss
        self.bar.set_postfix_str(f"loss {row.loss:.1e}, error {error:.1e}", refresh=False)
        self.bar.update(row.iteration - self.shown)
        self.shown = row.iteration
        now = time.monotonic()
        rate = max(row.iteration - self.first, 1) / (now - self.started)
        left = (self.iterations - row.iteration) / rate
        if self.file and now - self.written >= 1:
            self.written = now
            state = {
                "iteration": row.iteration,
                "iterations": self.iterations,
                "loss": row.loss,
                "error": error,
                "seconds_left": left,
            }
            write_whole(self.file, json.dumps(state).encode())
        if now - self.logged >= LOG_SECONDS:
            self.logged = now
            log.info(
                "iteration %d of %d, %.1f it/s, %.0f s left, loss %.2e, error %.2e",
                row.iteration,
                self.iterations,
                rate,
                left,
                row.loss,
                error,
            )

    def close(self) -> None:
        self.bar.close()


def trajectory_key(
    problem: object,
    model: Model,
    protocol: Protocol,
    seed: int,
    modules: Sequence[str] = TRAJECTORY_MODULES,
) -> str:
    """A hash of all that shapes a run's trajectory, but for its length and the machine's rounding.

    The problem counts by its `repr`, and by the modules that define it.
    Another device, number of threads or compilation continues a run too, but not to the bit.
    """
    shape: dict[str, Any] = asdict(protocol)
    del shape["iterations"]
    activation = f"{model.activation.__module__}.{model.activation.__qualname__}"
    parts = {
        "problem": repr(problem),
        "constraint": model.constraint,
        "embeddings": repr(model.embeddings),
        "box": [repr(model.axes), model.steady, model.free_term, model.find_diffusivity],
        "behind": [model.lift is not None, model.factor is not None],
        "network": [model.width, model.depth, activation],
        "protocol": shape,
        "seed": seed,
        "code": _code_digest(modules),
        "torch": torch.__version__,
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _code_digest(modules: Sequence[str]) -> str:
    """A hash of modules of this package; comments and docstrings do not count."""
    digest = hashlib.sha256()
    for name in modules:
        spec = importlib.util.find_spec(f"neumann_pinn.{name}")
        assert spec is not None
        assert spec.origin is not None
        tree = ast.parse(Path(spec.origin).read_bytes())
        for node in ast.walk(tree):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                node.value.value = None
        digest.update(ast.dump(tree).encode())
    return digest.hexdigest()
