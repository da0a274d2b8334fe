"""The attack corpus through the query tool and the whole gateway: nothing comes through, ordinary reads are served."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from audit.models import Agent, Definition
from evidence import attacking, exact_json, gateway, proof, watching
from evidence.attacking import Read
from evidence.errors import Problem, Refused
from tests.evidence import bodies, own_attacks, scratch

pytestmark = pytest.mark.django_db
MARKS = ("S3CR3T", "PANMARK", "TENANTMARK", "LOMARK")
QUERY: dict[str, Any] = {
    "sql": "", "parameters": ["sql"], "shape": "query", "output_schema": {"type": "object"},
    "input_schema": {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]},
}  # fmt: skip


@pytest.fixture
def ask(define: Any, source: Definition, asker: Any, scope_of: Any, monkeypatch: pytest.MonkeyPatch) -> Read:
    """One text through the query tool, as an agent asks it."""
    most = {"calls_per_minute": {"agent": 100_000, "all": 100_000}}
    proof.certify(define("source", "scratch", bodies.source(query=True, **most)))
    define("tool", "query", bodies.tool(**QUERY))
    scope_of(asker[0], "query", budget=10_000)
    Agent.objects.filter(pk=asker[0].agent_id).update(calls_per_hour=100_000)
    monkeypatch.setattr(gateway, "LIMITS", attacking.LIMITS)

    def read(text: str) -> str | Refused:
        try:
            return exact_json.dumps(gateway.call(asker[0], "query", {"sql": text}, None).result)
        except Problem as problem:
            return Refused(problem.code, problem.sentence)

    return read


def attacked(
    ask: Read, dsn_of: Callable[[str], str], cases: list[attacking.Case]
) -> list[tuple[str, str]]:  # fmt: skip
    with psycopg.connect(dsn_of("postgres"), autocommit=True) as doctor:
        assert watching.look(doctor).unseen == []
        found = attacking.breaches(dsn_of("strong_reader"), doctor, cases, MARKS, ask)
        return [(one.case.id, one.why) for one in found]


def test_the_corpus_comes_to_nothing(ask: Read, dsn_of: Callable[[str], str]) -> None:
    cases, _ = attacking.parse((scratch.DATA / "sql.jsonl").read_text())
    assert len(cases) >= 150
    assert attacked(ask, dsn_of, cases) == []


def test_our_own_attacks_come_to_nothing(ask: Read, dsn_of: Callable[[str], str]) -> None:
    cases = [attacking.Case(text, "own", (text,), "refused") for text in own_attacks.REFUSED]
    cases += [attacking.Case(text, "own", (text,), "bounded") for text in own_attacks.BOUND]
    assert attacked(ask, dsn_of, cases) == []


def test_ordinary_reads_of_the_exposed_schema_are_all_served(ask: Read, dsn_of: Callable[[str], str]) -> None:
    cases, _ = attacking.parse((scratch.DATA / "ordinary_reads.jsonl").read_text())
    # A query reads in the schema that the source exposes; the corpus also reads where the role may besides.
    exposed = [case for case in cases if "app." not in case.texts[0]]
    assert len(exposed) >= 15
    refused = attacking.false_refusals(dsn_of("strong_reader"), exposed, ask)
    assert [(one.case.id, one.case.texts, one.why) for one in refused] == []
