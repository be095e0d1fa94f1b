"""Runs the recipes of docs/cookbook.md and draws what they find next to this file.

python docs/draw_cookbook.py [RECIPE ...]
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import torch
from torch import Tensor

COOKBOOK = Path(__file__).with_name("cookbook.md")
NODES = 81


def recipes() -> Iterator[tuple[str, str, float]]:
    """Name, script and stated error of each recipe."""
    text = COOKBOOK.read_text()
    (beginning,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    pattern = r"```python (\w+)\n(.*?)```.*?Relative error (\S+?)[. ]"
    for name, block, error in re.findall(pattern, text, re.DOTALL):
        yield name, beginning + block, float(error)


def solved(script: str) -> tuple[Tensor, Tensor, Tensor]:
    """Points on a grid, what the recipe finds there, and the exact solution, as columns."""
    names: dict[str, Any] = {}
    exec(script, names)
    box = re.search(r"low=\[(.*?)\], high=\[(.*?)\]", script.split("def solve")[1])
    low, high = (torch.tensor([float(end) for end in ends.split(",")]) for ends in box.groups())
    lines = [torch.linspace(a, b, NODES) for a, b in zip(low[:2], high[:2], strict=True)]
    points = torch.cartesian_prod(*lines).view(-1, len(lines))
    points = torch.cat((points, high[2:].expand(len(points), -1)), 1)
    with torch.no_grad():
        found, truth = names["u"](points), names["exact"](points).view(len(points), -1)
    if found.shape[1] == 3:  # the pressure is known but for a constant
        found[:, 2] -= (found[:, 2] - truth[:, 2]).mean()
    if "disk" in names:
        found[names["disk"].depth(points[:, :2]) < 0] = torch.nan
    return points, found, truth


def error(found: Tensor, truth: Tensor) -> float:
    """The relative error over all unknowns, where they are known."""
    here = found.isfinite()
    return float((found - truth)[here].norm() / truth[here].norm())


def draw(name: str, up_is: str, points: Tensor, found: Tensor, truth: Tensor) -> None:
    """The solution and its error, the last unknown of several."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), layout="constrained")
    parts = {left: ("Solution", found[:, -1]), right: ("Error", (found - truth)[:, -1])}
    for axes, (title, values) in parts.items():
        axes.set_title(title)
        axes.set_xlabel("x")
        if len(points) == NODES:
            axes.plot(points[:, 0], values)
            continue
        axes.set_ylabel(up_is)
        across, up, shade = (column.view(NODES, NODES) for column in (*points.T[:2], values))
        image = axes.pcolormesh(across, up, shade, cmap="viridis")
        if axes is right:
            size = float(values.nan_to_num().abs().max())
            image.set(cmap="PuOr", clim=(-size, size))
        figure.colorbar(image)
    figure.savefig(COOKBOOK.with_suffix("") / f"{name}.png", dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    for name, script, stated in recipes():
        if name in sys.argv[1:] or len(sys.argv) == 1:
            points, found, truth = solved(script)
            draw(name, "t" if "x, t" in script else "y", points, found, truth)
            print(f"{name}: error {error(found, truth):.1e}, stated {stated:.0e}", flush=True)
