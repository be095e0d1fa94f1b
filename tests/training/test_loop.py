"""Runs that are stopped, killed, continued, damaged and diverging."""

import hashlib
import io
import logging
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from small_runs import EAGER, LOW, MODES, SMALL, assert_same, run, small

from neumann_pinn import Machine, Protocol, method, train
from neumann_pinn.commands.predict import read_parameters
from neumann_pinn.files import try_lock
from neumann_pinn.training import progress
from neumann_pinn.training.adam import Adam
from neumann_pinn.training.batches import make_batch, points_of
from neumann_pinn.training.checkpoints import Checkpoints
from neumann_pinn.training.evaluation import Evaluation
from neumann_pinn.training.history import Row
from neumann_pinn.training.trainers import AdamTrainer


def test_the_history_says_what_happened():
    done = run(200, name="vanilla")
    history = done.history
    assert done.status == "finished"
    assert history["iteration"].tolist() == list(range(0, 201, 20))
    assert history["seconds"].is_monotonic_increasing
    assert (history["best_loss"] == history["loss"].cummin()).all()
    total = history["loss_pde"] + history["loss_initial"] + history["loss_boundary"]
    assert (total - history["loss"]).abs().max() < 1e-6
    at_best = history.loc[history["loss"].idxmin()]
    assert history["error_at_best_loss"].iloc[-1] == at_best["error"]


def test_errors_are_those_of_the_prediction_on_the_grid():
    done = run(40)
    model = small("cosine20")
    x, t, reference = LOW.reference(20, 10)
    u = model.values(done.best_theta.double(), model.nodes(x, t))
    error = float((u - reference).norm() / reference.norm())
    assert done.history["error_at_best_loss"].iloc[-1] == pytest.approx(error, rel=1e-4)


def test_training_lowers_the_error():
    history = run(400, name="cosine1", protocol=SMALL | {"learning_rate": 5e-3}).history
    assert history["error_at_best_loss"].iloc[-1] < 0.2 * history["error"].iloc[0]


def test_loss_weights_weigh_the_total():
    protocol = Protocol(iterations=20, weights=(0.5, 3.0, 2.0), **SMALL)
    row = train(LOW, small("vanilla"), protocol, machine=EAGER).history.iloc[-1]
    total = 0.5 * row["loss_pde"] + 3 * row["loss_initial"] + 2 * row["loss_boundary"]
    assert row["loss"] == pytest.approx(total)


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path):
    straight = run(200)
    first = run(80, tmp_path)
    second = run(200, tmp_path)
    assert (first.resumed_at, second.resumed_at) == (0, 80)
    assert second.history["seconds"].is_monotonic_increasing
    assert_same(second, straight)


def test_a_finished_run_is_not_trained_again(tmp_path):
    first = run(60, tmp_path)
    again = run(60, tmp_path)
    assert again.resumed_at == 60
    assert_same(again, first)
    assert again.history["seconds"].tolist() == first.history["seconds"].tolist()


