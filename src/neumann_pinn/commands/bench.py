"""How fast Adam and Gauss-Newton are.

An iteration of Adam is compared with DeepXDE's and with its matrix products, a step of Gauss-Newton
with its matrix products, and the training by Gauss-Newton with that by Adam.
"""

import io
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from neumann_pinn.commands.memory import peak_memory
from neumann_pinn.model.methods import method
from neumann_pinn.model.model import NetworkModel
from neumann_pinn.problems.initial import Cosines
from neumann_pinn.problems.points import Points
from neumann_pinn.problems.problem import Problem
from neumann_pinn.problems.series import heat
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.estimate import required_products
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.run import make_trainer, train
from neumann_pinn.training.trainers import GaussNewtonTrainer

LOW = heat(Cosines({2: 1.0}), 2)
PEAK_SIZE = 1024
NEWTON = Protocol(
    iterations=60,
    evaluate_every=2,
    optimizer="gauss_newton",
    precision="float64",
    domain=560,
    initial=200,
    boundary=50,
    grading=2,
    growth=40,
    grid=(200, 100),
)
"""The protocol `gauss_newton` of the study, with more evaluations."""
ADAM_TURN = 100
"""Iterations of Adam from one evaluation to the next."""
ERRORS = ("1e-3", "1e-5")
"""Relative errors that a training is to reach."""


@dataclass(frozen=True)
class Timing:
    """One method's iteration: ours, DeepXDE's, and what the matrix products alone would take."""

    method: str
    points: int
    block_size: int
    eager_reason: str | None
    ms: float
    deepxde_ms: float | None
    peak_gflops: float
    products_ms: float
    memory_mib: float
    deepxde_memory_mib: float | None

    @property
    def ratio(self) -> float | None:
        """How many of our iterations fit into one of DeepXDE's."""
        return self.deepxde_ms and self.deepxde_ms / self.ms

    @property
    def share_of_peak(self) -> float:
        """The time of the required products at the measured peak, over the measured time."""
        return self.products_ms / self.ms


@dataclass(frozen=True)
class Growth:
    """Time and memory of a method's iteration at one number of domain points."""

    method: str
    domain: int
    ms: float
    memory_mib: float


@dataclass(frozen=True)
class Training:
    """How long a training took, its last error, and the seconds until it reached others."""

    seconds: float
    error: float
    seconds_to: dict[str, float | None]

    @classmethod
    def of(cls, history: pd.DataFrame) -> "Training":
        """The summary of a run's history."""
        errors = history["error_at_best_loss"]
        last = history.iloc[-1]
        first = {error: history["seconds"][errors <= float(error)].head(1) for error in ERRORS}
        return cls(
            seconds=float(last["seconds"]),
            error=float(last["error_at_best_loss"]),
            seconds_to={
                error: float(seconds.iloc[0]) if len(seconds) else None
                for error, seconds in first.items()
            },
        )


@dataclass(frozen=True)
class NewtonTiming:
    """One method's step of Gauss-Newton, and its training beside Adam's on as many points."""

    method: str
    points: int
    ms: float
    peak_gflops: float
    products_ms: float
    memory_mib: float
    training: Training
    adam_ms: float
    adam_training: Training

    @property
    def share_of_peak(self) -> float:
        """The time of the required products at the measured peak, over the measured time."""
        return self.products_ms / self.ms


