"""Every command line of README and docs works: as a dry run where it would take long."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from studies import CONFIG, ROOT, TINY, Study

PAGES = [ROOT / "README.md", ROOT / "config" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = ("snakemake", "neumann-pinn", "pip", "python3")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
COMMAND = str(Path(sys.executable).with_name("neumann-pinn"))
SMALL_BENCH = (
    "--no-deepxde --no-growth --no-newton --methods cosine1 --points 300 --threads 1 --rounds 1"
)


def documented():
    """The command lines in code blocks, indented blocks and code spans, by page."""
    found = []
    for page in PAGES:
        text = page.read_text().replace("\\\n", " ")
        spans = re.findall(r"`([^`\n]+)`", text)
        for line in spans + re.findall(r"^(?:    )?(\S.*)$", text, re.MULTILINE):
            program = line.split(" ")[0].removeprefix(".venv/bin/")
            if program in PROGRAMS and " " in line and (page.name, line) not in found:
                found.append((page.name, line))
    return found


def parts(line):
    """The commands of a line, each as words with the program's bare name."""
    for command in line.split(" && "):
        program, *words = shlex.split(command)
        yield program.removeprefix(".venv/bin/"), words


def run(folder, *command):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_pip(words):
    """The install is of this package, with extras that exist, from the lock that exists."""
    assert words[0] == "install"
    (package,) = (word for word in words[1:] if word.startswith("."))
    for extra in re.findall(r"[a-z]+", package):
        assert extra in EXTRAS, extra
    if "-c" in words:
        assert (ROOT / words[words.index("-c") + 1]).is_file()


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The project as it is, in which nothing has been run."""
    return Study(tmp_path_factory.mktemp("clone"), CONFIG).folder


def test_there_are_many_commands_and_no_two_ways_to_write_one():
    lines = [line for _, line in documented()]
    assert len(lines) >= 18
    assert "snakemake --cores all --config protocol=adam" in lines
    assert any("replicates=3" in line for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "line"), documented())
def test_a_documented_command_works(page, line, clone, again, tmp_path):
    snakemake = (sys.executable, "-m", "snakemake")
    for program, words in parts(line):
        if program == "python3":
            assert words == ["-m", "venv", ".venv"]
        elif program == "pip":
            check_pip(words)
        elif program == "neumann-pinn" and words[0] == "watch":
            results = again.folder / words[1]
            (again.folder / TINY).rename(results)
            assert "6 of 6 runs done" in run(again.folder, COMMAND, *words, "--once")
        elif program == "neumann-pinn":
            assert "cosine1" in run(tmp_path, COMMAND, *words, *SMALL_BENCH.split())
        elif "--report" in words:
            run(again.folder, *snakemake, *words)
            assert (again.folder / words[words.index("--report") + 1]).stat().st_size > 100_000
        elif "--list-rules" in words:
            assert "generalisations" in run(clone, *snakemake, *words)
        else:
            said = run(clone, *snakemake, *words, "-n", "--quiet", "rules")
            assert re.search(r"^total +\d+$", said, re.MULTILINE), said
