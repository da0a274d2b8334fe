"""A source that is read over HTTP, from its draft to the entry of a call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command

from audit import reading
from audit.models import Entry
from evidence import catalog, contracts, proof
from evidence.errors import Problem
from evidence.kinds.http import client
from tests.evidence import bodies
from tests.evidence.kinds import http_server
from tests.evidence.kinds.http_server import Server

pytestmark = pytest.mark.django_db
SECRET = "tok-5d1e07"
ANSWER = {
    "status": "success",
    "data": {
        "resultType": "vector",
        "result": [{"metric": {"job": "payouts"}, "value": [1767225600, "0.25"]}],
        "stats": {"samples": {"totalQueryableSamples": 40}},
    },
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    with http_server.running() as running:
        for path, value in {
            "/api/v1/status/buildinfo": {"data": {"version": "3.1.0"}},
            "/api/v1/status/flags": {"status": "success", "data": {"web.enable-admin-api": "false"}},
            "/api/v1/query": ANSWER,
        }.items():
            running.answer(path, value)
        yield running
        client.close()


@pytest.fixture
def ask(server: Server, define: Any, asker: Any, scope_of: Any) -> Any:
    """Ask a proven Prometheus for a ratio of failures, as an agent."""
    source = define(
        "source", "metrics",
        {"kind": "prometheus", "url": server.url, "environment": "test", "addresses": ["127.0.0.1"],
         "reader_env": "SHELF_READER_TOKEN", "credential": "bearer"},
    )  # fmt: skip
    assert proof.certify(source).holds
    common = {key: value for key, value in bodies.tool(source="metrics").items() if key not in contracts.SQL_KEYS}
    schema = {"type": "object", "properties": {"job": {"type": "string"}}, "required": ["job"]}
    request = {"endpoint": "query", "parameters": {"query": "failures:ratio5m{job=$job}"}}
    define("tool", "failure_ratio", {**common, "input_schema": schema, "output_schema": {"type": "object"},
                                     "request": request})  # fmt: skip
    scope_of(asker[0], "failure_ratio")
    return lambda job: catalog.call(asker[0], "failure_ratio", {"job": job}, None)


def entry(audit_id: str) -> Entry:
    return Entry.objects.get(seq=int(audit_id.removeprefix("A-")))


def test_a_call_is_read_over_http_and_recorded(ask: Any, server: Server) -> None:
    answer = ask("payouts")
    assert (answer["result"], answer["truncated"], answer["incomplete"]) == (ANSWER, False, [])
    kept = entry(answer["audit_id"])
    assert (kept.status, kept.truncated, kept.source, kept.certificate != "") == ("ok", False, "metrics", True)
    assert reading.payload_of(kept.pk).result == ANSWER
    assert "failures%3Aratio5m%7Bjob%3D%22payouts%22%7D" in server.asked[-1].target


def test_what_the_server_says_is_missing_is_in_the_entry(ask: Any, server: Server) -> None:
    server.answer("/api/v1/query", {**ANSWER, "isPartial": True, "warnings": ["no store"]})
    answer = ask("payouts")
    assert (answer["truncated"], answer["incomplete"]) == (True, ["warnings", "partial"])
    assert (entry(answer["audit_id"]).truncated, entry(answer["audit_id"]).error_class) == (True, "warnings partial")


def test_an_error_is_a_failed_call_without_the_secret(ask: Any, server: Server) -> None:
    server.answer(
        "/api/v1/query", {"status": "error", "errorType": "internal", "error": f"Bearer {SECRET} is old"}, 500
    )
    with pytest.raises(Problem, match=r"answered with 500: internal: Bearer .* is old; the failed call") as told:
        ask("payouts")
    kept = entry(told.value.audit_id)
    assert (kept.status, kept.error_class, told.value.status) == ("failed", "source_error", 502)
    assert SECRET not in str(vars(kept)) + told.value.sentence


def test_another_credential_than_the_proven_one_reads_nothing(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", "another")
    with pytest.raises(Problem, match="holds another reader credential than the one that was proven"):
        ask("payouts")


def test_the_commands_of_a_source_know_it(ask: Any, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("prove_reader", "metrics")
    call_command("reader_role", "metrics")
    said = capsys.readouterr().out
    assert "holds  Nobody deletes series or takes snapshots through its API." in said
    assert "at everybody's addresses and at 127.0.0.1/32" in said
    assert "limit_except GET { deny all; }" in said
    assert SECRET not in said


def test_a_door_that_opens_makes_the_source_dark(ask: Any, server: Server) -> None:
    from audit import twohands

    server.answer("/api/v1/status/flags", {"status": "success", "data": {"web.enable-admin-api": "true"}})
    source = twohands.active("source", "metrics")
    assert source is not None
    certificate = proof.certify(source)
    assert (certificate.holds, dict(proof.lines_of(source, certificate))["Deleting series, taking snapshots"]) == (
        False, "the client, which sends GET, to endpoints that are fixed",
    )  # fmt: skip
    with pytest.raises(Problem, match="Nobody deletes series"):
        ask("payouts")
