from pathlib import Path

from neumann_pinn import generalisation, runs, study
from neumann_pinn.engine import Machine
from neumann_pinn.gpus import take_device
from neumann_pinn.logs import log_to
from neumann_pinn.problems import PROBLEMS

log_to(snakemake.log[0])
params, wildcards = snakemake.params, snakemake.wildcards
protocol = study.make_protocol(params.training)
problem = PROBLEMS[wildcards.problem]
model = generalisation.make_model(problem, wildcards.method, **params.training["network"])
seed = int(wildcards.seed)
name = f"{wildcards.problem} {wildcards.method} seed {seed}"
with (
    runs.told_when_interrupted(name),
    take_device(params.device, snakemake.config["runs_per_gpu"]) as device,
):
    machine = Machine.choose(device, snakemake.threads, params.training["compile"])
    run = generalisation.train(
        problem,
        model,
        protocol,
        seed=seed,
        machine=machine,
        checkpoints=Path(params.checkpoints),
        checkpoint_seconds=params.checkpoint_seconds,
    )
files = (Path(file) for file in snakemake.output)
more = generalisation.outcome(problem, model, run)
runs.write(run, problem, model, protocol, seed, machine, *files, **more)
print(f"{name}: {run.in_words()}, wall violation {more['wall_violation']:.1e}", flush=True)
