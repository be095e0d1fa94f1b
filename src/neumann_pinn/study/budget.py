"""How many iterations each method gets at the two clocks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CLOCKS = {"fixed_time": "same training time", "fixed_iterations": "same iterations"}
"""The clocks, and what figures and tables call them."""


@dataclass(frozen=True)
class Budget:
    """Iterations at both clocks; `costs` are milliseconds per iteration of each method."""

    iterations: int
    evaluate_every: int
    costs: Mapping[str, float]
    vanilla: str

    @classmethod
    def make(cls, parameters: Mapping[str, Any], calibrated: Mapping[str, float]) -> "Budget":
        """The budget of a protocol, with measured costs unless it gives its own."""
        cost = parameters["cost"]
        return cls(
            parameters["iterations"],
            parameters["evaluate_every"],
            cost if isinstance(cost, Mapping) else calibrated,
            parameters["vanilla"],
        )

    def at_fixed_time(self, method: str) -> int:
        """The last evaluation within vanilla's time, in iterations of this method."""
        affordable = self.iterations * self.costs[self.vanilla] / self.costs[method]
        return int(affordable * (1 + 1e-12)) // self.evaluate_every * self.evaluate_every

    def to_train(self, method: str) -> int:
        """The iterations that a run needs for both clocks, or for one if its cost is not known."""
        if method not in self.costs:
            return self.iterations
        return max(self.iterations, self.at_fixed_time(method))


def by_constraint(costs: Mapping[str, float], constraints: Mapping[str, str]) -> dict[str, float]:
    """Milliseconds per iteration of each method, from those of its constraint."""
    return {method: costs[constraint] for method, constraint in constraints.items()}
