"""HTTP actions against a real server that answers, refuses, breaks, and loses what it was sent or what it did."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection

from audit.models import Entry
from gate.writes import digests, execution, http_call, targets
from gate.writes.models import Execution, Preview, WriteRequest
from tests.writes import billing as service
from tests.writes.billing import Billing
from tests.writes.conftest import POLICY
from tests.writes.test_execution import crash_after

pytestmark = pytest.mark.django_db
FIELDS = '{ "refund_id": "r-1", "amount_cents": 1250,\n "note": "dupliziert – 2×" }'
BODY_SENT = '{"amount_cents":1250,"note":"dupliziert – 2×","refund_id":"r-1"}'
SCHEMA = {
    "type": "object",
    "properties": {
        "refund_id": {"type": "string", "maxLength": 40}, "amount_cents": {"type": "integer", "maximum": 5000},
        "note": {"type": "string"},
    },
    "required": ["refund_id", "amount_cents"],
    "additionalProperties": False,
}  # fmt: skip


@pytest.fixture
def billing(monkeypatch: Any) -> Iterator[Billing]:
    monkeypatch.setenv("BILLING_TOKEN", "Bearer t0ps3cret")
    with service.running() as state:
        yield state


def action(billing: Billing, **changed: Any) -> dict[str, Any]:
    probe = {"url": f"http://{billing.host}/refunds/{{refund_id}}", "pointer": "/refund/status", "equals": "refunded"}
    return {
        "method": "POST", "url": f"http://{billing.host}/refunds/{{refund_id}}", "header": "Authorization",
        "body": SCHEMA, "named_hosts": [billing.host], "timeout_seconds": 1, "probe": probe, **changed,
    }  # fmt: skip


def body(billing: Billing, **changed: Any) -> dict[str, Any]:
    return {
        "kind": "http", "credential_env": "BILLING_TOKEN", "environment": "production", "policy": POLICY,
        "action": action(billing, **changed),
    }  # fmt: skip


@pytest.fixture
def target(define: Any, billing: Billing) -> Any:
    return define("target", "shop", body(billing))


@pytest.fixture
def refund(approved: Any) -> Any:
    return lambda: approved(FIELDS, title="Refund r-1", reason="Charged twice.")


def run(write: Any) -> str:
    with suppress(execution.TryAgain):
        execution.execute(write.pk)
    write.refresh_from_db()
    return str(write.status)


def test_it_is_sent_once_byte_for_byte_as_it_was_shown(refund: Any, billing: Billing) -> None:
    write = refund()
    assert write.statement == f"POST http://{billing.host}/refunds/r-1\n{BODY_SENT}"
    assert billing.sent == []
    assert [run(write), run(write)] == ["executed", "executed"]
    (sent,) = billing.sent
    assert (sent["path"], sent["body"].decode()) == ("/refunds/r-1", BODY_SENT)
    assert sent["headers"]["Idempotency-Key"] == str(digests.ledger_key(write))
    assert (sent["headers"]["Authorization"], sent["headers"]["Host"]) == ("Bearer t0ps3cret", billing.host)
    entries = Entry.objects.filter(subject=write.ref)
    assert entries.latest("seq").kind == "write.executed"
    stored = json.dumps([Execution.objects.get(write=write).noted, write.statement, str(entries.values())])
    assert "t0ps3cret" not in stored


def test_the_preview_sends_nothing_and_shows_what_the_target_says_now(previewed: Any, billing: Billing) -> None:
    seen = Preview.objects.get(write=previewed(FIELDS))
    (row,) = seen.rows
    assert (row["before"], row["after"]) == ({"/refund/status": '"pending"'}, {"/refund/status": '"refunded"'})
    assert (seen.error, billing.sent) == ("", [])


@pytest.mark.parametrize(
    ("mode", "first", "later", "effect"),
    [
        ("loses the answer", "executed", "executed", "refunded"),  # the read-back shows it
        ("loses the request", "unknown", "unknown", "pending"),  # it may still be on its way, for all anybody knows
        ("accepts only", "unknown", "unknown", "pending"),  # said yes, and does not show it
        ("breaks", "executed", "executed", "refunded"), ("redirects", "executed", "executed", "refunded"),
        ("conflicts", "executed", "executed", "refunded"), ("dawdles", "executed", "executed", "refunded"),
        ("refuses", "failed", "failed", "pending"), ("answers", "executed", "executed", "refunded"),
    ],
)  # fmt: skip
def test_whatever_the_server_does_it_gets_one_request(
    refund: Any, billing: Billing, mode: str, first: str, later: str, effect: str
) -> None:
    write = refund()
    billing.mode = mode
    assert run(write) == first
    billing.mode = "answers"
    assert run(write) == later
    assert (len(billing.sent), billing.refunds["r-1"]) == (1, effect)
    assert all(one["path"] == "/refunds/r-1" for one in billing.got)  # no redirect was followed


def test_a_lost_answer_is_unknown_until_the_read_back_shows_it(refund: Any, billing: Billing) -> None:
    write = refund()
    billing.mode, kept = "loses the answer", http_call.send

    billing.reads = "answers"
    monkey = pytest.MonkeyPatch()

    def send(*given: Any) -> Any:
        try:
            return kept(*given)
        finally:
            billing.reads = "broken"

    with monkey.context() as patch:
        patch.setattr(http_call, "send", send)
        assert run(write) == "unknown"
    for reads in ("lost", "huge"):
        billing.reads = reads
        assert run(write) == "unknown"
    billing.reads = "answers"
    assert run(write) == "executed"
    assert len(billing.sent) == 1


@pytest.mark.parametrize("step", ["note", "send"])
def test_a_writer_that_dies_around_the_request_never_sends_it_again(
    refund: Any, billing: Billing, monkeypatch: Any, step: str
) -> None:
    from gate.writes.attempts import Claim

    write = refund()
    owner: Any = Claim if step == "note" else http_call
    kept = getattr(owner, step)

    def die(*given: Any) -> None:
        kept(*given)
        raise SystemExit(step)

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, die)
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    expected = {"note": ("unknown", 0), "send": ("executed", 1)}[step]
    assert (run(write), len(billing.sent)) == expected
    assert (run(write), len(billing.sent)) == expected


def test_a_writer_that_died_before_it_noted_anything_sends_it_the_next_time(
    refund: Any, billing: Billing, monkeypatch: Any
) -> None:
    write = refund()
    with monkeypatch.context() as patch:
        crash_after(patch, "_claim")
        with pytest.raises(SystemExit):
            execution.execute(write.pk)
    assert (run(write), len(billing.sent)) == ("executed", 1)


def test_without_a_read_back_a_lost_answer_is_for_people(
    define: Any, billing: Billing, refund: Any, client: Any, mia: Any
) -> None:
    define("target", "shop", body(billing, probe=None))
    write = refund()
    billing.mode = "loses the answer"
    assert [run(write), run(write)] == ["unknown", "unknown"]
    assert len(billing.sent) == 1
    assert "has no read-back" in Execution.objects.get(write=write).error
    client.force_login(mia)
    assert f"Idempotency-Key: {digests.ledger_key(write)}" in client.get(f"/writes/{write.pk}/").content.decode()


def test_a_target_that_moved_since_is_sent_nothing(refund: Any, billing: Billing) -> None:
    write = refund()
    billing.refunds["r-1"] = "disputed"
    assert run(write) == "refused_stale"
    (row,) = Execution.objects.get(write=write).rows
    assert (row["before"], row["after"]) == ({"/refund/status": '"pending"'}, {"/refund/status": '"disputed"'})
    assert billing.sent == []


@pytest.mark.parametrize("reads", ["lost", "huge", "broken"])
def test_a_read_back_that_says_nothing_is_no_preview(previewed: Any, billing: Billing, reads: str) -> None:
    billing.reads = reads
    assert "a lost answer could not be made up for" in Preview.objects.get(write=previewed(FIELDS)).error


def test_what_is_already_so_is_not_approved(previewed: Any, billing: Billing) -> None:
    billing.refunds["r-1"] = "refunded"
    assert "already shows" in Preview.objects.get(write=previewed(FIELDS)).error


@pytest.mark.parametrize("change", [
    {"statement": "POST http://127.0.0.1:1/refunds/r-1\n" + BODY_SENT}, {"verb": "delete"}, {"table": "elsewhere/x"},
    {"statement": "{}"}, {"parameters": [{"t": "text", "v": "x"}]},
])  # fmt: skip
def test_one_part_changed_after_approval_sends_nothing(refund: Any, billing: Billing, change: dict[str, Any]) -> None:
    write = refund()
    WriteRequest.objects.filter(pk=write.pk).update(**change)
    assert (run(write), billing.sent) == ("failed", [])


def test_a_request_that_a_forger_digested_is_not_one_of_the_target(refund: Any, billing: Billing) -> None:
    """Even with a proposal digest that fits: the target's template decides where it goes."""
    from gate.writes import http_statement
    from gate.writes.errors import Unfit

    write = refund()
    write.statement = write.statement.replace("/refunds/", "/payouts/")
    with pytest.raises(Unfit, match="not the one that these fields make"):
        http_statement.screened(write)


