"""sin(pi y) and cos(pi y) with exact argument reduction.

Both are exactly zero where they should be, however large y is, and so is the derivative of the
cosine by autograd: this is what makes a cosine feature flat at a wall to the last bit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def sinpi(y: Tensor) -> Tensor:
    """sin(pi y), exactly zero at every integer y."""
    y = y - 2 * (y / 2).round()  # exact, into [-1, 1]
    folded = y.sign() - y  # exact where it is used, |y| > 1/2
    return (math.pi * folded.where(y.abs() > 0.5, y)).sin()


def cospi(y: Tensor) -> Tensor:
    """cos(pi y), exactly zero at every odd multiple of 1/2, exactly flat at every integer y."""
    y = y - 2 * (y / 2).round()
    distance = y.abs()
    near_half = (math.pi * (0.5 - distance)).sin()
    near_one = -(math.pi * (y.sign() - y)).cos()
    far = near_one.where(distance > 0.75, near_half)
    return far.where(distance > 0.25, (math.pi * y).cos())
