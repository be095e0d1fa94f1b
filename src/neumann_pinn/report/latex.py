"""LaTeX by hand: escaped text, numbers, and tables that compile on their own or in a document."""

from collections.abc import Sequence

PACKAGES = "\\usepackage{array,booktabs,graphicx,longtable}\n\\usepackage[margin=2cm]{geometry}\n"
"""What the tables and the document need, all from the usual TeX collections."""

_ALONE = (
    "% Compiles alone, or with \\input in a document that loads array, booktabs, longtable.\n"
    "\\expandafter\\let\\expandafter\\neumannpinnalone\\csname @nodocument\\endcsname\n"
    "\\ifx\\neumannpinnalone\\relax\\else\n"
    f"\\documentclass{{article}}\n{PACKAGES}\\begin{{document}}\n\\fi\n"
)
_ALONE_END = "\\ifx\\neumannpinnalone\\relax\\else\n\\end{document}\n\\fi\n"


def escape(text: str) -> str:
    """Text with LaTeX's special characters escaped."""
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: f"\\{c}" for c in "&%$#_{}"}
    special |= {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    return "".join(special.get(c, c) for c in text)


def scientific(value: float) -> str:
    """4.14 x 10^-5 in the paper's style, for math mode."""
    mantissa, exponent = f"{value:.2e}".split("e")
    return f"{mantissa}\\cdot10^{{{int(exponent)}}}"


def stacked(lines: Sequence[str], line_up: str = "t") -> str:
    """Lines stacked in a cell, with the top or the bottom one level with the row."""
    if len(lines) == 1:
        return lines[0]
    return f"\\begin{{tabular}}[{line_up}]{{@{{}}c@{{}}}}" + "\\\\".join(lines) + "\\end{tabular}"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    label: str,
    columns: str = "",
) -> str:
    """A booktabs table in a float, with everything it needs to compile on its own."""
    columns = columns or f"l{'c' * (len(header) - 1)}"
    body = " \\\\\n    ".join(" & ".join(row) for row in rows)
    return (
        f"{_ALONE}"
        "\\begin{table}[htbp]\n"
        "  \\setlength{\\belowcaptionskip}{6pt}\n"
        f"  \\caption{{{caption}}}\n"
        f"  \\label{{{label}}}\n"
        "  \\centering\\small\\setlength{\\tabcolsep}{4pt}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n"
        "    \\toprule\n"
        f"    {' & '.join(header)} \\\\\n"
        "    \\midrule\n"
        f"    {body} \\\\\n"
        "    \\bottomrule\n"
        "  \\end{tabular}\n"
        "\\end{table}\n"
        f"{_ALONE_END}"
    )


def long_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    caption: str,
    label: str,
    widths: Sequence[float],
) -> str:
    """A booktabs table that may span pages, with everything it needs to compile on its own.

    Its columns hold text; `widths` are fractions of the line's width.
    """
    columns = "".join(f">{{\\raggedright\\arraybackslash}}p{{{w}\\linewidth}}" for w in widths)
    head = f"\\toprule\n{' & '.join(header)} \\\\\n\\midrule\n"
    body = " \\\\\n\\addlinespace\n".join(" & ".join(row) for row in rows)
    return (
        f"{_ALONE}"
        "{\\small\\setlength{\\tabcolsep}{4pt}\n"
        f"\\begin{{longtable}}{{{columns}}}\n"
        f"\\caption{{{caption}}}\n\\label{{{label}}}\\\\\n"
        f"{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n"
        f"{body} \\\\\n"
        "\\end{longtable}}\n"
        f"{_ALONE_END}"
    )
