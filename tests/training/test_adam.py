"""Our Adam is torch's, to the bit."""

import pytest
import torch

from neumann_pinn.training.adam import Adam


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_steps_and_state_are_those_of_torch(dtype):
    generator = torch.Generator().manual_seed(0)
    theta = torch.randn(50, generator=generator).to(dtype)
    theirs = theta.clone().requires_grad_()
    optimizer = torch.optim.Adam([theirs], lr=2e-3, fused=True)
    ours = Adam(theta, 2e-3)
    for _ in range(20):
        gradient = torch.randn(50, generator=generator).to(dtype)
        theirs.grad = gradient.clone()
        optimizer.step()
        ours.step(gradient)
    assert theta.tolist() == theirs.tolist()
    again = Adam(theta.clone(), 2e-3)
    again.load_state_dict(ours.state_dict())
    again.step(gradient)
    ours.step(gradient)
    assert again.theta.tolist() == ours.theta.tolist()