def protocol_for(domain: int) -> Protocol:
    """The paper's protocol with another number of points, in the paper's proportions."""
    return Protocol(domain=domain, initial=max(1, domain // 40), boundary=max(2, domain // 20))


def compare(name: str, domain: int, threads: int, rounds: int, with_deepxde: bool) -> Timing:
    """Time an iteration of a method, interleaved with DeepXDE's and with a large matrix product.

    Ours and DeepXDE's take turns, each in its own process and so with its own memory.
    """
    model = method(name)
    protocol = protocol_for(domain)
    points = make_batch(LOW, model, points_of(LOW, protocol)).size
    ours = Bench(Ours, name, protocol, threads)
    theirs = Bench(DeepXDE, name, protocol, threads) if with_deepxde else None
    seconds: list[float] = []
    deepxde_seconds: list[float] = []
    products: list[float] = []
    for _ in range(rounds):
        products += ours.ask("time_products", 7)
        seconds += ours.ask("time_iterations", 4)
        if theirs:
            deepxde_seconds += theirs.ask("time_iterations", 2)
    peak = 2 * PEAK_SIZE**3 / median(products)
    timing = Timing(
        method=name,
        points=points,
        block_size=ours.ask("block_size"),
        eager_reason=ours.ask("eager_reason"),
        ms=1e3 * median(seconds),
        deepxde_ms=1e3 * median(deepxde_seconds) if theirs else None,
        peak_gflops=peak / 1e9,
        products_ms=1e3 * required_products(LOW, model, protocol) / peak,
        memory_mib=ours.ask("peak_memory"),
        deepxde_memory_mib=theirs.ask("peak_memory") if theirs else None,
    )
    ours.close()
    if theirs:
        theirs.close()
    return timing


def compare_newton(name: str, threads: int, rounds: int) -> NewtonTiming:
    """Time a step of Gauss-Newton, interleaved with a large matrix product and with Adam.

    Then train with both, Adam for as long as Gauss-Newton has taken. Gauss-Newton and its product
    have one thread. The timed steps have all points, which a training only has in the end.
    """
    model = method(name)
    whole = replace(NEWTON, growth=0)
    adam = replace(
        whole,
        iterations=ADAM_TURN,
        evaluate_every=ADAM_TURN,
        optimizer="adam",
        precision="float32",
        learning_rate=1e-3,
    )
    ours = Bench(Ours, name, whole, 1)
    adams = Bench(Ours, name, adam, threads)
    seconds: list[float] = []
    adam_seconds: list[float] = []
    products: list[float] = []
    for _ in range(rounds):
        products += ours.ask("time_products", 5)
        seconds += ours.ask("time_iterations", 2)
        adam_seconds += adams.ask("time_iterations", 20)
    peak = 2 * PEAK_SIZE**3 / median(products)
    memory = ours.ask("peak_memory")
    training = ours.ask("train", NEWTON)
    timing = NewtonTiming(
        method=name,
        points=make_batch(LOW, model, points_of(LOW, whole)).size,
        ms=1e3 * median(seconds),
        peak_gflops=peak / 1e9,
        products_ms=1e3 * required_products(LOW, model, whole) / peak,
        memory_mib=memory,
        training=training,
        adam_ms=1e3 * median(adam_seconds),
        adam_training=adams.ask("train", adam, training.seconds),
    )
    ours.close()
    adams.close()
    return timing


def grow(name: str, domain: int, threads: int, repeats: int = 9) -> Growth:
    """Time and memory of a method with a given number of points, in a fresh process."""
    ours = Bench(Ours, name, protocol_for(domain), threads)
    ms = 1e3 * median(ours.ask("time_iterations", repeats))
    growth = Growth(name, domain, ms, ours.ask("peak_memory"))
    ours.close()
    return growth


class Bench:
    """A contestant in its own process, which works only when asked."""

    def __init__(
        self, contestant: "type[Ours] | type[DeepXDE]", name: str, protocol: Protocol, threads: int
    ) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs, contestant, name, protocol, threads), daemon=True
        )
        self.process.start()
        theirs.close()

    def ask(self, what: str, *arguments: object) -> Any:
        """Call a method of the contestant."""
        self.connection.send((what, arguments))
        try:
            answer = self.connection.recv()
        except EOFError as error:
            raise ValueError("a benchmark's process ended unexpectedly, see above") from error
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        self.process.join()


def _serve(
    connection: Connection,
    contestant: "type[Ours] | type[DeepXDE]",
    name: str,
    protocol: Protocol,
    threads: int,
) -> None:
    torch.set_num_threads(threads)
    model = method(name)
    try:
        with redirect_stdout(sys.stderr):
            bench = contestant(model, protocol, threads)
    except ValueError as error:
        connection.recv()
        connection.send(error)
        return
    while True:
        try:
            what, arguments = connection.recv()
        except EOFError:
            return
        with redirect_stdout(sys.stderr):
            connection.send(getattr(bench, what)(*arguments))


