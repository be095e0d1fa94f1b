"""A study's configuration: checked as a whole, then turned into problems, models and protocols.

A mistake is one line that names the key, what was found, and what would be right.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from neumann_pinn.constraint import Model
from neumann_pinn.embedding import Cosine, Embedding, Fourier, Identity
from neumann_pinn.heat import Cosines, Heat, InitialCondition, Polynomial, Samples, Step
from neumann_pinn.train import Protocol

Config = dict[str, Any]
UNTIMED: Config = {"iterations": 1, "evaluate_every": 1, "grid": {"x": 2, "t": 2}}
"""What of a protocol makes no difference to the cost of an iteration, with a value for each."""


class ConfigError(ValueError):
    """A mistake in the configuration, as one line that a terminal can show."""

    def __init__(self, sentence: str) -> None:
        super().__init__("".join(c if c.isprintable() else ascii(c)[1:-1] for c in sentence))


def check(config: Config, schema: Config) -> Config:
    """The configuration with all defaults filled in, after every check that needs no training."""
    errors = jsonschema.Draft202012Validator(schema).iter_errors(_with_text_keys(config))
    worst = jsonschema.exceptions.best_match(errors)
    if worst is not None:
        raise ConfigError(_sentence(worst))
    for kind in ("settings", "methods", "protocols"):
        for name in config[kind]:
            if not isinstance(name, str):
                raise ConfigError(f"config key '{kind}': the name {name!r} is not text, quote it")
    config = with_defaults(config, schema, schema)
    if config["protocol"] not in config["protocols"]:
        raise ConfigError(
            f"config key 'protocol': there is no protocol {config['protocol']!r}, choose one of "
            f"{', '.join(config['protocols'])}"
        )
    for name, setting in config["settings"].items():
        _problem_that_fits_its_walls(name, setting)
    for name, protocol in config["protocols"].items():
        _explain(f"protocols.{name}", lambda protocol=protocol: make_protocol(protocol))
        if protocol["beside"] and protocol["beside"] not in config["protocols"]:
            raise ConfigError(
                f"config key 'protocols.{name}.beside': there is no protocol "
                f"{protocol['beside']!r}, choose one of {', '.join(config['protocols'])}"
            )
    network = config["protocols"][config["protocol"]]["network"]
    models: dict[str, Model] = {}
    for name, parameters in config["methods"].items():
        model = _explain(
            f"methods.{name}", lambda parameters=parameters: make_model(parameters, network)
        )
        twin = next((other for other, it in models.items() if it == model), None)
        if twin:
            raise ConfigError(
                f"config key 'methods.{name}': the same constraint and frequencies as "
                f"'methods.{twin}', remove one or change its embedding"
            )
        models[name] = model
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


def make_problem(setting: Config) -> Heat:
    """The heat problem of a setting."""
    ((kind, value),) = setting["initial"].items()
    initial: InitialCondition
    if kind == "cosines":
        initial = Cosines({_whole(key): float(a) for key, a in value.items()})
    elif kind == "polynomial":
        initial = Polynomial(tuple(float(c) for c in value))
    elif kind == "step":
        initial = Step(float(value["position"]), float(value["left"]), float(value["right"]))
    else:
        initial = Samples.read(Path(value))
    return Heat(initial, float(setting["k"]), setting["terms"])


def make_model(method: Config, network: Config) -> Model:
    """The model of a method."""
    embedding: Embedding = Identity()
    if method["embedding"]:
        keys = method["embedding"]
        given = keys["frequencies"]
        if keys["kind"] == "cosine":
            embedding = (
                Cosine(tuple(_whole(b) for b in given))
                if given
                else Cosine.sample(keys["size"], keys["std"], keys["seed"])
            )
        else:
            embedding = (
                Fourier(tuple(float(b) for b in given))
                if given
                else Fourier.sample(keys["size"], keys["std"], keys["seed"])
            )
    return Model(method["constraint"], (embedding,), network["width"], network["depth"])


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
    )


def with_defaults(value: Any, schema: Config, root: Config) -> Any:
    """A value with the schema's defaults in place of what it leaves out."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        return [with_defaults(item, schema.get("items", {}), root) for item in value]
    if schema.get("type") == "integer":
        return int(value)
    if not isinstance(value, Mapping):
        return value
    filled = dict(value)
    properties = schema.get("properties", {})
    if schema.get("maxProperties") == 1 or (not filled and "kind" in properties):
        properties = {key: properties[key] for key in filled}  # one of a choice, no embedding
    for key, child in properties.items():
        if "default" in child:
            filled.setdefault(key, child["default"])
    others = schema.get("additionalProperties")
    for key, item in filled.items():
        child = properties.get(key, others if isinstance(others, Mapping) else {})
        filled[key] = with_defaults(item, child, root)
    return filled


def load_unique(path: Path) -> Config:
    """A YAML file's content; a key that stands twice in one place is an error."""
    try:
        return yaml.load(path.read_text(), Loader=_UniqueKeys) or {}
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error


class _UniqueKeys(yaml.SafeLoader):
    """Safe YAML in which no key may stand twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise ConfigError(
                    f"{self.name}: the name {key!r} stands twice in one place "
                    f"(line {node.start_mark.line + 1} and below), rename or remove one"
                )
        return super().construct_mapping(node, deep=deep)


def _whole(number: Any) -> int:
    if float(number) != int(float(number)):
        raise ValueError(f"frequency {number}: give a whole number")
    return int(float(number))


def _problem_that_fits_its_walls(name: str, setting: Config) -> None:
    key = f"settings.{name}"
    if "table" in setting["initial"] and not Path(setting["initial"]["table"]).is_file():
        raise ConfigError(
            f"config key '{key}.initial.table': there is no file {setting['initial']['table']!r} "
            "in the working folder"
        )
    problem = _explain(key, lambda: make_problem(setting))
    coefficients = _explain(key, lambda: problem.initial.coefficients(problem.terms))
    if not coefficients.isfinite().all() or not coefficients.any():
        raise ConfigError(
            f"config key '{key}.initial': it is zero or not finite, errors relative to it mean "
            "nothing, give another one"
        )
    slopes = problem.initial.wall_slopes()
    if max(abs(slope) for slope in slopes) > 1e-9:
        raise ConfigError(
            f"config key '{key}.initial': its slopes at the walls are {slopes[0]:g} and "
            f"{slopes[1]:g}, both must be 0 for the Neumann condition"
        )


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
