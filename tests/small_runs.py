"""Runs of a second, and how two of them are compared."""

import torch

from neumann_pinn import Cosines, Machine, Protocol, heat, method, train

LOW = heat(Cosines({2: 1.0}), 2)
EAGER = Machine.choose("cpu", compile=False)
SMALL = {
    "evaluate_every": 20,
    "learning_rate": 1e-3,
    "domain": 200,
    "initial": 20,
    "boundary": 20,
    "grid": (20, 10),
}


def small(name):
    return method(name, width=16, depth=2)


def run(iterations, folder=None, name="cosine20", protocol=SMALL, **options):
    options = {"machine": EAGER, "checkpoint_seconds": 0.0} | options
    protocol = Protocol(iterations=iterations, **protocol)
    return train(LOW, small(name), protocol, checkpoints=folder, **options)


NEWTON = SMALL | {"optimizer": "gauss_newton", "precision": "float64", "domain": 60}
MODES = {
    "eager": {},
    "compiled": {"machine": Machine.choose("cpu", compile=True)},
    "gauss_newton": {"protocol": NEWTON},
}


def assert_same(one, other):
    """The same histories (seconds aside) and weights, to the bit."""
    assert one.status == other.status
    assert one.history.drop(columns="seconds").equals(other.history.drop(columns="seconds"))
    assert torch.equal(one.theta, other.theta)
    assert torch.equal(one.best_theta, other.best_theta)
