"""The workflow under queues: a real one-node Slurm, and the generic cluster plugin."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest
from studies import TINY, Study, small_config

SLURM_CONF = """
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
ReturnToService=2
MinJobAge=3600
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=6000 Gres=gpu:1 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=01:00:00 State=UP
"""


def one_setting(iterations=40):
    """A study of two runs."""
    config = small_config()
    config["settings"] = {"low": config["settings"]["low"]}
    del config["methods"]["existing"]
    config["protocols"]["tiny"] |= {"iterations": iterations, "checkpoint_seconds": 1}
    return config


TARGETS = [str(TINY / name) for name in ("claims.csv", "figures/improvement_fixed_time.pdf")]
"""Everything that trains, and two of the many jobs that do not."""


def wait_until(true, seconds):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.2)


@pytest.fixture
def slurm(tmp_path):
    """Slurm on this machine with one node and a stand-in for a GPU, ended with the test."""
    host = subprocess.check_output(["hostname", "-s"], text=True).strip()
    folder = tmp_path / "slurm"
    for part in ("state", "spool"):
        (folder / part).mkdir(parents=True)
    etc = Path("/etc/slurm")
    etc.mkdir(exist_ok=True)
    kept = {path: path.read_bytes() for path in etc.glob("*.conf")}
    (etc / "slurm.conf").write_text(SLURM_CONF.format(host=host, folder=folder))
    (etc / "gres.conf").write_text(f"NodeName={host} Name=gpu File=/dev/null\n")
    subprocess.run(
        ["install", "-d", "-o", "munge", "-g", "munge", "-m", "755", "/run/munge"], check=True
    )
    started = [
        subprocess.Popen(["runuser", "-u", "munge", "--", "/usr/sbin/munged", "--foreground"]),
        subprocess.Popen(["slurmctld", "-D"]),
        subprocess.Popen(["slurmd", "-D"]),
    ]
    try:
        wait_until(
            lambda: (
                "idle" in subprocess.run(["sinfo", "-h"], capture_output=True, text=True).stdout
            ),
            60,
        )
        yield
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait(30)
        for name in ("slurm.conf", "gres.conf"):
            (etc / name).unlink()
        for path, content in kept.items():
            path.write_bytes(content)


def jobs():
    """What Slurm knows of each job: name of the rule, state, GPUs."""
    text = subprocess.check_output(["scontrol", "--oneliner", "show", "jobs"], text=True)
    for line in filter(None, text.splitlines()):
        fields = dict(re.findall(r"(\S+?)=(\S*)", line))
        yield fields


@pytest.mark.slurm
def test_slurm_runs_the_study_and_a_cancelled_training_resumes(slurm, tmp_path):
    study = Study(tmp_path / "study", one_setting(iterations=20_000))
    command = [sys.executable, "-m", "snakemake", *TARGETS]
    command += ["--workflow-profile", "workflow/profiles/slurm", "--slurm-status-command", "squeue"]
    command += ["--slurm-init-seconds-before-status-checks", "3"]
    command += ["--default-resources", "slurm_partition=gpu", "mem_mb=1000", "runtime=20"]
    command += ["--set-resources", "train:gpu=1", "calibrate:gpu=1", "--verbose"]
    with (tmp_path / "said.txt").open("w") as said:
        snakemake = subprocess.Popen(command, cwd=study.folder, stdout=said, stderr=said)
        try:
            results = study.folder / TINY
            victim = {}

            def trains_and_has_a_checkpoint():
                assert snakemake.poll() is None, (tmp_path / "said.txt").read_text()
                for path in results.glob("checkpoints/low/*/0/*.pt"):
                    method = path.parts[-3]
                    for job in jobs():
                        training = job["Comment"] == f"rule_train_wildcards_low_{method}_0"
                        if training and job["JobState"] == "RUNNING":
                            victim.update(job, method=method)
                return bool(victim)

            wait_until(trains_and_has_a_checkpoint, 240)
            subprocess.run(["scancel", victim["JobId"]], check=True)
            assert snakemake.wait(900) == 0, (tmp_path / "said.txt").read_text()
        finally:
            snakemake.kill()
            snakemake.wait()
    log = (results / f"logs/train/low/{victim['method']}/0.log").read_text()
    resumed = re.search(r"resuming at iteration (\d+) of", log)
    assert resumed, log
    assert int(resumed[1]) > 0
    assert (results / "claims.csv").exists()
    assert len(pd.read_csv(results / "accuracy.csv")) == 4
    asked = {}
    for job in jobs():
        rule = re.search(r"rule_(\w+?)_wildcards|rule_(\w+)", job["Comment"])
        rule = (rule[1] or rule[2]) if rule else job["Comment"]
        asked.setdefault(rule, set()).add("gres:gpu" in job.get("TresPerJob", ""))
    assert asked.pop("train") == {True}
    assert asked.pop("calibrate") == {True}
    assert set.union(*asked.values()) == {False}


@pytest.mark.slow
def test_the_generic_cluster_plugin_runs_the_study(tmp_path):
    study = Study(tmp_path / "study", one_setting())
    submit = tmp_path / "submit"
    submit.write_text('#!/bin/sh\nnohup sh "$1" >/dev/null 2>&1 &\necho $!\n')
    submit.chmod(0o755)
    study.snakemake(
        *TARGETS,
        *("--executor", "cluster-generic", "--jobs", "2"),
        *("--cluster-generic-submit-cmd", str(submit), "--retries", "1"),
    )
    assert len(pd.read_csv(study.folder / TINY / "accuracy.csv")) == 4
    assert (study.folder / TINY / "figures/improvement_fixed_time.pdf").exists()


def test_with_cuda_trainings_and_calibrations_ask_for_a_gpu_and_nothing_else_does(tmp_path):
    study = Study(tmp_path / "study", one_setting() | {"device": "cuda"})
    said = study.snakemake("-n", "--cores", "2").stdout
    rules = re.findall(r"^(?:local)?rule (\w+):.*?(?=^\[|\Z)", said, re.DOTALL | re.MULTILINE)
    assert {"train", "calibrate", "draw_maps"} <= set(rules)
    for block in re.split(r"^(?:local)?rule ", said, flags=re.MULTILINE)[1:]:
        name = block.partition(":")[0]
        gpus = re.search(r"gpu=(\d)", block.partition("\n\n")[0])
        expected = "1" if name in ("train", "calibrate") else None
        assert (gpus and gpus[1]) == expected, block
