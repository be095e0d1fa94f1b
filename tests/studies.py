"""A copy of the project on which the real Snakemake works, and its configuration."""

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from neumann_pinn.study.config import load_unique
from neumann_pinn.training import history

ROOT = Path(__file__).parents[1]
CONFIG = load_unique(ROOT / "config" / "config.yaml")
SCHEMA = load_unique(ROOT / "workflow" / "schemas" / "config.schema.yaml")
TINY = Path("results/tiny")
COMPILE = [False, True] if shutil.which(os.environ.get("CXX", "g++")) else [False]
"""Whether to compile: both ways, where there is a C++ compiler."""


def small_config():
    """Two settings and three methods on the protocol tiny."""
    config = copy.deepcopy(CONFIG) | {"protocol": "tiny"}
    config["settings"] = {name: config["settings"][name] for name in ("low", "poly3")}
    config["methods"] = {
        name: config["methods"][name] for name in ("vanilla", "existing", "cosine20")
    }
    del config["runs_per_gpu"]  # has a default
    return config


class Study:
    """A copy of the project with a configuration of its own."""

    def __init__(self, folder, config):
        self.folder = folder
        folder.mkdir(exist_ok=True, parents=True)
        if not (folder / "Snakefile").exists():
            shutil.copy(ROOT / "Snakefile", folder)
            for part in ("workflow", "src", "envs", "profiles"):
                shutil.copytree(ROOT / part, folder / part)
        self.configure(config)

    def configure(self, config):
        self.config = config
        path = self.folder / "config" / "config.yaml"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(yaml.safe_dump(config, sort_keys=False))

    def snakemake(self, *arguments, check=True):
        command = [sys.executable, "-m", "snakemake", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=self.folder)
        if check:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    def history(self, setting, method, replicate=0):
        """A run's history."""
        return history.read(self.folder / TINY / f"runs/{setting}/{method}/{replicate}/history.csv")

    def planned(self, *arguments):
        """How many jobs of each rule a dry run would start."""
        output = self.snakemake("-n", "--cores", "2", *arguments)
        lines = (output.stdout + output.stderr).splitlines()
        if "job" not in {line.split(" ")[0] for line in lines}:
            return {}
        table = lines[next(i for i, line in enumerate(lines) if line.startswith("job ")) + 2 :]
        counts = dict(line.split() for line in table[: table.index("")])
        return {
            rule: int(n) for rule, n in counts.items() if rule not in ("total", "all", "figures")
        }


def git(folder, *arguments):
    """What Git says in a folder, whoever commits there."""
    command = ["git", "-c", "user.name=n", "-c", "user.email=e", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
