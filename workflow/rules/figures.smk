# Figures. Needs accuracies, histories, predictions and baselines; makes a PDF and a PNG of each.


rule draw_schematic:
    """The method in one picture: cosine embedding, network, output lift."""
    input:
        code=code("draw_schematic"),
    output:
        pdf=f"{RESULTS}/figures/schematic.pdf",
        png=report(
            f"{RESULTS}/figures/schematic.png",
            category="Figures",
            caption="../report/schematic.rst",
            labels={"figure": "The method", "of": "the method"},
        ),
    log:
        f"{RESULTS}/logs/draw_schematic.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_schematic.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    script:
        "../scripts/draw_schematic.py"


rule draw_improvement:
    """Relative improvement on the best vanilla PINN, as bars, at one clock."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        code=code("draw_improvement"),
    output:
        pdf=f"{RESULTS}/figures/improvement_{{clock}}.pdf",
        png=report(
            f"{RESULTS}/figures/improvement_{{clock}}.png",
            category="Figures",
            caption="../report/improvement.rst",
            labels={"figure": "Relative improvement", "of": "{clock}"},
        ),
    log:
        f"{RESULTS}/logs/draw_improvement/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_improvement/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_improvement.py"


rule draw_heatmap:
    """Errors by method and setting at one clock, ours and published."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        published=PUBLISHED_ACCURACY,
        code=code("draw_heatmap"),
    output:
        pdf=f"{RESULTS}/figures/heatmap_{{clock}}.pdf",
        png=report(
            f"{RESULTS}/figures/heatmap_{{clock}}.png",
            category="Figures",
            caption="../report/heatmap.rst",
            labels={"figure": "Errors, ours and published", "of": "{clock}"},
        ),
    log:
        f"{RESULTS}/logs/draw_heatmap/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_heatmap/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        methods=study.figure_labels("methods"),
        stamp=stamp(study),
    script:
        "../scripts/draw_heatmap.py"


rule draw_curves:
    """Error against iterations or time, one panel for each setting."""
    input:
        histories=run_files("history"),
        calibrations=calibration_files(),
        code=code("draw_curves"),
    output:
        pdf=f"{RESULTS}/figures/error_against_{{against}}.pdf",
        png=report(
            f"{RESULTS}/figures/error_against_{{against}}.png",
            category="Figures",
            caption="../report/curves.rst",
            labels={"figure": "Error while training", "of": "{against}"},
        ),
    log:
        f"{RESULTS}/logs/draw_curves/{{against}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_curves/{{against}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
        budget=study.budget(),
    script:
        "../scripts/draw_curves.py"


rule draw_maps:
    """A setting's reference, best prediction and error, and every method's wall slopes."""
    input:
        prediction=rules.predict_solution.output[0],
        code=code("draw_maps"),
    output:
        pdf=f"{RESULTS}/figures/maps_{{setting}}.pdf",
        png=report(
            f"{RESULTS}/figures/maps_{{setting}}.png",
            category="Figures",
            caption="../report/maps.rst",
            labels={"figure": "Solution and wall slopes", "of": "{setting}"},
        ),
    log:
        f"{RESULTS}/logs/draw_maps/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_maps/{{setting}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        label=lambda wildcards: study.figure_labels("settings")[wildcards.setting],
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_maps.py"


rule draw_cost:
    """Error against cost: the methods and classical solvers."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        calibrations=calibration_files(),
        baselines=expand(rules.solve_baseline.output, setting=config["settings"]),
        code=code("draw_cost"),
    output:
        pdf=f"{RESULTS}/figures/error_against_cost.pdf",
        png=report(
            f"{RESULTS}/figures/error_against_cost.png",
            category="Figures",
            caption="../report/cost.rst",
            labels={"figure": "PINNs and classical solvers", "of": "cost"},
        ),
    log:
        f"{RESULTS}/logs/draw_cost.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_cost.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_cost.py"


rule draw_loss:
    """Error against loss, with the held-out loss: where runs overfit."""
    input:
        histories=run_files("history"),
        code=code("draw_loss"),
    output:
        pdf=f"{RESULTS}/figures/error_against_loss.pdf",
        png=report(
            f"{RESULTS}/figures/error_against_loss.png",
            category="Figures",
            caption="../report/loss.rst",
            labels={"figure": "Error and loss", "of": "loss"},
        ),
    log:
        f"{RESULTS}/logs/draw_loss.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_loss.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_loss.py"


rule draw_optimizers:
    """Error against seconds, with the runs of another protocol if they have been made."""
    input:
        histories=run_files("history"),
        compared=compared_files(),
        code=code("draw_optimizers"),
    output:
        pdf=f"{RESULTS}/figures/optimizers.pdf",
        png=report(
            f"{RESULTS}/figures/optimizers.png",
            category="Figures",
            caption="../report/optimizers.rst",
            labels={"figure": "Two optimizers", "of": "time"},
        ),
    log:
        f"{RESULTS}/logs/draw_optimizers.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_optimizers.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        protocols=[f"{name}: {optimizer(study, name)}" for name in compared_protocols()],
        stamp="\n".join(stamp(study, name) for name in compared_protocols()),
    script:
        "../scripts/draw_optimizers.py"


rule draw_spread:
    """The errors of all replicates at one clock, if there is more than one."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        code=code("draw_spread"),
    output:
        pdf=f"{RESULTS}/figures/spread_{{clock}}.pdf",
        png=report(
            f"{RESULTS}/figures/spread_{{clock}}.png",
            category="Figures",
            caption="../report/spread.rst",
            labels={"figure": "Spread over replicates", "of": "{clock}"},
        ),
    log:
        f"{RESULTS}/logs/draw_spread/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_spread/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_spread.py"


rule draw_agreement:
    """Our errors against the published ones at one clock."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        published=[PUBLISHED_ACCURACY, PUBLISHED_SPREAD],
        code=code("draw_agreement"),
    output:
        pdf=f"{RESULTS}/figures/agreement_{{clock}}.pdf",
        png=report(
            f"{RESULTS}/figures/agreement_{{clock}}.png",
            category="Figures",
            caption="../report/agreement.rst",
            labels={"figure": "Ours and published", "of": "{clock}"},
        ),
    log:
        f"{RESULTS}/logs/draw_agreement/{{clock}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/draw_agreement/{{clock}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings=study.figure_labels("settings"),
        styles=study.styles(),
        stamp=stamp(study),
    script:
        "../scripts/draw_agreement.py"
