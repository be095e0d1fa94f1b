# What the networks are compared with: exact solutions on the evaluation grid, and classical solvers
# for heat on an insulated interval. Needs the settings.


rule make_reference:
    """The exact solution of a setting on the evaluation grid; the study's are cosine series."""
    input:
        table=initial_table,
        code=code("make_reference"),
    output:
        f"{RESULTS}/references/{{setting}}.npz",
    log:
        f"{RESULTS}/logs/make_reference/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_reference/{{setting}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        setting=lambda wildcards: study.setting(wildcards.setting),
        grid=study.protocol["grid"],
    script:
        "../scripts/make_reference.py"


rule solve_baseline:
    """A setting solved by Crank-Nicolson and by the cosine transform, at several resolutions."""
    input:
        table=initial_table,
        code=code("solve_baseline"),
    output:
        f"{RESULTS}/baselines/{{setting}}.csv",
    log:
        f"{RESULTS}/logs/solve_baseline/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/solve_baseline/{{setting}}.tsv"
    wildcard_constraints:
        setting="|".join(config["settings"]),
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        setting=lambda wildcards: study.setting(wildcards.setting),
    script:
        "../scripts/solve_baseline.py"
