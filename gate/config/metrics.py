"""What a monitor reads every few seconds: numbers of the installation, in Prometheus' text format.

Everything here is bounded: open jobs and open writes stand in small indexes, and of drafts only the newest are read.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Sequence
from datetime import datetime

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import Error, connection
from django.db.models import Count, Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

from audit import heartbeats, retention
from audit.models import Outbox
from gate.config import call_metrics
from gate.triage.models import Draft
from gate.writes.models import WriteRequest

Status = WriteRequest.Status
# As the index writes_open has them.
OPEN_WRITES = (Status.PROPOSED, Status.WAITING, Status.APPROVED, Status.EXECUTING, Status.UNKNOWN)
NEWEST_DRAFTS = 50
QUANTILES = (0.5, 0.95, 1.0)
Values = dict[tuple[str, ...], float]  # by what the labels say


@login_not_required
@never_cache
@require_safe
def metrics(request: HttpRequest, has_drafts: bool = False) -> HttpResponse:
    """The numbers, for who sends COUNTERSEAL_METRICS_TOKEN as a bearer. Where none is set there is no such page."""
    token = settings.METRICS_TOKEN
    if not token:
        raise Http404
    sent = request.headers.get("Authorization", "")
    if not hmac.compare_digest(sent.encode(), f"Bearer {token}".encode()):
        return HttpResponse(status=401, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(_text(has_drafts), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _text(has_drafts: bool) -> bytes:
    registry = CollectorRegistry()
    registry.register(_Installation(has_drafts))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    return generate_latest(registry)


class _Installation(Collector):
    def __init__(self, has_drafts: bool) -> None:
        # The agents' role may not read drafts: how fast code decides is nothing that agents see.
        own = [_outbox, _heartbeats, _default_rows, _writes, call_metrics.measured]
        self.measured = [*own, *([_verdicts] if has_drafts else [])]

    def collect(self) -> Iterator[Metric]:
        yield _gauge("process_info", "Which of our processes answers.", ["process"], {(settings.PROCESS,): 1})
        try:
            found = [metric for measure in self.measured for metric in measure()]
        except Error:
            connection.close()
            found = []
        yield _gauge("database_up", "Whether our database answered.", [], {(): int(bool(found))})
        yield from found

    def describe(self) -> list[Metric]:
        # Without it the registry would measure once more, for the names.
        return []


def _outbox() -> list[Metric]:
    jobs = (
        Outbox.objects.filter(done_at=None, gave_up_at=None)
        .values("queue")
        .annotate(unsent=Count("pk", filter=Q(sent_at=None)), sent=Count("sent_at"), oldest=Min("created_at"))
    )
    depth: Values = {(queue.name, state): 0.0 for queue in settings.CELERY_TASK_QUEUES for state in ("unsent", "sent")}
    age: Values = {(queue.name,): 0.0 for queue in settings.CELERY_TASK_QUEUES}
    for row in jobs:
        depth |= {(row["queue"], state): row[state] for state in ("unsent", "sent")}
        age[(row["queue"],)] = _seconds(row["oldest"], timezone.now())
    return [
        _gauge("outbox_jobs", "Jobs that are not done, by queue.", ["queue", "state"], depth),
        _gauge("outbox_oldest_seconds", "Age of the oldest job that is not done.", ["queue"], age),
    ]


def _heartbeats() -> list[Metric]:
    ages: Values = {(process,): age for process, age in heartbeats.ages().items()}
    return [_gauge("heartbeat_age_seconds", "Since a process was last seen at work.", ["process"], ages)]


def _default_rows() -> list[Metric]:
    said = "Rows of the log that no month's partition was there for; at most 10,000 are counted."
    return [_gauge("default_partition_rows", said, [], {(): float(retention.default_rows())})]


def _writes() -> list[Metric]:
    counted = WriteRequest.objects.filter(status__in=OPEN_WRITES).values_list("status").annotate(Count("pk"))
    states: Values = {(str(status),): 0.0 for status in OPEN_WRITES} | {(status,): count for status, count in counted}
    return [_gauge("writes", "Writes that are not at their end, by state.", ["state"], states)]


def _verdicts() -> list[Metric]:
    newest = Draft.objects.order_by("-pk").values_list("investigation__submitted_at", "rendered_at")[:NEWEST_DRAFTS]
    seconds = sorted(_seconds(submitted, rendered) for submitted, rendered in newest if submitted)
    found: Values = {(str(quantile),): _quantile(seconds, quantile) for quantile in QUANTILES} if seconds else {}
    said = f"From findings to verdict, over the newest {NEWEST_DRAFTS} drafts."
    return [_gauge("verdict_latency_seconds", said, ["quantile"], found)]


def _quantile(ordered: Sequence[float], quantile: float) -> float:
    return ordered[min(int(len(ordered) * quantile), len(ordered) - 1)]


def _seconds(begin: datetime, end: datetime) -> float:
    return max((end - begin).total_seconds(), 0.0)


def _gauge(name: str, said: str, labels: Sequence[str], values: Values) -> Metric:
    family = GaugeMetricFamily(f"counterseal_{name}", said, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family
