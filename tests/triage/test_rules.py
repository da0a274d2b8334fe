"""Rule files: linted, hashed, in force only by their very hash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from audit import twohands
from gate.triage.rules import closure, lint, registry
from gate.triage.rules.language import Check, Fact, Judgment, Need, Rule

# facts/names of the contract: what a hypothesis stands on, whichever version shows it
CONTRACT = {
    "transient_failure_recovered": {"job_completed", "no_recurrence"},
    "workload_recovered": {"workload_ready", "no_new_warning_events"},
    "always_on_alert": {"rule_expression_constant", "severity_none"},
    "benign_condition": {"node_ready", "no_pressure", "condition_known_benign"},
    "hpa_limited_by_design": {"reason_is_too_few_replicas", "replicas_at_minimum"},
    "no_errors_in_logs": {"log_search_zero", "log_source_alive"},
    "metric_recovered": {"metric_in_range", "alert_not_firing"},
    "capacity_autoscaled": {"scaling_completed", "metric_back_in_range"},
    "pipeline_run_succeeded": {"run_succeeded", "all_tasks_succeeded"},
    "refund_completed": {"refund_succeeded_for_this_charge", "refund_amount_matches"},
    "order_cancelled_correctly": {"no_captured_charge_left", "order_refunded_in_full"},
    "message_delivered": {"delivery_confirmed_for_recipient", "no_bounce"},
    "backup_present": {"backup_recent_and_nonempty", "restore_exercised"},
    "superseded_payment_attempt": {"later_attempt_paid", "order_in_paid_state"},
}


def test_every_file_is_loaded_under_its_own_name() -> None:
    assert len(registry.loaded()) == len(registry.rule_files())
    for rule, file in zip(registry.loaded(), registry.rule_files(), strict=True):
        assert (rule.hypothesis, f"v{rule.version}") == (file.parent.name, file.stem)


def test_there_is_a_rule_for_every_hypothesis_with_the_facts_that_it_needs() -> None:
    assert {rule.hypothesis: {fact.name for fact in rule.facts} for rule in registry.loaded()} == CONTRACT
    assert [rule.hypothesis for rule in registry.newest()] == sorted(CONTRACT)
    versions = [rule.version for rule in registry.loaded() if rule.hypothesis == "refund_completed"]
    newest = next(rule for rule in registry.newest() if rule.hypothesis == "refund_completed")
    assert versions == sorted(versions)
    assert newest.version == versions[-1] > 1


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
    "import importlib",
    "from gate.triage import verdicts",
    "from evidence import reader",
    "def f(r): return eval(r.text)",
    "def f(r): return r.text.partition('=')[2] == '0'",
    "from django.utils import timezone",
    "def f(r):\n    try:\n        return r.x\n    except KeyError:\n        return None",
]


@pytest.mark.parametrize("source", GUESSES)
def test_the_lint_refuses_what_guesses(source: str) -> None:
    assert lint.complaints(source, "rule")


CHECK = Check(title="t", test=lambda answer, case: Judgment(True, "", ""), earn="e")
NEED = Need(readers=(), asked=CHECK.test, answered=CHECK.test, checks=(CHECK,), again=())


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ((), "no fact"),
        (("no_errors",), "absences"),
        (("no_errors", "alert_not_firing", "log_search_zero"), "absences"),
        (("job_ok", "job_done"), "`ok`"),
        (("safe_to_close",), "`safe`"),
        (("all_fine",), "`fine`"),
        (("checks_pass",), "`pass`"),
    ],
)
def test_a_rule_may_not_judge_in_its_names_nor_stand_on_absences_alone(facts: tuple[str, ...], word: str) -> None:
    rule = Rule("x", 1, tuple(Fact(name, (NEED,)) for name in facts))
    assert any(word in complaint for complaint in lint.complaints_about_rule(rule))


def test_a_fact_without_a_check_is_refused() -> None:
    bare = Rule("x", 1, (Fact("job_done", (Need((), CHECK.test, CHECK.test, (), ()),)),))
    assert lint.complaints_about_rule(bare) == ["the fact job_done has no check."]


@pytest.mark.parametrize("rule", registry.loaded(), ids=lambda rule: f"{rule.hypothesis}/v{rule.version}")
def test_no_shipped_rule_judges_in_its_names(rule: Rule) -> None:
    assert lint.complaints_about_rule(rule) == []


def test_the_lint_allows_what_is_exact() -> None:
    exact = (
        "STATES = ('a', 'b')\n"
        "def f(r, case):\n"
        "    if r.state() in STATES and r.count() > 0 and not r.is_open():\n"
        "        return r.flag() is True\n"
        "    return r.error() is None\n"
    )
    assert lint.complaints(exact, "rule") == []


def rule_named(hypothesis: str, version: int) -> Rule:
    return next(rule for rule in registry.loaded() if (rule.hypothesis, rule.version) == (hypothesis, version))


ENGINE_FILES = (
    "cases.py", "judge.py", "lines.py", "objections.py", "outcomes.py", "provenance.py", "readers/document.py",
    "rules/language.py", "scope_lines.py", "sheet.py", "verdict.py", "wording.py",
)  # fmt: skip


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A copy of the package, hashed instead of it."""
    shutil.copytree(registry.TRIAGE, tmp_path / "triage", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(registry, "TRIAGE", tmp_path / "triage")
    return tmp_path / "triage"


def hash_now(rule: Rule) -> str:
    return registry.hash_of.__wrapped__(rule)


def test_a_changed_byte_anywhere_that_decides_changes_the_hash(copied: Path) -> None:
    rule = rule_named("transient_failure_recovered", 1)
    before = hash_now(rule)
    own = (f"rules/{rule.hypothesis}/v1.py", "rules/log_counts.py", "readers/count_errors.py", "readers/find_job.py",
           "readers/incident.py")  # fmt: skip
    for name in (*ENGINE_FILES, *own):
        file = copied / name
        whole = file.read_bytes()
        file.write_bytes(whole + b"\n")
        assert hash_now(rule) != before, name
        file.write_bytes(whole)
    assert hash_now(rule) == before


def test_what_a_rule_does_not_import_leaves_its_hash_alone(copied: Path) -> None:
    """A new reader, or a new version of another rule, is no change to this one."""
    rule = rule_named("transient_failure_recovered", 1)
    before = hash_now(rule)
    (copied / "readers" / "brand_new.py").write_text('"""A reader."""\n')
    for name in ("rules/refund_completed/v1.py", "readers/list_refunds.py", "rules/registry.py", "classes.py"):
        file = copied / name
        file.write_bytes(file.read_bytes() + b"\n")
    assert hash_now(rule) == before


ALONE = """
import sys
from importlib import import_module
import_module("gate.triage.rules.{name}")
import_module("gate.triage.verdict")
print("\\n".join(m.__file__ for n, m in sys.modules.items() if n.startswith("gate.triage.") and m.__file__))
"""


@pytest.mark.parametrize("rule", registry.newest(), ids=lambda rule: rule.hypothesis)
def test_all_that_a_process_of_its_own_loads_for_a_rule_is_hashed(rule: Rule) -> None:
    script = ALONE.format(name=f"{rule.hypothesis}.v{rule.version}")
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert {Path(line) for line in answer.stdout.splitlines()} <= set(registry.files_of(rule))


@pytest.mark.parametrize(
    ("source", "package", "names"),
    [
        (b"import a.b", "p", {"a.b"}),
        (b"from a.b import c as d, e", "p", {"a.b", "a.b.c", "a.b.e"}),
        (b"from . import c", "p.q", {"p.q", "p.q.c"}),
        (b"from ..readers.mine import Mine", "p.q", {"p.readers.mine", "p.readers.mine.Mine"}),
        (b"def f():\n    from x import y", "p", {"x", "x.y"}),
    ],
)
def test_every_form_of_import_is_followed(source: bytes, package: str, names: set[str]) -> None:
    assert set(closure.imported(source, package)) == names


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
