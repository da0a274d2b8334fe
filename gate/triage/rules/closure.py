"""Which files decide together with one file: those that it imports, directly or not, by their own import statements."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

Roots = Mapping[str, Path]  # package: its folder. Modules of other packages are not followed.


def files_of(module: str, roots: Roots) -> list[Path]:
    """The module's file and everything under the roots that it imports, sorted by path."""
    seen: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        file = _file(name, roots)
        if file is not None and name not in seen:
            seen[name] = file
            waiting += [*_parents(name, roots), *imported(file.read_bytes(), _package(name, file))]
    return sorted(set(seen.values()))


@lru_cache(maxsize=1024)
def imported(source: bytes, package: str) -> tuple[str, ...]:
    """The names that a file of a package imports: of `from a import b` both, for b may be a module."""
    return tuple(name for node in ast.walk(ast.parse(source)) for name in _names(node, package))


def _names(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        base = _base(node, package)
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _base(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return str(node.module)
    parts = package.split(".")
    above = parts[: len(parts) - node.level + 1]
    return ".".join([*above, node.module] if node.module is not None else above)


def _parents(name: str, roots: Roots) -> Iterator[str]:
    """The packages around a module: their files run before its own does."""
    root = _root(name, roots)
    parts = name.split(".")
    for size in range(len(parts) - 1, 0, -1):
        parent = ".".join(parts[:size])
        if root is not None and parent.startswith(f"{root}."):
            yield parent


def _package(name: str, file: Path) -> str:
    return name if file.name == "__init__.py" else name.rpartition(".")[0]


def _root(name: str, roots: Roots) -> str | None:
    return next((root for root in roots if name == root or name.startswith(f"{root}.")), None)


def _file(name: str, roots: Roots) -> Path | None:
    root = _root(name, roots)
    if root is None:
        return None
    place = roots[root].joinpath(*name[len(root) :].split(".")[1:])
    return next((file for file in (place.with_name(f"{place.name}.py"), place / "__init__.py") if file.is_file()), None)
