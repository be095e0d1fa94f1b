"""A study killed again and again ends as if nothing had happened."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from conftest import TINY, Study, small_config

KILLS = 25
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def killable():
    """A study of six runs of some seconds, whose budgets depend on no measurement."""
    config = small_config()
    config["protocols"]["tiny"] |= {
        "iterations": 4000,
        "checkpoint_seconds": 0.2,
        "cost": "published",
    }
    return config


def outcome(study):
    """All that a study finds, but for seconds."""
    results = study.folder / TINY
    found = {}
    for path in sorted(results.glob("runs/*/*/*/history.csv")):
        run = path.parent.relative_to(results)
        found[run, "history"] = pd.read_csv(path).drop(columns="seconds").to_csv()
        found[run, "model"] = (path.parent / "model.pt").read_bytes()
    accuracy = pd.read_csv(results / "accuracy.csv")
    found["accuracy"] = accuracy.drop(columns="seconds").to_csv()
    for name in ("improvement_fixed_time", "improvement_fixed_iterations", "heatmap_fixed_time"):
        found[name] = (results / f"figures/{name}.png").read_bytes()
    return found


def trainings(study):
    """The processes that train in a study's folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            here = os.path.samefile(process / "cwd", study.folder)
        except OSError:
            continue
        if here and b"train.py" in words and b"python" in words.split(b"\0")[0]:
            found.append(int(process.name))
    return found


@pytest.mark.slow
def test_a_study_killed_25_times_ends_bit_identical(tmp_path):
    undisturbed = Study(tmp_path / "undisturbed", killable())
    undisturbed.snakemake("--cores", "1")
    expected = outcome(undisturbed)
    assert len(expected) == 2 * 6 + 4
    study = Study(tmp_path / "killed", killable())
    dice = random.Random(5)
    kills = {"snakemake": 0, "run": 0, "everything": 0}
    finished = 0
    start = time.monotonic()
    while sum(kills.values()) < KILLS:
        command = [sys.executable, "-m", "snakemake", "--cores", "2"]
        snakemake = subprocess.Popen(
            command,
            cwd=study.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        victim = dice.choice(list(kills))
        number = dice.choice(SIGNALS)
        try:
            snakemake.wait(dice.uniform(1, 14))
        except subprocess.TimeoutExpired:
            runs = trainings(study)
            if victim == "snakemake":
                snakemake.send_signal(number)
                kills[victim] += 1
            elif victim == "everything":
                os.killpg(snakemake.pid, signal.SIGKILL)
                kills[victim] += 1
            elif runs:
                os.kill(dice.choice(runs), number)
                kills[victim] += 1
        if snakemake.wait(120) == 0:
            assert outcome(study) == expected
            finished += 1
            shutil.rmtree(study.folder / "results")
    study.snakemake("--cores", "2")
    assert outcome(study) == expected
    print(f"{kills} in {time.monotonic() - start:.0f} s, {finished + 1} studies finished")
    assert min(kills.values()) > 0
    assert not list(study.folder.rglob("*.part"))
    assert not list(study.folder.rglob("*.damaged"))
