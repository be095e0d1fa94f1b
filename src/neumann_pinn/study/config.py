"""A study's configuration: checked as a whole, then turned into problems and protocols.

A mistake is reported in one line: the key, what was found, and what would be right.
"""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

try:
    from yaml import CSafeLoader as Loader
except ImportError:  # PyYAML was built without libyaml
    from yaml import SafeLoader as Loader  # type: ignore[assignment]

from neumann_pinn.problems.catalogue import PROBLEMS
from neumann_pinn.problems.initial import Cosines, InitialCondition, Polynomial, Samples, Step
from neumann_pinn.problems.problem import Problem
from neumann_pinn.problems.series import heat
from neumann_pinn.study.methods import Method, make_method, whole
from neumann_pinn.training.protocol import Protocol

Config = dict[str, Any]


class ConfigError(ValueError):
    """A mistake in the configuration, as one line that a terminal can show."""

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in sentence))


def check(config: Config, schema: Config) -> Config:
    """The configuration with all defaults filled in, after every check that needs no training."""
    config = understand_text(config, schema, schema)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(_with_text_keys(config))
    worst = jsonschema.exceptions.best_match(errors)
    if worst is not None:
        raise ConfigError(_sentence(worst))
    config = with_defaults(config, schema, schema)
    named = {kind: config[kind] for kind in ("settings", "methods", "protocols")}
    named |= {f"beyond.{kind}": entries for kind, entries in config["beyond"].items()}
    for kind, entries in named.items():
        for name in entries:
            if not isinstance(name, str):
                raise ConfigError(f"config key '{kind}': the name {name!r} is not text, quote it")
    if config["protocol"] not in config["protocols"]:
        raise ConfigError(
            f"config key 'protocol': there is no protocol {config['protocol']!r}, choose one of "
            f"{', '.join(config['protocols'])}"
        )
    for name, protocol in config["protocols"].items():
        _explain(f"protocols.{name}", lambda protocol=protocol: make_protocol(protocol))
        other = protocol["compare_with"]
        if other and other not in config["protocols"]:
            raise ConfigError(
                f"config key 'protocols.{name}.compare_with': there is no protocol "
                f"{other!r}, choose one of {', '.join(config['protocols'])}"
            )
    _check_group("", config["settings"], config["methods"])
    _check_group("beyond.", **config["beyond"])
    for name, setting in config["settings"].items():
        if setting["problem"]:
            raise ConfigError(
                f"config key 'settings.{name}.problem': the study's maps, solvers and costs are "
                "those of heat on an insulated interval, move it to 'beyond.settings'"
            )
    for name in config["beyond"]["settings"]:
        if name in config["settings"]:
            raise ConfigError(
                f"config key 'beyond.settings.{name}': the study itself has a setting of that "
                "name, rename one"
            )
    _check_methods("methods", config["methods"], config["settings"])
    _check_methods("beyond.methods", config["beyond"]["methods"], config["beyond"]["settings"])
    plain_vanilla(config)
    return config


def plain_vanilla(config: Config) -> str:
    """The method whose time is the budget at fixed time: no constraint and no embedding."""
    for name, method in config["methods"].items():
        if method["constraint"] == "none" and not method["embedding"]:
            return str(name)
    raise ConfigError(
        "config key 'methods': the budget at fixed time is that of a method with the constraint "
        "none and no embedding, add one"
    )


def make_problem(setting: Config) -> Problem:
    """The problem of a setting: one of the catalogue, or heat on an insulated interval."""
    if setting["problem"]:
        if setting["problem"] not in PROBLEMS:
            raise ValueError(f"problem {setting['problem']!r}: choose one of {', '.join(PROBLEMS)}")
        return PROBLEMS[setting["problem"]]
    return heat(make_initial(setting["initial"]), float(setting["k"]), setting["terms"])


def make_initial(entry: Config) -> InitialCondition:
    """The initial condition of a heat problem."""
    ((kind, value),) = entry.items()
    if kind == "cosines":
        return Cosines({whole(key): float(a) for key, a in value.items()})
    if kind == "polynomial":
        return Polynomial(tuple(float(c) for c in value))
    if kind == "step":
        return Step(float(value["position"]), float(value["left"]), float(value["right"]))
    return Samples.read(Path(value))


def make_protocol(protocol: Config) -> Protocol:
    """The training protocol of a protocol's entry."""
    points, grid, weights = protocol["points"], protocol["grid"], protocol["weights"]
    return Protocol(
        iterations=protocol["iterations"],
        evaluate_every=protocol["evaluate_every"],
        learning_rate=float(protocol["learning_rate"]),
        domain=points["domain"],
        initial=points["initial"],
        boundary=points["boundary"],
        grading=float(points["grading"]),
        grid=(grid["x"], grid["t"]),
        weights=(weights["pde"], weights["initial"], weights["boundary"]),
        precision=protocol["precision"],
        optimizer=protocol["optimizer"],
        growth=points["growth"],
    )


def with_defaults(value: Any, schema: Config, root: Config) -> Any:
    """A value with the schema's defaults for whatever it leaves out."""
    schema = _resolved(schema, root)
    if isinstance(value, list):
        return [with_defaults(item, schema.get("items", {}), root) for item in value]
    if schema.get("type") == "integer":
        return int(value)
    if not isinstance(value, Mapping):
        return value
    filled = dict(value)
    properties = schema.get("properties", {})
    if schema.get("maxProperties") == 1 or (not filled and "kind" in properties):
        properties = {}  # a choice of one, or no embedding: nothing to fill in
    for key, child in properties.items():
        if "default" in child:
            filled.setdefault(key, child["default"])
    return {key: with_defaults(item, _schema_of(key, schema), root) for key, item in filled.items()}


