# From runs to numbers. Needs all runs and the calibration; makes one tidy table of errors, the best
# predictions, and a verdict on each claim of the paper.


rule aggregate_accuracy:
    """The error of every run at both clocks, and its improvement on the best vanilla variant."""
    input:
        histories=run_files("history"),
        calibrations=calibration_files(),
        code=code("aggregate_accuracy"),
    output:
        report(
            f"{RESULTS}/accuracy.csv",
            category="Tables",
            caption="../report/accuracy.rst",
            labels={"table": "Errors of all runs", "format": "CSV"},
        ),
    log:
        f"{RESULTS}/logs/aggregate_accuracy.log",
    benchmark:
        f"{RESULTS}/benchmarks/aggregate_accuracy.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        budget=study.budget(),
        constraints=study.constraints,
    script:
        "../scripts/aggregate_accuracy.py"


rule predict_solution:
    """A setting's best prediction on the evaluation grid, and the wall slopes of all methods."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        reference=rules.make_reference.output[0],
        models=models_of_a_setting,
        code=code("predict_solution"),
    output:
        f"{RESULTS}/predictions/{{setting}}.npz",
    log:
        f"{RESULTS}/logs/predict_solution/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/predict_solution/{{setting}}.tsv"
    wildcard_constraints:
        setting="|".join(config["settings"]),
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        setting=lambda wildcards: study.setting(wildcards.setting),
        methods=lambda wildcards: {
            name: study.method(wildcards.setting, name) for name in config["methods"]
        },
        network=study.protocol["network"],
    script:
        "../scripts/predict_solution.py"


rule judge_claims:
    """What this study and the published tables say about each claim of the paper."""
    input:
        accuracy=rules.aggregate_accuracy.output[0],
        calibrations=calibration_files(),
        published=[PUBLISHED_ACCURACY, PUBLISHED_COST, PUBLISHED_SPREAD],
        code=code("judge_claims"),
    output:
        csv=f"{RESULTS}/claims.csv",
        markdown=f"{RESULTS}/claims.md",
        html=report(
            f"{RESULTS}/claims.html",
            category="Claims",
            caption="../report/claims.rst",
            labels={"claims": "All verdicts"},
        ),
        tex=report(
            f"{RESULTS}/tables/claims.tex",
            category="Tables",
            caption="../report/claims.rst",
            labels={"table": "Claims", "format": "LaTeX"},
        ),
    log:
        f"{RESULTS}/logs/judge_claims.log",
    benchmark:
        f"{RESULTS}/benchmarks/judge_claims.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        settings={name: study.setting(name) for name in config["settings"]},
        stamp=stamp(study),
    script:
        "../scripts/judge_claims.py"
