from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.commands.models import make_model
from neumann_pinn.commands.predict import predict, read_parameters
from neumann_pinn.problems.reference import read_reference
from neumann_pinn.study.accuracy import best_method
from neumann_pinn.study.config import make_problem

log_to(snakemake.log[0])
params = snakemake.params
accuracy = pd.read_csv(snakemake.input.accuracy)
problem = make_problem(params.setting)
prediction = predict(
    {name: make_model(problem, method, params.network) for name, method in params.methods.items()},
    {
        name: read_parameters(Path(file))
        for name, file in zip(params.methods, snakemake.input.models, strict=True)
    },
    best_method(accuracy, "fixed_time", snakemake.wildcards.setting),
    read_reference(Path(snakemake.input.reference)),
    problem.diffusivity,
)
prediction.write(Path(snakemake.output[0]))
