"""Runs that share the GPUs of a machine. There is none here: only their number is made up."""

import logging
import subprocess
import sys
import threading
import time

import pytest
import torch

from neumann_pinn.commands.gpus import free_gpu, take_device


@pytest.fixture
def two_gpus(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.mark.usefixtures("two_gpus")
def test_each_run_takes_a_gpu_of_its_own(tmp_path):
    with free_gpu(1, tmp_path, {}) as one, free_gpu(1, tmp_path, {}) as other:
        assert {one, other} == {"cuda:0", "cuda:1"}
    with free_gpu(1, tmp_path, {}) as again:
        assert again == "cuda:0"


@pytest.mark.usefixtures("two_gpus")
def test_shared_gpus_fill_evenly(tmp_path):
    with (
        free_gpu(2, tmp_path, {}) as a,
        free_gpu(2, tmp_path, {}) as b,
        free_gpu(2, tmp_path, {}) as c,
        free_gpu(2, tmp_path, {}) as d,
    ):
        assert [a, b, c, d] == ["cuda:0", "cuda:1", "cuda:0", "cuda:1"]


@pytest.mark.usefixtures("two_gpus")
def test_a_run_waits_with_a_line_in_the_log_when_none_is_free(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    first = free_gpu(1, tmp_path, {})
    first.__enter__()
    with free_gpu(1, tmp_path, {}):
        threading.Timer(1.0, first.__exit__, (None, None, None)).start()
        start = time.monotonic()
        with free_gpu(1, tmp_path, {}) as third:
            assert third == "cuda:0"
            assert time.monotonic() - start > 0.9
    assert caplog.text.count("no GPU is free: waiting for one of 0, 1") == 1


HOLDER = """
import sys, time
from pathlib import Path
import torch
torch.cuda.device_count = lambda: 1
from neumann_pinn.commands.gpus import free_gpu
with free_gpu(1, Path(sys.argv[1]), {}) as gpu:
    print(gpu, flush=True)
    time.sleep(60)
"""


def test_the_lock_of_a_killed_run_is_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "cuda:0\n"
    holder.kill()
    holder.wait()
    start = time.monotonic()
    with free_gpu(1, tmp_path, {}) as gpu:
        assert gpu == "cuda:0"
    assert time.monotonic() - start < 0.4


@pytest.mark.usefixtures("two_gpus")
def test_visible_devices_are_named_as_the_machine_names_them(tmp_path):
    with free_gpu(1, tmp_path, {"CUDA_VISIBLE_DEVICES": "3,GPU-8f"}) as one:
        assert one == "cuda:0"
        with free_gpu(1, tmp_path, {"CUDA_VISIBLE_DEVICES": "GPU-8f,3"}) as other:
            assert other == "cuda:0", "GPU-8f, which comes first there"
    assert {path.name for path in tmp_path.iterdir()} == {"3.0", "GPU-8f.0"}


@pytest.mark.usefixtures("two_gpus")
def test_what_a_scheduler_gave_is_taken_without_a_lock(tmp_path):
    job = {"CUDA_VISIBLE_DEVICES": "0", "SLURM_JOB_ID": "7"}
    with free_gpu(1, tmp_path, job) as one, free_gpu(1, tmp_path, job) as other:
        assert one == other == "cuda:0"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("two_gpus")
def test_runs_of_one_job_share_the_gpus_that_a_scheduler_gave_it(tmp_path):
    job = {"CUDA_VISIBLE_DEVICES": "0,1", "SLURM_JOB_ID": "7"}
    other = job | {"SLURM_JOB_ID": "8"}
    with free_gpu(1, tmp_path, job) as one, free_gpu(1, tmp_path, job) as two:
        assert {one, two} == {"cuda:0", "cuda:1"}
        with free_gpu(1, tmp_path, other) as elsewhere:
            assert elsewhere == "cuda:0", "another job's GPUs are others"


def test_without_a_gpu_one_computes_on_the_cpu():
    with take_device("auto") as device:
        assert device == "cpu"
    with pytest.raises(ValueError, match="no CUDA device"), take_device("cuda"):
        pass
