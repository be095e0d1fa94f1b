"""What a run will need, estimated before it starts: memory and time limits for a scheduler."""

from collections.abc import Mapping
from typing import Any

from neumann_pinn.study.methods import Method
from neumann_pinn.training.protocol import LOSS_POINTS

PROCESS_MB = 1200
"""Memory of a process with torch, its compiler and a CUDA context, and hardly any points."""
NUMBER = 8
"""Bytes of a float64."""


def training_megabytes(method: Method, protocol: Mapping[str, Any]) -> int:
    """An upper estimate of a run's peak memory: the process, its constants, what a step needs."""
    points = training_points(method, protocol)
    width, depth = protocol["network"]["width"], protocol["network"]["depth"]
    constants = 15 * (method.embedding.size + method.streams) * points
    loss = 6 * method.streams * width * min(points, LOSS_POINTS)
    grid = 8 * protocol["grid"]["x"] * protocol["grid"]["t"]
    numbers = constants + loss + grid
    if protocol["optimizer"] == "gauss_newton":
        rows = 2 * points - protocol["points"]["domain"]
        kernel = 6 * rows**2
        streams = 8 * (depth + 1) * method.streams * width * rows
        numbers += kernel + streams
    return PROCESS_MB + NUMBER * numbers // 10**6


def training_minutes(iterations: int, milliseconds: float) -> float:
    """A time limit: twice the calibrated time of a run, plus ten minutes."""
    return 10 + 2 * iterations * milliseconds / 6e4


def training_points(method: Method, protocol: Mapping[str, Any]) -> int:
    """The number of points a method trains on; none on the walls unless these are in the loss."""
    points = protocol["points"]
    on_walls = points["boundary"] if method.constraint == "none" else 0
    return int(points["domain"] + points["initial"] + on_walls)
