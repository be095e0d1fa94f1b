"""All runs of a protocol at a glance, in a terminal, while they train."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REFRESH_SECONDS = 1.0
CELL = 30


@dataclass(frozen=True)
class Runs:
    """The state of the runs in a results folder."""

    plan: dict[str, Any]
    cells: dict[tuple[str, str], str]
    done: int
    total: int


def read(results: Path) -> Runs:
    """The current state of the runs, from the files in a results folder."""
    plan = _json(results / "plan.json")
    if plan is None:
        raise ValueError(
            f"{results}: no plan.json in it; give a folder results/<protocol> in which Snakemake "
            "has started"
        )
    cells, done = {}, 0
    for setting in plan["settings"]:
        for method in plan["methods"]:
            states = []
            for replicate in plan["replicates"]:
                place = Path(setting, method, str(replicate))
                run = _json(results / "runs" / place / "run.json")
                progress = _json(results / "checkpoints" / place / "progress.json")
                done += run is not None
                states.append(_words(run, progress))
            cells[setting, method] = _shared(states)
    return Runs(plan, cells, done, len(cells) * len(plan["replicates"]))


def render(runs: Runs) -> str:
    """The grid of settings and methods as text: a row for each method."""
    settings, methods = runs.plan["settings"], runs.plan["methods"]
    first = max(len(name) for name in methods) + 2
    lines = ["".join([" " * first, *(f"{name:<{CELL}}" for name in settings)]).rstrip()]
    for method in methods:
        cells = (f"{runs.cells[setting, method]:<{CELL}}" for setting in settings)
        lines.append("".join([f"{method:<{first}}", *cells]).rstrip())
    lines.append(f"{runs.done} of {runs.total} runs done")
    return "\n".join(lines)


def watch(results: Path, once: bool) -> None:
    """Show the grid, and keep updating it until all runs are done."""
    while True:
        runs = read(results)
        if sys.stdout.isatty() and not once:
            print("\033[2J\033[H", end="")
        print(render(runs), flush=True)
        if once or runs.done == runs.total:
            return
        time.sleep(REFRESH_SECONDS)


def _words(run: dict[str, Any] | None, progress: dict[str, Any] | None) -> str:
    if run is not None:
        return "diverged" if run["status"] == "diverged" else f"error {run['error']:.1e}"
    if progress is None:
        return "."
    percent = 100 * progress["iteration"] // progress["iterations"]
    minutes, seconds = divmod(round(progress["seconds_left"]), 60)
    left = f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"
    return f"{percent}% {progress['loss']:.0e} {progress['error']:.0e} {left}"


def _shared(states: list[str]) -> str:
    """One replicate's state, or how many of several are done."""
    if len(states) == 1:
        return states[0]
    done = sum(state.startswith(("error", "diverged")) for state in states)
    return f"{done}/{len(states)} replicates"


def _json(path: Path) -> dict[str, Any] | None:
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    return content
