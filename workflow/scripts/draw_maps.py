from pathlib import Path

from neumann_pinn.commands.logs import log_to
from neumann_pinn.report.figures.maps import solution_maps
from neumann_pinn.report.figures.style import read_styles, save
from neumann_pinn.study.predictions import Prediction

log_to(snakemake.log[0])
params = snakemake.params
prediction = Prediction.read(Path(snakemake.input.prediction))
figure = solution_maps(prediction, params.label, read_styles(params.styles), params.stamp)
save(figure, [Path(file) for file in snakemake.output])
