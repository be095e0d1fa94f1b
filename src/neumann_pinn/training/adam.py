"""Adam with a constant learning rate, on one tensor and in one fused kernel.

This uses torch's functional form: `torch.optim.Adam` does the same but first imports torch's
compiler, which costs a run that is not compiled more time than hundreds of its iterations.
"""

from typing import Any

import torch
from torch import Tensor
from torch.optim.adam import adam

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class Adam:
    """One tensor of parameters, its two moments and the number of steps, all on one device."""

    def __init__(self, theta: Tensor, learning_rate: float) -> None:
        self.theta, self.learning_rate = theta, learning_rate
        self.mean, self.square = torch.zeros_like(theta), torch.zeros_like(theta)
        self.count = torch.zeros((), device=theta.device)

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """One step; nothing is read back from the device."""
        adam(
            [self.theta],
            [gradient],
            [self.mean],
            [self.square],
            [],
            [self.count],
            fused=True,
            amsgrad=False,
            beta1=BETAS[0],
            beta2=BETAS[1],
            lr=self.learning_rate,
            weight_decay=0.0,
            eps=EPSILON,
            maximize=False,
        )

    def state_dict(self) -> dict[str, Any]:
        """Everything but theta that the next step depends on."""
        return {"count": self.count, "mean": self.mean, "square": self.square}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state."""
        self.count.copy_(state["count"])
        self.mean.copy_(state["mean"])
        self.square.copy_(state["square"])
