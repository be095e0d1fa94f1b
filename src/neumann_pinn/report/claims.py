"""The verdicts on the paper's claims as a sentence, a page and a Markdown table."""

from html import escape

import pandas as pd

EXPLANATION = (
    "Ratios of errors are geometric means over replicates with their 95 % interval. The published "
    "tables are judged as printed, and once more as single runs with the spread between replicates "
    "that is known from this study."
)


def claims_summary(table: pd.DataFrame) -> str:
    """How many claims hold, in one line."""
    counts = table["verdict"].value_counts()
    holds, fails, ties, unclear = (
        counts.get(word, 0) for word in ("holds", "does not hold", "tie", "not decidable")
    )
    return (
        f"{holds} of {len(table)} claims of the paper hold, {fails} do not, {ties} end in a tie, "
        f"{unclear} are not decidable"
    )


def to_html(table: pd.DataFrame, protocol: str) -> str:
    """The claims as a standalone page."""
    columns = {
        "statement": "Claim",
        "quote": "In the paper's words",
        "place": "Place",
        "verdict": "Here",
        "detail": "Numbers",
        "published_verdict": "In its tables",
        "published_one_run": "If one run tells",
    }
    shown = table[list(columns)].rename(columns=columns)
    style = (
        "body{font:14px/1.4 sans-serif;margin:2em}table{border-collapse:collapse}"
        "th,td{text-align:left;vertical-align:top;padding:.3em .8em;border-top:1px solid #ccc}"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Claims</title>'
        f"<style>{style}</style></head>\n<body><h1>The paper's claims</h1>\n"
        f"<p>{escape(protocol)}. {claims_summary(table)}. {EXPLANATION}</p>\n"
        f"{shown.to_html(index=False, border=0)}\n</body></html>\n"
    )


def to_markdown(table: pd.DataFrame, protocol: str) -> str:
    """The claims as a Markdown table."""
    lines = [
        "# The paper's claims",
        "",
        f"{protocol}. {claims_summary(table)}.",
        "",
        EXPLANATION,
        "",
        "| claim | says | place | verdict | here | in the published tables | if one run tells |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for row in table.itertuples():
        cells = (
            f"`{row.id}`",
            row.statement,
            row.place,
            f"**{row.verdict}**",
            row.detail,
            f"{row.published_verdict}: {row.published_detail}",
            row.published_one_run,
        )
        lines.append("| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
