"""No configuration, however strange, starts a job or ends in a traceback."""

import copy
import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from studies import CONFIG, SCHEMA, Study, small_config

from neumann_pinn.study import config as study

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=True, allow_infinity=True),
    st.text(max_size=12),
    st.sampled_from(["../up", "a b", "a'b", 'a"b', "a/b", "$(id)", "{x}", "*", "", "0", "é"]),
)
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.text(max_size=8), st.integers(-3, 60)), inner, max_size=3),
    ),
    max_leaves=6,
)


def paths(tree, at=()):
    """Every place in a configuration; of a list, which may be long, the first two."""
    yield at
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from paths(value, (*at, key))
    elif isinstance(tree, list):
        for index, value in enumerate(tree[:2]):
            yield from paths(value, (*at, index))


PLACES = [path for path in paths(CONFIG) if path]


@st.composite
def broken(draw):
    """The configuration with some places changed, renamed, removed or filled with junk."""
    config = copy.deepcopy(CONFIG)
    for path in draw(st.lists(st.sampled_from(PLACES), min_size=1, max_size=3)):
        place = config
        try:
            for key in path[:-1]:
                place = place[key]
            change = draw(st.sampled_from(["replace", "remove", "add", "rename"]))
            if change == "replace":
                place[path[-1]] = draw(JUNK)
            elif change == "remove":
                del place[path[-1]]
            elif isinstance(place, dict) and change == "add":
                place[draw(st.text(max_size=8))] = draw(JUNK)
            elif isinstance(place, dict):
                place[draw(SCALARS.filter(lambda s: s == s))] = place.pop(path[-1])
        except (KeyError, IndexError, TypeError):
            continue
    return config


def judged(config):
    """The checked configuration, or the sentence about its mistake."""
    try:
        return study.check(config, SCHEMA), None
    except study.ConfigError as error:
        return None, str(error)


@settings(max_examples=4 * settings.default.max_examples)
@given(broken())
@example(CONFIG | {"settings": {}})
@example(CONFIG | {"protocol": None})
@example({})
@example(CONFIG | {"settings": {"low": {"initial": {"cosines": {None: 1.0}}, "k": 1}}})
@example(CONFIG | {"line\nbreak\x85": 1})
@example(CONFIG | {"beyond": None})
@example(CONFIG | {"beyond": {"settings": {"one": {}}, "methods": {"none": {}}}})
@example(CONFIG | {"beyond": {"settings": {"low": {"problem": "interval", "k": 1}}}})
def test_a_strange_configuration_is_whole_or_named_in_one_line(config):
    checked, mistake = judged(config)
    if mistake is not None:
        assert mistake.isprintable()
        assert mistake.startswith("config")
        return
    for kind in ("settings", "methods", "protocols"):
        for name in [*checked[kind], *checked["beyond"].get(kind, {})]:
            assert name.isascii()
            assert name.replace("_", "").isalnum()
    json.dumps(checked)


@settings(max_examples=settings.default.max_examples // 10)
@given(broken().filter(lambda config: judged(config)[1] is not None))
def test_snakemake_starts_no_job_for_a_bad_configuration(tmp_path_factory, config):
    bad = Study(tmp_path_factory.mktemp("bad"), small_config())
    bad.configure(config)
    done = bad.snakemake("--cores", "1", check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert "Traceback" not in said
    assert not (bad.folder / "results").exists()
    assert "neumann-pinn:" in said or "Config file must be given as JSON or YAML" in said


@pytest.mark.parametrize("name", ["a b", "a'b", 'a"b', "../up", "a/b", "$(id)", "a\nb", "{x}", ""])
@pytest.mark.parametrize(
    "kind", ["settings", "methods", "protocols", "beyond.settings", "beyond.methods"]
)
def test_names_that_could_lead_elsewhere_are_refused(kind, name):
    config = copy.deepcopy(CONFIG)
    *group, kind = kind.split(".")
    entries = (config[group[0]] if group else config)[kind]
    entries[name] = next(iter(entries.values()))
    _, mistake = judged(config)
    assert mistake is not None
    assert repr(name)[1:-1].replace("'", "") in mistake.replace("'", "").replace("\\\\", "\\")
