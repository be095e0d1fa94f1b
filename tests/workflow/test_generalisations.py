"""The problems beyond the study, by the same rules as the study itself."""

import copy
import json

import pandas as pd
import pytest
from studies import CONFIG, SCHEMA, TINY, Study, small_config

from neumann_pinn import PROBLEMS
from neumann_pinn.model.constraints import CONSTRAINTS
from neumann_pinn.study.config import check
from neumann_pinn.study.definition import Study as Definition

PAIRS = Definition(check(copy.deepcopy(CONFIG), SCHEMA)).groups[1].pairs()


def test_runs_beyond_the_study_need_a_reference_each_and_no_calibration(tmp_path):
    planned = Study(tmp_path, small_config()).planned("generalisations")
    assert (planned["train"], planned["make_reference"]) == (len(PAIRS), len(PROBLEMS))
    assert planned["draw_generalisations"] == planned["write_generalisations_table"] == 1
    assert not {"calibrate", "aggregate_accuracy"} & set(planned)


def test_the_study_itself_trains_nothing_beyond_it(tmp_path):
    planned = Study(tmp_path, small_config()).planned()
    assert (planned["train"], planned["make_reference"]) == (6, 2)
    assert not [rule for rule in planned if "generalisations" in rule]


def test_a_run_beyond_the_study_is_made_by_its_path_and_tells_what_it_found(tmp_path):
    study = Study(tmp_path, small_config())
    path = study.folder / TINY / "runs/inverse/cosine/0/run.json"
    said = study.snakemake("--cores", "1", str(path.relative_to(study.folder)))
    assert "inverse cosine, replicate 0: finished, error" in said.stdout + said.stderr
    run = json.loads(path.read_text())
    assert (run["status"], run["iterations"]) == ("finished", 40)
    assert run["constraint"] == "cosine_embedding"
    assert run["wall_violation"] <= 1e-13
    assert run["found_diffusivity"] > 0
    assert not (study.folder / TINY / "calibration").exists()


@pytest.mark.slow
def test_the_target_makes_one_table_and_one_figure_of_all_problems(tmp_path):
    """Of six: a box, an unknown D, no slope, nothing held, second order in time, two species."""
    config = small_config()
    some = ("box_flux", "inverse", "dirichlet", "ring", "wave", "species")
    config["beyond"]["settings"] = {name: {"problem": name} for name in some}
    pairs = [(name, method) for name, method in PAIRS if name in some]
    study = Study(tmp_path / "study", config)
    output = study.snakemake("generalisations", "--cores", "2").stdout
    assert f"{len(pairs)} runs beyond the study, 0 of them done" in output
    results = study.folder / TINY
    folder = results / "generalisations"
    table = pd.read_csv(folder / "generalisations.csv")
    assert list(zip(table["problem"], table["method"], strict=True)) == pairs
    assert (table["error"] > 0).all()
    assert (table["iterations"] == 40).all()
    assert table["wall_violation"].isna().equals(table["problem"] == "ring")
    assert table[table["method"] == "hard"]["wall_violation"].max() <= 1e-12
    assert table[table["method"] == "vanilla"]["wall_violation"].min() > 1e-3
    assert table.set_index("problem")["found_diffusivity"].dropna().index.unique() == ["inverse"]
    assert set(table["constraint"]) == set(CONSTRAINTS)
    names = [f"generalisations.{kind}" for kind in ("pdf", "png", "tex")]
    for name in (*names, "peers.pdf", "peers.png"):
        assert (folder / name).stat().st_size > 1000
    assert {path.parts[-4:-2] for path in results.glob("runs/*/*/*/run.json")} == set(pairs)
    assert not study.planned("generalisations")
    (results / "runs/box_flux/cosine/0/run.json").unlink()
    assert study.planned("generalisations")["train"] == 1
