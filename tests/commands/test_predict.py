"""What trained models say of the solution and of the walls."""

import numpy as np
import pytest
import torch

from neumann_pinn import Cosines, heat, method
from neumann_pinn.commands.predict import predict, read_parameters, wall_slope
from neumann_pinn.study.predictions import Prediction

PROBLEM = heat(Cosines({2: 1.0}), 2)
NAMES = ("vanilla", "existing_fourier20", "cosine50")


def parameters(dtype=torch.float64):
    return {name: method(name).network.initial(3).to(dtype) for name in NAMES}


def made(dtype=torch.float64):
    models = {name: method(name) for name in NAMES}
    return predict(
        models, parameters(dtype), "cosine50", PROBLEM.reference(30, 10), PROBLEM.diffusivity
    )


@pytest.mark.parametrize("name", NAMES)
def test_wall_slopes_are_those_of_finite_differences(name):
    model, theta = method(name), parameters()[name]
    t = torch.linspace(0, 1, 7, dtype=torch.float64)
    h = 1e-6
    for wall in (0.0, 1.0):
        beside = torch.tensor([[wall - h], [wall + h]], dtype=torch.float64)
        left, right = model.values(theta, model.nodes(beside, t)).T
        slopes = wall_slope(model, theta, wall, t, PROBLEM.diffusivity)
        torch.testing.assert_close(slopes, (right - left) / (2 * h), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_constraint_is_visible(dtype):
    slopes = dict(zip(NAMES, np.abs(made(dtype).wall_slopes).max((1, 2)), strict=True))
    assert slopes["vanilla"] > 1e-3
    assert 0 < slopes["existing_fourier20"] < (1e-3 if dtype == torch.float32 else 1e-11)
    assert slopes["cosine50"] == 0


def test_a_prediction_survives_the_disk(tmp_path):
    made().write(tmp_path / "low.npz")
    back = Prediction.read(tmp_path / "low.npz")
    assert str(back.best_method) == "cosine50"
    assert back.best.shape == back.reference.shape == (10, 30)
    assert (back.x.shape, back.t.shape) == ((30,), (10,))
    np.testing.assert_array_equal(back.wall_slopes, made().wall_slopes)


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 broken"])
def test_bad_files_are_named(tmp_path, content):
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"bad\.bin: not a prediction"):
        Prediction.read(path)
    with pytest.raises(ValueError, match=r"bad\.bin: not a run's parameters"):
        read_parameters(path)