def understand_text(value: Any, schema: Config, root: Config) -> Any:
    """A value with text turned into numbers where the schema asks for numbers.

    Snakemake passes lists and mappings from the command line as text.
    """
    schema = _resolved(schema, root)
    if isinstance(value, list):
        return [understand_text(item, schema.get("items", {}), root) for item in value]
    if isinstance(value, Mapping):
        return {
            key: understand_text(item, _schema_of(key, schema), root) for key, item in value.items()
        }
    if isinstance(value, str) and schema.get("type") in ("integer", "number"):
        if re.fullmatch(r"[+-]?\d{1,30}", value):
            return int(value)
        if re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", value):
            return float(value)
    return value


def load_unique(path: Path) -> Config:
    """A YAML file's content; a duplicate key is an error."""
    try:
        return yaml.load(path.read_text(), Loader=_UniqueKeys) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error


class _UniqueKeys(Loader):
    """Safe YAML that rejects duplicate keys."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigError(
                    f"{node.start_mark.name}: the name {key!r} stands twice in one place "
                    f"(line {node.start_mark.line + 1} and below), rename or remove one"
                )
        return super().construct_mapping(node, deep=deep)


def _check_group(prefix: str, settings: Config, methods: Config) -> None:
    """Check settings and methods that belong together."""
    for name, setting in settings.items():
        _check_setting(f"{prefix}settings.{name}", setting)
    known: dict[str, Method] = {}
    for name, entry in methods.items():
        key = f"{prefix}methods.{name}"
        method = _explain(key, lambda entry=entry: make_method(entry))
        twin = next((other for other, one in known.items() if one == method), None)
        if twin:
            raise ConfigError(
                f"config key '{key}': the same constraint and frequencies as "
                f"'{prefix}methods.{twin}', remove one or change its embedding"
            )
        known[name] = method


def _check_methods(key: str, methods: Config, settings: Config) -> None:
    """Check that each method applies to one of the settings at least."""
    problems = [make_problem(setting) for setting in settings.values()]
    for name, entry in methods.items():
        method = make_method(entry)
        if problems and not any(method.applies(problem) for problem in problems):
            _explain(f"{key}.{name}", lambda method=method: method.check(problems[0]))


def _check_setting(key: str, setting: Config) -> None:
    """Check that a setting has one problem, whose initial condition fits its walls."""
    if bool(setting["problem"]) == bool(setting["initial"]):
        raise ConfigError(
            f"config key '{key}': give either `initial` with `k` or the name of a `problem`"
        )
    if setting["problem"]:
        _explain(key, lambda: make_problem(setting))
        return
    if "table" in setting["initial"] and not Path(setting["initial"]["table"]).is_file():
        raise ConfigError(
            f"config key '{key}.initial.table': there is no file {setting['initial']['table']!r} "
            "in the working folder"
        )
    initial = _explain(key, lambda: make_initial(setting["initial"]))
    _explain(key, lambda: make_problem(setting))
    magnitude = _explain(key, lambda: initial.magnitude(setting["terms"]))
    if not 0 < magnitude < math.inf:
        raise ConfigError(
            f"config key '{key}.initial': it is zero or not finite, errors relative to it mean "
            "nothing, give another one"
        )
    slopes = initial.wall_slopes()
    if max(abs(slope) for slope in slopes) > 1e-9:
        raise ConfigError(
            f"config key '{key}.initial': its slopes at the walls are {slopes[0]:g} and "
            f"{slopes[1]:g}, both must be 0 for the Neumann condition"
        )


def _resolved(schema: Config, root: Config) -> Config:
    """A schema, or the one that it refers to."""
    return root["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _schema_of(key: Any, schema: Config) -> Config:
    """The schema of one of a mapping's keys; empty for a key that the schema does not know."""
    others = schema.get("additionalProperties")
    child: Config = schema.get("properties", {}).get(
        str(key), others if isinstance(others, Mapping) else {}
    )
    return child


def _explain(key: str, make: Any) -> Any:
    try:
        return make()
    except ConfigError:
        raise
    except (ValueError, TypeError, OSError, ArithmeticError) as error:
        raise ConfigError(f"config key '{key}': {error}") from error


def _with_text_keys(value: Any) -> Any:
    """JSON has text keys only; YAML's frequencies are numbers."""
    if isinstance(value, Mapping):
        return {str(key): _with_text_keys(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_text_keys(item) for item in value]
    return value


def _sentence(error: jsonschema.ValidationError) -> str:
    key = ".".join(str(part) for part in error.absolute_path)
    where = f"config key '{key}'" if key else "config"
    schema: Any = error.schema
    instance: Any = error.instance
    if error.validator == "additionalProperties":
        known = schema["properties"]
        unknown = ", ".join(repr(name) for name in instance if name not in known)
        return f"{where}: unknown key {unknown}, known ones are {', '.join(known)}"
    message = error.message if len(error.message) < 200 else f"{error.message[:200]}..."
    description = " ".join(schema.get("description", "").split())
    return f"{where}: {message}" + (f" ({description})" if description else "")
