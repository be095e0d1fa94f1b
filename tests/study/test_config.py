"""The configuration: complete, documented, and strict."""

import copy
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from studies import CONFIG, ROOT, SCHEMA

from neumann_pinn import METHODS, PROBLEMS, Axis, Protocol, method
from neumann_pinn.commands.models import make_model
from neumann_pinn.model.constraints import CONSTRAINTS
from neumann_pinn.study import config as study
from neumann_pinn.study import published
from neumann_pinn.study.methods import make_method


def schema_keys(schema):
    """Every key of the schema with its own schema."""
    for part in (schema, *schema.get("$defs", {}).values()):
        for key, child in part.get("properties", {}).items():
            yield key, child
            yield from schema_keys(child)


def test_the_nine_methods_are_those_of_the_package():
    config = study.check(CONFIG, SCHEMA)
    assert tuple(config["methods"]) == METHODS
    problem = study.make_problem(config["settings"]["low"])
    for name, parameters in config["methods"].items():
        network = config["protocols"]["paper"]["network"]
        model, ours = make_model(problem, parameters, network), method(name)
        assert model == replace(ours, embeddings=model.embeddings)
        (one,), (other,) = model.embeddings, ours.embeddings
        assert (type(one), one.size) == (type(other), other.size)


def embeddings(replicate):
    """What each method of the study sees of x."""
    methods = study.check(CONFIG, SCHEMA)["methods"]
    return {name: make_method(entry, replicate).embedding for name, entry in methods.items()}


@pytest.mark.parametrize("replicate", range(3))
def test_frequencies_are_as_many_as_a_method_s_name_says_and_1_is_the_first(replicate):
    every = embeddings(replicate)
    numbered = {name: match for name in every if (match := re.search(r"\d+$", name))}
    assert len(numbered) == 7
    for name, match in numbered.items():
        frequencies = every[name].frequencies
        assert every[name].size == int(match[0])
        assert frequencies[0] == 1
        assert len(set(frequencies)) == len(frequencies)


def test_the_first_replicate_has_the_frequencies_that_the_authors_script_draws():
    """From NumPy's legacy generator with the seed 0, method after method."""
    draw = np.random.RandomState(0).normal

    def cosines(size):
        found = [1]
        while len(found) < size:
            b = round(abs(draw(0, 20)))
            if b and b not in found:
                found.append(b)
        return found

    first = embeddings(0)
    for size in (20, 50):
        for kind in ("vanilla", "existing"):
            expected = [1, *draw(0, 20, size // 2 - 1)]
            assert first[f"{kind}_fourier{size}"].frequencies == pytest.approx(expected, rel=1e-15)
        assert list(first[f"cosine{size}"].frequencies) == cosines(size)
        assert 50 not in first[f"cosine{size}"].frequencies


def test_other_replicates_have_frequencies_of_their_own_that_equal_embeddings_share():
    first, second, third = (embeddings(replicate) for replicate in range(3))
    for size in (20, 50):
        vanilla, existing = (f"{kind}_fourier{size}" for kind in ("vanilla", "existing"))
        assert first[vanilla] != first[existing]
        assert second[vanilla] == second[existing]
        for name in (vanilla, existing, f"cosine{size}"):
            assert len({first[name], second[name], third[name]}) == 3
    assert first["cosine1"] == second["cosine1"] == third["cosine1"]


def test_the_protocol_paper_is_the_published_one():
    paper = study.check(CONFIG, SCHEMA)["protocols"]["paper"]
    assert study.make_protocol(paper) == Protocol()
    assert paper["network"] == {"width": 100, "depth": 3}
    assert paper["cost"] == "wall_clock"
    assert published.costs() == {"none": 13.5, "output_transform": 63.1, "cosine_embedding": 14.6}


def test_every_key_has_a_description_a_default_and_a_place_in_the_readme():
    readme = (ROOT / "config" / "README.md").read_text()
    for key, child in schema_keys(SCHEMA):
        if key in ("settings", "methods", "protocols") or key in CONSTRAINTS:
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
        (changed("seeds", [1]), "unknown key 'seeds', known ones are protocol, replicates"),
        (changed("methods.cosine1.embeding", {}), "'methods.cosine1': unknown key 'embeding'"),
        (changed("protocols.adam.iterations", "many"), "'protocols.adam.iterations'"),
        (changed("protocol", "quik"), "no protocol 'quik', choose one of gauss_newton, "),
        (changed("protocols.adam.iterations", -5), "'protocols.adam.iterations': -5"),
        (changed("protocols.adam.iterations", 1210), "multiple of evaluate_every"),
        (changed("protocols.adam.points", {"grading": 0.5}), "'protocols.adam.points.grading'"),
        (changed("protocols.adam.learning_rate", 10**400), "'protocols.adam'"),
        (changed("replicates", 0), "'replicates'"),
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
        (
            changed("methods.cosine20.embedding", {"size": 20, "published": "cosine21"}),
            "'methods.cosine20': published 'cosine21': choose one of vanilla_fourier20",
        ),
        (
            changed("methods.cosine20.embedding", {"size": 21, "published": "cosine20"}),
            "'methods.cosine20': published 'cosine20' has 20 features: give size 20",
        ),
        (changed("methods.vanilla.constraint", "output_transform"), "same constraint"),
        (
            changed("settings.low.problem", "interval"),
            "'settings.low': give either `initial` with `k` or the name of a `problem`",
        ),
        (changed("settings.low", {"k": 2}), "'settings.low': give either `initial`"),
        (changed("settings.low.initial", {}), "'settings.low': give either `initial`"),
        (changed("beyond.settings.box2", {}), "'beyond.settings.box2': give either `initial`"),
        (
            changed("beyond.settings.box2.problem", "box4"),
            "'beyond.settings.box2': problem 'box4': choose one of interval, one_wall, box2",
        ),
        (
            changed("beyond.settings.low", {"problem": "interval"}),
            "'beyond.settings.low': the study itself has a setting of",
        ),
        (changed("settings.box", {"problem": "box2"}), "'settings.box.problem': .*move it to"),
        (
            changed("beyond.methods.twin", CONFIG["beyond"]["methods"]["cosine"]),
            "'beyond.methods.twin': the same .* as 'beyond.methods.cosine'",
        ),
        (changed("beyond.replicates", 2), "'beyond': unknown key 'replicates'"),
        (changed("beyond.methods", {20: {"constraint": "none"}}), "'beyond.methods': .*20 is not"),
        (changed("beyond.methods.cosine.embedding", {}), "'beyond.methods.cosine': "),
        (
            changed("protocols.adam.compare_with", "adm"),
            "'protocols.adam.compare_with': there is no protocol 'adm'",
        ),
        (
            changed("protocols.adam.points", {"growth": -1}),
            "'protocols.adam.points.growth': -1 is less",
        ),
        (changed("methods.vanilla.embedding", {"kind": "fourier", "size": 4}), "add one"),
    ],
)
def test_a_mistake_is_one_line_that_names_the_key(config, message):
    with pytest.raises(study.ConfigError, match=message) as caught:
        study.check(config, SCHEMA)
    assert "\n" not in str(caught.value)


