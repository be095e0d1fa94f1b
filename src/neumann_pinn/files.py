"""Files that are written whole or not at all, and locks that end with their process."""

import fcntl
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

log = logging.getLogger(__name__)

POLL_SECONDS = 0.5


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary name beside the target, flush it to the disk, rename."""
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


def try_lock(path: Path) -> IO[str] | None:
    """A lock held until the file is closed or the process ends; None while another one has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock; while another process has it, wait, and say so in the log."""
    file = try_lock(path)
    if file is None:
        log.info("another process holds %s: waiting for it to end", path)
    while file is None:
        time.sleep(POLL_SECONDS)
        file = try_lock(path)
    with file:
        yield
