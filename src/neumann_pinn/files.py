"""Files that are written whole or not at all, and locks that do not outlive their process."""

import io
import logging
import os
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary file in the same folder, flush it to disk, then rename it."""
    temporary = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise OSError(error.errno, f"{error.strerror}, nothing was written", str(path)) from error


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write named arrays as NPZ, whole or not at all."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    write_whole(path, buffer.getvalue())


def read_arrays(path: Path, names: Iterable[str], what: str) -> dict[str, np.ndarray]:
    """The named arrays of an NPZ file; errors name the file and what it should be."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not {what} ({error}); delete it to make it again") from error


def try_lock(path: Path) -> FileLock | None:
    """A lock held until it is released or the process ends; None while it is held elsewhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, thread_local=False)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock; while another process has it, wait and say so in the log."""
    lock = try_lock(path)
    if lock is None:
        log.info("another process holds %s: waiting for it to end", path)
    while lock is None:
        time.sleep(POLL_SECONDS)
        lock = try_lock(path)
    try:
        yield
    finally:
        lock.release()