class Ours:
    """Our trainer."""

    def __init__(self, model: NetworkModel, protocol: Protocol, threads: int) -> None:
        self.model, self.dtype = model, protocol.dtype
        self.machine = Machine.choose("cpu", threads)
        with self.machine.prepared():
            self.trainer = make_trainer(LOW, model, protocol, 0, self.machine)

    def time_iterations(self, repeats: int) -> list[float]:
        """The seconds that each of `repeats` iterations takes."""
        with self.machine.prepared():
            return time_calls(self.step, repeats)

    def step(self) -> None:
        """An iteration; Gauss-Newton's in double precision from the start, as it is later on."""
        if isinstance(self.trainer, GaussNewtonTrainer):
            self.trainer.optimizer.norm = math.inf
        self.trainer.step()

    def train(self, protocol: Protocol, seconds: float = 0.0) -> Training:
        """Train with a protocol, and longer if that takes less than so many seconds."""
        with TemporaryDirectory() as folder, redirect_stderr(io.StringIO()):
            while True:
                run = train(
                    LOW, self.model, protocol, machine=self.machine, checkpoints=Path(folder)
                )
                training = Training.of(run.history)
                if training.seconds >= seconds or run.status == "diverged":
                    return training
                turns = protocol.iterations / protocol.evaluate_every
                turns = math.ceil(turns * seconds / training.seconds)
                protocol = replace(protocol, iterations=turns * protocol.evaluate_every)

    def time_products(self, repeats: int) -> list[float]:
        """The seconds that a large square matrix product takes, in the protocol's precision."""
        a = torch.ones(PEAK_SIZE, PEAK_SIZE, dtype=self.dtype)
        out = torch.empty_like(a)
        return time_calls(lambda: torch.mm(a, a, out=out), repeats)

    def block_size(self) -> int:
        """Points in a block."""
        return self.trainer.block_size

    def eager_reason(self) -> str | None:
        """Why it is not compiled; None if it is."""
        return self.trainer.eager_reason

    def peak_memory(self) -> float:
        """The peak memory of this process in MiB."""
        return peak_memory()


def time_calls(call: Callable[[], object], repeats: int) -> list[float]:
    """The seconds that each of `repeats` calls takes, after one to warm up."""
    call()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


