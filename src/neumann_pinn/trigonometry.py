"""sin(pi y) and cos(pi y) with exact argument reduction.

Both are exact zeros where they should be, whatever the size of y, and so is the derivative that
autograd takes of the cosine: that is what makes a cosine feature flat at a wall to the last bit.
"""

import math

from torch import Tensor


def sinpi(y: Tensor) -> Tensor:
    """sin(pi y), exactly zero at every whole y."""
    y = y - 2 * (y / 2).round()  # exact, into [-1, 1]
    folded = y.sign() - y  # exact where it is used, |y| > 1/2
    return (math.pi * folded.where(y.abs() > 0.5, y)).sin()


def cospi(y: Tensor) -> Tensor:
    """cos(pi y), exactly zero at every odd multiple of 1/2, exactly flat at every whole y."""
    y = y - 2 * (y / 2).round()
    distance = y.abs()
    beside_half = (math.pi * (0.5 - distance)).sin()
    beside_one = -(math.pi * (y.sign() - y)).cos()
    far = beside_one.where(distance > 0.75, beside_half)
    return far.where(distance > 0.25, (math.pi * y).cos())
