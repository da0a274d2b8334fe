"""Rule files: linted, hashed, in force only by their very hash."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit import twohands
from gate.triage.rules import lint, registry

HYPOTHESES = ["no_errors_in_logs", "refund_completed", "transient_failure_recovered"]


def test_every_file_is_loaded_under_its_own_name() -> None:
    assert [rule.hypothesis for rule in registry.loaded()] == HYPOTHESES
    for rule, file in zip(registry.loaded(), registry.rule_files(), strict=True):
        assert (rule.hypothesis, f"v{rule.version}") == (file.parent.name, file.stem)


def test_every_rule_has_checks_and_asks_again() -> None:
    for rule in registry.loaded():
        assert len({fact.name for fact in rule.facts}) == len(rule.facts) <= 6
        for fact in rule.facts:
            assert not fact.name.startswith(("no_failure", "not_failed"))
            for need in fact.needs:
                assert need.checks
                assert need.again
                assert all(check.title and check.earn and check.unreadable for check in need.checks)


@pytest.mark.parametrize("file", registry.linted_files(), ids=lambda file: f"{file.parent.name}/{file.name}")
def test_no_rule_or_reader_guesses(file: Path) -> None:
    assert lint.complaints_about(file) == []


GUESSES = [
    "def f(r): return r.get('count', 0) == 0",
    "def f(r): return not r.error",
    "def f(r): return r.error or r.reason",
    "def f(r):\n    if r.count:\n        return 1",
    "def f(r): return 1 if r.ok else 2",
    "def f(r): return [x for x in r if x]",
    "def f(r, limit=10): return limit",
    "def f(r, *, limit=10): return limit",
    "def f(r): return all(x == 1 for x in r)",
    "def f(r): return int(r.count) == 0",
    "def f(r): return 'succeeded' in r.text",
    "def f(r): return r.text.startswith('ok')",
    "def f(r): return r.a == 1 and r.b",
    "import re",
    "from django.utils import timezone",
    "def f(r):\n    try:\n        return r.x\n    except KeyError:\n        return None",
]


@pytest.mark.parametrize("source", GUESSES)
def test_the_lint_refuses_what_guesses(source: str) -> None:
    assert lint.complaints(source, "rule")


def test_the_lint_allows_what_is_exact() -> None:
    exact = (
        "STATES = ('a', 'b')\n"
        "def f(r, case):\n"
        "    if r.state() in STATES and r.count() > 0 and not r.is_open():\n"
        "        return r.flag() is True\n"
        "    return r.error() is None\n"
    )
    assert lint.complaints(exact, "rule") == []


def test_a_changed_byte_anywhere_that_decides_changes_the_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    triage = registry.TRIAGE
    shutil.copytree(triage, tmp_path / "triage")
    rule = registry.loaded()[0]
    before = registry.hash_of.__wrapped__(rule)
    monkeypatch.setattr(registry, "TRIAGE", tmp_path / "triage")
    assert registry.hash_of.__wrapped__(rule) == before
    deciding = [f"rules/{rule.hypothesis}/v1.py", "readers/document.py", "readers/count_errors.py", *registry.ENGINE]
    for name in deciding:
        file = tmp_path / "triage" / name
        whole = file.read_bytes()
        file.write_bytes(whole + b"\n")
        assert registry.hash_of.__wrapped__(rule) != before, name
        file.write_bytes(whole)
    other = tmp_path / "triage" / "rules" / "refund_completed" / "v1.py"
    other.write_bytes(other.read_bytes() + b"\n")
    assert registry.hash_of.__wrapped__(rule) == before


def test_everything_that_the_engine_imports_is_hashed() -> None:
    import ast

    hashed = {file.relative_to(registry.TRIAGE).as_posix() for file in registry._engine()}
    seen, waiting = set(), ["verdict.py", *(f"rules/{rule.hypothesis}/v1.py" for rule in registry.loaded())]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for node in ast.walk(ast.parse((registry.TRIAGE / name).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gate.triage"):
                parts = node.module.split(".")[2:]
                options = [
                    "/".join([*parts]) + ".py",
                    *("/".join([*parts, alias.name]) + ".py" for alias in node.names),
                ]
                waiting += [o for o in options if (registry.TRIAGE / o).is_file() and o not in seen]
    assert {name for name in seen if "/v" not in name} <= hashed


@pytest.mark.django_db
def test_a_rule_is_put_in_force_by_its_hash_alone(define: Callable[..., Any]) -> None:
    rule = registry.loaded()[0]
    body = registry.body_of(rule)
    for wrong in ({"hash": "0" * 64}, {"file_version": 2}, {"hypothesis": "other"}, {"note": "x"}):
        with pytest.raises(ValueError):
            define("rule", rule.hypothesis, {**body, **wrong})
    with pytest.raises(ValueError, match="must be about"):
        define("rule", "another_name", body)
    define("rule", rule.hypothesis, body)
    assert twohands.active("rule", rule.hypothesis) is not None


def test_the_rules_in_force_are_those_of_the_definitions() -> None:
    rule = registry.loaded()[0]
    stranger = {"hypothesis": "x", "file_version": 1, "hash": "f" * 64}
    active = registry.active({rule.hypothesis: registry.body_of(rule), "x": stranger})
    assert active[rule.hypothesis].rule is rule
    assert (active["x"].rule, active["x"].hash) == (None, "f" * 64)
