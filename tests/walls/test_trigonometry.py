import math

import pytest
import sympy
import torch

from neumann_pinn.walls.trigonometry import cospi, sinpi


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_zeros_are_exact_for_large_arguments(dtype):
    whole = torch.arange(-3000, 3001, dtype=dtype)
    assert (sinpi(whole) == 0).all()
    assert (cospi(whole + 0.5) == 0).all()
    assert (cospi(whole) == 1 - 2 * (whole.abs() % 2)).all()


def test_values_are_right_to_rounding_where_plain_sine_is_not():
    y = torch.tensor([1e6 + 0.3, 50.0 + 2**-30, 7.25, -3.9, 0.1], dtype=torch.float64)
    for value, sine, cosine in zip(y, sinpi(y), cospi(y), strict=True):
        exact = sympy.Rational(float(value))
        assert float(sine) == pytest.approx(float(sympy.sin(sympy.pi * exact)), rel=1e-14)
        assert float(cosine) == pytest.approx(float(sympy.cos(sympy.pi * exact)), rel=1e-14)
    assert abs(math.sin(math.pi * (50.0 + 2**-30)) / float(sinpi(y[1])) - 1) > 1e-7
