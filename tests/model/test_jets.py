import pytest
import torch
from nested_autograd import derivative

from neumann_pinn.model.jets import HeatJet, linear, tanh, through_hidden
from neumann_pinn.model.network import Network


def sine(z):
    return torch.sin(z), torch.cos(z), -torch.sin(z)


@pytest.mark.parametrize(("activation", "plain"), [(tanh, torch.tanh), (sine, torch.sin)])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_heat_jets_equal_nested_autograd_on_any_number_of_axes(axes, activation, plain):
    diffusivity, n = 0.07, 11
    net = Network(axes + 1, width=13, depth=2)
    layers = net.layers(net.initial(3))
    points = torch.rand(axes + 1, n, dtype=torch.float64).requires_grad_()

    root = diffusivity**0.5
    unit = torch.eye(axes + 1, dtype=torch.float64)
    inputs = HeatJet(
        points,
        tuple(root * unit[:, [i]].expand(-1, n) for i in range(axes)),
        unit[:, [axes]].expand(-1, n),
    )
    (front,) = linear(layers[0], [inputs])
    (hidden,) = through_hidden(layers[1:-1], activation, [front])
    (out,) = linear(layers[-1], [hidden])

    h = points
    for layer in layers[:-1]:
        h = plain(layer.weight @ h + layer.bias)
    u = layers[-1].weight @ h + layers[-1].bias
    slopes = derivative(u, points)
    residual = slopes[axes].clone()
    for i in range(axes):
        residual -= diffusivity * derivative(slopes[i], points)[i]
        torch.testing.assert_close(out.slopes[i][0], root * slopes[i], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(out.value, u, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(out.residual[0], residual, rtol=1e-11, atol=1e-13)


def test_tanh_and_its_derivatives():
    z = torch.linspace(-4, 4, 101, dtype=torch.float64).requires_grad_()
    value, first, second = tanh(z)
    expected = torch.tanh(z)
    slope = derivative(expected, z)
    torch.testing.assert_close(value, expected, rtol=0, atol=1e-15)
    torch.testing.assert_close(first, slope, rtol=0, atol=1e-14)
    torch.testing.assert_close(second, derivative(slope, z), rtol=0, atol=1e-14)
