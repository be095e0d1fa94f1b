"""The configuration: complete, documented, and strict."""

import copy
import re
from typing import get_args

import pytest
from studies import CONFIG, ROOT, SCHEMA

from neumann_pinn import METHODS, Protocol, method
from neumann_pinn.commands.models import make_model
from neumann_pinn.model.constraint import Constraint
from neumann_pinn.study import config as study
from neumann_pinn.study import published


def schema_keys(schema):
    """Every key of the schema with its own schema."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for key, child in part.get("properties", {}).items():
            yield key, child
            yield from schema_keys(child)


def test_the_nine_methods_are_those_of_the_package():
    config = study.check(CONFIG, SCHEMA)
    assert tuple(config["methods"]) == METHODS
    for name, parameters in config["methods"].items():
        network = config["protocols"]["paper"]["network"]
        assert make_model(parameters, network) == method(name)


def test_the_protocol_paper_is_the_published_one():
    paper = study.check(CONFIG, SCHEMA)["protocols"]["paper"]
    assert study.make_protocol(paper) == Protocol()
    assert paper["network"] == {"width": 100, "depth": 3}
    assert paper["cost"] == "published"
    assert published.costs() == {"none": 13.5, "output_transform": 63.1, "cosine_embedding": 14.6}


def test_every_key_has_a_description_a_default_and_a_place_in_the_readme():
    readme = (ROOT / "config" / "README.md").read_text()
    for key, child in schema_keys(SCHEMA):
        if key in ("settings", "methods", "protocols") or key in get_args(Constraint):
            continue
        assert child.get("description"), key
        assert "default" in child, key
        assert f"`{key}`" in readme, key
    documented = set(re.findall(r"^\| `(\w+)` \|", readme, re.MULTILINE))
    assert documented <= {key for key, _ in schema_keys(SCHEMA)}


def changed(path, value):
    config = copy.deepcopy(CONFIG)
    *folders, key = path.split(".")
    place = config
    for folder in folders:
        place = place[folder]
    place[key] = value
    return config


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (changed("sedes", [1]), "unknown key 'sedes', known ones are protocol, seeds"),
        (changed("methods.cosine1.embeding", {}), "'methods.cosine1': unknown key 'embeding'"),
        (changed("protocols.quick.iterations", "many"), "'protocols.quick.iterations'"),
        (changed("protocol", "quik"), "no protocol 'quik', choose one of tiny, quick"),
        (changed("protocols.quick.iterations", -5), "'protocols.quick.iterations': -5"),
        (changed("protocols.quick.iterations", 1210), "multiple of evaluate_every"),
        (changed("protocols.quick.points", {"grading": 0.5}), "'protocols.quick.points.grading'"),
        (changed("protocols.quick.learning_rate", 10**400), "'protocols.quick'"),
        (changed("seeds", []), "'seeds'"),
        (changed("settings.low.initial", {"table": "none.csv"}), "no file 'none.csv'"),
        (
            changed("settings.low.initial", {"polynomial": [0, 1]}),
            "slopes at the walls are 1 and 1",
        ),
        (changed("settings.low.initial", {"cosines": {500: 1.0}}), "at least 500 terms"),
        (changed("settings.a b", CONFIG["settings"]["low"]), "'a b'"),
        (changed("settings.low/up", CONFIG["settings"]["low"]), "low/up"),
        (changed("methods.twin", CONFIG["methods"]["cosine20"]), "same .* as 'methods.cosine20'"),
        (changed("device", "tpu"), "'device': 'tpu'"),
        (changed("settings.low.initial", {"polynomial": [0]}), "zero or not finite"),
        (changed("settings.low.initial", {"cosines": {float("inf"): 1.0}}), "settings.low"),
        (CONFIG | {"methods": CONFIG["methods"] | {20: {"constraint": "none"}}}, "20 is not text"),
        (
            changed("methods.cosine20.embedding", {"frequencies": [2, 3]}),
            "'methods.cosine20': frequencies .2, 3. .*add 1",
        ),
        (changed("methods.vanilla.constraint", "output_transform"), "same constraint"),
        (changed("methods.vanilla.embedding", {"kind": "fourier", "size": 4}), "add one"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(config, message):
    with pytest.raises(study.ConfigError, match=message) as caught:
        study.check(config, SCHEMA)
    assert "\n" not in str(caught.value)


def test_a_name_that_stands_twice_is_an_error(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("settings:\n  low: {k: 1}\n  low: {k: 2}\n")
    with pytest.raises(study.ConfigError, match="'low' stands twice"):
        study.load_unique(path)


def test_numbers_of_the_command_line_come_as_text_and_are_understood():
    """Snakemake hands `--config 'seeds=[0,1,2]'` over as a list of texts."""
    assert study.check(CONFIG | {"seeds": ["0", "1", "2"]}, SCHEMA)["seeds"] == [0, 1, 2]
    points = {"domain": "300", "grading": "1.5"}
    checked = study.check(changed("protocols.quick.points", points), SCHEMA)
    points = checked["protocols"]["quick"]["points"]
    assert (points["domain"], points["grading"]) == (300, 1.5)
    with pytest.raises(study.ConfigError, match=r"'seeds.0': -1 is less than the minimum of 0"):
        study.check(CONFIG | {"seeds": ["-1"]}, SCHEMA)
    with pytest.raises(study.ConfigError, match=r"'seeds.0': 'one' is not of type 'integer'"):
        study.check(CONFIG | {"seeds": ["one"]}, SCHEMA)


def test_whole_numbers_may_be_written_as_floats():
    config = changed("protocols.quick.points", {"domain": 3.0e2}) | {"seeds": [1.0]}
    checked = study.check(config, SCHEMA)
    domain = checked["protocols"]["quick"]["points"]["domain"]
    assert (domain, checked["seeds"]) == (300, [1])
    assert isinstance(domain, int)
    assert isinstance(checked["seeds"][0], int)
