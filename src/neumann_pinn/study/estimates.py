"""What a run will need, estimated before it starts: memory and time limits for a scheduler."""

from collections.abc import Mapping
from typing import Any

from neumann_pinn.model.constraints import count_streams
from neumann_pinn.problems.problem import Problem
from neumann_pinn.study.methods import Method
from neumann_pinn.training.protocol import LOSS_POINTS

PROCESS_MB = 1200
"""Memory of a process with torch, its compiler and a CUDA context, and hardly any points."""
NUMBER = 8
"""Bytes of a float64."""


def training_megabytes(problem: Problem, method: Method, protocol: Mapping[str, Any]) -> int:
    """An upper estimate of a run's peak memory: the process, its constants, what a step needs."""
    points = training_points(problem, method, protocol)
    width, depth = protocol["network"]["width"], protocol["network"]["depth"]
    axes, fields = len(problem.axes), len(problem.fields)
    streams = fields * count_streams(method.constraint, problem.axes, problem.order)
    constants = 15 * (fields * axes * method.embedding.size + streams) * points
    loss = 6 * streams * width * min(points, LOSS_POINTS)
    grid = 8 * fields * protocol["grid"]["x"] * protocol["grid"]["t"]
    numbers = constants + loss + grid
    if protocol["optimizer"] == "gauss_newton":
        rows = fields * (2 * points - axes * protocol["points"]["domain"])
        numbers += 6 * rows**2 + 8 * (depth + 1) * streams * width * rows
    return PROCESS_MB + NUMBER * numbers // 10**6


def training_minutes(iterations: int, milliseconds: float) -> float:
    """A time limit: twice the calibrated time of a run, plus ten minutes."""
    return 10 + 2 * iterations * milliseconds / 6e4


def training_points(problem: Problem, method: Method, protocol: Mapping[str, Any]) -> int:
    """The number of points a method trains on; none on the walls unless these are in the loss."""
    points = protocol["points"]
    held, walls, for_an_axis = method.constraint, 0, points["domain"]
    if not held.holds_values:
        walls += _walls(problem, "value")
        for_an_axis += points["initial"] * (2 if problem.order == 2 else 1)
    if not held.holds_slopes:
        walls += _walls(problem, "slope")
    on_walls = -(-points["boundary"] * walls // 2)
    return int(len(problem.axes) * for_an_axis + on_walls + problem.samples)


def _walls(problem: Problem, what: str) -> int:
    """The number of walls at which any unknown has a prescribed value, or slope."""
    return len({wall for field in problem.fields for wall, _ in field.prescribed(what)})
