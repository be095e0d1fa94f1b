"""Predictions of a plain model on a grid, where the first layer splits into a sum over x and t."""

from typing import NamedTuple

from torch import Tensor

from neumann_pinn.model.jets import SlopeJet, through_hidden
from neumann_pinn.model.model import Model
from neumann_pinn.model.network import read_out


class GridWall(NamedTuple):
    """Features and slopes at a wall (one column each), and its profile f at the grid's x."""

    value: Tensor
    slope: Tensor
    lift: Tensor


class Grid(NamedTuple):
    """All constants that a model needs to predict at the nodes of a grid."""

    features: Tensor
    walls: tuple[GridWall, ...]
    t: Tensor


def make_grid(model: Model, x: Tensor, t: Tensor) -> Grid:
    """The constants for the grid t x x on an interval, in float64."""
    model.check_plain()
    walls = (
        GridWall(at_wall.value, at_wall.first, profile.value)
        for at_wall, profile in model.wall_features(x.double())
    )
    return Grid(model.embeddings[0].features(x).value, tuple(walls), t.double()[None, :])


def predict(model: Model, theta: Tensor, grid: Grid) -> Tensor:
    """The prediction at the nodes of a grid, as a matrix t x x."""
    first, *hidden, last = model.network.layers(theta)
    features, time = first.weight.split([model.features, 1], 1)
    along_t = time @ grid.t + first.bias
    along_x = features @ grid.features
    jets = [SlopeJet((along_t[:, :, None] + along_x[:, None, :]).flatten(1))]
    for wall in grid.walls:
        jets.append(SlopeJet(features @ wall.value + along_t, (features @ wall.slope,)))
    interior, *at_walls = through_hidden(hidden, model.activation, jets)
    u = (read_out(last, interior.value) + last.bias[0]).view(grid.t.shape[1], -1)
    for wall, jet in zip(grid.walls, at_walls, strict=True):
        u = u - read_out(last, jet.slopes[0])[:, None] * wall.lift
    return u
