"""What the rules read from a configuration: groups, runs, budgets."""

import copy

import pytest
from studies import CONFIG, SCHEMA

from neumann_pinn import METHODS, PROBLEMS
from neumann_pinn.study import calibration
from neumann_pinn.study.budget import Budget
from neumann_pinn.study.config import check
from neumann_pinn.study.definition import UNKNOWN_MINUTES, Study
from neumann_pinn.study.methods import make_method

EMBEDDED = {"kind": "cosine", "frequencies": [1, 2, 3]}
NO_SLOPES = {"dirichlet", "ring", "kink"}
NOT_EXISTING = {"box2", "box3", "box_flux", "poisson", "mixed", "wave", "species"}


def study(**changes):
    return Study(check(copy.deepcopy(CONFIG) | {"protocol": "tiny"} | changes, SCHEMA))


def test_the_study_has_every_setting_with_every_method():
    inside = study().groups[0]
    assert inside.pairs() == [(s, m) for s in CONFIG["settings"] for m in METHODS]


def test_beyond_it_each_problem_has_the_methods_that_apply():
    """The existing constraint holds the walls of an interval only, and no second order in time."""
    pairs = study().groups[1].pairs()
    assert pairs == [
        (problem, method)
        for problem in PROBLEMS
        for method in ("vanilla", "existing", "cosine", "hard")
        if method in ("vanilla", "hard")
        or (method == "cosine" and problem not in NO_SLOPES)
        or (method == "existing" and problem not in NO_SLOPES | NOT_EXISTING)
    ]


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        ("box2", "not of 2 axes"),
        ("dirichlet", "no wall has a prescribed slope"),
        ("wave", "third derivatives"),
    ],
)
def test_a_method_that_does_not_apply_says_why(problem, reason):
    method = make_method({"constraint": "output_transform", "embedding": {}})
    assert not method.applies(PROBLEMS[problem])
    with pytest.raises(ValueError, match=reason):
        method.check(PROBLEMS[problem])
    assert method.applies(PROBLEMS["interval"])


def test_a_name_means_the_method_of_the_setting_s_own_group():
    config = copy.deepcopy(CONFIG)
    config["beyond"]["methods"]["cosine1"] = {
        "label": "Three cosines",
        "constraint": "cosine_embedding",
        "embedding": EMBEDDED,
    }
    both = study(**config | {"protocol": "tiny"})
    assert both.method("low", "cosine1")["embedding"]["frequencies"] == [1]
    assert both.method("box2", "cosine1")["embedding"]["frequencies"] == [1, 2, 3]
    assert both.group_of("low") is both.groups[0]
    assert both.group_of("box2") is both.groups[1]


def test_labels_are_no_part_of_what_a_run_depends_on():
    labelled = copy.deepcopy(CONFIG)
    for entry in (labelled["settings"]["low"], labelled["beyond"]["settings"]["box2"]):
        entry["label"] = "Another"
    for methods in (labelled["methods"], labelled["beyond"]["methods"]):
        methods["vanilla"]["label"] = "Another"
    one, other = study(), study(**labelled | {"protocol": "tiny"})
    for setting in ("low", "box2"):
        assert one.setting(setting) == other.setting(setting)
        assert one.method(setting, "vanilla") == other.method(setting, "vanilla")
    assert other.labels("settings")["low"] == "Another"
    assert other.groups[1].labels()["box2"] == "Another"


def test_a_problem_beyond_the_study_is_called_as_the_catalogue_calls_it():
    labels = study().groups[1].labels()
    assert labels == {name: problem.label for name, problem in PROBLEMS.items()}


def test_beyond_the_study_there_is_no_clock_but_the_iterations():
    """Whatever the costs of the study's methods, which have other settings."""
    costs = {"vanilla": 10.0, "cosine1": 5.0}
    of_study = Budget.make(study().budget_of("low"), costs)
    assert (of_study.to_train("vanilla"), of_study.to_train("cosine1")) == (40, 80)
    for cost in ("calibrated", "wall_clock"):
        protocols = copy.deepcopy(CONFIG["protocols"])
        protocols["tiny"]["cost"] = cost
        beyond = Budget.make(study(protocols=protocols).budget_of("box2"), costs)
        assert {beyond.to_train(name) for name in ("vanilla", "existing", "cosine")} == {40}


def test_without_a_calibration_nothing_is_known_and_the_limit_is_generous():
    assert calibration.read([]) == {}
    assert study().minutes("box2", "cosine", {}) == UNKNOWN_MINUTES
    assert study().minutes("low", "cosine1", {}) == UNKNOWN_MINUTES


def test_costs_are_brought_to_one_scale_by_vanilla_s_time_in_each_calibration(tmp_path):
    files = [tmp_path / f"{name}.csv" for name in ("vanilla", "existing", "cosine1")]
    calibration.write(files[0], "vanilla", 10.0, "vanilla", 10.0)
    calibration.write(files[1], "existing", 90.0, "vanilla", 30.0)
    calibration.write(files[2], "cosine1", 4.0, "vanilla", 5.0)
    costs = calibration.read(files)
    assert costs == pytest.approx({"vanilla": 10.0, "existing": 30.0, "cosine1": 8.0})


def test_a_study_without_problems_beyond_it_has_an_empty_group():
    config = {key: value for key, value in CONFIG.items() if key != "beyond"}
    alone = Study(check(config, SCHEMA))
    assert alone.groups[1].pairs() == []
    assert alone.groups[1].labels() == {}
