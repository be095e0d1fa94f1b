"""Adam and Gauss-Newton, ready to take steps on a model's points."""

import typing
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from neumann_pinn.model.model import Model
from neumann_pinn.training.adam import Adam
from neumann_pinn.training.engine import BlockSum, Machine
from neumann_pinn.training.gauss_newton import GaussNewtonSteps
from neumann_pinn.training.linearised import Residuals
from neumann_pinn.training.loss import Batch, LossTerms, loss_terms
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.trees import cast
from neumann_pinn.walls.layers import Function


class Trainer(typing.Protocol):
    """One run's parameters and optimizer, ready to take steps."""

    machine: Machine
    protocol: Protocol
    theta: Tensor
    block_size: int
    eager_reason: str | None
    optimizer: Any

    def step(self) -> None:
        """One iteration."""

    def loss_terms(self) -> list[float]:
        """The three mean squares at the current parameters."""

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
        self.optimizer = Adam(self.theta, protocol.learning_rate)
        self.block_size = machine.block_size(points.size, model.streams)
        blocks = cast(points, protocol.dtype, machine.device).blocks(self.block_size)
        weights = protocol.weights

        def gradient_and_terms(theta: Tensor, block: Batch) -> tuple[Tensor, Tensor]:
            theta = theta.detach().requires_grad_()
            with torch.enable_grad():
                terms = loss_terms(model, theta, block, reaction)
                loss = sum(w * term for w, term in zip(weights, terms, strict=True))
                (gradient,) = torch.autograd.grad(loss, theta)
            return gradient, terms.detach()

        self.objective = BlockSum(gradient_and_terms, blocks, machine, self.theta)
        self.eager_reason = self.objective.eager_reason

    def step(self) -> None:
        """One iteration of Adam on all points; nothing is read back from the device."""
        gradient, _ = self.objective(self.theta)
        self.optimizer.step(gradient)

    def loss_terms(self) -> list[float]:
        """The three mean squares at the current parameters."""
        _, terms = self.objective(self.theta)
        return terms.tolist()

    def close(self) -> None:
        """End the threads."""
        self.objective.close()


class GaussNewtonTrainer:
    """Gauss-Newton, with points that are shifted at every step.

    `points` makes the batch for the number of a shift; for None, points are not shifted.
    """

    def __init__(
        self,
        model: Model,
        points: Callable[[int | None], Batch],
        protocol: Protocol,
        seed: int,
        machine: Machine,
        reaction: Function | None = None,
    ) -> None:
        self.machine = machine
        self.protocol = protocol
        self.theta = model.initial(seed).to(machine.device, protocol.dtype)
        self.model, self.points, self.reaction = model, points, reaction
        self.terms = LossTerms(model, points(None), protocol, machine, reaction)
        self.block_size = self.terms.block_size
        self.eager_reason: str | None = None
        self.optimizer = GaussNewtonSteps(self.theta)

    def step(self) -> None:
        """One step; the loss is read back from the device to accept or reject it."""
        number = self.optimizer.count + 1
        batch = cast(self.points(number), self.protocol.dtype, self.machine.device)
        self.optimizer.step(Residuals(self.model, batch, self.protocol.weights, self.reaction))

    def loss_terms(self) -> list[float]:
        """The three mean squares at the current parameters, on the points before any shift."""
        return self.terms(self.theta)

    def close(self) -> None:
        """There are no threads to end."""
