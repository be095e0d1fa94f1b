"""All runs at a glance: what `neumann-pinn watch` shows."""

import json

import pytest
from studies import CONFIG

from neumann_pinn.commands.cli import main

PLAN = {"settings": ["low", "poly3"], "methods": ["vanilla", "cosine1"], "replicates": [0]}
PROGRESS = {"iteration": 30, "iterations": 120, "seconds_left": 3725, "loss": 0.02, "error": 0.5}


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The folder of the default protocol, in which Snakemake has started."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results" / CONFIG["protocol"]
    write(folder / "plan.json", PLAN)
    return folder


def test_the_default_is_the_default_protocol_s_folder(results, capsys):
    assert main(["watch", "--once"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].split() == PLAN["settings"]
    assert [line.split() for line in shown[1:3]] == [[name, ".", "."] for name in PLAN["methods"]]
    assert shown[3] == "0 of 4 runs done"


def test_runs_are_done_diverged_or_on_their_way(results, capsys):
    write(results / "runs/low/vanilla/0/run.json", {"status": "finished", "error": 0.0123})
    write(results / "runs/low/cosine1/0/run.json", {"status": "diverged", "error": 1.0})
    write(results / "checkpoints/poly3/vanilla/0/progress.json", PROGRESS)
    main(["watch", str(results), "--once"])
    _, vanilla, cosine, last = capsys.readouterr().out.splitlines()
    assert vanilla.split() == ["vanilla", "error", "1.2e-02", "25%", "2e-02", "5e-01", "1:02:05"]
    assert cosine.split() == ["cosine1", "diverged", "."]
    assert last == "2 of 4 runs done"


def test_runs_beyond_the_study_lie_beside_and_do_not_count(results, capsys):
    write(results / "runs/box2/vanilla/0/run.json", {"status": "finished", "error": 0.1})
    main(["watch", str(results), "--once"])
    shown = capsys.readouterr().out
    assert "box2" not in shown
    assert "0 of 4 runs done" in shown


def test_a_folder_without_a_plan_is_named_in_one_line(tmp_path, capsys):
    assert main(["watch", str(tmp_path), "--once"]) == 1
    error = capsys.readouterr().err.strip()
    assert f"{tmp_path}: no plan.json in it" in error
    assert "\n" not in error
