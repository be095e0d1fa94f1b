"""The workflow from elsewhere: as a module of another one, out of a Git repository."""

import shutil
import subprocess
import sys

import yaml
from studies import TINY, Study, git, small_config

SNAKEFILE = """
configfile: "config/config.yaml"


module neumann_pinn:
    snakefile:
        gitfile("{repository}", path="workflow/Snakefile", commit="{commit}")
    config:
        config


use rule * from neumann_pinn
"""


def test_with_the_package_installed_a_module_from_a_git_path_works(tmp_path):
    repository = Study(tmp_path / "repository", small_config()).folder
    shutil.rmtree(repository / "src")
    git(repository, "init", "-q")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "one")
    folder = tmp_path / "elsewhere"
    (folder / "config").mkdir(parents=True)
    (folder / "config" / "config.yaml").write_text(yaml.safe_dump(small_config()))
    commit = git(repository, "rev-parse", "HEAD")
    (folder / "Snakefile").write_text(SNAKEFILE.format(repository=repository, commit=commit))

    def snakemake(*arguments):
        command = [sys.executable, "-m", "snakemake", *arguments]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "draw_improvement" in snakemake("-n", "--quiet", "rules", "all")
    run, table = TINY / "runs/low/cosine20/0/run.json", TINY / "tables/settings.tex"
    snakemake("--cores", "2", str(run), str(table))
    assert (folder / run).exists()
    assert "Protocol tiny" in (folder / table).read_text()
