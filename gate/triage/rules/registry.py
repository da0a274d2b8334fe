"""The rule files that this process has loaded, each with the hash of all that decides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from gate.triage.outcomes import ActiveRule
from gate.triage.rules import closure, folders
from gate.triage.rules.folders import Loaded, Refused
from gate.triage.rules.language import Rule

__all__ = ["Refused", "active", "body_of", "check", "file_of", "files_of", "find", "hash_of", "loaded", "newest", "use"]

TRIAGE = Path(__file__).resolve().parents[1]
PACKAGE = "gate.triage"
ENGINE = f"{PACKAGE}.verdict"  # with everything that it imports
CORE = (
    "closure",
    "folders",
    "language",
    "lint",
    "registry",
)  # of rules/: what loads rules, and what they are written in
BODY_HINT = "The file of a rule is written first: manage.py rule_body HYPOTHESIS VERSION prints what goes here."
# The folders of teams besides ours; `use` fills it as the process starts.
_FOLDERS: list[Path] = []


def use(given: Iterable[Path]) -> None:
    """Load these folders besides the shipped rules. Raises Refused, one sentence, and then uses none of them."""
    wanted = list(given)
    before = list(_FOLDERS)
    _FOLDERS[:] = wanted
    _forget()
    try:
        _all()
    except Refused:
        _FOLDERS[:] = before
        _forget()
        raise


def _forget() -> None:
    _all.cache_clear()
    hash_of.cache_clear()


@cache
def _all() -> tuple[Loaded, ...]:
    shipped = [Loaded(import_module(name).RULE, name, file) for name, file in _shipped()]
    known: dict[tuple[str, int], Loaded] = {}
    for one in (*shipped, *folders.load_all(_FOLDERS)):
        key = (one.rule.hypothesis, one.rule.version)
        if key in known:
            raise Refused(
                f"{one.file} and {known[key].file} are both version {key[1]} of {key[0]}; give one a new number."
            )
        known[key] = one
    return tuple(known[key] for key in sorted(known))


def _shipped() -> list[tuple[str, Path]]:
    return [(f"{PACKAGE}.rules.{file.parent.name}.{file.stem}", file) for file in rule_files()]


def loaded() -> tuple[Rule, ...]:
    """Every rule of this installation, by hypothesis and version."""
    return tuple(one.rule for one in _all())


def newest() -> tuple[Rule, ...]:
    """The newest version of each hypothesis."""
    return tuple({rule.hypothesis: rule for rule in loaded()}.values())


def rule_files() -> list[Path]:
    """The shipped rule files, by hypothesis and version."""
    return folders.rule_files(TRIAGE / "rules")


def linted_files() -> list[Path]:
    """Every shipped file that judges or reads for a rule: all but the core, and the grammars, which lie apart."""
    shared = [file for file in (TRIAGE / "rules").glob("*.py") if file.stem not in CORE]
    readers = [file for file in (TRIAGE / "readers").rglob("*.py") if file.name != "document.py"]
    return [*rule_files(), *sorted(shared), *sorted(readers)]


def file_of(rule: Rule) -> Path:
    """The file that a loaded rule is written in. Raises KeyError."""
    return _loaded_as(rule).file


def files_of(rule: Rule) -> list[Path]:
    """Everything that decides with a rule: its file, what it imports, directly or not, and the engine."""
    module = _loaded_as(rule).module
    roots = {PACKAGE: TRIAGE} | {folders.package_of(folder): folder for folder in _FOLDERS}
    return sorted({*closure.files_of(module, roots), *closure.files_of(ENGINE, roots)})


@cache
def hash_of(rule: Rule) -> str:
    """SHA-256 over the rule file, the shared tests and readers that it imports, and the engine, each with its name."""
    digest = hashlib.sha256(b"counterseal-rule/v1\0")
    for name, file in sorted((_name_of(file), file) for file in files_of(rule)):
        content = file.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _name_of(file: Path) -> str:
    """A file's name wherever the installation lies."""
    for folder in _FOLDERS:
        if file.is_relative_to(folder):
            return f"team/{file.relative_to(folder).as_posix()}"
    return file.relative_to(TRIAGE).as_posix()


def _loaded_as(rule: Rule) -> Loaded:
    for one in _all():
        if (one.rule.hypothesis, one.rule.version) == (rule.hypothesis, rule.version):
            return one
    raise KeyError(rule.hypothesis)


def body_of(rule: Rule) -> dict[str, Any]:
    """What a definition of kind rule says to put exactly this file in force."""
    return {"hypothesis": rule.hypothesis, "file_version": rule.version, "hash": hash_of(rule)}


def find(body: Mapping[str, Any]) -> Rule | None:
    """The loaded rule that a definition's body means; None when this process has not that very file."""
    for rule in loaded():
        if body_of(rule) == dict(body):
            return rule
    return None


def active(bodies: Mapping[str, Mapping[str, Any]]) -> dict[str, ActiveRule]:
    """The rules in force, by hypothesis, from the bodies of the active definitions."""
    return {name: ActiveRule(find(body), str(body["hash"])) for name, body in bodies.items()}


def check(name: str, body: dict[str, Any]) -> None:
    """Raises ValueError with a sentence unless the body names a rule file that is loaded here, with its hash."""
    if set(body) != {"hypothesis", "file_version", "hash"}:
        raise ValueError("A rule says hypothesis, file_version and hash, and nothing else.")
    if body["hypothesis"] != name:
        raise ValueError(f"The rule {name} must be about the hypothesis {name}.")
    if find(body) is None:
        raise ValueError(f"This process has not loaded {name} v{body['file_version']} with that hash; deploy it first.")
