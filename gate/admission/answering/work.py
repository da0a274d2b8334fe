"""The answering worker's job: ask the model what somebody waits for, and record what was sent and what came."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from gate.admission import asking
from gate.admission.answering import endpoint as endpoints
from gate.admission.answering import parsing, questioning
from gate.admission.answering.parsing import LATE
from gate.admission.answering.questioning import Answered
from gate.admission.models import AnswerAsk
from gate.admission.program import Program, Question
from gate.admission.usable import usable

SECONDS = 7.0  # for all questions of an ask
KEPT = timedelta(hours=1)  # nobody reads an ask after a few seconds, and the log has what it said
NO_MODEL = "No answering model is configured."
NOT_A_PROGRAM = "The policy cannot be read, so nothing was asked."


def answer(ask_id: int, *, patience: float = SECONDS) -> None:
    """Ask, and record it. Safe to run twice: the first answer stays, and what nobody waits for any more is gone.

    `patience` is for how many seconds after it was asked somebody still waits.
    """
    AnswerAsk.objects.filter(asked_at__lt=timezone.now() - KEPT).exclude(pk=ask_id).delete()
    ask = AnswerAsk.objects.select_related("version").filter(pk=ask_id, answered_at=None).first()
    if ask is None:
        return
    began = timezone.now()
    _record(ask, _answered(ask, patience), round((timezone.now() - began).total_seconds() * 1000))


def _answered(ask: AnswerAsk, patience: float) -> dict[str, Answered]:
    program, endpoint = usable(ask.version.body["program"]), endpoints.configured()
    if program is None:
        return _nothing(ask, NOT_A_PROGRAM)
    if endpoint is None:
        return _nothing(ask, NO_MODEL)
    # Clocks differ: nobody waits longer than this, and an ask of tomorrow gets no more time than one of now.
    left = min(SECONDS, patience - (timezone.now() - ask.asked_at).total_seconds())
    if left <= 0:
        return _nothing(ask, LATE)  # nobody waits for it any more
    return questioning.ask(endpoint, _questions(ask, program), ask.action, seconds=left)


def _nothing(ask: AnswerAsk, why: str) -> dict[str, Answered]:
    return {name: Answered(parsing.missing(why), "", 0) for name in ask.questions}


def _questions(ask: AnswerAsk, program: Program) -> list[Question]:
    """The questions of the ask that a model may be asked: never one that a probe answers."""
    return [one for one in program.questions if one.id in ask.questions and one.by == "model"]


@transaction.atomic
def _record(ask: AnswerAsk, found: Mapping[str, Answered], took: int) -> None:
    if not AnswerAsk.objects.select_for_update().filter(pk=ask.pk, answered_at=None).exists():
        return  # another delivery of the same was faster
    model = next((one.model for one in found.values() if one.model), "")
    entry = log.record_with(
        Kind.ADMISSION_ANSWERED, log.Actor.process(), subject=f"{ask.version.name} v{ask.version.version}",
        summary=_summary(found, model), tool=ask.version.name, tool_version=ask.version.version, duration_ms=took,
        args={"asked_for": ask.asked_for, "action": ask.action, "questions": _asked(ask)}, result=_result(found, model),
    )  # fmt: skip
    AnswerAsk.objects.filter(pk=ask.pk).update(
        answers={name: one.answer for name, one in found.items()}, model=model, latency_ms=took, entry=entry.seq,
        answered_at=timezone.now(),
    )  # fmt: skip


def _asked(ask: AnswerAsk) -> list[dict[str, Any]]:
    program = usable(ask.version.body["program"])
    return [one for one in asking.asked(program) if one["id"] in ask.questions] if program else []


def _result(found: Mapping[str, Answered], model: str) -> dict[str, Any]:
    return {
        "model": model, "answers": {name: one.answer for name, one in found.items()},
        "latency_ms": {name: one.latency_ms for name, one in found.items()},
    }  # fmt: skip


def _summary(found: Mapping[str, Answered], model: str) -> str:
    given = sum("abstain" not in one.answer for one in found.values())
    return f"{given} of {len(found)} answered{f' by {model}' if model else ''}"
