import torch
from scipy.stats import qmc

from neumann_pinn.problems.points import hammersley, van_der_corput


def test_the_van_der_corput_sequence_is_scipy_s():
    expected = qmc.Halton(d=1, scramble=False).random(1001)[1:, 0]
    assert van_der_corput(1000).tolist() == expected.tolist()
    assert van_der_corput(0).tolist() == []


def test_points_lie_where_they_should():
    points = hammersley(1000, 100, 51)
    domain, initial, walls = points.x.split([1000, 100, 51])
    assert len(points) == len(points.x) == len(points.t) == 1151
    assert ((domain > 0) & (domain < 1)).all()
    assert ((points.t[:1000] > 0) & (points.t[:1000] < 1)).all()
    assert (points.t[1000:1100] == 0).all()
    assert len(initial.unique()) == 100
    assert sorted(walls.tolist()) == [0.0] * 26 + [1.0] * 25


def test_domain_points_fill_the_square_better_than_chance():
    points = hammersley(1000, 1, 1)
    ours = qmc.discrepancy(torch.stack((points.x, points.t), 1)[:1000].numpy())
    chance = qmc.discrepancy(torch.rand(1000, 2, generator=torch.manual_seed(0)).numpy())
    assert ours < chance / 10


def test_each_wall_gets_times_from_all_of_the_interval():
    points = hammersley(1, 1, 1000)
    x, t = points.x[2:], points.t[2:]
    for wall in (0.0, 1.0):
        counts = torch.histc(t[x == wall], bins=8, min=0, max=1)
        assert ((counts - 500 / 8).abs() < 1).all()
