"""What people open: figures and tables that come out the same, the PDF, the report."""

import re
import shutil
import subprocess
import time

import pandas as pd
import pytest
from drawings import BEYOND, BEYOND_LABELS
from studies import TINY

from neumann_pinn.problems.catalogue import PROBLEMS
from neumann_pinn.report import document
from neumann_pinn.report.latex import escape, long_table, table
from neumann_pinn.report.pages import run_page
from neumann_pinn.report.tables import generalisations_table


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def without_torch(tmp_path, monkeypatch):
    """Every job from here on fails if it imports torch."""
    folder = tmp_path / "poison" / "torch"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("raise ImportError('this job should do without torch')\n")
    (folder / "version.py").write_text("cuda = None\n")
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))


@pytest.mark.slow
@pytest.mark.usefixtures("without_torch")
def test_without_torch_figures_tables_and_pages_come_out_the_same_to_the_byte(again):
    results = again.folder / TINY
    made = {part: contents(results / part) for part in ("figures", "tables", "pages")}
    for part in made:
        shutil.rmtree(results / part)
    for name in ("csv", "md", "html"):
        (results / f"claims.{name}").unlink()
    again.snakemake("--cores", "2")
    for part, files in made.items():
        assert len(files) > 4
        assert contents(results / part) == files


def figure_names(study):
    """The figures of a study, and those that only some studies have."""
    drawn = {path.stem for path in (study.folder / TINY / "figures").glob("*.pdf")}
    return sorted({*drawn, "optimizers", "spread_fixed_time"})


def test_every_figure_has_one_caption_that_fits_it(finished):
    names = figure_names(finished)
    source = document.document(names, [], "claims.tex", [], "a summary", "a protocol")
    captions = dict(
        zip(
            re.findall(r"includegraphics\[.*?\]\{(.*?)\}", source),
            re.findall(r"caption\{(.*?)\}\n", source),
            strict=True,
        )
    )
    assert list(captions) == names
    assert "seconds" in captions["optimizers"]
    assert "loss" in captions["error_against_loss"]
    assert "cost" in captions["error_against_cost"]
    assert "iterations" in captions["error_against_iterations"]


def test_every_table_carries_its_protocol(finished):
    for path in (finished.folder / TINY / "tables").glob("*.tex"):
        assert "Protocol tiny: 40 iterations" in path.read_text()


def test_latex_sees_no_commands_in_text():
    assert escape(r"50% of \x_1 {a} <b> & ~^#$|") == (
        r"50\% of \textbackslash{}x\_1 \{a\} \textless{}b\textgreater{} \& \textasciitilde{}"
        r"\textasciicircum{}\#\$\textbar{}"
    )


def test_a_page_shows_text_as_text(finished):
    history = finished.history("low", "vanilla")
    run = {
        "status": "finished",
        "error": 0.1,
        "iterations": 40,
        "note": "<script>alert(1)</script>",
    }
    page = run_page("low & <b>high</b>", run, history, "a < b")
    assert "<script>" not in page
    assert "low &amp; &lt;b&gt;high&lt;/b&gt;" in page


def test_without_latex_one_is_told_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ValueError, match=r"pdflatex is not installed.*apt-get install texlive"):
        document.build("", [], tmp_path / "results.pdf")
    assert not (tmp_path / "results.pdf").exists()


@pytest.mark.latex
def test_a_mistake_in_the_source_is_named(tmp_path):
    source = "\\documentclass{article}\\begin{document}\\nonsense\\end{document}"
    with pytest.raises(ValueError, match="Undefined control sequence"):
        document.build(source, [], tmp_path / "results.pdf")
    assert not (tmp_path / "results.pdf").exists()


def pdflatex(folder, name):
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", name]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.latex
def test_tables_compile_alone_and_inside_a_document(finished, tmp_path):
    tables = sorted((finished.folder / TINY / "tables").glob("*.tex"))
    assert len(tables) == 7
    for path in tables:
        shutil.copy(path, tmp_path)
        assert "Overfull" not in pdflatex(tmp_path, path.name), path
    packages = "\\usepackage{array,booktabs,longtable}\\usepackage[margin=2cm]{geometry}"
    inputs = "".join(f"\\input{{{path.name}}}\n" for path in tables)
    source = f"\\documentclass{{article}}{packages}\\begin{{document}}{inputs}\\end{{document}}"
    (tmp_path / "paper.tex").write_text(source)
    pdflatex(tmp_path, "paper.tex")


def beyond_rows(results):
    """The rows of the table beyond the study, each as its cells."""
    text = generalisations_table(results, BEYOND_LABELS, "Protocol one_two")
    assert "Protocol one\\_two" in text
    body = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0]
    rows = filter(None, (line.strip().removesuffix("\\\\") for line in body.splitlines()))
    return [[cell.strip() for cell in row.split("&")] for row in rows]


