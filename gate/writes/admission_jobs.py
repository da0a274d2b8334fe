"""The steps by which a write is checked, each a job that waits for nobody: observe, have a model asked, judge.

Until the last of them it is being checked, and nobody acts on it. What is lost on the way is taken up again.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from audit import outbox
from audit.models import Outbox
from gate.admission import judging
from gate.admission.answering import asked, work
from gate.admission.models import AnswerAsk
from gate.writes import actions, admitting, target_admission
from gate.writes.models import AdmissionRequest, WriteRequest

ADMIT, ANSWER, GO_ON = (f"gate.writes.tasks.{name}" for name in ("admit_write", "answer_for_write", "admit_answered"))
LATE = timedelta(minutes=1)  # no thread waits, so several may stand in line for one model
GIVEN_UP = "{} It is tried again every ten minutes, until the write expires or is withdrawn."


def begin(request_id: int) -> None:
    """Check a write; where questions are left to the answering model, have it asked first. Safe to run twice."""
    request = AdmissionRequest.objects.select_related("write__target").get(pk=request_id)
    if not _has_model_asked(request):
        admitting.admit(request.write_id, edition=request.edition)


@transaction.atomic
def _has_model_asked(request: AdmissionRequest) -> bool:
    """Whether the answering model is asked before the write is judged."""
    write = request.write
    version = judging.version_of(target_admission.of(write.target.body).policy)
    wanted = admitting.left_open(write, version)
    if not _is_open(request) or version is None or not wanted or not asked.is_at_work():
        return False
    if AdmissionRequest.objects.select_for_update().get(pk=request.pk).answer_ask is None:
        ask = asked.put_down(version, wanted, action=admitting.about(write), asked_for=write.ref)
        AdmissionRequest.objects.filter(pk=request.pk).update(answer_ask=ask)
        outbox.enqueue(ANSWER, asked.QUEUE, request.pk)
    return True


def _is_open(request: AdmissionRequest) -> bool:
    """Whether its edition is still to be judged."""
    return request.write.status == WriteRequest.Status.PROPOSED and request.write.edition == request.edition


def answer(request_id: int) -> None:
    """The answering worker's part: ask the model, and have the write judged with what came. Safe to run twice."""
    request = AdmissionRequest.objects.get(pk=request_id)
    if request.answer_ask is not None:
        work.answer(request.answer_ask, patience=LATE.total_seconds())
    with transaction.atomic():
        outbox.enqueue(GO_ON, "reads", request.pk)


def go_on(request_id: int) -> None:
    """Judge a write with what the answering model said by now. Safe to run twice."""
    request = AdmissionRequest.objects.select_related("write__target").get(pk=request_id)
    ask = _ask_of(request)
    if ask is not None and _is_open(request) and judging.version_of(ask.version.name) != ask.version:
        with transaction.atomic():
            actions.ask_admission(request.write)  # another version came in force, and asks something else
        return
    admitting.admit(request.write_id, ask, edition=request.edition)


def _ask_of(request: AdmissionRequest) -> AnswerAsk | None:
    asks = AnswerAsk.objects.select_related("version")
    return asks.filter(pk=request.answer_ask).first() if request.answer_ask is not None else None


def take_up_again() -> None:
    """Have writes judged whose answer is late, and those checked whose jobs were given up. Safe to run twice at once.

    A late answer is a missing one: an answering worker that is gone keeps no write from people.
    """
    requests = _open()
    for pk in requests.filter(answer_ask__isnull=False, at__lt=timezone.now() - LATE).values_list("pk", flat=True):
        with transaction.atomic():
            outbox.enqueue(GO_ON, "reads", pk)
    for task in (ADMIT, GO_ON):
        outbox.resume(task, requests.values("pk"))


def _open() -> QuerySet[AdmissionRequest]:
    return AdmissionRequest.objects.filter(write__status=WriteRequest.Status.PROPOSED, edition=F("write__edition"))


def trouble_with(write: WriteRequest) -> str:
    """Why a write is still being checked, where the job that checks it was given up; else empty."""
    requests = AdmissionRequest.objects.filter(write=write, edition=write.edition).values("pk")
    given_up = Outbox.objects.filter(task__in=(ADMIT, GO_ON), subject_id__in=requests, gave_up_at__isnull=False)
    job = given_up.order_by("-pk").first()
    return GIVEN_UP.format(job.error) if job is not None else ""
