"""Rule folders of teams: loaded under module names of their own, so that two folders cannot clash, or refused whole."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from gate.triage.rules import lint
from gate.triage.rules.language import Rule

SETTING = "COUNTERSEAL_VERDICT_RULES"
_HYPOTHESIS = re.compile(r"[a-z][a-z0-9_]{0,79}", re.ASCII)
_VERSION = re.compile(r"v([1-9][0-9]{0,3})\.py", re.ASCII)
# What importing someone's file can raise. It is said in one sentence and nothing of the folder is used.
BROKEN = (ImportError, SyntaxError, NameError, AttributeError, TypeError, ValueError, LookupError, ArithmeticError,
          RuntimeError, AssertionError, OSError)  # fmt: skip


class Refused(Exception):
    """A folder of rules that cannot be used; the sentence says why."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


@dataclass(frozen=True)
class Loaded:
    """A rule with the module that it came from."""

    rule: Rule
    module: str
    file: Path


def load_all(folders: Iterable[Path]) -> tuple[Loaded, ...]:
    """Every rule of some folders. Raises Refused."""
    found: list[Loaded] = []
    for folder in folders:
        found += load(folder)
    return tuple(found)


def load(folder: Path) -> list[Loaded]:
    """The rules of one folder, `<hypothesis>/v<n>.py`. Raises Refused: then none of them is used."""
    if not folder.is_dir():
        raise Refused(f"{SETTING} names {folder}, which is no folder.")
    for complaint in (sentence for file in linted_files(folder) for sentence in _complaints(file, folder)):
        raise Refused(f"The rules in {folder} are not used: {complaint}")
    package = package_of(folder)
    return [_rule(file, f"{package}.{file.parent.name}.{file.stem}", folder) for file in rule_files(folder)]


def package_of(folder: Path) -> str:
    """The package of a folder, known to Python from here on. Its name is the folder's own, wherever others lie."""
    name = f"verdict_rules_{hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package
    return name


def rule_files(folder: Path) -> list[Path]:
    """The rule files below a folder, by hypothesis and version."""
    found = [
        file
        for file in folder.glob("*/v*.py")
        if _VERSION.fullmatch(file.name) is not None and _HYPOTHESIS.fullmatch(file.parent.name) is not None
    ]
    return sorted(found, key=lambda file: (file.parent.name, version_of(file)))


def version_of(file: Path) -> int:
    """The version that a rule file's name says."""
    return int(file.stem.removeprefix("v"))


def linted_files(folder: Path) -> list[Path]:
    """What judges or reads in a folder: all but its grammars, which take text apart, closed and whole."""
    return sorted(file for file in folder.rglob("*.py") if "grammars" not in file.relative_to(folder).parts[:-1])


def _complaints(file: Path, folder: Path) -> Iterator[str]:
    try:
        yield from lint.complaints(file.read_text(), file.relative_to(folder).as_posix())
    except (SyntaxError, ValueError, OSError) as error:
        yield f"{file.relative_to(folder).as_posix()} cannot be read as Python ({error})."


def _rule(file: Path, module: str, folder: Path) -> Loaded:
    name = file.relative_to(folder).as_posix()
    try:
        rule = import_module(module).RULE
    except BROKEN as error:
        raise Refused(f"The rules in {folder} are not used: {name} cannot be loaded ({error}).") from error
    if not isinstance(rule, Rule) or (rule.hypothesis, rule.version) != (file.parent.name, version_of(file)):
        raise Refused(f"The rules in {folder} are not used: {name} must say RULE for its own hypothesis and version.")
    for complaint in lint.complaints_about_rule(rule):
        raise Refused(f"The rules in {folder} are not used: {name}: {complaint}")
    return Loaded(rule, module, file)
