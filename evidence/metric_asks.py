"""Asking a metric through the reads worker, which has the credentials: for its golden values, or for a page.

People's plane puts the question and cannot write the answer; `evidence.metric_answering` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from audit import outbox, twohands
from audit.models import Definition
from audit.refusing import NotAllowed
from evidence import sources
from evidence.exact_json import dumps
from evidence.metrics import golden
from evidence.metrics.asking import goldens
from evidence.metrics.registry import METRIC
from evidence.models import MetricAsk

MOST_WAITING = 8  # questions of one person that are not answered yet; the worker is shared
WAITS = timedelta(hours=1)  # what was not answered by then was given up
TASK = "evidence.tasks.answer_metric"
INSERT = """
insert into evidence_metricask
  (version_id, digest, kind, arguments, decision_point, asked_by_id, asked_by_name, asked_by_username)
values (%s, %s, %s, %s, %s, %s, %s, %s) returning id
"""


class TooMany(NotAllowed):
    """Somebody asks faster than answers come; nobody needs to read of that in the log."""

    is_attempt = False


def check_can_ask(kind: str, by: Any) -> None:
    """Raises NotAllowed when `by` does not ask such a question, or has asked enough for now."""
    if kind == MetricAsk.Kind.GOLDEN:
        twohands.check_may_change(METRIC, by)
    elif not by.has_perm("audit.view"):
        raise NotAllowed("Your role does not look at metrics.")
    since = timezone.now() - WAITS
    if MetricAsk.objects.filter(asked_by=by, answered_at=None, asked_at__gt=since).count() >= MOST_WAITING:
        raise TooMany(f"{MOST_WAITING} of your questions wait for the reads worker; look at their answers first.")


@transaction.atomic
def ask(
    version: Definition, kind: str, arguments: Mapping[str, Any], decision_point: datetime | None = None, *, by: Any
) -> MetricAsk:
    """Put a question about a version, which the reads worker answers. Raises NotAllowed.

    Without a decision point it is about the moment of asking.
    """
    check_can_ask(kind, by)
    at = decision_point or (None if kind == MetricAsk.Kind.GOLDEN else timezone.now())
    with connection.cursor() as cursor:
        # Only these columns are granted: who asks cannot say what the answer is.
        cursor.execute(
            INSERT,
            [version.pk, version.digest, kind, dumps(dict(arguments)), at, by.pk, str(by), by.get_username()],
        )
        (number,) = cursor.fetchone()
    outbox.enqueue(TASK, "reads", number)
    return MetricAsk.objects.get(pk=number)


def newest_golden(version: Definition) -> MetricAsk | None:
    """The last time that the golden values of exactly this version were asked for."""
    asked = MetricAsk.objects.filter(kind=MetricAsk.Kind.GOLDEN, version=version, digest=version.digest)
    return asked.order_by("-pk").first()


def check_earned(version: Definition, by: Any) -> None:
    """Raises NotAllowed unless the newest run of the version's golden values gave every one of them."""
    asked = newest_golden(version)
    if asked is None:
        raise NotAllowed("This version's golden values have not been run; run them on its page.")
    if not asked.is_answered:
        raise NotAllowed("The golden values are being run; look again in a few seconds.")
    _check_source(version.body["source"], asked)
    why = asked.problem if asked.answer is None else golden.failing(asked.answer, goldens(version.body["golden"]))
    if why:
        raise NotAllowed(f"A golden value does not hold, so this version is not put in force. {why}")


def _check_source(name: str, asked: MetricAsk) -> None:
    """Raises NotAllowed where what is in force now is not what the golden values were read from."""
    source = sources.known(name)
    if source is not None and source.activated_at is not None and source.activated_at > asked.asked_at:
        raise NotAllowed(f"The source {name} was put in force anew after the golden values were run; run them again.")
