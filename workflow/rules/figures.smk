# Figures. Needs the table of accuracies and the histories; makes a PDF and a PNG of each.


rule draw_improvement:
    """Relative improvement on the best vanilla PINN, as bars, at one clock."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        code=source("figures"),
    output:
        pdf=f"{RESULTS}/figures/improvement_{{clock}}.pdf",
        png=f"{RESULTS}/figures/improvement_{{clock}}.png",
    log:
        f"{RESULTS}/logs/draw_improvement/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_improvement/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=labels("settings"),
        styles=styles(),
        stamp=stamp(),
    script:
        "../scripts/draw_improvement.py"


rule draw_curves:
    """Error against iterations or time, one panel for each setting."""
    input:
        histories=run_files("history"),
        calibrations=calibration_files(),
        code=source("figures"),
    output:
        pdf=f"{RESULTS}/figures/error_against_{{against}}.pdf",
        png=f"{RESULTS}/figures/error_against_{{against}}.png",
    log:
        f"{RESULTS}/logs/draw_curves/{{against}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_curves/{{against}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=labels("settings"),
        styles=styles(),
        stamp=stamp(),
        budget=budget_parameters(),
    script:
        "../scripts/draw_curves.py"
