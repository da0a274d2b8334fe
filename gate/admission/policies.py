"""Policies as definitions: drafted by one person and put in force by another, with their cases beside them."""

from __future__ import annotations

from typing import Any

from audit import twohands
from audit.models import Definition
from gate.admission import canonical, checking, coverage, files, freezing
from gate.admission.exhaustive import TooManyCells
from gate.admission.files import NoPolicy, PolicyFile

KEYS = frozenset({"title", "program", "cases"})
MAY_HAVE = frozenset({"covers", "freeze"})


def check(name: str, body: dict[str, Any]) -> None:
    """Raises ValueError with a sentence: it is no policy, lint finds an error, or a case is decided otherwise."""
    if set(body) - MAY_HAVE != KEYS or not isinstance(body["title"], str) or not body["title"].strip():
        raise ValueError(
            "A policy is {title, program, cases}: a name for people, a program, and a list of cases. It may say what "
            "its questions cover, and when everything that it judges is frozen."
        )
    try:
        result = checking.check(files.of_body(name, body))
    except (NoPolicy, TooManyCells) as error:
        raise ValueError(str(error)) from error
    errors = [f"{one.code} at {one.at}" for one in result.findings if one.severity == "error"]
    if errors:
        raise ValueError(f"The program decides nothing, for lint finds errors: {', '.join(errors)}.")
    if result.digest is None:
        raise ValueError("The program holds a number or a text that has no canonical form.")
    if result.differing:
        raise ValueError(f"These cases are decided otherwise: {'; '.join(result.differing)}.")
    coverage.check(body.get("covers", {}), body["program"])
    freezing.check(body.get("freeze", []))


EXAMPLE: dict[str, Any] = {
    "title": "Restarts",
    "program": {
        "questions": [
            {
                "id": "replicas", "type": "enum", "by": "probe", "text": "How many copies of the service run?",
                "options": {"none": "it is down", "one": "a restart is an outage", "several": "others go on"},
                "source": {"text": "Never restart the last copy of a service.", "place": "runbook.md, 4"},
            }
        ],
        "rules": [
            {"id": "last_copy", "when": [{"q": "replicas", "op": "is", "value": "one"}], "then": "block"},
            {"id": "others_go_on", "when": [{"q": "replicas", "op": "is", "value": "several"}], "then": "allow"},
        ],
        "otherwise": "ask",
        "must_reach": ["allow", "ask", "block"],
    },
    "cases": [
        {
            "title": "the last copy stays", "answers": {"replicas": {"value": "one", "by": "probe"}},
            "expect": {"verdict": "block", "rule": "last_copy"},
        }
    ],
}  # fmt: skip

KIND = twohands.DefinitionKind(
    "policy", "policies", "Policies", "gate.change_definition", check, example=EXAMPLE, has_shadow=True
)


def digest(version: Definition) -> str:
    """The name of a version's program: SHA-256 over its canonical JSON, as `manage.py policy export` prints it."""
    return canonical.digest(version.body["program"])


def observed(name: str) -> Definition | None:
    """The newest version that observes: it decides nothing, and what it would have decided is recorded."""
    shadows = Definition.objects.filter(kind=KIND.name, name=name, status=Definition.Status.SHADOW)
    return shadows.order_by("-version").first()


def shipped_body(name: str) -> dict[str, Any] | None:
    """The body of a shipped policy; None for another name."""
    return next((body_of(one) for one in files.shipped() if one.name == name), None)


def body_of(policy: PolicyFile) -> dict[str, Any]:
    """A policy of a file as a definition's body."""
    cases = [
        {"title": one.title, "answers": one.answers, "expect": {"verdict": one.verdict, "rule": one.rule}}
        for one in policy.cases
    ]
    return {"title": policy.title, "program": policy.program, "cases": cases, "covers": policy.covers}
