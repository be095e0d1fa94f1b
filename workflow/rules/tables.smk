# LaTeX tables. Needs the table of accuracies, the calibration and the configuration.


rule write_accuracy_table:
    """The errors of all methods and settings at one clock."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        code=source("tables"),
    output:
        f"{RESULTS}/tables/accuracy_{{clock}}.tex",
    log:
        f"{RESULTS}/logs/write_accuracy_table/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_accuracy_table/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=labels("settings"),
        methods=labels("methods"),
        stamp=stamp(),
    script:
        "../scripts/write_accuracy_table.py"


rule write_settings_table:
    """The settings: initial conditions and diffusivities."""
    input:
        code=source("tables"),
    output:
        f"{RESULTS}/tables/settings.tex",
    log:
        f"{RESULTS}/logs/write_settings_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_settings_table.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=config["settings"],
        labels=labels("settings"),
        stamp=stamp(),
    script:
        "../scripts/write_settings_table.py"


rule write_cost_table:
    """What an iteration of each method costs."""
    input:
        calibrations=calibration_files(),
        code=source("tables"),
    output:
        f"{RESULTS}/tables/cost.tex",
    log:
        f"{RESULTS}/logs/write_cost_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_cost_table.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        methods=labels("methods"),
        vanilla=study.plain_vanilla(config),
        stamp=stamp(),
    script:
        "../scripts/write_cost_table.py"