class DeepXDE:
    """The same method, points, weights and optimizer in DeepXDE's PyTorch backend."""

    def __init__(self, model: NetworkModel, protocol: Protocol, threads: int) -> None:
        os.environ["DDE_BACKEND"] = "pytorch"
        try:
            import deepxde as dde
        except ImportError as error:
            raise ValueError(
                "DeepXDE is not installed: pip install 'neumann-pinn[bench]', "
                "or leave it out with --no-deepxde"
            ) from error
        dde.config.set_default_float(protocol.precision)
        self.dde = dde
        self.model = self._model(LOW, model, points_of(LOW, protocol), protocol.learning_rate)

    def time_iterations(self, repeats: int) -> list[float]:
        """The seconds that each of `repeats` iterations takes, after one to warm up."""
        clock = self._clock()
        iterations = repeats + 1
        self.model.train(
            iterations=iterations, display_every=iterations + 1, callbacks=[clock], verbose=0
        )
        return clock.seconds[1:]

    def peak_memory(self) -> float:
        """The peak memory of this process in MiB."""
        return peak_memory()

    def loss_terms(self) -> list[float]:
        """The loss terms at the current weights: PDE, initial and, if there is one, boundary."""
        _, state = self.model.train(iterations=0, verbose=0)
        return [float(loss) for loss in state.loss_train]

    def _model(
        self, problem: Problem, model: NetworkModel, points: Points, learning_rate: float
    ) -> Any:
        dde = self.dde
        domain = dde.geometry.GeometryXTime(
            dde.geometry.Interval(0, 1), dde.geometry.TimeDomain(0, 1)
        )

        def residual(x: Tensor, u: Tensor) -> Tensor:
            u_t = dde.grad.jacobian(u, x, i=0, j=1)
            return u_t - problem.diffusivity * dde.grad.hessian(u, x, i=0, j=0)

        conditions = [
            dde.icbc.IC(
                domain,
                lambda x: problem.start(torch.from_numpy(x))[:, None].numpy(),
                lambda _, on_initial: on_initial,
            )
        ]
        if not model.constraint.holds_slopes:
            conditions.append(
                dde.icbc.NeumannBC(domain, lambda _: 0, lambda _, on_boundary: on_boundary)
            )
        walls = [] if model.constraint.holds_slopes else list(points.walls.values())
        anchors = torch.cat((points.inside, points.start, *walls)).numpy()
        data = dde.data.TimePDE(domain, residual, conditions, anchors=anchors)
        network = self._network(model)
        frequencies = torch.tensor(model.embeddings[0].frequencies, dtype=dde.config.real(torch))

        def embed(inputs: Tensor) -> Tensor:
            angles = math.pi * inputs[:, :1] * frequencies
            if model.constraint.name == "cosine_embedding":
                return torch.cat((torch.cos(angles), inputs[:, 1:]), 1)
            pairs = torch.stack((torch.cos(angles), torch.sin(angles)), 2).flatten(1)
            return torch.cat((pairs, inputs[:, 1:]), 1)

        if model.embeddings[0].frequencies:
            network.apply_feature_transform(embed)
        with torch.no_grad():
            layers = model.network.layers(model.network.initial(0))
            for linear, layer in zip(network.linears, layers, strict=True):
                linear.weight.copy_(layer.weight)
                linear.bias.copy_(layer.bias[:, 0])
        compiled = dde.Model(data, network)
        compiled.compile("adam", lr=learning_rate, verbose=0)
        return compiled

    def _network(self, model: NetworkModel) -> Any:
        dde = self.dde
        sizes = [model.network.inputs, *[model.width] * model.depth, 1]
        if not model.constraint.corrected(model.axes):
            return dde.nn.FNN(sizes, "tanh", "Glorot normal")

        class OutputTransform(dde.nn.FNN):  # type: ignore[misc, name-defined]
            """Equation 4: the slopes of the plain network at both walls are subtracted."""

            def forward(self, inputs: Tensor) -> Tensor:
                x, t = inputs[:, :1], inputs[:, 1:]
                left = x * (1 - x) ** 2 * self.flux(0.0, x, t)
                right = x**2 * (x - 1) * self.flux(1.0, x, t)
                return super().forward(inputs) - left - right

            def flux(self, wall: float, x: Tensor, t: Tensor) -> Tensor:
                at_wall = torch.full_like(x, wall).requires_grad_()
                with torch.enable_grad():
                    u = super().forward(torch.cat((at_wall, t), 1))
                    (slope,) = torch.autograd.grad(u.sum(), at_wall, create_graph=True)
                return slope

        return OutputTransform(sizes, "tanh", "Glorot normal")

    def _clock(self) -> Any:
        class Clock(self.dde.callbacks.Callback):  # type: ignore[misc, name-defined]
            """Records how long each iteration takes."""

            def __init__(self) -> None:
                super().__init__()
                self.seconds: list[float] = []

            def on_epoch_begin(self) -> None:
                self.start = time.perf_counter()

            def on_epoch_end(self) -> None:
                self.seconds.append(time.perf_counter() - self.start)

        return Clock()


def as_json(
    timings: Sequence[Timing],
    newton: Sequence[NewtonTiming],
    growth: Sequence[Growth],
    threads: int,
) -> Any:
    """All measurements, for a file."""
    return {
        "threads": threads,
        "torch": torch.__version__,
        "timings": [
            asdict(row) | {"ratio": row.ratio, "share_of_peak": row.share_of_peak}
            for row in timings
        ],
        "newton": [asdict(row) | {"share_of_peak": row.share_of_peak} for row in newton],
        "growth": [asdict(row) for row in growth],
    }
