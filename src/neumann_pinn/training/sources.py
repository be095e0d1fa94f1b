"""The source files of this package that a file imports, and a digest of their code.

Both Snakemake's rerun inputs and the keys of checkpoints follow from the imports.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def imported_files(*files: Path) -> list[Path]:
    """The package's files that some files import, directly or not, sorted by name.

    Imports inside functions count; those only for type checkers do not.
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        for file in _direct_imports(waiting.pop()):
            if file not in found:
                found.add(file)
                waiting.append(file)
    return sorted(found)


def code_digest(files: Iterable[Path]) -> str:
    """A hash of the code in some files: comments, docstrings and layout do not count."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(_canonical(ast.parse(file.read_bytes())).encode())
    return digest.hexdigest()


@cache
def _direct_imports(file: Path) -> tuple[Path, ...]:
    names = _imported_names(ast.parse(file.read_bytes()))
    return tuple(path for name in names if (path := _file_of(name)))


def _imported_names(node: ast.AST) -> Iterator[str]:
    """The dotted names that some code imports; a name may be of something inside a module."""
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for child in ast.iter_child_nodes(node):
        yield from _imported_names(child)


def _file_of(name: str) -> Path | None:
    """The file of one of the package's modules; None for packages without code and other names."""
    first, *parts = name.split(".")
    if first != PACKAGE.name or not parts:
        return None
    module = PACKAGE.joinpath(*parts)
    for path in (module.with_suffix(".py"), module / "__init__.py"):
        if path.is_file():
            return path
    return None


def _canonical(node: object) -> str:
    """Code as text that is the same for every version of Python.

    `ast.dump` is not: newer versions have more fields, and leave out empty ones. Nor are f-strings,
    in which some versions see empty constants.
    """
    if isinstance(node, list):
        return f"[{','.join(_canonical(item) for item in node if not _is_docstring(item))}]"
    if isinstance(node, ast.JoinedStr):
        node = [part for part in node.values if getattr(part, "value", None) != ""]
        return f"JoinedStr({_canonical(node)})"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    parts = (f"{name}={_canonical(value)}" for name, value in fields)
    return f"{type(node).__name__}({','.join(parts)})"


def _is_docstring(node: object) -> bool:
    """Whether a statement is nothing but a constant."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