def test_a_setting_is_heat_on_an_interval_or_a_problem_by_name():
    heat = {"initial": {"cosines": {2: 1.0}}, "k": 2}
    beyond = study.check(changed("beyond.settings.rod", heat), SCHEMA)["beyond"]["settings"]
    assert study.make_problem(beyond["interval"]) is PROBLEMS["interval"]
    rod = study.make_problem(beyond["rod"])
    assert rod.diffusivity == (2 * math.pi) ** -2
    assert rod.axes == (Axis(),)


def test_the_problems_beyond_the_study_are_those_of_the_catalogue():
    beyond = study.check(CONFIG, SCHEMA)["beyond"]["settings"]
    assert {name: study.make_problem(entry) for name, entry in beyond.items()} == PROBLEMS


def test_without_problems_beyond_it_a_study_is_whole():
    config = {key: value for key, value in CONFIG.items() if key != "beyond"}
    assert study.check(config, SCHEMA)["beyond"] == {"settings": {}, "methods": {}}


def test_a_name_that_stands_twice_is_an_error(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("settings:\n  low: {k: 1}\n  low: {k: 2}\n")
    with pytest.raises(study.ConfigError, match="'low' stands twice"):
        study.load_unique(path)


def test_numbers_of_the_command_line_come_as_text_and_are_understood():
    """Snakemake hands lists and mappings of `--config` over with texts in them."""
    assert study.check(CONFIG | {"replicates": "3"}, SCHEMA)["replicates"] == 3
    texts = changed("methods.cosine20.embedding", {"frequencies": ["1", "2", "3"]})
    checked = study.check(texts, SCHEMA)
    assert checked["methods"]["cosine20"]["embedding"]["frequencies"] == [1, 2, 3]
    points = {"domain": "300", "grading": "1.5"}
    checked = study.check(changed("protocols.adam.points", points), SCHEMA)
    points = checked["protocols"]["adam"]["points"]
    assert (points["domain"], points["grading"]) == (300, 1.5)
    with pytest.raises(study.ConfigError, match=r"'replicates': -1 is less than the minimum of 1"):
        study.check(CONFIG | {"replicates": "-1"}, SCHEMA)
    with pytest.raises(study.ConfigError, match=r"'replicates': 'one' is not of type 'integer'"):
        study.check(CONFIG | {"replicates": "one"}, SCHEMA)


def test_whole_numbers_may_be_written_as_floats():
    config = changed("protocols.adam.points", {"domain": 3.0e2}) | {"replicates": 2.0}
    checked = study.check(config, SCHEMA)
    domain = checked["protocols"]["adam"]["points"]["domain"]
    assert (domain, checked["replicates"]) == (300, 2)
    assert isinstance(domain, int)
    assert isinstance(checked["replicates"], int)


def test_what_is_said_of_the_authors_draw_is_so():
    """docs/authors_code.md: which modes of the settings their cosines miss."""
    first = embeddings(0)
    assert all(50 not in first[f"cosine{size}"].frequencies for size in (20, 50))
    assert 2 not in first["cosine20"].frequencies
    assert 2 in first["cosine50"].frequencies
