import pytest
import torch
from scipy.stats import qmc

from neumann_pinn import PROBLEMS, Cosines, heat
from neumann_pinn.problems.points import (
    Counts,
    grid_points,
    inside,
    make_points,
    on_wall,
    spread_places,
)

LOW = heat(Cosines({2: 1.0}), 2)
SOME = Counts(50, 20, 10)


def of_interval(domain, initial, boundary, **options):
    return make_points(LOW, Counts(domain, initial, boundary), **options)


def of_all(points):
    return torch.cat((points.inside, points.start, *points.walls.values()))


def test_the_sequences_are_scipy_s():
    """In base 2 to the bit, in others to rounding."""
    start = make_points(PROBLEMS["box3"], Counts(1, 400, 1)).start
    expected = torch.from_numpy(qmc.Halton(d=3, scramble=False).random(1201)[1:])
    assert start[:, 0].tolist() == expected[:, 0].tolist()
    torch.testing.assert_close(start[:, :3], expected, rtol=0, atol=1e-15)
    assert of_interval(1, 1000, 1).start[:, 0].tolist() == expected[:1000, 0].tolist()


def test_points_of_an_interval_lie_where_they_should():
    points = of_interval(1000, 100, 51)
    x, t = points.inside.T
    i = torch.arange(1, 1001, dtype=torch.float64)
    assert of_all(points).shape == (1151, 2)
    assert ((x > 0) & (x < 1)).all()
    assert t.tolist() == (i / 1001).tolist()
    assert (points.start[:, 1] == 0).all()
    assert len(points.start[:, 0].unique()) == 100
    walls = {wall: group[:, 0].tolist() for wall, group in points.walls.items()}
    assert walls == {(0, "left"): [0.0] * 26, (0, "right"): [1.0] * 25}


def test_a_wall_may_have_no_point():
    assert of_interval(1, 1, 1).walls[0, "right"].shape == (0, 2)


@pytest.mark.parametrize("shift", [None, 3])
@pytest.mark.parametrize("name", PROBLEMS)
def test_points_of_any_box_lie_where_they_should(name, shift):
    """Counts are per axis; all coordinates are spread between the walls and from start to end."""
    problem = PROBLEMS[name]
    axes = len(problem.axes)
    points = make_points(problem, Counts(200, 100, 81), shift=shift)
    assert points.inside.shape == (200 * axes, problem.columns)
    assert points.start.shape == (0 if problem.steady else 100 * axes, problem.columns)
    if not problem.steady:
        assert (points.start[:, -1] == 0).all()
        assert ((points.inside[:, -1] > 0) & (points.inside[:, -1] < 1)).all()
    assert list(points.walls) == [(i, side) for i in range(axes) for side in ("left", "right")]
    for (i, side), group in points.walls.items():
        assert group.shape == (41 if side == "left" else 40, problem.columns)
        assert (group[:, i] == problem.axes[i].wall(side)).all()
    groups = [points.inside, points.start[:, :axes], *points.walls.values()]
    for group in groups:
        for i in range(group.shape[1] if len(group) else 0):
            low, high = problem.axes[i].ends if i < axes else (0.0, 1.0)
            assert ((group[:, i] >= low) & (group[:, i] <= high)).all()
            if len(group[:, i].unique()) > 1:
                counts = torch.histc(group[:, i], 4, low, high)
                assert (counts > 0.15 * len(group)).all()


def test_points_inside_fill_the_square_better_than_chance():
    ours = qmc.discrepancy(of_interval(1000, 1, 1).inside.numpy())
    chance = qmc.discrepancy(torch.rand(1000, 2, generator=torch.manual_seed(0)).numpy())
    assert ours < chance / 10


def test_each_wall_gets_times_from_all_of_the_interval():
    for group in of_interval(1, 1, 1000).walls.values():
        counts = torch.histc(group[:, 1], bins=8, min=0, max=1)
        assert ((counts - 500 / 8).abs() < 1).all()


def test_walls_have_times_and_places_of_their_own():
    points = make_points(PROBLEMS["box2"], SOME)
    times = torch.cat([group[:, -1] for group in points.walls.values()])
    assert len(times.unique()) == len(times) == 20


def test_shifted_points_stay_where_they_belong_and_differ():
    points = make_points(LOW, SOME)
    sets = [make_points(LOW, SOME, shift=number) for number in (-1, 1, 2)]
    for moved in sets:
        assert ((of_all(moved) >= 0) & (of_all(moved) <= 1)).all()
        assert (moved.start[:, 1] == 0).all()
        for wall, group in moved.walls.items():
            assert group[:, 0].tolist() == points.walls[wall][:, 0].tolist()
    for name in ("inside", "start"):
        groups = [getattr(each, name)[:, 0] for each in (points, *sets)]
        assert len({tuple(group.tolist()) for group in groups}) == 4
    for wall in points.walls:
        assert len({tuple(each.walls[wall][:, 1].tolist()) for each in (points, *sets)}) == 4


