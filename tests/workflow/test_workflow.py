"""The workflow itself, run by the real Snakemake on the protocol `tiny`."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from studies import TINY, Study, small_config

from neumann_pinn.study import calibration
from neumann_pinn.study.claims import CLAIMS


def test_a_call_makes_everything_and_says_so(finished):
    results = finished.folder / TINY
    said = finished.output.stdout + finished.output.stderr
    assert "Protocol tiny: 40 iterations" in said
    assert "6 runs, 0 of them done" in said
    assert "low cosine20, replicate 0: finished, error" in said
    assert "Best method and its error" in said
    assert f"of {len(CLAIMS)} claims of the paper hold" in said
    assert "Figures: results/tiny/figures/" in said
    accuracy = pd.read_csv(results / "accuracy.csv")
    assert len(accuracy) == 2 * 2 * 3
    assert (accuracy["error"] > 0).all()
    for clock in ("fixed_time", "fixed_iterations"):
        assert (results / f"figures/improvement_{clock}.pdf").read_bytes().startswith(b"%PDF")
        table = (results / f"tables/accuracy_{clock}.tex").read_text()
        assert "Protocol tiny" in table
        assert "\\mathbf" in table


def test_a_second_call_has_nothing_to_do(finished):
    assert finished.planned() == {}


def test_a_run_tells_how_it_came_about(finished):
    run = json.loads((finished.folder / TINY / "runs/low/cosine20/0/run.json").read_text())
    assert run["status"] == "finished"
    assert len(run["frequencies"]) == 20
    assert run["protocol"]["learning_rate"] == 1e-3
    assert run["threads"] == 1
    assert run["packages"]["torch"].startswith("2.13")
    assert run["eager_reason"] == "compilation was switched off"
    assert run["peak_memory_mib"] > 0
    assert run["constraint"] == "cosine_embedding"
    assert run["wall_violation"] <= 1e-13
    assert run["found_diffusivity"] is None


def test_methods_train_as_long_as_both_clocks_need(finished):
    results = finished.folder / TINY
    costs = calibration.read(results.glob("calibration/*.csv"))
    assert costs["existing"] > costs["vanilla"]
    accuracy = pd.read_csv(results / "accuracy.csv").set_index(["clock", "setting", "method"])
    for method, ms in costs.items():
        affordable = int(40 * costs["vanilla"] / ms * (1 + 1e-12)) // 20 * 20
        assert accuracy.loc[("fixed_time", "low", method), "iterations"] == affordable
        history = pd.read_csv(results / f"runs/low/{method}/0/history.csv")
        assert history["iteration"].iloc[-1] == max(40, affordable)


def test_a_change_of_the_figures_code_remakes_figures_only(again):
    source = again.folder / "src" / "neumann_pinn" / "report" / "figures" / "style.py"
    source.touch()
    assert again.planned() == {}, "Snakemake compares contents, not only times"
    source.write_text(source.read_text() + "# changed\n")
    assert again.planned() == {
        "draw_schematic": 1,
        "draw_improvement": 2,
        "draw_heatmap": 2,
        "draw_agreement": 2,
        "draw_curves": 2,
        "draw_maps": 2,
        "draw_cost": 1,
        "draw_loss": 1,
        "write_pages": 1,
    }


def test_a_change_of_the_core_trains_again(again):
    source = again.folder / "src" / "neumann_pinn" / "model" / "jets.py"
    source.write_text(source.read_text() + "# changed\n")
    planned = again.planned()
    assert planned["train"] == 6
    assert "make_reference" not in planned


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("study/config.py", {"make_reference", "solve_baseline", "train", "calibrate"}),
        ("problems/solvers.py", {"solve_baseline"}),
        ("study/claims.py", {"judge_claims"}),
    ],
)
def test_rules_run_again_when_code_changes_that_they_import(again, file, rules):
    source = again.folder / "src" / "neumann_pinn" / file
    source.write_text(source.read_text() + "# changed\n")
    planned = set(again.planned())
    core = {"make_reference", "solve_baseline", "train", "calibrate"}
    assert rules <= planned
    assert planned & core == rules & core


def test_changing_a_method_retrains_that_method_only(again):
    config = again.config
    config["methods"]["cosine20"]["embedding"]["frequencies"] = list(range(1, 11))
    again.configure(config)
    planned = again.planned()
    assert planned["train"] == 2
    assert planned["calibrate"] == 1
    assert "make_reference" not in planned
    again.snakemake("--cores", "2", "runs")
    runs = again.folder / TINY / "runs"
    assert len(json.loads((runs / "low/cosine20/0/run.json").read_text())["frequencies"]) == 10


def test_more_replicates_train_only_the_new_ones(again):
    again.configure(again.config | {"replicates": 3})
    planned = again.planned()
    assert planned["train"] == 2 * len(again.config["settings"]) * len(again.config["methods"])
    assert not {"calibrate", "make_reference"} & set(planned)
    assert planned["draw_spread"] == 2


def test_changing_a_label_retrains_nothing(again):
    config = again.config
    config["methods"]["cosine20"]["label"] = "Another label"
    config["settings"]["low"]["label"] = "Another setting"
    again.configure(config)
    assert not {"train", "calibrate"} & set(again.planned())


def test_deleting_a_run_s_outputs_retrains_that_run_only(again):
    shutil.rmtree(again.folder / TINY / "runs" / "low" / "existing")
    planned = again.planned()
    assert planned["train"] == 1
    assert not {"calibrate", "make_reference"} & set(planned)


def test_runs_brought_along_make_figures_without_training(finished, tmp_path):
    elsewhere = Study(tmp_path / "elsewhere", small_config())
    for part in ("runs", "calibration", "references"):
        source, target = finished.folder / TINY / part, elsewhere.folder / TINY / part
        shutil.copytree(source, target)
    for path in elsewhere.folder.rglob("results/**/*"):
        os.utime(path, (0, 0))
    triggers = ("--rerun-triggers", "input", "params")
    planned = elsewhere.planned("figures", "tables", *triggers)
    assert {"draw_maps", "write_cost_table"} <= set(planned)
    assert not {"train", "calibrate", "make_reference"} & set(planned)
    figure, table = f"{TINY}/figures/improvement_fixed_time.pdf", f"{TINY}/tables/cost.tex"
    elsewhere.snakemake("--cores", "2", figure, table, *triggers)
    assert (elsewhere.folder / figure).read_bytes().startswith(b"%PDF")


def test_two_optimizers_are_compared_once_the_other_protocol_has_been_run(tmp_path):
    config = small_config()
    config["protocols"]["tiny"]["compare_with"] = "adam"
    study = Study(tmp_path, config)
    assert "draw_optimizers" not in study.planned("figures")
    for setting in config["settings"]:
        for method in config["methods"]:
            path = study.folder / f"results/adam/runs/{setting}/{method}/0/history.csv"
            path.parent.mkdir(parents=True)
            path.touch()
    assert study.planned("figures")["draw_optimizers"] == 1


@pytest.mark.slow
def test_a_setting_from_a_csv_a_new_method_and_replicates_appear_everywhere(tmp_path):
    config = small_config()
    config["settings"] = {
        "measured": {"label": "Measured", "initial": {"table": "start.csv"}, "k": 1}
    }
    five = {"kind": "cosine", "frequencies": [1, 2, 3, 4, 5]}
    config["methods"] = {
        "vanilla": config["methods"]["vanilla"],
        "five": {"label": "Five cosines", "constraint": "cosine_embedding", "embedding": five},
    }
    study = Study(tmp_path / "study", config | {"replicates": 2})
    table = "x,u\n0,1\n0.25,0.8\n0.5,0.1\n0.75,0\n1,0\n"
    (study.folder / "start.csv").write_text(table)
    study.snakemake("--cores", "2")
    results = study.folder / TINY
    accuracy = pd.read_csv(results / "accuracy.csv")
    assert len(accuracy) == 2 * 2 * 2
    assert accuracy.query("setting == 'measured' and method == 'five'")["error"].gt(0).all()
    table = (results / "tables/accuracy_fixed_time.tex").read_text()
    assert "Measured" in table
    assert "Five cosines" in table
    assert "range over the replicates" in table
    assert (results / "figures/spread_fixed_time.pdf").exists()
    assert (results / "figures/maps_measured.pdf").exists()
    assert (results / "pages/measured/five/1.html").exists()
    assert "start.csv" in (results / "tables/settings.tex").read_text()
    shown = subprocess.run(
        [str(Path(sys.executable).with_name("neumann-pinn")), "watch", str(results), "--once"],
        capture_output=True,
        text=True,
    ).stdout
    assert "4 of 4 runs done" in shown


BAD = {
    "found by the schema": ({"sedes": [1]}, "sedes"),
    "found by a closer look": (
        {"settings": {"low": {"initial": {"polynomial": [0, 1]}, "k": 1}}},
        "settings.low",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_config_is_one_clear_line_before_anything_runs(kind, tmp_path):
    """Two stand for all: tests/study/test_config.py has the others, without a process for each."""
    change, key = BAD[kind]
    study = Study(tmp_path, small_config() | change)
    start = time.monotonic()
    done = study.snakemake("--cores", "1", check=False)
    assert time.monotonic() - start < 10
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if "neumann-pinn:" in line]
    assert len(said) == 1
    assert key in said[0]
    assert "Traceback" not in done.stdout + done.stderr
    assert not (tmp_path / "results").exists()
