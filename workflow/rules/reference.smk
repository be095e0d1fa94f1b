# Reference solutions: cosine series on the evaluation grid. Needs the settings; makes an NPZ each.


rule make_reference:
    """The exact solution of a setting on the evaluation grid, as a truncated cosine series."""
    input:
        table=initial_table,
        code=source("trigonometry", "heat"),
    output:
        f"{RESULTS}/references/{{setting}}.npz",
    log:
        f"{RESULTS}/logs/make_reference/{{setting}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/make_reference/{{setting}}.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        setting=lambda wildcards: unlabelled("settings", wildcards.setting),
        grid=PROTOCOL["grid"],
    script:
        "../scripts/make_reference.py"
