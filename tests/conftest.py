"""Fixtures that several rooms share, one thread for each test, and hypothesis' profiles."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch and numpy are imported, here and in subprocesses

import copy
import pickle
import shutil

import hypothesis
import pytest
from filelock import FileLock
from studies import Study, small_config

hypothesis.settings.register_profile(
    "few",
    max_examples=10,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.register_profile(
    "many", hypothesis.settings.get_profile("few"), max_examples=60
)
hypothesis.settings.load_profile("few")


def pytest_collection_modifyitems(items):
    """The longest tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("longest") is None)


@pytest.fixture(scope="session")
def finished(tmp_path_factory, worker_id):
    """A small study that has been run, once for all workers; nobody changes it."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    with FileLock(shared / "finished.lock"):
        record = shared / "finished.pickle"
        if not record.exists():
            study = Study(shared / "finished", small_config())
            study.output = study.snakemake("--cores", "2")
            record.write_bytes(pickle.dumps(study))
    return pickle.loads(record.read_bytes())


@pytest.fixture
def again(finished, tmp_path):
    """A copy of it to change, file times and Snakemake's records included."""
    shutil.copytree(finished.folder, tmp_path / "copy", symlinks=True)
    return Study(tmp_path / "copy", copy.deepcopy(finished.config))
