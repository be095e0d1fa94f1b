from dataclasses import replace
from pathlib import Path

from neumann_pinn.commands import runs
from neumann_pinn.commands.gpus import take_device
from neumann_pinn.commands.logs import log_to
from neumann_pinn.commands.models import make_model
from neumann_pinn.problems.reference import read_reference
from neumann_pinn.study import calibration
from neumann_pinn.study.budget import Budget
from neumann_pinn.study.config import make_problem, make_protocol
from neumann_pinn.training.engine import Machine
from neumann_pinn.training.run import train

log_to(snakemake.log[0])
params, wildcards = snakemake.params, snakemake.wildcards
costs = calibration.read([Path(file) for file in snakemake.input.calibration])
budget = Budget.make(params.budget, costs)
protocol = replace(make_protocol(params.training), iterations=budget.to_train(wildcards.method))
problem = make_problem(params.setting)
replicate = int(wildcards.replicate)
model = make_model(problem, params.method, params.training["network"], replicate)
reference = read_reference(Path(snakemake.input.reference[0]))
name = f"{wildcards.setting} {wildcards.method}, replicate {replicate}"
with (
    runs.exit_on_interrupt(name),
    take_device(params.device, snakemake.config["runs_per_gpu"]) as device,
):
    machine = Machine.choose(device, snakemake.threads, params.training["compile"])
    run = train(
        problem,
        model,
        protocol,
        seed=replicate,
        machine=machine,
        reference=reference,
        checkpoints=Path(params.checkpoints),
        checkpoint_seconds=params.checkpoint_seconds,
    )
files = (Path(file) for file in snakemake.output)
runs.write(run, problem, model, protocol, replicate, machine, *files)
print(f"{name}: {run.summary()}", flush=True)
