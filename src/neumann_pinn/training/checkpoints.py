"""Checkpoints: written whole, checked by a digest, the last two kept, loaded without running code.

A checkpoint belongs to a key, a hash of everything that shapes a trajectory except its length.
Files with another key belong to another run and are left alone.
"""

import hashlib
import io
import logging
import os
import pickle
from pathlib import Path
from typing import Any

import torch

from neumann_pinn.files import write_whole

log = logging.getLogger(__name__)

DIGEST = hashlib.sha256().digest_size
UNREADABLE = (
    pickle.UnpicklingError,
    RuntimeError,
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    OSError,
)
"""What `torch.load` raises on content that is incomplete, or that would run code."""


class Checkpoints:
    """The checkpoints of one key in a folder."""

    def __init__(self, folder: Path, key: str) -> None:
        self.last = folder / f"{key[:16]}.pt"
        self.previous = folder / f"{key[:16]}.previous.pt"
        self.key = key

    def save(self, state: dict[str, Any]) -> None:
        """Write the state; the last checkpoint becomes the previous one."""
        buffer = io.BytesIO()
        torch.save(state | {"key": self.key}, buffer)
        content = buffer.getvalue()
        if self.last.exists():
            os.replace(self.last, self.previous)
        write_whole(self.last, content + hashlib.sha256(content).digest())

    def load(self) -> dict[str, Any] | None:
        """The newest intact state; a damaged file is set aside with a warning."""
        for path in (self.last, self.previous):
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                continue
            state = _unpack(content)
            if state is not None and state.get("key") == self.key:
                return state
            aside = path.with_suffix(".damaged")
            os.replace(path, aside)
            log.warning("%s is damaged: set aside as %s", path, aside.name)
        return None


def _unpack(content: bytes) -> dict[str, Any] | None:
    """The state in a file's content, or None if it is damaged."""
    content, digest = content[:-DIGEST], content[-DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        return None
    try:
        return torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
    except UNREADABLE:
        return None
