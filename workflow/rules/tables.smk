# LaTeX tables. Needs the table of accuracies, the calibration and the configuration.


rule write_accuracy_table:
    """The errors of all methods and settings at one clock."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        code=code("write_accuracy_table"),
    output:
        report(
            f"{RESULTS}/tables/accuracy_{{clock}}.tex",
            category="Tables",
            caption="../report/accuracy.rst",
            labels={"table": "Errors, {clock}", "format": "LaTeX"},
        ),
    log:
        f"{RESULTS}/logs/write_accuracy_table/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_accuracy_table/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.labels("settings"),
        methods=study.labels("methods"),
        stamp=stamp(study),
    script:
        "../scripts/write_accuracy_table.py"


rule write_comparison_table:
    """Our errors and the published ones at one clock, and their ratio."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        published=PUBLISHED_ACCURACY,
        code=code("write_comparison_table"),
    output:
        report(
            f"{RESULTS}/tables/comparison_{{clock}}.tex",
            category="Tables",
            caption="../report/comparison.rst",
            labels={"table": "Ours and published, {clock}", "format": "LaTeX"},
        ),
    log:
        f"{RESULTS}/logs/write_comparison_table/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_comparison_table/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.labels("settings"),
        methods=study.labels("methods"),
        stamp=stamp(study),
    script:
        "../scripts/write_comparison_table.py"


rule write_settings_table:
    """The settings: initial conditions and diffusivities."""
    input:
        code=code("write_settings_table"),
    output:
        report(
            f"{RESULTS}/tables/settings.tex",
            category="Tables",
            caption="../report/settings.rst",
            labels={"table": "Settings", "format": "LaTeX"},
        ),
    log:
        f"{RESULTS}/logs/write_settings_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_settings_table.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=config["settings"],
        labels=study.labels("settings"),
        stamp=stamp(study),
    script:
        "../scripts/write_settings_table.py"


rule write_cost_table:
    """The cost of an iteration of each method."""
    input:
        calibrations=calibration_files(),
        code=code("write_cost_table"),
    output:
        report(
            f"{RESULTS}/tables/cost.tex",
            category="Tables",
            caption="../report/iteration_cost.rst",
            labels={"table": "Cost of an iteration", "format": "LaTeX"},
        ),
    log:
        f"{RESULTS}/logs/write_cost_table.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_cost_table.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        methods=study.labels("methods"),
        published=study.published_costs(),
        vanilla=study.vanilla,
        stamp=stamp(study),
    script:
        "../scripts/write_cost_table.py"
