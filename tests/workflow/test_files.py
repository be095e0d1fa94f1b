"""Bad files, full disks, read-only folders, two calls at once."""

import errno
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress

import pytest
from small_runs import assert_same, run
from studies import TINY, Study, small_config

from neumann_pinn.files import try_lock, write_whole


def test_a_file_is_written_whole(tmp_path):
    path = tmp_path / "folder" / "file"
    write_whole(path, b"one")
    write_whole(path, b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(path.parent) == ["file"]


def test_a_write_that_fails_names_the_file_and_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device, nothing was written: '.*file'"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 300 kB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk):
    """Leave no room at all."""
    with (disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(b"x" * 1000)


@pytest.mark.slow
def test_a_run_that_fills_the_disk_says_so_and_goes_on_when_there_is_room(small_disk):
    run(100, small_disk / "run", checkpoint_seconds=60.0)
    fill(small_disk)
    with pytest.raises(OSError, match="No space left on device, nothing was written"):
        run(400, small_disk / "run")
    assert not list(small_disk.rglob("*.part"))
    (small_disk / "ballast").unlink()
    resumed = run(400, small_disk / "run")
    assert resumed.resumed_at == 100
    assert_same(resumed, run(400))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["full", "read-only"])
def test_snakemake_on_a_full_or_read_only_disk_is_a_clear_line(small_disk, tmp_path, kind):
    study = Study(tmp_path / "study", small_config())
    results = study.folder / "results"
    results.symlink_to(small_disk)
    if kind == "full":
        fill(small_disk)
    else:
        subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    target = str(TINY / "claims.csv")
    done = study.snakemake("--cores", "2", target, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert ("No space left on device" if kind == "full" else "Read-only file system") in said
    assert "Traceback" not in said
    assert not list(small_disk.rglob("*.part"))
    if kind == "full":
        (small_disk / "ballast").unlink()
        subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
        study.snakemake("--cores", "2", target)
        assert (results / "tiny" / "claims.csv").exists()


@pytest.mark.parametrize(
    ("file", "target", "words"),
    [
        ("runs/low/cosine20/0/history.csv", "accuracy.csv", "not a history"),
        pytest.param(
            *("runs/low/cosine20/0/model.pt", "predictions/low.npz", "not a run's parameters"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("references/low.npz", "predictions/low.npz", "not a reference solution"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_damaged_file_is_named_with_the_remedy(again, file, target, words):
    path = again.folder / TINY / file
    path.write_bytes(path.read_bytes()[:-7])
    call = (str(TINY / target), "--cores", "2", "--rerun-triggers", "mtime", "input")
    done = again.snakemake(*call, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 1
    assert f"neumann-pinn: {TINY / file}: {words}" in said, said
    assert "delete it to" in said
    assert "Traceback" not in said
    path.unlink()
    again.snakemake(str(TINY / file), *call[1:])
    assert path.exists()


def test_two_calls_on_one_folder_do_not_disturb_each_other(again):
    shutil.rmtree(again.folder / TINY / "runs")
    lock = try_lock(again.folder / TINY / ".lock")
    done = again.snakemake("--cores", "2", check=False)
    assert done.returncode == 1
    assert "neumann-pinn: another snakemake is at work in results/tiny" in done.stderr
    assert not (again.folder / TINY / "runs").exists()
    lock.release()


def test_a_killed_call_leaves_no_lock_behind(tmp_path):
    study = Study(tmp_path / "study", small_config())
    target = str(TINY / "tables/settings.tex")
    command = [sys.executable, "-m", "snakemake", "--cores", "2", target]
    first = subprocess.Popen(command, cwd=study.folder, stderr=subprocess.DEVNULL)
    while not (study.folder / TINY / "plan.json").exists():
        time.sleep(0.05)
    first.kill()
    first.wait()
    study.snakemake("--cores", "2", target)
    assert (study.folder / target).exists()
