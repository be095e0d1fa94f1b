from pathlib import Path

from neumann_pinn.commands import runs
from neumann_pinn.commands.gpus import take_device
from neumann_pinn.commands.logs import log_to
from neumann_pinn.problems.catalogue import PROBLEMS
from neumann_pinn.study.config import make_protocol
from neumann_pinn.training import boxes
from neumann_pinn.training.engine import Machine

log_to(snakemake.log[0])
params, wildcards = snakemake.params, snakemake.wildcards
protocol = make_protocol(params.training)
problem = PROBLEMS[wildcards.problem]
model = boxes.make_model(problem, wildcards.method, **params.training["network"])
seed = int(wildcards.seed)
name = f"{wildcards.problem} {wildcards.method} seed {seed}"
with (
    runs.exit_on_interrupt(name),
    take_device(params.device, snakemake.config["runs_per_gpu"]) as device,
):
    machine = Machine.choose(device, snakemake.threads, params.training["compile"])
    run = boxes.train(
        problem,
        model,
        protocol,
        seed=seed,
        machine=machine,
        checkpoints=Path(params.checkpoints),
        checkpoint_seconds=params.checkpoint_seconds,
    )
files = (Path(file) for file in snakemake.output)
more = boxes.outcome(problem, model, run)
runs.write(run, problem, model, protocol, seed, machine, *files, **more)
print(f"{name}: {run.summary()}, wall violation {more['wall_violation']:.1e}", flush=True)
