"""One PDF with every figure and table of a protocol, and where they came from."""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from neumann_pinn.files import write_whole
from neumann_pinn.report import latex

INSTALL = "Debian: apt-get install texlive-latex-recommended; elsewhere TeX Live or MiKTeX"
SAME_EVERY_TIME = "\\pdfinfoomitdate=1\\pdftrailerid{}\\pdfsuppressptexinfo=-1\n"


CAPTIONS = {
    "schematic": "The method: embedding, network, output lift",
    "improvement": "Relative improvement on the best vanilla PINN",
    "heatmap": "Errors by method and setting, ours and published",
    "agreement": "Errors here against published ones",
    "error_against_time": "Error while training, against time",
    "error_against_iterations": "Error while training, against iterations",
    "error_against_cost": "Error against cost, with classical solvers",
    "error_against_loss": "Error and loss while training, and the loss on held-out points",
    "optimizers": "Error against seconds, with the runs of another protocol",
    "maps": "Reference, best prediction, its error, and the wall slopes of every method",
    "spread": "Errors of all replicates",
}
"""Captions, by the start of a figure's file name."""


def document(
    figures: Sequence[str],
    tables: Sequence[str],
    claims: str,
    runs: Sequence[Mapping[str, Any]],
    summary: str,
    protocol: str,
) -> str:
    """The LaTeX source, with figures, tables and the table of claims by file name."""
    parts = [
        SAME_EVERY_TIME,
        f"\\documentclass{{article}}\n{latex.PACKAGES}",
        "\\setlength{\\parindent}{0pt}\n",
        "\\begin{document}\n",
        "\\section*{Hard-constrained Neumann boundary conditions: results}\n",
        f"{latex.escape(protocol)}. {latex.escape(summary)}.\n\n",
        *(f"\\input{{{name}}}\n" for name in tables),
    ]
    for name in figures:
        (caption,) = (words for start, words in CAPTIONS.items() if name.startswith(start))
        parts.append(
            "\\begin{figure}[htbp]\n  \\centering\n"
            f"  \\includegraphics[width=\\linewidth]{{{name}}}\n"
            f"  \\caption{{{latex.escape(caption)}}}\n\\end{{figure}}\n"
        )
    parts += [
        f"\\clearpage\n\\input{{{claims}}}\n",
        "\\section*{Provenance}\n\\begin{description}\n",
        *(
            f"\\item[{latex.escape(name)}] {latex.escape(words)}\n"
            for name, words in provenance(runs).items()
        ),
        "\\end{description}\n\\end{document}\n",
    ]
    return "".join(parts)


def provenance(runs: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What the runs' records have in common, and what differs among them."""
    statuses = [run["status"] for run in runs]
    packages = {f"{name} {version}" for run in runs for name, version in run["packages"].items()}
    commits = {
        "outside a checkout"
        if run["git"] is None
        else run["git"]["commit"] + (" with changes" if run["git"]["dirty"] else "")
        for run in runs
    }
    return {
        "Runs": f"{len(runs)}: "
        + ", ".join(f"{statuses.count(s)} {s}" for s in sorted(set(statuses))),
        "Training": f"{sum(run['seconds'] for run in runs) / 60:.1f} minutes in all",
        "Devices": ", ".join(sorted({run["device"] for run in runs})),
        "Compiled": f"{sum(run['compiled'] for run in runs)} of {len(runs)} runs",
        "Software": ", ".join(["Python " + _all(runs, "python"), *sorted(packages)]),
        "Source": ", ".join(sorted(commits)),
    }


def build(source: str, files: Sequence[Path], target: Path) -> None:
    """Compile a source that refers to `files` by name; the PDF is the same every time."""
    pdflatex = shutil.which("pdflatex")
    if pdflatex is None:
        raise ValueError(f"pdflatex is not installed, and {target} needs it. {INSTALL}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in files:
            shutil.copy(file, folder)
        (folder / "results.tex").write_text(source)
        command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "results.tex"]
        environment = os.environ | {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
        for _ in range(2):  # the second time resolves references
            done = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True
            )
            if done.returncode:
                wrong = next((x for x in done.stdout.splitlines() if x.startswith("!")), "")
                raise ValueError(
                    f"pdflatex cannot make {target}: {wrong or 'see its log'}. {INSTALL}"
                )
        write_whole(target, (folder / "results.pdf").read_bytes())


def read_runs(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """The runs' records."""
    return [json.loads(path.read_bytes()) for path in paths]


def _all(runs: Sequence[Mapping[str, Any]], key: str) -> str:
    return ", ".join(sorted({str(run[key]) for run in runs}))
