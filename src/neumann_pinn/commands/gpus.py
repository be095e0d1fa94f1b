"""Several runs at once on the GPUs of one machine: each takes a free one and holds its lock.

A lock does not outlive the process that holds it, however that ends. Locks are shared by the runs
of one user on one machine, or of one job if a scheduler assigned GPUs to that job.
"""

import getpass
import itertools
import logging
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch

from neumann_pinn.files import POLL_SECONDS, try_lock
from neumann_pinn.training.engine import Machine

log = logging.getLogger(__name__)

SCHEDULERS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "KUBERNETES_SERVICE_HOST")
"""Environment variables that schedulers set in their jobs."""


@contextmanager
def take_device(device: str, runs_per_gpu: int = 1) -> Iterator[str]:
    """`cpu`, or a free GPU if `device` asks for one, or is `auto` and there is one."""
    if Machine.choose(device).device.type == "cpu":
        yield "cpu"
        return
    with free_gpu(runs_per_gpu) as gpu:
        yield gpu


@contextmanager
def free_gpu(
    runs_per_gpu: int = 1,
    folder: Path | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Iterator[str]:
    """A device such as `cuda:0` that fewer than `runs_per_gpu` other runs are using."""
    visible = environment.get("CUDA_VISIBLE_DEVICES")
    count = torch.cuda.device_count()
    names = visible.split(",")[:count] if visible else [str(index) for index in range(count)]
    folder = folder or Path(tempfile.gettempdir(), f"neumann-pinn-gpus-{getpass.getuser()}")
    job = next((environment[name] for name in SCHEDULERS if name in environment), None)
    if visible is not None and job is not None:
        log.info("the scheduler gave this job CUDA_VISIBLE_DEVICES=%s", visible)
        if len(names) == 1:
            yield "cuda:0"
            return
        folder = folder / f"job-{job.replace('/', '_')}"
    places = list(itertools.product(range(runs_per_gpu), enumerate(names)))
    waiting = False
    while True:
        for place, (index, name) in places:
            lock = try_lock(folder / f"{name.strip().replace('/', '_')}.{place}")
            if lock is not None:
                log.info("took GPU %s, place %d of %d on it", name, place + 1, runs_per_gpu)
                try:
                    yield f"cuda:{index}"
                finally:
                    lock.release()
                return
        if not waiting:
            log.info("no GPU is free: waiting for one of %s", ", ".join(names))
            waiting = True
        time.sleep(POLL_SECONDS)
