from pathlib import Path

import pandas as pd

from neumann_pinn.commands.logs import log_to
from neumann_pinn.commands.models import make_model
from neumann_pinn.commands.predict import predict, read_parameters
from neumann_pinn.problems.reference import Reference
from neumann_pinn.study.accuracy import best_method
from neumann_pinn.study.config import make_problem

log_to(snakemake.log[0])
params = snakemake.params
accuracy = pd.read_csv(snakemake.input.accuracy)
prediction = predict(
    {name: make_model(method, params.network) for name, method in params.methods.items()},
    {
        name: read_parameters(Path(file))
        for name, file in zip(params.methods, snakemake.input.models, strict=True)
    },
    best_method(accuracy, "fixed_time", snakemake.wildcards.setting),
    Reference.read(Path(snakemake.input.reference)),
    make_problem(params.setting).diffusivity,
)
prediction.write(Path(snakemake.output[0]))
