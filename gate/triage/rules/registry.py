"""The rule files that this process has loaded, each with the hash of all that decides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from gate.triage.outcomes import ActiveRule
from gate.triage.rules.language import Rule

TRIAGE = Path(__file__).resolve().parents[1]
BODY_HINT = "The file of a rule is written first: manage.py rule_body HYPOTHESIS VERSION prints what goes here."
# What decides besides the rule file itself; the readers are added as they are found.
ENGINE = (
    "cases.py", "lines.py", "outcomes.py", "provenance.py", "verdict.py", "wording.py", "rules/language.py",
    "rules/log_counts.py",
)  # fmt: skip


@cache
def loaded() -> tuple[Rule, ...]:
    """Every rule file of this installation, by hypothesis and version."""
    modules = (_module_of(file) for file in rule_files())
    return tuple(import_module(name).RULE for name in modules)


def rule_files() -> list[Path]:
    """The rule files, sorted."""
    return sorted((TRIAGE / "rules").glob("*/v*.py"))


def linted_files() -> list[Path]:
    """Every file that judges or reads for a rule, besides the core that reads documents."""
    readers = [file for file in (TRIAGE / "readers").glob("*.py") if file.name != "document.py"]
    return [*rule_files(), TRIAGE / "rules" / "log_counts.py", *sorted(readers)]


def _module_of(file: Path) -> str:
    return f"gate.triage.rules.{file.parent.name}.{file.stem}"


@cache
def hash_of(rule: Rule) -> str:
    """SHA-256 over the rule file, the shared tests, the readers and the engine, each with its name."""
    digest = hashlib.sha256(b"counterseal-rule/v1\0")
    for file in (_file_of(rule), *_engine()):
        content = file.read_bytes()
        digest.update(f"{file.relative_to(TRIAGE).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _file_of(rule: Rule) -> Path:
    return TRIAGE / "rules" / rule.hypothesis / f"v{rule.version}.py"


def _engine() -> list[Path]:
    return [*(TRIAGE / name for name in ENGINE), *sorted((TRIAGE / "readers").glob("*.py"))]


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
