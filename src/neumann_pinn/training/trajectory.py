"""The key of a run's checkpoints: a hash of everything that shapes its trajectory."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from neumann_pinn.model.model import Model
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training import batches, evaluation, trainers
from neumann_pinn.training.protocol import Protocol
from neumann_pinn.training.sources import code_digest, imported_files

POINTS = 32
"""Points at which functions are compared."""
PERIOD = 67
"""A prime, so that the points are all different in each coordinate."""
DIGITS = 9
"""Digits that count: the last ones differ between processors."""


def trajectory_key(problem: Problem, model: Model, protocol: Protocol, seed: int) -> str:
    """A hash of all that shapes a run's trajectory except its length and the machine's rounding.

    This includes the code for points, steps and errors, with everything it imports. Functions enter
    by their values at some points. A run can be continued with another device, number of threads or
    compilation too, but not bit for bit.
    """
    shape: dict[str, Any] = asdict(protocol)
    del shape["iterations"]
    points = _points(problem)
    alone = [replace(f, label="", reaction=None, coupled=()) for f in problem.fields]
    parts = {
        "problem": describe(alone, points),
        "reaction": describe(_reacting(problem), points),
        "model": describe(model, points),
        "protocol": shape,
        "seed": seed,
        "code": _code(),
        "torch": torch.__version__.partition("+")[0],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def describe(value: Any, points: Tensor) -> Any:
    """A value as JSON that is the same on every machine; functions by their values at points."""
    if is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return [type(value).__name__, describe(parts, points)]
    if isinstance(value, Mapping):
        return {str(key): describe(item, points) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [describe(item, points) for item in value]
    if isinstance(value, float):
        return f"{value:.{DIGITS}g}"
    if isinstance(value, Tensor):
        return _rounded(value)
    if callable(value):
        return [describe(_values(value, points), points)]
    return value if isinstance(value, bool | int | None) else str(value)


@cache
def _code() -> str:
    roots = [Path(str(module.__file__)) for module in (batches, evaluation, trainers)]
    return code_digest(sorted({*roots, *imported_files(*roots)}))


def _values(function: Callable[[Tensor], Any], points: Tensor) -> Any:
    with torch.no_grad():
        return function(points)


def _rounded(values: Tensor) -> list[Any]:
    """Numbers as whole multiples of a small fraction of the largest one."""
    values = values.detach().cpu().double()
    largest = float(values.abs().max()) if values.numel() else 0.0
    if not largest > 0:
        return values.tolist()
    shares = (values / largest * 10**DIGITS).round()
    return [f"{largest:.{DIGITS}g}", shares.tolist()]


def _points(problem: Problem) -> Tensor:
    """Points inside a problem's box, in float64, that no symmetry maps onto each other."""
    share = _shares(problem.columns)
    low = share.new_tensor([axis.low for axis in problem.axes] + [0.0] * (not problem.steady))
    high = share.new_tensor([axis.high for axis in problem.axes] + [1.0] * (not problem.steady))
    return low + (high - low) * share


def _reacting(problem: Problem) -> Tensor | None:
    """The reaction for some values of all unknowns between -2 and 2."""
    if problem.reaction is None:
        return None
    return problem.reaction(4 * _shares(len(problem.fields)).T - 2)


def _shares(columns: int) -> Tensor:
    i = torch.arange(1, POINTS + 1, dtype=torch.float64)[:, None]
    return (i * (2 * torch.arange(columns) + 3) % PERIOD) / PERIOD
