"""A study as defined by its checked configuration: what the rules and the report need from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from neumann_pinn.study import published
from neumann_pinn.study.budget import Budget, by_constraint
from neumann_pinn.study.config import Config, plain_vanilla
from neumann_pinn.study.estimates import training_megabytes, training_minutes
from neumann_pinn.study.methods import Method, make_method

NOT_TRAINED = ("compare_with", "cost", "checkpoint_seconds")
"""Keys of a protocol that make no difference to a trajectory."""
UNTIMED: Config = {"iterations": 1, "evaluate_every": 1, "grid": {"x": 2, "t": 2}}
"""Keys of a protocol that make no difference to the cost of an iteration, each with a value."""


@dataclass(frozen=True)
class Study:
    """The study of one protocol."""

    config: Config

    @property
    def name(self) -> str:
        """The protocol's name."""
        return str(self.config["protocol"])

    @property
    def protocol(self) -> Config:
        """The protocol's entry."""
        return self.protocol_named(self.name)

    def protocol_named(self, name: str) -> Config:
        """Another protocol's entry."""
        entry: Config = self.config["protocols"][name]
        return entry

    @property
    def results(self) -> Path:
        """The folder for all results."""
        return Path("results", self.name)

    @cached_property
    def methods(self) -> dict[str, Method]:
        """The methods by name."""
        return {name: make_method(entry) for name, entry in self.config["methods"].items()}

    @property
    def constraints(self) -> dict[str, str]:
        """The constraint of each method."""
        return {name: method.constraint for name, method in self.methods.items()}

    @property
    def vanilla(self) -> str:
        """The method whose time is the budget at fixed time."""
        return plain_vanilla(self.config)

    def parameters(self, kind: str, name: str) -> Config:
        """A setting's or a method's entry without its label, which changes no result."""
        entry = self.config[kind][name]
        return {key: value for key, value in entry.items() if key != "label"}

    def labels(self, kind: str) -> dict[str, str]:
        """What tables call the settings or the methods."""
        return {name: entry["label"] or name for name, entry in self.config[kind].items()}

    def figure_labels(self, kind: str) -> dict[str, str]:
        """The same for figures, where dollar signs would start mathematics."""
        return {name: label.replace("$", r"\$") for name, label in self.labels(kind).items()}

    def styles(self) -> dict[str, list[Any]]:
        """Label, constraint and number of features of x of each method, for figures."""
        labels = self.figure_labels("methods")
        return {
            name: [labels[name], method.constraint, method.embedding.size]
            for name, method in self.methods.items()
        }

    def training(self) -> Config:
        """Everything in the protocol that shapes a trajectory."""
        return {key: value for key, value in self.protocol.items() if key not in NOT_TRAINED}

    def timing(self) -> Config:
        """Everything in the protocol that shapes the cost of an iteration."""
        return {key: value for key, value in self.training().items() if key not in UNTIMED}

    def cost(self) -> str | dict[str, float]:
        """What defines fixed time: `calibrated`, `wall_clock`, or ms per iteration by method."""
        cost = self.protocol["cost"]
        if cost == "published":
            cost = published.costs()
        return by_constraint(cost, self.constraints) if isinstance(cost, Mapping) else str(cost)

    def published_costs(self) -> dict[str, float]:
        """Published ms per iteration, for methods that have them: those with one feature of x."""
        costs = published.costs()
        return {
            name: costs[method.constraint]
            for name, method in self.methods.items()
            if method.embedding.size == 1
        }

    def budget(self) -> Config:
        """Everything that the two clocks depend on, apart from a calibration."""
        return {
            "iterations": self.protocol["iterations"],
            "evaluate_every": self.protocol["evaluate_every"],
            "cost": self.cost(),
            "vanilla": self.vanilla,
        }

    def minutes(self, method: str, costs: Mapping[str, float]) -> float:
        """A time limit for a run of a method, by calibrated milliseconds per iteration."""
        return training_minutes(Budget.make(self.budget(), costs).to_train(method), costs[method])

    def megabytes(self, method: str) -> int:
        """The memory to request for a run of a method."""
        return training_megabytes(self.methods[method], self.protocol)
