"""A page for each run, for the report: how it ended, its history as a plot, its provenance."""

import base64
import io
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from neumann_pinn.report.figures.style import PALETTE, figure_style

STYLE = (
    "body{font:14px/1.5 sans-serif;margin:2em;max-width:48em}"
    "th{text-align:left;vertical-align:top;padding-right:1.5em;font-weight:600}"
    "td{font-family:monospace;overflow-wrap:anywhere}img{max-width:100%}"
)


def run_page(name: str, run: Mapping[str, Any], history: pd.DataFrame, protocol: str) -> str:
    """A run as a standalone page that loads nothing from elsewhere."""
    rows = "".join(
        f"<tr><th>{escape(str(key))}</th><td>{escape(_words(value))}</td></tr>\n"
        for key, value in run.items()
    )
    picture = base64.b64encode(history_picture(history)).decode()
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(name)}'
        f"</title><style>{STYLE}</style></head>\n<body><h1>{escape(name)}</h1>\n"
        f"<p>{escape(protocol)}</p>\n"
        f"<p>{escape(run['status'])}, error {run['error']:.2e} after {run['iterations']:,} "
        "iterations</p>\n"
        f'<img alt="loss and error against iterations" src="data:image/png;base64,{picture}">\n'
        f"<table>\n{rows}</table></body></html>\n"
    )


def history_picture(history: pd.DataFrame) -> bytes:
    """The terms of the loss and the error against iterations, as PNG."""
    with figure_style():
        figure, axes = plt.subplots(figsize=(6, 2.8), layout="constrained")
        lines = {
            "loss_pde": ("loss, PDE", PALETTE[0], "-"),
            "loss_initial": ("loss, initial", PALETTE[1], "--"),
            "loss_boundary": ("loss, walls", PALETTE[2], ":"),
            "error": ("relative $L^2$ error", "black", "-"),
        }
        for column, (label, colour, line) in lines.items():
            if (history[column] > 0).any():
                axes.plot(
                    history["iteration"],
                    history[column].where(history[column] > 0),
                    color=colour,
                    linestyle=line,
                    label=label,
                    linewidth=1,
                )
        axes.set_yscale("log")
        axes.set_xlabel("Iterations")
        figure.legend(loc="outside right center", fontsize=7)
        content = io.BytesIO()
        figure.savefig(content, format="png", metadata={"Software": None}, dpi=110)
    plt.close(figure)
    return content.getvalue()


def write_pages(
    runs: Mapping[tuple[str, str, int], tuple[Path, pd.DataFrame]], folder: Path, protocol: str
) -> None:
    """Write <setting>/<method>/<replicate>.html for each run's record and history."""
    for (setting, method, replicate), (record, history) in runs.items():
        page = run_page(
            f"{setting}, {method}, replicate {replicate}",
            json.loads(record.read_bytes()),
            history,
            protocol,
        )
        path = folder / setting / method / f"{replicate}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page)


def _words(value: object) -> str:
    return json.dumps(value) if isinstance(value, dict | list) else str(value)
