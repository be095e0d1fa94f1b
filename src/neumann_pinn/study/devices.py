"""Whether torch will find a CUDA device, without importing it."""

import ctypes
import runpy
from importlib.util import find_spec
from pathlib import Path


def has_cuda() -> bool:
    """Whether torch was built for CUDA and the driver has a device to offer."""
    return _torch_knows_cuda() and _visible_devices() > 0


def _torch_knows_cuda() -> bool:
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    return runpy.run_path(str(Path(spec.origin).with_name("version.py")))["cuda"] is not None


def _visible_devices() -> int:
    """How many devices the CUDA driver shows to this process; 0 without a driver."""
    for name in ("libcuda.so.1", "nvcuda.dll"):
        try:
            driver = ctypes.CDLL(name)
        except OSError:
            continue
        count = ctypes.c_int(0)
        if driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0:
            return count.value
    return 0
