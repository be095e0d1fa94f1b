# From histories to numbers. Needs all runs and the calibration; makes one tidy table.


rule aggregate_accuracy:
    """The error of every run at both clocks, and its improvement on the best vanilla variant."""
    input:
        histories=run_files("history"),
        calibrations=calibration_files(),
        code=source("accuracy", "budget"),
    output:
        f"{RESULTS}/accuracy.csv",
    log:
        f"{RESULTS}/logs/aggregate_accuracy.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate_accuracy.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        budget=budget_parameters(),
        constraints=CONSTRAINTS,
    script:
        "../scripts/aggregate_accuracy.py"
