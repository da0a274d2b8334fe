"""What a person should look at about an agent: found out of what was counted, kept while it is true, and recorded.

Each alert is one row from when it was found until it is over, so nothing is said twice; a person may say in between
that they looked. Of each sort an agent has one, or one for each of its tools: no agent can flood the log with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, Q, QuerySet, Sum

from audit import log, seconding
from audit.kinds import Kind
from evidence import counted, durations
from evidence.models import AgentAlert, CallSlot, Question
from evidence.monitoring_models import What

WEEK, DAY, HOUR = timedelta(days=7), timedelta(days=1), timedelta(hours=1)
WINDOW = 2 * counted.SLOT  # the quarter of an hour that runs, and the one before it
WINDOWS_OF_A_WEEK = WEEK / WINDOW
LEAST_REFUSALS = 20
TIMES_USUAL = 4  # so many times as many refusals as usual are a spike
BUDGETS = ("budget_spent", "agent_budget_spent", "rate_limited")
SAME_IN_ONE = 5  # one investigation asked the very same so often
SAME_IN_SEVERAL = 3  # so many investigations of one incident did
LEAST_CALLS = 20
LEAST_USUAL = 100  # calls of the week before, so that there is a usual
SLOW_FROM = 100  # milliseconds: what is quicker is not slow, whatever is usual
TIMES_SLOWER = 3


@dataclass(frozen=True)
class Finding:
    """Something that is true now."""

    agent: str
    what: What
    about: str
    sentence: str
    seq: int | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it apart from another."""
        return self.agent, str(self.what.value), self.about


def watch(now: datetime) -> None:
    """Look at what was counted, open what is new, and end what is over."""
    reconcile([*_refusals(now), *_budgets(now), *_repeated(now), *_slow(now)], now)


def _recent(now: datetime) -> datetime:
    return counted.slot_of(now) - counted.SLOT


def _refusals(now: datetime) -> Iterable[Finding]:
    since = _recent(now)
    refused = CallSlot.objects.filter(outcome="refused", since__gte=since)
    for agent, number in refused.values_list("agent").annotate(Sum("calls")).filter(calls__sum__gte=LEAST_REFUSALS):
        before = CallSlot.objects.filter(agent=agent, outcome="refused", since__gte=now - WEEK, since__lt=since)
        usual = (before.aggregate(Sum("calls"))["calls__sum"] or 0) / WINDOWS_OF_A_WEEK
        if number >= TIMES_USUAL * usual:
            said = f"{number:,} calls were refused since {since:%H:%M} UTC; usual are {usual:.1f} in such a time."
            yield Finding(agent, What.REFUSALS, "", said)


def _budgets(now: datetime) -> Iterable[Finding]:
    since = _recent(now)
    spent = CallSlot.objects.filter(outcome="refused", code__in=BUDGETS, since__gte=since)
    for agent, number in spent.values_list("agent").annotate(Sum("calls")):
        calls = f"{number:,} call{'s were' if number > 1 else ' was'}"
        yield Finding(agent, What.BUDGET, "", f"A budget was used up: {calls} refused for it since {since:%H:%M} UTC.")


def _repeated(now: datetime) -> Iterable[Finding]:
    """Of each tool the question that was asked most, where it was asked often within the last hour."""
    of_late = Question.objects.filter(last_at__gte=now - HOUR).values("digest")
    asked = (
        Question.objects.filter(last_at__gte=now - DAY, digest__in=of_late)
        .values("agent", "tool", "incident_id", "digest")
        .annotate(runs=Count("pk"), all=Sum("times"), most=Max("times"), newest=Max("last_at"), seq=Max("last_seq"))
        .filter(Q(runs__gte=SAME_IN_SEVERAL) | Q(most__gte=SAME_IN_ONE), newest__gte=now - HOUR)
        .order_by("-all")
    )
    said: set[tuple[str, str]] = set()
    for one in asked:
        if (one["agent"], one["tool"]) in said:
            continue
        said.add((one["agent"], one["tool"]))
        runs = f"{one['runs']} investigations" if one["runs"] > 1 else "one investigation"
        sentence = f"{one['tool']} was asked the very same {one['all']} times by {runs} of I-{one['incident_id']}."
        yield Finding(one["agent"], What.REPEATED, one["tool"], sentence, one["seq"])


def _slow(now: datetime) -> Iterable[Finding]:
    since = _recent(now)
    for (agent, tool, source), counts in _took(CallSlot.objects.filter(since__gte=since)).items():
        slow = durations.quantile(counts, 0.95)
        if sum(counts) < LEAST_CALLS or slow is None or slow < SLOW_FROM:
            continue
        before = CallSlot.objects.filter(
            agent=agent, tool=tool, source=source, since__gte=now - WEEK, since__lt=since
        )  # fmt: skip
        week = _took(before).get((agent, tool, source), durations.none())
        usual = durations.quantile(week, 0.95)
        if usual is not None and sum(week) >= LEAST_USUAL and slow > TIMES_SLOWER * usual:
            said = f"95 of 100 calls of {tool} take up to {slow:,} ms since {since:%H:%M} UTC; usual are {usual:,} ms."
            yield Finding(agent, What.SLOW, tool, said)


def _took(slots: Iterable[CallSlot]) -> dict[tuple[str, str, str], list[int]]:
    sums: dict[tuple[str, str, str], list[int]] = {}
    for slot in slots:
        key = slot.agent, slot.tool, slot.source
        sums[key] = durations.added(sums.get(key, durations.none()), slot.durations)
    return sums


@transaction.atomic
def reconcile(found: Iterable[Finding], now: datetime) -> None:
    """Make the alerts say what is true now, and record what changed."""
    seconding.lock("agent alerts")
    kept = AgentAlert.objects.exclude(state=AgentAlert.State.OVER)
    standing = {(one.agent, one.what, one.about): one for one in kept}
    for finding in found:
        alert = standing.pop(finding.key, None)
        if alert is None:
            _open(finding, now)
        else:
            _go_on(alert, finding, now)
    for alert in standing.values():
        _end(alert, now)


def _open(finding: Finding, now: datetime) -> None:
    alert = AgentAlert.objects.create(
        agent=finding.agent, what=finding.what, about=finding.about, sentence=finding.sentence, seq=finding.seq,
        opened_at=now, true_at=now,
    )  # fmt: skip
    _record(alert, "open", finding.sentence)


def _go_on(alert: AgentAlert, finding: Finding, now: datetime) -> None:
    # These columns alone: what a person says meanwhile stays.
    AgentAlert.objects.filter(pk=alert.pk).update(sentence=finding.sentence, seq=finding.seq, true_at=now)


def _end(alert: AgentAlert, now: datetime) -> None:
    AgentAlert.objects.filter(pk=alert.pk).update(state=AgentAlert.State.OVER, over_at=now)
    _record(alert, "over", f"over: {alert.get_what_display().lower()}{' of ' if alert.about else ''}{alert.about}")


def _record(alert: AgentAlert, status: str, summary: str) -> None:
    log.record_with(
        Kind.AGENT_ALERTED, log.Actor.process(), subject=f"agent {alert.agent}", summary=summary, status=status,
        args={"alert": alert.pk, "what": alert.what, "about": alert.about, "entry": alert.seq},
    )  # fmt: skip


def open_ones() -> QuerySet[AgentAlert]:
    """The alerts that nobody has looked at."""
    return AgentAlert.objects.filter(state=AgentAlert.State.OPEN)
