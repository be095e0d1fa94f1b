"""A study as defined by its checked configuration: what the rules and the report need from it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from neumann_pinn.problems.problem import Problem
from neumann_pinn.study import published
from neumann_pinn.study.budget import Budget, by_constraint
from neumann_pinn.study.config import Config, make_problem, plain_vanilla
from neumann_pinn.study.estimates import training_megabytes, training_minutes
from neumann_pinn.study.methods import Method, make_method

NOT_TRAINED = ("compare_with", "cost", "checkpoint_seconds")
"""Keys of a protocol that make no difference to a trajectory."""
UNTIMED: Config = {"iterations": 1, "evaluate_every": 1, "grid": {"x": 2, "t": 2}}
"""Keys of a protocol that make no difference to the cost of an iteration, each with a value."""
UNKNOWN_MINUTES = 240.0
"""The time limit of a run whose cost was not measured."""


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
    def groups(self) -> tuple["Group", "Group"]:
        """The study itself, and what is beyond it."""
        beyond = self.config["beyond"]
        return (
            Group.make(self.config["settings"], self.config["methods"], timed=True),
            Group.make(beyond["settings"], beyond["methods"], timed=False),
        )

    def group_of(self, setting: str) -> "Group":
        """The group that a setting belongs to."""
        return next(group for group in self.groups if setting in group.settings)

    @property
    def methods(self) -> dict[str, Method]:
        """The study's methods by name."""
        return self.groups[0].methods

    @property
    def constraints(self) -> dict[str, str]:
        """The name of each method's constraint."""
        return {name: method.constraint.name for name, method in self.methods.items()}

    @property
    def vanilla(self) -> str:
        """The method whose time is the budget at fixed time."""
        return plain_vanilla(self.config)

    def setting(self, name: str) -> Config:
        """A setting's entry without its label, which changes no result."""
        return _unlabelled(self.group_of(name).settings[name])

    def method(self, setting: str, name: str) -> Config:
        """A method's entry in the group of a setting, without its label."""
        group = self.group_of(setting)
        if name not in group.methods:
            raise ValueError(f"method {name!r}: setting {setting!r} is not trained with it")
        group.methods[name].check(group.problem(setting))
        return _unlabelled(group.entries[name])

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
            name: [labels[name], method.constraint.name, method.embedding.size]
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
        return by_constraint(cost, self.constraints) if isinstance(cost, Mapping) else str(cost)

    def published_costs(self) -> dict[str, float]:
        """Published ms per iteration, for methods that have them: those with one feature of x."""
        costs = published.costs()
        return {
            name: costs[method.constraint.name]
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

    def budget_of(self, setting: str) -> Config:
        """The same for a run; without a time to compare at, its iterations are its only clock."""
        return self.budget() | ({} if self.group_of(setting).timed else {"cost": {}})

    def minutes(self, setting: str, method: str, costs: Mapping[str, float]) -> float:
        """A time limit for a run, by its method's milliseconds per iteration if they are known."""
        if method not in costs:
            return UNKNOWN_MINUTES
        budget = Budget.make(self.budget_of(setting), costs)
        return training_minutes(budget.to_train(method), costs[method])

    def megabytes(self, setting: str, method: str) -> int:
        """The memory to request for a run."""
        group = self.group_of(setting)
        return training_megabytes(group.problem(setting), group.methods[method], self.protocol)


@dataclass(frozen=True)
class Group:
    """Settings that are trained with the same methods."""

    settings: Config
    entries: Config
    """The methods' entries."""
    methods: dict[str, Method]
    timed: bool
    """Whether its runs are compared at the same time, and so need a calibration."""

    @classmethod
    def make(cls, settings: Config, methods: Config, *, timed: bool) -> "Group":
        """The group of some entries of the configuration."""
        return cls(settings, methods, {name: make_method(m) for name, m in methods.items()}, timed)

    def problem(self, setting: str) -> Problem:
        """The problem of a setting."""
        return make_problem(self.settings[setting])

    def pairs(self) -> list[tuple[str, str]]:
        """All settings, each with the methods that apply to it."""
        return [
            (setting, name)
            for setting in self.settings
            for name, method in self.methods.items()
            if method.applies(self.problem(setting))
        ]

    def labels(self) -> dict[str, str]:
        """What figures and tables call the settings."""
        return {
            name: entry["label"] or self.problem(name).label
            for name, entry in self.settings.items()
        }


def _unlabelled(entry: Config) -> Config:
    return {key: value for key, value in entry.items() if key != "label"}
