"""A run on disk: history, parameters and provenance."""

import io
import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from neumann_pinn.commands.memory import peak_memory
from neumann_pinn.files import write_whole
from neumann_pinn.model.model import Model
from neumann_pinn.problems.limits import diffusivity_limit
from neumann_pinn.problems.problem import Problem
from neumann_pinn.training import history
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.evaluation import found_diffusivity, wall_violation
from neumann_pinn.training.loop import InterruptedRunError, Run
from neumann_pinn.training.protocol import Protocol

PACKAGES = ("numpy", "pandas", "scipy", "torch")


@contextmanager
def exit_on_interrupt(name: str) -> Iterator[None]:
    """If a run is asked to stop, say so and end the process as the signal would have."""
    try:
        yield
    except InterruptedRunError as interrupted:
        print(f"{name}: {interrupted}", flush=True)
        sys.exit(128 + interrupted.signal_number)


def write(
    run: Run,
    problem: Problem,
    model: Model,
    protocol: Protocol,
    replicate: int,
    machine: Machine,
    history_file: Path,
    model_file: Path,
    run_file: Path,
) -> None:
    """Write a run's three files, the provenance last."""
    history.write(run.history, history_file)
    buffer = io.BytesIO()
    torch.save({"best_theta": run.best_theta, "theta": run.theta}, buffer)
    write_whole(model_file, buffer.getvalue())
    document = provenance(run, problem, model, protocol, replicate, machine)
    write_whole(run_file, json.dumps(document, indent=2).encode())


def provenance(
    run: Run,
    problem: Problem,
    model: Model,
    protocol: Protocol,
    replicate: int,
    machine: Machine,
) -> dict[str, Any]:
    """Everything one might ask about how a run came about."""
    last = run.history.iloc[-1]
    network = model.parts[0]
    return {
        "status": run.status,
        "iterations": int(last["iteration"]),
        "error": float(last["error_at_best_loss"]),
        "seconds": float(last["seconds"]),
        "wall_violation": wall_violation(problem, model, run.best_theta.double()),
        "found_diffusivity": found_diffusivity(problem, model, run.best_theta),
        "peak_memory_mib": round(peak_memory(), 1),
        "replicate": replicate,
        "problem": repr(problem),
        "diffusivity": problem.diffusivity,
        "diffusivity_limit": diffusivity_limit(problem),
        "constraint": network.constraint.name,
        "embedding": ", ".join(type(embedding).__name__ for embedding in network.embeddings),
        "frequencies": [b for embedding in network.embeddings for b in embedding.frequencies],
        "network": {"width": network.width, "depth": network.depth},
        "protocol": asdict(protocol),
        "device": machine.name,
        "threads": machine.threads,
        "block_size": run.block_size,
        "compiled": run.eager_reason is None and protocol.optimizer == "adam",
        "eager_reason": run.eager_reason,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
        "git": git_state(),
    }


def git_state() -> dict[str, Any] | None:
    """The commit of this package's source and whether it had changes.

    None if it is not in its own checkout, for example when it is installed into an environment
    that happens to lie inside some other repository.
    """
    folder = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        git("ls-files", "--error-unmatch", Path(__file__).name)
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}
    except (OSError, subprocess.CalledProcessError):
        return None
