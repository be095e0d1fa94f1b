"""A study killed again and again ends as if nothing had happened."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest
from studies import TINY, Study, small_config

from neumann_pinn.study.budget import CLOCKS

KILLS = 25
FIGURES = [TINY / f"figures/improvement_{clock}.png" for clock in CLOCKS]
TARGETS = ["runs", *map(str, FIGURES)]
VICTIMS = ("snakemake", "run", "everything")
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def killable():
    """A study of three runs of some seconds, whose budgets depend on no measurement."""
    config = small_config()
    config["settings"] = {"low": config["settings"]["low"]}
    config["protocols"]["tiny"] |= {
        "iterations": 1600,
        "checkpoint_seconds": 0.2,
        "cost": {"none": 13.5, "output_transform": 63.1, "cosine_embedding": 14.6},
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
    for path in FIGURES:
        found[path] = (study.folder / path).read_bytes()
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


def heed_sigint():
    """Undo what a shell does to its jobs in the background: they ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def strike(snakemake, study, dice):
    """Kill the call, one of its runs or everything at a random moment; None if it ended before."""
    victim, number = dice.choice(VICTIMS), dice.choice(SIGNALS)
    due = time.monotonic() + dice.uniform(1, 7)
    while snakemake.poll() is None:
        runs = trainings(study)
        if time.monotonic() >= due and (runs or victim != "run"):
            with suppress(ProcessLookupError):
                if victim == "snakemake":
                    snakemake.send_signal(number)
                elif victim == "run":
                    os.kill(dice.choice(runs), number)
                else:
                    os.killpg(snakemake.pid, signal.SIGKILL)
                return victim
        time.sleep(0.1)
    return None


TERMINATED = """
import os
import signal
import sys
from snakemake.cli import main
from snakemake.scheduling.job_scheduler import JobScheduler
finish = JobScheduler._finish_jobs
def finish_and_be_told_to_end(scheduler):
    if scheduler._tofinish:
        os.kill(os.getpid(), signal.SIGTERM)
    finish(scheduler)
JobScheduler._finish_jobs = finish_and_be_told_to_end
main(sys.argv[1:])
"""


def test_snakemake_ends_on_sigterm_also_while_it_counts_its_finished_jobs(tmp_path):
    """It holds a lock then, which its own answer to the signal waits for."""
    study = Study(tmp_path, killable())
    targets = [str(TINY / name) for name in ("tables/settings.tex", "figures/schematic.png")]
    command = [sys.executable, "-c", TERMINATED, "--cores", "1", *targets]
    done = subprocess.run(command, cwd=study.folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    assert "Will exit after finishing currently running jobs" in done.stderr
    study.snakemake("--cores", "1", *targets)
    assert all((study.folder / target).exists() for target in targets)


@pytest.mark.slow
@pytest.mark.longest
def test_a_study_killed_25_times_ends_bit_identical(tmp_path):
    undisturbed = Study(tmp_path / "undisturbed", killable())
    undisturbed.snakemake("--cores", "1", *TARGETS)
    expected = outcome(undisturbed)
    assert len(expected) == 2 * 3 + 3
    study = Study(tmp_path / "killed", killable())
    dice = random.Random(5)
    kills = dict.fromkeys(VICTIMS, 0)
    finished = 0
    start = time.monotonic()
    while sum(kills.values()) < KILLS:
        command = [sys.executable, "-m", "snakemake", "--cores", "2", *TARGETS]
        snakemake = subprocess.Popen(
            command,
            cwd=study.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=heed_sigint,
        )
        victim = strike(snakemake, study, dice)
        if victim:
            kills[victim] += 1
        if snakemake.wait(600) == 0:
            assert outcome(study) == expected
            finished += 1
            shutil.rmtree(study.folder / "results")
    study.snakemake("--cores", "2", *TARGETS)
    assert outcome(study) == expected
    print(f"{kills} in {time.monotonic() - start:.0f} s, {finished + 1} studies finished")
    assert min(kills.values()) > 0
    assert not list(study.folder.rglob("*.part"))
    assert not list(study.folder.rglob("*.damaged"))
