# What people open: a page for each run, and one PDF with everything. Needs figures, tables and runs.


rule write_pages:
    """A page for each run, for the report."""
    input:
        histories=run_files("history"),
        runs=run_files("run"),
        code=code("write_pages"),
    output:
        report(
            directory(f"{RESULTS}/pages"),
            patterns=["{setting}/{method}/{replicate}.html"],
            category="Runs",
            subcategory="{setting}",
            caption="../report/run.rst",
            labels={
                "setting": "{setting}",
                "method": "{method}",
                "replicate": "{replicate}",
            },
        ),
    log:
        f"{RESULTS}/logs/write_pages.log",
    benchmark:
        f"{RESULTS}/benchmarks/write_pages.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        stamp=stamp(study),
    script:
        "../scripts/write_pages.py"


rule build_document:
    """One PDF with every figure and table, and where they came from; needs LaTeX."""
    input:
        figures=figure_files("pdf"),
        tables=table_files(),
        claims=rules.judge_claims.output.csv,
        runs=run_files("run"),
        code=code("build_document"),
    output:
        f"{RESULTS}/results.pdf",
    log:
        f"{RESULTS}/logs/build_document.log",
    benchmark:
        f"{RESULTS}/benchmarks/build_document.tsv"
    conda:
        "../../envs/neumann-pinn.yaml"
    params:
        stamp=stamp(study),
    script:
        "../scripts/build_document.py"