def test_a_finished_run_is_returned_without_making_a_trainer(tmp_path, monkeypatch):
    first = run(60, tmp_path)

    def made(*_):
        raise AssertionError("a trainer was made, and compiled, for nothing")

    monkeypatch.setattr("neumann_pinn.training.run.make_trainer", made)
    for iterations in (60, 40):
        again = run(iterations, tmp_path)
        assert (again.block_size, again.eager_reason) == (first.block_size, first.eager_reason)
        assert_same(again, first)
    with pytest.raises(AssertionError, match="a trainer was made"):
        run(80, tmp_path)


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_runs import MODES, run
done = run(int(sys.argv[4]), Path(sys.argv[2]), **MODES[sys.argv[3]])
print(done.resumed_at)
"""


ITERATIONS = {"eager": 1000, "compiled": 1000, "gauss_newton": 200}


def start(folder, mode):
    tests = Path(__file__).parents[1]
    command = [sys.executable, "-c", SCRIPT, str(tests), str(folder), mode, str(ITERATIONS[mode])]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def checkpoint_times(folder):
    """When the checkpoints were written; they may be renamed at any moment."""
    times = set()
    for path in folder.glob("*.pt"):
        with suppress(FileNotFoundError):  # renamed since the folder was read
            times.add(path.stat().st_mtime_ns)
    return times


@pytest.mark.parametrize(
    "mode",
    [
        "eager",
        *(pytest.param(mode, marks=pytest.mark.slow) for mode in ("gauss_newton", "compiled")),
    ],
)
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(tmp_path, mode):
    moments = random.Random(7)
    straight = run(ITERATIONS[mode], **MODES[mode])
    kills = 0
    while kills < 3:
        process = start(tmp_path, mode)
        deadline = time.monotonic() + 120
        before = checkpoint_times(tmp_path)
        while time.monotonic() < deadline and checkpoint_times(tmp_path) == before:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.2))
        assert process.poll() is None, "the run ended before it could be killed"
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
    last = start(tmp_path, mode)
    resumed_at, _ = last.communicate()
    assert last.returncode == 0
    assert int(resumed_at) > 0
    assert_same(run(ITERATIONS[mode], tmp_path, **MODES[mode]), straight)


def test_a_run_that_went_further_than_asked_is_returned_as_it_is(tmp_path):
    longer = run(100, tmp_path)
    asked = run(40, tmp_path)
    assert asked.resumed_at == 100
    assert_same(asked, longer)
    short = run(40).history.drop(columns="seconds")
    assert asked.history.drop(columns="seconds").iloc[: len(short)].equals(short)


def test_another_method_or_seed_in_the_same_folder_is_another_run(tmp_path):
    run(40, tmp_path)
    assert run(40, tmp_path, seed=1).resumed_at == 0
    assert run(40, tmp_path, name="vanilla").resumed_at == 0
    assert run(40, tmp_path).resumed_at == 40


@pytest.mark.parametrize("damage", ["truncated", "garbage", "empty", "one bit"])
def test_a_damaged_checkpoint_is_set_aside_and_the_one_before_it_is_used(tmp_path, caplog, damage):
    run(100, tmp_path)
    (last,) = tmp_path.glob("*[0-9a-f].pt")
    content = bytearray(last.read_bytes())
    if damage == "one bit":
        content[len(content) // 2] ^= 1
    kept = {"truncated": content[:-100], "garbage": b"x" * 5000, "empty": b"", "one bit": content}
    last.write_bytes(kept[damage])
    resumed = run(100, tmp_path)
    assert resumed.resumed_at == 99
    assert "is damaged: set aside" in caplog.text
    assert len(list(tmp_path.glob("*.damaged"))) == 1
    assert_same(resumed, run(100))


def test_with_both_checkpoints_damaged_the_run_starts_afresh(tmp_path):
    run(100, tmp_path)
    for path in tmp_path.glob("*.pt"):
        path.write_bytes(b"garbage")
    assert_same(run(100, tmp_path), run(100))


def test_a_diverging_run_ends_cleanly_with_its_history(tmp_path, caplog):
    protocol = Protocol(iterations=2000, **SMALL | {"learning_rate": 1e30})
    done = train(LOW, small("vanilla"), protocol, machine=EAGER, checkpoints=tmp_path)
    assert done.status == "diverged"
    assert "diverged" in caplog.text
    assert 0 < done.history["iteration"].iloc[-1] < 2000
    assert torch.isfinite(done.best_theta).all()
    again = train(LOW, small("vanilla"), protocol, machine=EAGER, checkpoints=tmp_path)
    assert again.status == "diverged"
    assert again.resumed_at == done.history["iteration"].iloc[-1]


def test_without_a_compiler_it_runs_eagerly_and_says_why(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    model = method("cosine20", width=17, depth=2)
    without = torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler",)})
    with without, caplog.at_level(logging.WARNING):
        done = train(LOW, model, Protocol(iterations=20, **SMALL), machine=Machine.choose("cpu"))
    assert done.status == "finished"
    assert done.eager_reason
    assert "running eagerly" in caplog.text


def test_where_compilation_must_work_its_failure_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    model = method("cosine20", width=18, depth=2)
    strict = replace(Machine.choose("cpu"), must_compile=True)
    without = torch._inductor.config.patch({"cpp.cxx": ("no-such-compiler",)})
    with without, pytest.raises(ValueError, match=r"torch.compile .* 'compile: optional'"):
        train(LOW, model, Protocol(iterations=20, **SMALL), machine=strict)


def test_on_cuda_compilation_must_work_unless_the_protocol_says_otherwise(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert Machine.choose("cuda").must_compile
    assert not Machine.choose("cuda", compile="optional").must_compile
    assert not Machine.choose("cuda", compile=False).must_compile
    assert not Machine.choose("cpu").must_compile
    assert Machine.choose("cuda", compile="optional").compile


def test_progress_is_a_log_line_off_a_terminal(monkeypatch, caplog):
    monkeypatch.setattr(progress, "LOG_SECONDS", 0.0)
    with caplog.at_level(logging.INFO):
        run(40)
    assert "iteration 20 of 40" in caplog.text
    assert "it/s" in caplog.text


def test_the_evaluation_grid_may_have_any_number_of_nodes():
    model = small("existing")
    theta = model.initial(0)
    machine = Machine.choose("cpu", threads=2, compile=False)
    x, t, reference = LOW.reference(37, 23)
    evaluation = Evaluation(LOW.reference(37, 23), model, torch.float64, machine)
    error = (model.values(theta, model.nodes(x, t)) - reference).norm() / reference.norm()
    assert evaluation(theta) == pytest.approx(float(error), rel=1e-12)
    evaluation.close()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"iterations": -5}, "iterations = -5"),
        ({"iterations": 50, "evaluate_every": 20}, "multiple of evaluate_every"),
        ({"learning_rate": 0}, "learning_rate = 0"),
        ({"domain": 0}, "domain = 0"),
        ({"grid": (1, 5)}, "grid"),
        ({"precision": "float16"}, "float32 or float64"),
        ({"weights": (1, -1, 1)}, "negative weight"),
        ({"grading": 0.5}, "grading = 0.5"),
        ({"grading": float("nan")}, "grading = nan"),
        ({"grading": float("inf")}, "grading = inf"),
        ({"growth": -1}, "growth = -1"),
    ],
)
def test_bad_protocols_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Protocol(**change)


@pytest.mark.parametrize(
    ("device", "threads", "message"),
    [("tpu", 1, "auto, cpu or cuda"), ("cpu", 0, "threads = 0")],
)
def test_bad_machines_are_refused(device, threads, message):
    with pytest.raises(ValueError, match=message):
        Machine.choose(device, threads)


def test_an_iteration_s_gradient_reads_nothing_back_from_the_device():
    """On a GPU each reading would make the host wait for it; fused Adam keeps its count there."""
    model, protocol = small("vanilla"), Protocol(iterations=20, **SMALL)
    points = make_batch(LOW, model, points_of(LOW, protocol))
    trainer = AdamTrainer(model, points, protocol, 0, EAGER)
    with torch.profiler.profile() as profile:
        trainer.objective(trainer.theta)
    names = {event.name for event in profile.events()}
    assert "aten::mm" in names
    assert not names & {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"}
    trainer.close()


SIGNALLED = """
import sys
from pathlib import Path
from small_runs import run
from neumann_pinn.training.loop import InterruptedRunError
try:
    run(100_000, Path(sys.argv[1]), checkpoint_seconds=60.0)