def test_a_server_that_is_away_is_sent_nothing(refund: Any, billing: Billing, monkeypatch: Any) -> None:
    from gate.writes import http_preview

    write = refund()
    monkeypatch.setattr(http_preview, "read_back", lambda target, request: Preview.objects.get(write=write).rows[0])
    monkeypatch.setattr(http_call, "_address", lambda *given: "127.0.0.2")
    assert run(write) == "failed"
    assert "Nothing was sent" in Execution.objects.get(write=write).error


def test_a_private_address_that_is_not_named_is_not_reached(target: Any, billing: Billing) -> None:
    at = targets.of(target)
    with pytest.raises(http_call.NotSent, match="private address"):
        http_call._address(at, "localhost", billing.port)
    assert http_call._address(at, "127.0.0.1", billing.port) == "127.0.0.1"
    with pytest.raises(http_call.NotSent, match="private address"):
        http_call._address(at, "127.0.0.1", billing.port + 1)


def test_a_writer_without_the_credential_sends_nothing(refund: Any, billing: Billing, monkeypatch: Any) -> None:
    write = refund()
    monkeypatch.delenv("BILLING_TOKEN")
    assert (run(write), billing.sent) == ("failed", [])


@pytest.mark.django_db(transaction=True)
def test_deliveries_at_once_send_it_once(refund: Any, billing: Billing) -> None:
    write = refund()

    def deliver() -> None:
        try:
            execution.execute(write.pk)
        except execution.TryAgain:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (run(write), len(billing.sent)) == ("executed", 1)
