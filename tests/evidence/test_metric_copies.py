"""What questions of metrics repeat of an entry goes when the entry is redacted."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from audit import copies, log, redacting, retention
from audit.kinds import Kind
from audit.models import Definition, Entry
from evidence import metric_asks
from evidence.metrics import example
from evidence.models import MetricAsk
from tests.audit.months import Months, first_of
from tests.audit.months import months as months

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


def test_with_a_month_of_the_log_go_the_questions_whose_calls_stood_in_it(
    months: Months, metric: Definition, make_person: Any
) -> None:
    asker = make_person("ada", "admin")
    old, new = months.write(6)[1], months.write(0)[1]
    months.become("owner")
    gone = [asked(metric, kind, old, asker).pk for kind in ("explain", "golden")]
    given_up = metric_asks.ask(metric, "explain", {"scope": {}}, by=asker).pk
    MetricAsk.objects.filter(pk=given_up).update(asked_at=old.at)
    stay = [asked(metric, kind, new, asker).pk for kind in ("explain", "golden")]
    stay.append(metric_asks.ask(metric, "explain", {"scope": {}}, by=asker).pk)
    months.seal()
    months.become("retention")
    with connection.cursor() as cursor:
        cursor.execute("select evidence_forget_copies()")  # nothing was dropped, so nothing is forgotten
    with pytest.raises(DatabaseError, match="permission denied"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("delete from evidence_metricask")
    months.become("owner")
    all_of_them = MetricAsk.objects.filter(pk__in=[*gone, given_up, *stay]).order_by("pk")
    assert all_of_them.count() == 6
    months.become("retention")
    (month,) = (one for one in retention.months(first_of(0), 3) if one.month == first_of(6))
    retention.drop(month, keep=3, by="ops")
    months.become("owner")
    assert list(all_of_them.values_list("pk", flat=True)) == stay
