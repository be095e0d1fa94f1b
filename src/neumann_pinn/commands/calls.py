"""What a call of Snakemake does when it starts."""

import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any

from neumann_pinn.files import try_lock, write_whole
from neumann_pinn.study import calibration, config
from neumann_pinn.study.definition import Study


def claim_results(results: Path) -> Any:
    """Reserve a results folder for this call; it is an error if another call is working there.

    The lock does not outlive its process, however that ends; Snakemake's own would.
    """
    lock = try_lock(results / ".lock")
    if lock is None:
        sys.exit(
            f"neumann-pinn: another snakemake is at work in {results}, wait for it or choose "
            "another protocol"
        )
    return lock


def end_on_sigterm() -> None:
    """Run Snakemake's handler for SIGTERM in a separate thread.

    It takes a lock that the main thread may hold: run there, it would wait for itself for ever.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if current_thread() is main_thread() and callable(handler):
        signal.signal(signal.SIGTERM, lambda *args: Thread(target=handler, args=args).start())


def write_plan(study: Study) -> None:
    """Write the list of runs, for `neumann-pinn watch`."""
    names = {kind: list(study.config[kind]) for kind in ("settings", "methods")}
    names["replicates"] = list(range(study.config["replicates"]))
    write_whole(study.results / "plan.json", json.dumps(names).encode())


def expected_costs(study: Study, calibrations: Sequence[Path]) -> tuple[dict[str, float], str]:
    """Milliseconds per iteration of each method, and where they come from."""
    if all(path.exists() for path in calibrations):
        return calibration.read(calibrations), "as calibrated"
    from neumann_pinn.commands.models import make_model  # imports torch
    from neumann_pinn.training.estimate import rough_cost

    protocol, network = config.make_protocol(study.protocol), study.protocol["network"]
    problem = config.make_problem(next(iter(study.config["settings"].values())))
    costs = {
        name: rough_cost(problem, make_model(problem, entry, network), protocol)
        for name, entry in study.config["methods"].items()
    }
    return costs, "estimated from matrix products on the CPU"
