"""Compares three ways to bring a flux to a smooth wall, into docs/domains/comparison.{csv,png}.

python docs/compare_domains.py  (20 minutes on one core)
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import torch
from scipy.optimize import brentq
from scipy.special import jv, jvp, yv, yvp
from torch import Tensor, nn

from neumann_pinn import Annulus, Ball, GaussNewton, HardWalls, Implicit, Neumann, OutputTransform
from neumann_pinn.walls.domains import Domain

FOLDER = Path(__file__).with_name("domains")
METHODS = ("wall in the loss", "output transform", "flat features")
SECONDS, SEEDS = 6.0, 3
INSIDE, ON_WALL, TESTED = 400, 100, 4000
LEARNING_RATES = (1e-2, 3e-3)
INNER = 0.4


@dataclass(frozen=True)
class Problem:
    """-Laplacian u + u = source, with a known solution and flux."""

    domain: Domain
    radii: tuple[Callable[[Tensor], Tensor], ...]
    """The radius of each wall as a function of the angle."""
    exact: Callable[[Tensor], Tensor]
    source: Callable[[Tensor], Tensor]
    flux: Callable[[Tensor], Tensor]

    def inside(self, count: int) -> Tensor:
        """Random points of the domain."""
        z = 1.5 * (2 * torch.rand(8 * count, 2) - 1)
        return z[self.domain.depth(z) > 0][:count]

    def on_wall(self, count: int) -> Tensor:
        """Random points of the wall."""
        angles = 2 * math.pi * torch.rand(count)
        parts = zip(self.radii, angles.chunk(len(self.radii)), strict=True)
        radius = torch.cat([radius_at(part) for radius_at, part in parts])
        return radius[:, None] * torch.stack((angles.cos(), angles.sin()), 1)

    def equation(self, u: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
        """By how much u misses the equation."""
        v = u(z)
        slopes = slopes_of(v, z)
        second = [slopes_of(slopes[:, i], z)[:, i] for i in range(2)]
        return v[:, 0] - sum(second) - self.source(z)

    def wall(self, u: Callable[[Tensor], Tensor], z: Tensor) -> Tensor:
        """By how much u misses the flux at the wall."""
        return (self.domain.normal(z) * slopes_of(u(z), z)).sum(1) - self.flux(z)

    def error(self, u: nn.Module) -> float:
        """The relative error of u inside."""
        z = self.inside(TESTED)
        with torch.no_grad():
            return float((u(z)[:, 0] - self.exact(z)).norm() / self.exact(z).norm())


def slopes_of(v: Tensor, z: Tensor) -> Tensor:
    """The gradient of v at each point."""
    return torch.autograd.grad(v.sum(), z, create_graph=True)[0]


def clover(z: Tensor) -> Tensor:
    """A level function whose zero is a wall with three lobes."""
    x, y = z.T
    return 1 + x**3 - 3 * x * y**2 - (x**2 + y**2) ** 2


def clover_radius(angle: Tensor) -> Tensor:
    """The radius of that wall, by bisection."""
    low, high = torch.zeros_like(angle), torch.full_like(angle, 2.0)
    for _ in range(60):
        middle = (low + high) / 2
        outside = 1 + middle**3 * torch.cos(3 * angle) - middle**4 < 0
        low, high = torch.where(outside, low, middle), torch.where(outside, middle, high)
    return low


def smooth(make: Callable[..., Domain], *radii: Callable[[Tensor], Tensor]) -> Problem:
    """The solution exp(x/2) sin(2 y + 0.3), whose flux is not zero."""
    bare = make(Neumann())

    def exact(z: Tensor) -> Tensor:
        return torch.exp(z[:, 0] / 2) * torch.sin(2 * z[:, 1] + 0.3)

    def flux(z: Tensor) -> Tensor:
        across = 2 * torch.exp(z[:, 0] / 2) * torch.cos(2 * z[:, 1] + 0.3)
        return (bare.normal(z) * torch.stack((exact(z) / 2, across), 1)).sum(1)

    return Problem(make(Neumann(flux)), radii, exact, lambda z: 4.75 * exact(z), flux)


def angular(z: Tensor) -> Tensor:
    """The polynomials r^m cos(m theta - m) for m < 3."""
    x, y = z.T
    second = (x**2 - y**2) * math.cos(2) + 2 * x * y * math.sin(2)
    return torch.stack((torch.ones_like(x), x * math.cos(1) + y * math.sin(1), second), 1)


def insulated_waves(radii: tuple[float, ...]) -> list[float]:
    """The k of modes without flux at the walls of a disk or an annulus, for m < 3."""

    def slope(k: float, m: int) -> float:
        if len(radii) == 1:
            return jvp(m, k)
        return jvp(m, INNER * k) * yvp(m, k) - jvp(m, k) * yvp(m, INNER * k)

    return [brentq(slope, *ends, m) for m, ends in enumerate([(3.0, 7.0), (1.0, 3.0), (2.0, 4.0)])]


def modes(
    make: Callable[..., Domain], radii: tuple[float, ...], waves: Sequence[float] = ()
) -> Problem:
    """A sum of (a J_m(k r) + b Y_m(k r)) cos(m theta - m): for given k, or without flux."""
    orders, k = np.arange(3), np.array(waves or insulated_waves(radii))
    a, b = np.ones(3), np.zeros(3)
    if not waves and len(radii) == 2:
        a, b = yvp(orders, k), -jvp(orders, k)

    def parts(z: Tensor) -> Tensor:
        x, y = z.detach().numpy().T[:, :, None]
        radial = a * jv(orders, k * np.hypot(x, y)) + b * yv(orders, k * np.hypot(x, y))
        return torch.from_numpy(radial * np.cos(orders * np.arctan2(y, x) - orders))

    def flux_at(radius: float, z: Tensor) -> Tensor:
        outward = 1 if radius == radii[-1] else -1
        return angular(z) @ z.new_tensor(outward * k * jvp(orders, k * radius) / radius**orders)

    def flux(z: Tensor) -> Tensor:
        is_inner = z.norm(dim=1) < sum(radii) / 2
        found = torch.where(is_inner, flux_at(radii[0], z), flux_at(radii[-1], z))
        return found if waves else 0 * found

    walls = [Neumann(partial(flux_at, radius)) for radius in radii] if waves else []
    circles = tuple(partial(torch.full_like, fill_value=radius) for radius in radii)
    factors = torch.from_numpy(1 + k**2)
    return Problem(
        make(*walls), circles, lambda z: parts(z).sum(1), lambda z: parts(z) @ factors, flux
    )


def disk(*walls: Neumann) -> Ball:
    """The unit disk."""
    return Ball((0.0, 0.0), 1.0, *walls)


def annulus(*walls: Neumann) -> Annulus:
    """An annulus with other walls, or the same at both radii."""
    return Annulus((0.0, 0.0), INNER, 1.0, *(2 * walls)[:2])


PROBLEMS = {
    "disk": smooth(disk, torch.ones_like),
    "heated disk": modes(disk, (1.0,), (3.0, 2.4, 4.0)),
    "insulated disk": modes(disk, (1.0,)),
    "annulus": smooth(annulus, partial(torch.full_like, fill_value=INNER), torch.ones_like),
    "heated annulus": modes(annulus, (INNER, 1.0), (5.0, 2.4, 4.0)),
    "insulated annulus": modes(annulus, (INNER, 1.0)),
    "clover": smooth(lambda wall: Implicit(clover, (-1.5,) * 2, (1.5,) * 2, wall), clover_radius),
}


def network(features: int) -> nn.Sequential:
    """The same small network for all."""
    return nn.Sequential(
        nn.Linear(features, 30), nn.Tanh(), nn.Linear(30, 30), nn.Tanh(), nn.Linear(30, 1)
    )


def module_for(method: str, domain: Domain) -> nn.Module:
    """The network with or without the wall in it."""
    if method == "flat features":
        return HardWalls(network(HardWalls.size([domain], 2)), [domain])
    return network(2) if method == "wall in the loss" else OutputTransform(network(2), [domain])


def train(problem: Problem, method: str, seed: int, rate: float | None) -> dict[str, float]:
    """Train for the same seconds by Gauss-Newton, or by Adam from a learning rate down to zero."""
    torch.manual_seed(seed)
    u = module_for(method, problem.domain)
    soft = method == "wall in the loss"
    residuals = [problem.equation, problem.wall] if soft else [problem.equation]
    second_order = GaussNewton(u, *residuals)
    adam = torch.optim.Adam(u.parameters(), lr=rate or 0.0)
    steps, start = 0, time.process_time()
    while (share := (time.process_time() - start) / SECONDS) < 1:
        points = [problem.inside(INSIDE), problem.on_wall(ON_WALL)][: len(residuals)]
        if rate is None:
            second_order.step(*points)
        else:
            adam.param_groups[0]["lr"] = rate * (1 + math.cos(math.pi * share)) / 2
            points = [z.requires_grad_() for z in points]
            adam.zero_grad()
            pairs = zip(residuals, points, strict=True)
            sum((residual(u, z) ** 2).mean() for residual, z in pairs).backward()
            adam.step()
        steps += 1
    seconds, z = time.process_time() - start, problem.on_wall(ON_WALL).requires_grad_()
    violation = float(problem.wall(u, z).detach().abs().max())
    return {"error": problem.error(u), "violation": violation, "steps": steps, "seconds": seconds}


def compare() -> pd.DataFrame:
    """All runs, the methods in turns."""
    rows = []
    for seed in range(SEEDS):
        for name, problem in PROBLEMS.items():
            for rate in (None, *LEARNING_RATES):
                for method in METHODS:
                    run = {"problem": name, "method": method, "seed": seed}
                    optimizer = {"optimizer": "Gauss-Newton" if rate is None else "Adam"}
                    found = train(problem, method, seed, rate)
                    rows.append(run | optimizer | {"learning_rate": rate} | found)
                    print(rows[-1], flush=True)
    return pd.DataFrame(rows)


def summary(runs: pd.DataFrame) -> pd.DataFrame:
    """Medians over seeds, with the best learning rate of each method."""
    keys = ["problem", "optimizer", "method"]
    medians = runs.groupby([*keys, "learning_rate"], dropna=False, sort=False).median()
    return medians.sort_values("error").groupby(keys, sort=False).first().drop(columns="seed")


def draw(medians: pd.DataFrame) -> None:
    """The errors of the methods, a panel for each optimizer."""
    figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharey=True)
    for axes, optimizer in zip(panels, ("Gauss-Newton", "Adam"), strict=True):
        for i, method in enumerate(METHODS):
            errors = [medians.loc[name, optimizer, method]["error"] for name in PROBLEMS]
            places = np.arange(len(PROBLEMS)) + 0.25 * (i - 1)
            axes.bar(places, errors, 0.25, label=method)
        axes.set(title=optimizer, yscale="log", xticks=range(len(PROBLEMS)))
        axes.set_xticklabels([name.replace(" ", "\n") for name in PROBLEMS])
    panels[0].set_ylabel(f"relative error after {SECONDS:.0f} s")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(FOLDER / "comparison.png", dpi=110)


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    FOLDER.mkdir(exist_ok=True)
    runs = compare()
    runs.to_csv(FOLDER / "comparison.csv", index=False, float_format="%.3g")
    draw(summary(runs))