def test_the_table_beyond_the_study_has_a_row_for_each_problem_and_method():
    assert beyond_rows(BEYOND) == [
        ["Slab", "vanilla", r"$1.00\cdot10^{-1}$", r"$5.00\cdot10^{-1}$", "20.0", ""],
        ["", "existing", r"$3.00\cdot10^{-2}$", r"$1.00\cdot10^{-9}$", "60.0", ""],
        ["", "cosine", r"$\mathbf{2.00\cdot10^{-3}}$", "$0$", "25.0", ""],
        [
            *("D", "cosine", r"$\mathbf{5.00\cdot10^{-2}}$", r"$1.00\cdot10^{-15}$", "30.0"),
            r"0.1234 ($+2.3\sigma$)",
        ],
        [r"No slope given\_1", "vanilla", r"$\mathbf{4.00\cdot10^{-1}}$", "--", "22.0", ""],
    ]


def test_replicates_beyond_the_study_share_a_row_and_one_that_diverged_is_named():
    other = BEYOND.assign(replicate=1, error=4 * BEYOND["error"], seconds=BEYOND["seconds"] + 2)
    other["wall_violation"] *= 3
    rows = beyond_rows(pd.concat([BEYOND, other]))
    assert rows[1][2:5] == [r"$6.00\cdot10^{-2}$", r"$3.00\cdot10^{-9}$", "61.0"]
    diverged = pd.concat([BEYOND, other.assign(error=float("nan"))])
    assert {row[2] for row in beyond_rows(diverged)} == {"diverged"}


@pytest.mark.latex
def test_the_table_beyond_the_study_compiles(tmp_path):
    slab = BEYOND.query("problem == 'slab'")
    results = pd.concat([BEYOND, *(slab.assign(problem=name) for name in PROBLEMS)])
    labels = BEYOND_LABELS | {name: problem.label for name, problem in PROBLEMS.items()}
    replicates = pd.concat([results, results.assign(replicate=1)])
    diverged = results.assign(error=float("nan"))
    for name, rows in (("one", results), ("two", replicates), ("diverged", diverged)):
        (tmp_path / f"{name}.tex").write_text(generalisations_table(rows, labels, "Protocol adam"))
        assert "Overfull" not in pdflatex(tmp_path, f"{name}.tex")


@pytest.mark.latex
def test_strange_labels_compile(tmp_path):
    strange = r"50% of \x_1 {a} <b> & ~^#$|"
    for name, make in (("short", table), ("long", long_table)):
        widths = ("ll",) if make is table else ((0.4, 0.4),)
        row = [escape(strange), escape(strange)]
        text = make(row, [row], escape(strange), "tab:strange", *widths)
        (tmp_path / f"{name}.tex").write_text(text)
        pdflatex(tmp_path, f"{name}.tex")


@pytest.mark.latex
def test_the_document_builds_and_comes_out_the_same_to_the_byte(again):
    again.snakemake("--cores", "2", "document")
    path = again.folder / TINY / "results.pdf"
    first = path.read_bytes()
    assert first.startswith(b"%PDF")
    time.sleep(1.1)
    path.unlink()
    again.snakemake("--cores", "2", "document")
    assert path.read_bytes() == first


@pytest.fixture
def browser(tmp_path):
    """Headless Chromium, from Debian's packages, that may reach nothing."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--window-size=1400,900",
        f"--user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))
    driver.implicitly_wait(10)
    yield driver
    driver.quit()


def click_at(browser, path):
    """Click on an element as soon as the menu, which slides, has brought it to rest."""
    from selenium.common.exceptions import (
        ElementClickInterceptedException,
        StaleElementReferenceException,
    )

    deadline = time.monotonic() + 30
    while True:
        try:
            return browser.find_element("xpath", path).click()
        except (ElementClickInterceptedException, StaleElementReferenceException):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def click(browser, words):
    click_at(browser, f"//span[contains(text(), '{words}')]")


def show(browser, *words):
    """Click on the eye in the row of the menu that has these words."""
    test = " and ".join(f".//*[text()='{word}']" for word in words)
    click_at(browser, f"//tr[{test}]//a[@iconname='eye']")


@pytest.mark.browser
def test_the_report_opens_and_shows_figures_verdicts_and_runs(finished, browser, tmp_path):
    report = tmp_path / "report.html"
    finished.snakemake("--report", str(report))
    browser.get(report.as_uri())
    click(browser, "Figures")
    show(browser, "Relative improvement", "fixed_time")
    figure = browser.find_element("xpath", "//img[starts-with(@src, 'data:image/png')]")
    deadline = time.monotonic() + 10
    while figure.size["width"] < 300 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert browser.execute_script("return arguments[0].naturalWidth", figure) > 1000
    assert figure.size["width"] > 300

    browser.get(report.as_uri())
    click(browser, "Claims")
    show(browser, "All verdicts")
    browser.switch_to.frame(browser.find_element("tag name", "iframe"))
    assert "not decidable" in browser.find_element("tag name", "body").text

    browser.get(report.as_uri())
    click(browser, "Runs")
    click(browser, "low")
    show(browser, "low", "cosine20")
    browser.switch_to.frame(browser.find_element("tag name", "iframe"))
    assert browser.find_element("tag name", "h1").text == "low, cosine20, replicate 0"
    picture = browser.find_element("tag name", "img")
    assert browser.execute_script("return arguments[0].naturalWidth", picture) > 300
    log = browser.get_log("browser")
    assert [entry for entry in log if entry["level"] == "SEVERE"] == []