def test_a_shift_moves_a_set_as_a_whole_and_around_the_box():
    problem = PROBLEMS["interval"]
    lengths = torch.tensor([3.5, 1.0], dtype=torch.float64)
    moves = inside(problem, 50, 5) - make_points(problem, SOME).inside
    unit = moves / lengths % 1
    torch.testing.assert_close(unit, unit[:1].expand(50, 2), rtol=0, atol=1e-14)
    assert (unit[0] > 0.01).all()
    assert inside(problem, 50, 5).tolist() == make_points(problem, SOME, shift=5).inside.tolist()


@pytest.mark.parametrize("number", [-2, -1, 1, 2, 40])
def test_shifts_on_an_interval_are_roberts_sequence_in_four_dimensions(number):
    golden = 1.1673039782614187
    assert golden**5 == pytest.approx(golden + 1, rel=1e-15)
    points, moved = make_points(LOW, SOME), make_points(LOW, SOME, shift=number)
    left = (0, "left")
    shifts = [
        moved.inside[0, 0] - points.inside[0, 0],
        moved.inside[0, 1] - points.inside[0, 1],
        moved.start[0, 0] - points.start[0, 0],
        moved.walls[left][0, 1] - points.walls[left][0, 1],
    ]
    for power, shift in enumerate(shifts, start=1):
        around = (float(shift) - 0.5 - number * golden**-power) % 1
        assert min(around, 1 - around) < 1e-13


def test_neighbours_share_times_which_fill_the_interval():
    points, shared = (make_points(LOW, SOME, sharing=count) for count in (1, 8))
    assert shared.inside[:, 0].tolist() == points.inside[:, 0].tolist()
    assert shared.start.tolist() == points.start.tolist()
    for wall, group in shared.walls.items():
        assert group.tolist() == points.walls[wall].tolist()
    times, counts = shared.inside[:, 1].unique(return_counts=True)
    assert times.tolist() == pytest.approx([(2 * k + 1) / 14 for k in range(7)], rel=1e-15)
    assert counts.tolist() == [8] + [7] * 6
    moved = make_points(LOW, SOME, shift=3, sharing=8, grading=2.0)
    assert len(moved.inside[:, 1].unique()) == 7


def test_steady_points_have_no_times_to_share_or_to_grade():
    problem = PROBLEMS["poisson"]
    plain, other = (
        make_points(problem, SOME, **options) for options in ({}, {"sharing": 8, "grading": 2.0})
    )
    assert other.inside.tolist() == plain.inside.tolist()
    assert of_all(other).tolist() == of_all(plain).tolist()


@pytest.mark.parametrize("shift", [None, 3])
def test_graded_times_crowd_at_the_start(shift):
    points, moved = (make_points(LOW, SOME, shift=shift, grading=g) for g in (1.0, 2.0))
    assert of_all(moved)[:, 0].tolist() == of_all(points)[:, 0].tolist()
    assert of_all(moved)[:, 1].tolist() == (of_all(points)[:, 1] ** 2).tolist()
    if shift is None:
        assert int((moved.inside[:, 1] < 0.25).sum()) == 25


def test_points_on_a_wall_are_those_of_training():
    problem = PROBLEMS["box_flux"]
    walls = make_points(problem, Counts(1, 1, 20)).walls
    for wall, _ in problem.prescribed("slope"):
        assert on_wall(problem, wall, 10).tolist() == walls[wall].tolist()


def test_places_on_an_interval_are_nodes_and_in_a_box_they_are_spread():
    axis, other = PROBLEMS["interval"].axes[0], PROBLEMS["one_wall"].axes[0]
    nodes = torch.linspace(-1.5, 2.0, 7, dtype=torch.float64)[:, None]
    torch.testing.assert_close(spread_places([axis], 7), nodes, rtol=0, atol=1e-15)
    places = spread_places([axis, other], 400)
    assert ((places >= torch.tensor([-1.5, 0.0])) & (places <= 2.0)).all()
    unit = (places - torch.tensor([-1.5, 0.0])) / torch.tensor([3.5, 2.0])
    chance = qmc.discrepancy(torch.rand(400, 2, generator=torch.manual_seed(0)).numpy())
    assert qmc.discrepancy(unit.numpy()) < chance / 4


def test_the_points_of_a_grid_come_time_by_time():
    x, t = torch.rand(3, 2), torch.rand(2)
    points = grid_points(x, t, steady=False).view(2, 3, 3)
    assert points.dtype == torch.float64
    for i in range(2):
        assert points[i, :, :2].tolist() == x.tolist()
        assert (points[i, :, 2] == t[i]).all()
    assert grid_points(x, t[:1], steady=True).tolist() == x.tolist()


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_reference_is_the_exact_solution(name):
    problem = PROBLEMS[name]
    x, t, u = problem.reference(7, 4)
    assert u.shape == (1 if problem.steady else 4, 7 * len(problem.fields))
    assert x.shape == (7, len(problem.axes))
    for i in range(len(t)):
        at = x if problem.steady else torch.cat((x, t[i].expand(7, 1)), 1)
        exact = torch.cat([unknown.exact(at) for unknown in problem.fields])
        torch.testing.assert_close(u[i], exact, rtol=1e-15, atol=1e-15)
