"""What a run asks a scheduler for is what it takes, and not many times more."""

import copy
import json
import subprocess
import sys

import pytest
from studies import CONFIG, SCHEMA

from neumann_pinn.study.config import check
from neumann_pinn.study.definition import Study

TRAIN = """
import json, sys
from neumann_pinn import Machine, train
from neumann_pinn.commands.memory import peak_memory
from neumann_pinn.commands.models import make_model
from neumann_pinn.study.config import make_problem, make_protocol
setting, method, protocol = json.loads(sys.argv[1])
problem = make_problem(setting)
model = make_model(problem, method, protocol["network"])
machine = Machine.choose("cpu", compile=protocol["compile"])
train(problem, model, make_protocol(protocol), machine=machine)
print(peak_memory())
"""


def study(**protocol):
    config = copy.deepcopy(CONFIG)
    config["protocols"]["measured"] = {"iterations": 2, "evaluate_every": 2, **protocol}
    return Study(check(config | {"protocol": "measured"}, SCHEMA))


NEWTON = {"optimizer": "gauss_newton", "precision": "float64"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "method", "protocol"),
    [
        ("low", "vanilla", {"compile": False}),
        ("low", "existing_fourier50", {"compile": False}),
        ("low", "existing", NEWTON),
        ("box3", "vanilla", NEWTON),
        ("poisson", "cosine", NEWTON),
    ],
)
def test_a_run_takes_no_more_memory_than_it_asks_for(setting, method, protocol):
    """At 20,000 points with Adam, whose loss is taken in blocks; at 1,000 with Gauss-Newton."""
    if "optimizer" in protocol:
        axes = 3 if setting == "box3" else 1
        points = {"domain": 1000 // axes, "initial": 200 // axes, "boundary": 100 // axes}
        protocol = protocol | {"points": points}
    measured = study(**protocol)
    parts = [measured.setting(setting), measured.method(setting, method), measured.protocol]
    command = [sys.executable, "-c", TRAIN, json.dumps(parts)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    peak, asked = float(said), measured.megabytes(setting, method)
    assert peak < asked < 4 * peak


def test_points_features_and_the_kernel_cost_memory():
    small = {"points": {"domain": 1000, "initial": 100, "boundary": 100}}
    large = {"points": {"domain": 10_000, "initial": 100, "boundary": 100}}
    few, many, newton = study(**small), study(**large), study(**large, **NEWTON)
    assert few.megabytes("low", "vanilla") < many.megabytes("low", "vanilla")
    assert many.megabytes("low", "cosine1") < many.megabytes("low", "cosine50")
    kernel = newton.megabytes("low", "cosine1") - many.megabytes("low", "cosine1")
    assert kernel > 8 * 10_000**2 / 1e6
    axes = [many.megabytes(setting, "vanilla") for setting in ("interval", "box2", "box3")]
    assert axes == sorted(set(axes))


def test_a_time_limit_is_twice_the_calibrated_time_and_ten_minutes():
    costs = {"vanilla": 10.0, "cosine1": 30.0}
    limit = study(iterations=60_000, evaluate_every=100, cost="calibrated").minutes
    assert limit("low", "vanilla", costs) == pytest.approx(10 + 2 * 10)
    assert limit("low", "cosine1", costs) == pytest.approx(10 + 2 * 30)
