"""Answers to what was asked of metrics, by the reads worker: each a call like an agent's, and recorded as one.

The call is made in the name of the person who asked. A failed one is an answer, too, and nothing is tried again.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.masking import mask
from audit.models import Definition
from evidence import proof, showing, written_reads
from evidence.errors import Problem, Refused
from evidence.metrics import golden, registry, serving
from evidence.metrics.asking import Golden
from evidence.metrics.definition import MetricVersion
from evidence.models import MetricAsk


@dataclass(frozen=True)
class Called:
    """What a call came to: its entry, and a result or the sentence of why there is none."""

    audit_id: str
    result: dict[str, Any] | None
    problem: str = ""


@dataclass(frozen=True)
class Call:
    """One question, as its entries tell of it."""

    actor: log.Actor
    kind: str
    version: MetricVersion
    arguments: Mapping[str, Any]
    at: datetime  # the decision point
    call_id: UUID = field(default_factory=uuid4)

    def about(self) -> log.About:
        """What each of its entries says: the same as an agent's, and the moment that it is about."""
        tool, version = serving.TOOLS[self.kind], self.version
        said = {"metric_id": version.metric_id, **self.arguments, "decision_point": self.at.isoformat()}
        return {
            "tool": tool, "tool_version": version.version, "tool_hash": version.digest, "source": version.source,
            "subject": f"metric {version.metric_id} v{version.version}", "call_id": self.call_id, "args": mask(said),
            "summary": f"{tool} {version.metric_id} as of {self.at.isoformat()}",
        }  # fmt: skip


def answer(ask_id: int) -> None:
    """Answer what was asked. Safe to run twice: the first answer stays.

    Raises psycopg.Error when a call cannot be recorded: then nothing of it is kept.
    """
    asked = MetricAsk.objects.select_related("version").get(pk=ask_id)
    if asked.is_answered:
        return
    called = _golden(asked) if asked.kind == MetricAsk.Kind.GOLDEN else _called(_asked(asked))
    MetricAsk.objects.filter(pk=ask_id, answered_at=None).update(
        answer=called.result, problem=called.problem, audit_id=called.audit_id, answered_at=timezone.now()
    )


def _asked(asked: MetricAsk) -> Call:
    at = asked.decision_point or asked.asked_at
    return Call(asked.actor, asked.kind, registry.of(asked.version), asked.arguments, at)


def _golden(asked: MetricAsk) -> Called:
    """Every golden value of the version, each by a call of its own at its own decision point."""
    version = registry.of(asked.version)
    lines = [_held(asked.actor, version, one) for one in version.golden]
    return Called(lines[-1].audit_id, {"golden": [line.said() for line in lines]})


def _held(actor: log.Actor, version: MetricVersion, one: Golden) -> golden.Held:
    scope = {"scope": dict(one.scope)}
    called = _called(Call(actor, MetricAsk.Kind.EXPLAIN, version, scope, registry.moment(one)))
    if called.result is None:
        return golden.Held(one, None, "", problem=called.problem, audit_id=called.audit_id)
    return golden.held(one, called.result, called.audit_id)


def _called(call: Call) -> Called:
    """One recorded call, once its source is proven and its arguments fit."""
    try:
        source, certificate = proof.require_active(call.version.source)
        serving.check(call.kind, call.version, call.arguments)
    except Problem as problem:
        said: log.About = {"status": "refused", "error_class": problem.code, "error": problem.sentence}
        refused: log.About = {**call.about(), **said}
        return Called(log.record(Kind.CALL_REFUSED, call.actor, **refused).ref, None, problem.sentence)
    return _read(call, source, {**call.about(), "certificate": str(certificate.pk)})


def _read(call: Call, source: Definition, about: log.About) -> Called:
    started = log.record(Kind.CALL_STARTED, call.actor, **about)
    begun = time.monotonic()
    found, ended = _answered(call, source, about["certificate"], started.ref)
    duration = int((time.monotonic() - begun) * 1000)
    said: log.About = {**about, **ended, "parent": started.id, "duration_ms": duration, "result": found}
    finished = log.record(Kind.CALL_FINISHED, call.actor, **said)
    if ended["error_class"] == written_reads.WROTE:
        written_reads.note(source, finished.ref, call.actor.name)
    return Called(finished.ref, found, ended.get("error", ""))


def _answered(
    call: Call, source: Definition, certificate: str, started: str
) -> tuple[dict[str, Any] | None, log.About]:
    """The result, or none, and how the call ended."""
    try:
        found = serving.answer(
            call.kind, call.version, call.arguments, call.at,
            source=source, certificate=certificate, run=str(call.call_id), entries=(started,),
        )  # fmt: skip
        result = showing.showable(found.result)
        showing.check_size(result)
    except (Problem, Refused) as error:
        return None, {"status": "failed", "error_class": error.code, "error": error.sentence}
    ended: log.About = {"status": "ok", "truncated": found.truncated, "error_class": " ".join(found.incomplete)}
    return result, ended
