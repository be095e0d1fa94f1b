"""Which files code is made of, by its imports, and a digest of what they say."""

from studies import ROOT

from neumann_pinn.training.sources import PACKAGE, code_digest, imported_files

SCRIPTS = ROOT / "workflow" / "scripts"
DIGEST = "4c6e1d62a8bb1f91e07be3a5994ed5ba1cfd8f02a098933c76fbb0fa343eb4a4"
SNIPPET = '''"""A docstring."""

from __future__ import annotations

import math as m


class Point(tuple):
    """Another one."""

    x: float = 1.5e-3

    async def where(self, *args: int, key: str = "a", **kwargs: object) -> str | None:
        with open(f"{self.x!r:>{m.floor(3.2)}}_{key}") as file, suppress(OSError):
            lines = [line for line in file if not line.strip()]
        match args:
            case [0, *_] if (n := len(lines)) > 1:
                return b"\\xff"[n:None]
            case {"a": Point(x=1)}:
                raise ValueError from None
        return (lambda z: ~z @ z)(await self.x)
'''


def names(*files):
    return {path.relative_to(PACKAGE).as_posix() for path in imported_files(*files)}


def test_a_script_is_made_of_all_that_it_imports_directly_or_not():
    maps = names(SCRIPTS / "draw_maps.py")
    assert {"report/figures/maps.py", "report/figures/style.py", "study/predictions.py"} <= maps
    assert not [name for name in maps if name.startswith(("model/", "training/"))]
    assert {"study/config.py", "problems/series.py"} <= names(SCRIPTS / "make_reference.py")
    assert "training/gauss_newton.py" in names(SCRIPTS / "train.py")


def test_imports_inside_functions_count_and_those_for_type_checkers_do_not(tmp_path):
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from neumann_pinn.walls.axes import Axis\n"
        "def f():\n    from neumann_pinn.walls.trigonometry import cospi\n"
    )
    assert names(path) == {"walls/trigonometry.py"}


def test_every_script_names_the_modules_that_define_what_it_uses():
    """From the package itself nothing is imported: what its lazy names bring cannot be followed."""
    for script in [*SCRIPTS.glob("*.py"), *PACKAGE.rglob("*.py")]:
        assert "from neumann_pinn import" not in script.read_text(), script


def test_comments_docstrings_and_layout_do_not_count(tmp_path):
    texts = {
        "plain": "def f(x):\n    return x + 1\n",
        "documented": 'def f(x):  # adds\n    """Adds."""\n\n    return (x +\n            1)\n',
        "changed": "def f(x):\n    return x + 2\n",
    }
    digests = {}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        digests[name] = code_digest([tmp_path / name])
    assert digests["plain"] == digests["documented"] != digests["changed"]


def test_a_digest_is_the_same_in_every_version_of_python(tmp_path):
    """Found with 3.11, 3.12 and 3.13, of which `ast.dump` makes different texts."""
    path = tmp_path / "snippet.py"
    path.write_text(SNIPPET)
    assert code_digest([path]) == DIGEST