except InterruptedRunError as interrupted:
    print(interrupted)
    sys.exit(128 + interrupted.signal_number)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_stop_writes_a_checkpoint_first(tmp_path, number):
    command = [sys.executable, "-c", SIGNALLED, str(tmp_path)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]
    )
    while not (tmp_path / "progress.json").exists():
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(number)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 128 + number
    reached = int(re.search(rf"{number.name} at iteration (\d+): checkpoint written", said)[1])
    resumed = run(reached + 100 - reached % 20, tmp_path)
    assert resumed.resumed_at == reached > 0
    assert_same(resumed, run(reached + 100 - reached % 20))


def test_checkpoints_come_by_time_within_a_stretch(tmp_path):
    protocol = Protocol(iterations=400, **SMALL | {"evaluate_every": 400})
    seen = []
    save = Checkpoints.save
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Checkpoints,
            "save",
            lambda self, state: (seen.append(state["iteration"]), save(self, state)),
        )
        train(
            LOW,
            small("cosine20"),
            protocol,
            machine=EAGER,
            checkpoints=tmp_path,
            checkpoint_seconds=0.05,
        )
    assert len(seen) > 2
    assert any(iteration % 400 for iteration in seen)


def test_a_run_resumed_within_a_stretch_is_the_same_to_the_bit(tmp_path):
    class StopError(Exception):
        pass

    step = AdamTrainer.step

    def stopping(self):
        if stopping.left == 0:
            raise StopError
        stopping.left -= 1
        step(self)

    for steps in (7, 13, 40, 1):
        stopping.left = steps
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(AdamTrainer, "step", stopping)
            with pytest.raises(StopError):
                run(200, tmp_path)
    resumed = run(200, tmp_path)
    assert 0 < resumed.resumed_at < 200
    assert resumed.resumed_at % 20
    assert_same(resumed, run(200))


def test_two_processes_do_not_train_into_one_folder(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    lock = try_lock(tmp_path / "lock")
    threading.Timer(1.0, lock.release).start()
    start = time.monotonic()
    assert run(40, tmp_path).status == "finished"
    assert time.monotonic() - start > 0.9
    assert "another process holds" in caplog.text


def test_a_checkpoint_costs_less_than_a_hundredth_of_the_default_interval(tmp_path):
    store = Checkpoints(tmp_path, "key")
    theta = torch.rand(method("cosine50").network.parameters)
    optimizer = Adam(theta, 1e-3)
    optimizer.step(torch.rand_like(theta))
    state = {
        "theta": theta,
        "best_theta": theta,
        "optimizer": optimizer.state_dict(),
        "history": torch.rand(10_001, len(Row._fields), dtype=torch.float64),
    }
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        store.save(state)
        seconds.append(time.perf_counter() - start)
    assert sorted(seconds)[2] < 0.01 * 60


class Malice:
    """What runs code when it is unpickled."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


def test_a_forged_checkpoint_or_model_runs_no_code(tmp_path):
    run(100, tmp_path / "run")
    (last,) = (tmp_path / "run").glob("*[0-9a-f].pt")
    content = io.BytesIO()
    torch.save({"best_theta": Malice(tmp_path / "harm"), "key": "x"}, content)
    forged = content.getvalue()
    last.write_bytes(forged + hashlib.sha256(forged).digest())
    assert run(100, tmp_path / "run").resumed_at == 99
    (tmp_path / "model.pt").write_bytes(forged)
    with pytest.raises(ValueError, match="not a run's parameters"):
        read_parameters(tmp_path / "model.pt")
    assert not (tmp_path / "harm").exists()
