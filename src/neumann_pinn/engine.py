"""Summing a function over many points fast: equal blocks, compiled once, a thread for each core.

A block is small enough to stay in a core's cache, and all blocks have the same shape, so that one
compilation serves them all. Each thread works through its own blocks with single-threaded kernels;
sums are taken in a fixed order, so that results do not depend on timing.
"""

import ctypes
import logging
import math
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

log = logging.getLogger(__name__)

BLOCK_COLUMNS = 1200
"""Points times streams in a CPU block: 100 rows of float32 then take 480 kB, a core's L2 cache."""


@dataclass(frozen=True)
class Machine:
    """Where to compute: a device, the threads on a CPU, and whether to compile."""

    device: torch.device
    threads: int = 1
    compile: bool = True

    @classmethod
    def choose(cls, device: str = "auto", threads: int = 1, compile: bool = True) -> "Machine":
        """The machine for a device's name; `auto` takes CUDA where there is one."""
        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        if device.split(":")[0] not in ("cpu", "cuda"):
            raise ValueError(f"device {device!r}: choose auto, cpu or cuda")
        if device != "cpu" and not torch.cuda.is_available():
            raise ValueError(
                f"device {device!r}: torch sees no CUDA device here, choose auto or cpu"
            )
        if threads < 1:
            raise ValueError(f"threads = {threads}: give at least 1")
        return cls(torch.device(device), threads if device == "cpu" else 1, compile)

    @property
    def name(self) -> str:
        """What computes, in words."""
        if self.device.type == "cuda":
            return torch.cuda.get_device_name(self.device)
        return f"CPU, {self.threads} thread{'s' if self.threads > 1 else ''}"

    def block_size(self, points: int, streams: int) -> int:
        """Points in a block: all of them on a GPU, a cache-sized and even part on a CPU."""
        if self.device.type == "cuda":
            return points
        blocks = self.threads * math.ceil(points * streams / BLOCK_COLUMNS / self.threads)
        return 8 * math.ceil(points / blocks / 8)

    def synchronize(self) -> None:
        """Wait until all that was asked of the device is done."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Single-threaded kernels for the time of a computation: the blocks are the parallelism."""
        if self.device.type == "cuda":
            yield
            return
        _keep_freed_memory()
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)


class BlockSum:
    """theta -> the sum over all blocks of function(theta, block), a tuple of tensors.

    Compiled for the shape of `example`, a theta, if one is given.
    """

    def __init__(
        self,
        function: Callable[[Tensor, Any], tuple[Tensor, ...]],
        blocks: Sequence[Any],
        machine: Machine,
        example: Tensor | None = None,
    ) -> None:
        self.eager_reason: str | None = None if machine.compile else "compilation was switched off"
        self.function = function
        if machine.compile and example is not None:
            self._compile(machine, example, blocks[0])
        share = math.ceil(len(blocks) / machine.threads)
        self.shares = [blocks[i : i + share] for i in range(0, len(blocks), share)]
        self.pool = (
            ThreadPoolExecutor(len(self.shares), initializer=torch.set_num_threads, initargs=(1,))
            if len(self.shares) > 1
            else None
        )

    def __call__(self, theta: Tensor) -> tuple[Tensor, ...]:
        if self.pool is None:
            return self._sum(theta, self.shares[0])
        parts = list(self.pool.map(lambda share: self._sum(theta, share), self.shares))
        for part in parts[1:]:
            _add(parts[0], part)
        return parts[0]

    def close(self) -> None:
        """End the threads."""
        if self.pool is not None:
            self.pool.shutdown()

    @torch.no_grad()
    def _sum(self, theta: Tensor, blocks: Sequence[Any]) -> tuple[Tensor, ...]:
        total = self.function(theta, blocks[0])
        for block in blocks[1:]:
            _add(total, self.function(theta, block))
        return total

    @torch.no_grad()
    def _compile(self, machine: Machine, theta: Tensor, block: Any) -> None:
        # All blocks have one shape and this function is compiled for itself alone: no guards.
        options: dict[str, Any] = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
        if machine.device.type == "cpu":
            # A C++ wrapper lets go of the interpreter's lock, but takes longer to compile. The
            # processor's flags name its vector instructions; building and loading a probe for each
            # set of them costs every process 2 s, and 20 s where nothing is cached.
            options |= {
                "cpp_wrapper": machine.threads > 1,
                "cpp.threads": 1,
                "cpp.vec_isa_ok": True,
            }
        compiled = torch.compile(  # type: ignore[call-overload]
            self.function, dynamic=False, fullgraph=True, isolate_recompiles=True, options=options
        )
        try:
            compiled(theta, block)
        except Exception as error:  # no compiler, no Triton, an unsupported activation, ...
            self.eager_reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            log.warning("torch.compile does not work here, running eagerly: %s", self.eager_reason)
        else:
            self.function = compiled


def pad(tree: Any, columns: int, more: int) -> Any:
    """A tuple of tensors, with `more` copies of the last of their `columns` behind."""

    def padded(tensor: Tensor) -> Tensor:
        if tensor.shape[-1] != columns:
            return tensor
        return torch.cat((tensor, tensor[..., -1:].expand(*tensor.shape[:-1], more)), -1)

    return _map(padded, tree)


def select(tree: Any, columns: int, chosen: Tensor) -> Any:
    """A tuple of tensors with some of their columns, in another order or more than once."""
    return _map(lambda tensor: tensor[..., chosen] if tensor.shape[-1] == columns else tensor, tree)


def cut(tree: Any, columns: int, size: int) -> list[Any]:
    """A tuple of tensors, cut into blocks of `size` along the last axis; one column is shared."""
    if isinstance(tree, Tensor) and tree.shape[-1] == columns:
        return [part.contiguous() for part in tree.split(size, -1)]
    if isinstance(tree, Tensor) or not tree:
        return [tree] * (columns // size)
    parts = zip(*(cut(branch, columns, size) for branch in tree), strict=True)
    return [type(tree)(*part) if hasattr(tree, "_fields") else part for part in parts]


def cast(tree: Any, dtype: torch.dtype, device: torch.device) -> Any:
    """A tuple of tensors in another precision and place."""
    return _map(lambda tensor: tensor.to(device, dtype), tree)


def peak_memory() -> float:
    """The peak resident memory of this process in MiB."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # bytes on macOS


def _map(function: Callable[[Tensor], Tensor], tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return function(tree)
    parts = (_map(function, branch) for branch in tree)
    return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


def _add(total: tuple[Tensor, ...], part: tuple[Tensor, ...]) -> None:
    for one, other in zip(total, part, strict=True):
        one += other


def _keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the system at every step.

    Otherwise each step pays for thousands of page faults: half its time with large blocks.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            trim_threshold, mmap_threshold = -1, -3
            mallopt(mmap_threshold, 1 << 30)
            mallopt(trim_threshold, (1 << 31) - 1)
