"""A run's provenance: which commit it was made by."""

import os
import shutil
import subprocess
import sys

from studies import git

from neumann_pinn.training.sources import PACKAGE

PRINT = "from neumann_pinn.commands.runs import git_state; print(git_state())"


def state(folder):
    """What a package in this folder says of its commit."""
    environment = os.environ | {"PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", PRINT]
    return subprocess.check_output(command, text=True, env=environment, cwd="/").strip()


def repository(folder):
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "notes.txt").write_text("something else\n")


def test_a_checkout_says_its_commit_and_whether_it_was_changed(tmp_path):
    folder = tmp_path / "checkout"
    repository(folder)
    shutil.copytree(PACKAGE, folder / "neumann_pinn", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / ".gitignore").write_text("__pycache__\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    commit = git(folder, "rev-parse", "HEAD")
    assert state(folder) == str({"commit": commit, "dirty": False})
    (folder / "neumann_pinn" / "files.py").write_bytes((PACKAGE / "files.py").read_bytes() + b"#")
    assert state(folder) == str({"commit": commit, "dirty": True})


def test_a_package_installed_inside_another_repository_names_no_commit(tmp_path):
    folder = tmp_path / "project"
    repository(folder)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    shutil.copytree(PACKAGE, folder / "env" / "neumann_pinn")
    assert state(folder / "env") == "None"
