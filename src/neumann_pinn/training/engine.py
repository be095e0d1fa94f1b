"""Fast sums of a function over many points: equal blocks, compiled once, one thread per core.

A block is small enough to stay in a core's cache, and all blocks have the same shape, so that one
compilation serves them all. Each thread works through its own blocks with single-threaded kernels;
sums are taken in a fixed order, so that results do not depend on timing.
"""

import ctypes
import logging
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor

log = logging.getLogger(__name__)

Compile = bool | Literal["optional"]
BLOCK_COLUMNS = 1200
"""Points times streams in a CPU block: 100 rows of float32 then take 480 kB, within L2 cache."""


@dataclass(frozen=True)
class Machine:
    """Where to compute: a device, the threads on a CPU, and whether to compile."""

    device: torch.device
    threads: int = 1
    compile: bool = True
    must_compile: bool = False
    """Whether a failed compilation is an error rather than a warning."""

    @classmethod
    def choose(cls, device: str = "auto", threads: int = 1, compile: Compile = True) -> "Machine":
        """The machine for a device's name; `auto` takes CUDA if it is available.

        On CUDA, compilation must work unless it is `optional`; on a CPU it is always optional.
        """
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
        must_compile = compile is True and device != "cpu"
        return cls(
            torch.device(device), threads if device == "cpu" else 1, bool(compile), must_compile
        )

    @property
    def name(self) -> str:
        """The name of the GPU, or the CPU and its number of threads."""
        if self.device.type == "cuda":
            return torch.cuda.get_device_name(self.device)
        return f"CPU, {self.threads} thread{'s' if self.threads > 1 else ''}"

    def block_size(self, points: int, streams: int) -> int:
        """Points in a block: all of them on a GPU, equal, cache-sized parts on a CPU."""
        if self.device.type == "cuda":
            return points
        blocks = self.threads * math.ceil(points * streams / BLOCK_COLUMNS / self.threads)
        return 8 * math.ceil(points / blocks / 8)

    def synchronize(self) -> None:
        """Wait until the device has finished its work."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Single-threaded kernels during a computation: the parallelism is in the blocks."""
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
        try:
            compiled = _compiled(self.function, machine)
            with torch._dynamo.config.patch(trace_autograd_ops=True):
                compiled(theta, block)
        except Exception as error:  # no compiler, no Triton, an older torch, ...
            self.eager_reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
            if machine.must_compile:
                raise ValueError(
                    f"torch.compile does not work here ({self.eager_reason}), and without it a run "
                    "on CUDA takes several times as long: fix it, or write 'compile: optional' or "
                    "'compile: false' into the protocol"
                ) from error
            log.warning("torch.compile does not work here, running eagerly: %s", self.eager_reason)
        else:
            self.function = compiled


def _compiled(function: Callable[..., Any], machine: Machine) -> Callable[..., Any]:
    """A function to be compiled at its first call, for that call's shapes only."""
    # All blocks have the same shape, and nothing else calls it: no guards.
    options: dict[str, Any] = {"guard_filter_fn": torch.compiler.skip_all_guards_unsafe}
    if machine.device.type == "cpu":
        # A C++ wrapper releases the interpreter's lock, but takes longer to compile. The
        # processor's flags name its vector instructions; building and loading a probe for each
        # set of them costs every process 2 s, and 20 s if nothing is cached.
        options |= {
            "cpp_wrapper": machine.threads > 1,
            "cpp.threads": 1,
            "cpp.vec_isa_ok": True,
        }
    compiled: Callable[..., Any] = torch.compile(  # type: ignore[call-overload]
        function, dynamic=False, fullgraph=True, isolate_recompiles=True, options=options
    )
    return compiled


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
