"""What questions of metrics repeat of an entry goes when the entry is redacted."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import copies, log, redacting
from audit.kinds import Kind
from audit.models import Definition, Entry
from evidence import metric_asks
from evidence.metrics import example
from evidence.models import MetricAsk

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def metric(define: Any) -> Definition:
    define("source", "shop", {"kind": "postgresql", "reader_env": "A_READER_DSN", "doctor_env": "A_DOCTOR_DSN",
                              "environment": "demo", "schema": "shop_read"})  # fmt: skip
    found: Definition = define("metric", "failed_attempts", {**example.EXAMPLE, "source": "shop"})
    return found


def called() -> tuple[Entry, Entry]:
    """The two entries of one call."""
    call, actor = uuid4(), log.Actor("person", "Ada", "ada")
    made = [log.record(kind, actor, call_id=call, args={"scope": {"job_kind": "Jane's"}}, result={"value": 1})
            for kind in (Kind.CALL_STARTED, Kind.CALL_FINISHED)]  # fmt: skip
    started, finished = (Entry.objects.get(pk=one.id) for one in made)
    return started, finished


def asked(metric: Definition, kind: str, finished: Entry, by: Any) -> MetricAsk:
    ask = metric_asks.ask(metric, kind, {"scope": {"job_kind": "Jane's"}}, by=by)
    ref = f"A-{finished.seq}"
    answer = {"golden": [{"audit_id": "A-1"}, {"audit_id": ref}]} if kind == "golden" else {"value": 1}
    last = "A-2" if kind == "golden" else ref
    MetricAsk.objects.filter(pk=ask.pk).update(answer=answer, audit_id=last, answered_at=timezone.now())
    return ask


@pytest.mark.parametrize("kind", ["explain", "golden"])
@pytest.mark.parametrize("half", [0, 1], ids=["started", "finished"])
def test_with_either_half_of_a_call_goes_the_question_that_it_answered(
    metric: Definition, make_person: Any, as_role: Any, kind: str, half: int
) -> None:
    asker, confirmer = make_person("first-admin", "admin"), make_person("second-admin", "admin")
    entries = called()
    gone, stays = asked(metric, kind, entries[1], asker), asked(metric, kind, called()[1], asker)
    as_role("people")
    assert [one.subject for one in copies.of(entries[half]) if "is taken away" in one.sentence] == [metric.name]
    wanted = redacting.ask(entries[half], part="args", reason="It names a customer.", by=asker)
    with pytest.raises(DatabaseError, match="not done"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select evidence_clear_copies(%s)", [wanted.pk])
    redacting.confirm(wanted.pk, by=confirmer)
    left = set(MetricAsk.objects.values_list("pk", flat=True))
    assert gone.pk not in left
    assert stays.pk in left
