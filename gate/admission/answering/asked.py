"""The other side of the answering worker: who asks, waits a bounded time, and goes on with what is there by then."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection, transaction

from audit import heartbeats, masking, outbox
from audit.models import Definition
from gate.admission import judging
from gate.admission.answering import parsing
from gate.admission.answering.parsing import LATE
from gate.admission.models import AnswerAsk
from gate.admission.program import Question
from gate.admission.usable import usable

QUEUE, TASK = "answers", "gate.admission.tasks.answer_questions"
HEARTBEAT = f"worker {QUEUE}"
SEEN_WITHIN = 30.0  # seconds: the worker's heart beats every five
LONGEST_WAIT = 8.0  # seconds: the hook command gives up after ten
BETWEEN_LOOKS = 0.05
NOT_AT_WORK = "No answering model is at work here."
TOO_MANY = "Too many wait for the answering model."
MOST_WAITING = 6  # requests of one process: each holds a thread and a connection while it waits
_waiting = threading.BoundedSemaphore(MOST_WAITING)


@dataclass(frozen=True)
class Gathered:
    """Answers by question, and for the record where those of the answering model came from."""

    answers: dict[str, Any]
    asked: dict[str, Any] = field(default_factory=dict)  # empty when nothing was asked


def completed(version: Definition | None, answers: Any, *, action: Mapping[str, Any], asked_for: str) -> Gathered:
    """The same answers, with those of the answering model to the questions that nobody answered yet.

    Whoever asked has answered only what it says itself: an abstention is an answer. What the model does not answer in
    time is missing, with the reason.
    """
    given = answers if isinstance(answers, dict) else {}
    wanted = unanswered(version, given)
    if version is None or not wanted:
        return Gathered(given)
    found = _completed(version, given, wanted, action, asked_for)
    # Where another version came meanwhile, its questions are others, whatever they are called.
    return found if judging.version_of(version.name) == version else Gathered(given)


def _completed(
    version: Definition, given: dict[str, Any], wanted: Sequence[str], action: Mapping[str, Any], asked_for: str
) -> Gathered:
    if not is_at_work():
        return without(given, wanted, NOT_AT_WORK)
    if not _waiting.acquire(blocking=False):
        return without(given, wanted, TOO_MANY)
    try:
        return merged(given, wanted, _waited(open_ask(version, wanted, action=action, asked_for=asked_for)))
    finally:
        _waiting.release()


def unanswered(version: Definition | None, answers: Mapping[str, Any]) -> list[str]:
    """The questions of a version that a model is to answer, and that have no answer, in order."""
    program = usable(version.body["program"]) if version else None
    return [one.id for one in program.questions if _is_open(one, answers)] if program else []


def _is_open(question: Question, answers: Mapping[str, Any]) -> bool:
    return question.by == "model" and answers.get(question.id) is None


def is_at_work() -> bool:
    """Whether somebody takes what is asked. Without an answering worker nobody waits."""
    age = heartbeats.ages().get(HEARTBEAT)
    return age is not None and age < SEEN_WITHIN


@transaction.atomic
def open_ask(version: Definition, questions: Sequence[str], *, action: Mapping[str, Any], asked_for: str) -> int:
    """Ask the answering worker; gives the ask's id."""
    ask_id = put_down(version, questions, action=action, asked_for=asked_for)
    outbox.enqueue(TASK, QUEUE, ask_id)
    return ask_id


def put_down(version: Definition, questions: Sequence[str], *, action: Mapping[str, Any], asked_for: str) -> int:
    """What the answering worker is to be asked by a job of the caller's; gives the ask's id.

    What it is sent holds no secret that can be told from its form.
    """
    with connection.cursor() as cursor:
        # Only these columns are granted: who asks cannot answer.
        cursor.execute(
            "insert into admission_answerask (version_id, questions, action, asked_for) values (%s, %s, %s, %s)"
            " returning id",
            [version.pk, json.dumps(list(questions)), json.dumps(masking.mask(dict(action))), asked_for],
        )
        return int(cursor.fetchone()[0])


def _waited(ask_id: int) -> AnswerAsk | None:
    """The ask once it is answered; None when that takes too long."""
    until = time.monotonic() + LONGEST_WAIT
    while time.monotonic() < until:
        if found := AnswerAsk.objects.filter(pk=ask_id, answered_at__isnull=False).first():
            return found
        time.sleep(BETWEEN_LOOKS)
    return None


def merged(given: dict[str, Any], wanted: Sequence[str], ask: AnswerAsk | None) -> Gathered:
    """The answers with what an ask brought; without one, or while it is open, it was not answered in time."""
    if ask is None or ask.answered_at is None:
        return without(given, wanted, LATE)
    said = ask.answers if isinstance(ask.answers, dict) else {}
    # Only what was asked for: an answer to another question is nobody's.
    found = {name: said.get(name, parsing.missing(LATE)) for name in wanted}
    asked = {
        "questions": list(wanted), "model": ask.model, "latency_ms": ask.latency_ms,
        "entry": f"A-{ask.entry}" if ask.entry else "",
    }  # fmt: skip
    return Gathered({**given, **found}, asked)


def without(given: dict[str, Any], wanted: Sequence[str], why: str) -> Gathered:
    """The answers with each of the wanted missing, for this reason."""
    missing = {name: parsing.missing(why) for name in wanted}
    return Gathered({**given, **missing}, {"questions": list(wanted), "model": "", "latency_ms": None, "entry": ""})
