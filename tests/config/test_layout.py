"""The layout and the arrows: gate → evidence → audit, and nobody needs the demo."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("audit", "evidence", "gate")
# What a package may not import.
FORBIDDEN = {"audit": ("evidence", "gate", "tests"), "evidence": ("gate", "tests"), "gate": ("tests",)}
TOP_LEVEL = {
    ".ci", ".gitignore", "LICENSE", "README.md", "audit", "evidence", "gate", "manage.py", "pyproject.toml",
    "requirements-dev.txt", "requirements-oidc.txt", "requirements.txt", "static", "templates", "tests",
}  # fmt: skip
# Made by running it, and ignored by git.
MADE = {".git", ".venv", "uv.lock", "var", ".static", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}


def imported(file: Path) -> Iterator[str]:
    """Every module that a file imports, at its top or inside a function."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{file} imports relatively"
            yield from (f"{node.module}.{name.name}" for name in node.names)


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


@pytest.mark.parametrize("package", PACKAGES)
def test_imports_run_one_way(package: str) -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for file in (ROOT / package).rglob("*.py")
        for module in imported(file)
        if any(is_within(module, forbidden) for forbidden in FORBIDDEN[package])
    ]
    assert wrong == []


def test_nobody_imports_the_demo() -> None:
    wrong = [
        f"{file.relative_to(ROOT)} imports {module}"
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        if not file.is_relative_to(ROOT / "gate" / "demo")
        for module in imported(file)
        if is_within(module, "gate.demo")
    ]
    assert wrong == []


def test_the_top_level_holds_what_design_says() -> None:
    assert {found.name for found in ROOT.iterdir()} - MADE - {"__pycache__"} <= TOP_LEVEL
    assert all((ROOT / name).exists() for name in TOP_LEVEL)


@pytest.mark.parametrize("package", ["audit", "evidence", "gate"])
def test_a_package_can_be_imported_without_settings(package: str) -> None:
    tree = ast.parse((ROOT / package / "__init__.py").read_text())
    assert all(isinstance(node, ast.Expr) for node in tree.body)
