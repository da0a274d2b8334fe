"""The jobs by which a write is checked: each edition has its own, none waits for a model, and none is lost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import heartbeats, outbox
from audit.models import Outbox
from gate.admission.answering import asked, parsing
from gate.admission.models import AnswerAsk
from gate.writes import actions, admission, admission_jobs, admitting, editing, tasks
from gate.writes.models import Admission, AdmissionRequest, FirstLook
from gate.writes.probes import observing
from tests.admission.model_server import MODEL, Model
from tests.admission.test_answering import configured as configured
from tests.admission.test_answering import model as model
from tests.writes.admissions import WIDE, allowing, newest
from tests.writes.admissions import aim as aim
from tests.writes.admissions import enforced as enforced
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source
from tests.writes.test_admission_answers import with_a_model
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db


def run_jobs(*names: str) -> list[str]:
    """Run what the outbox has of these tasks, as a relay and workers would; the queues that they came from."""
    open_jobs = Outbox.objects.filter(done_at=None, gave_up_at=None)
    jobs = list(open_jobs.filter(task__in=[f"gate.writes.tasks.{name}" for name in names]).order_by("pk"))
    for job in jobs:
        getattr(tasks, job.task.rsplit(".", 1)[1])(job.pk)
    return [job.queue for job in jobs]


def edit(write: Any, agent: Any, statement: str, **more: Any) -> None:
    write.refresh_from_db()
    about: dict[str, Any] = {"parameters": [], "title": "t", "reason": "r", "by_agent": agent, **more}
    editing.edit(write, seen_version=write.version, statement=statement, **about)


@pytest.fixture
def at_work(aim: Any, define: Any, configured: Model) -> Model:
    """A policy that asks a model something, and an answering worker."""
    aim()
    define("policy", "sql-writes", with_a_model())
    heartbeats.beat(asked.HEARTBEAT)
    configured.says = '{"answer": {"p": 0.1}}'
    return configured


def test_an_edit_and_a_newer_version_are_checked_by_jobs_of_their_own(
    aim: Any, offer: Any, enforced: Any, define: Any, agent: Any, mia: Any
) -> None:
    aim()
    write, other = offer(), offer("update shop.jobs set state = 'queued' where job_id = 8")
    run_jobs("admit_write")
    edit(write, agent, WIDE)
    define("policy", "sql-writes", {**allowing(), "title": "Writes"})
    other.refresh_from_db()
    with pytest.raises(admission.Outdated):
        actions.ask_preview(other, mia)
    run_jobs("admit_write")
    for one, status, rule in ((write, "blocked", "unkeyed_change"), (other, "waiting", "production_is_asked")):
        one.refresh_from_db()
        found = newest(one)
        assert (one.status, found.rule, found.version and found.version.version) == (status, rule, 2)


def test_the_reads_worker_waits_for_no_model(at_work: Model, offer: Any) -> None:
    write = offer()
    assert run_jobs("admit_write") == ["reads"]
    write.refresh_from_db()
    assert (write.status, at_work.asked, FirstLook.objects.filter(write=write).count()) == ("proposed", [], 0)
    assert run_jobs("answer_for_write") == ["answers"]
    write.refresh_from_db()
    assert (write.status, len(at_work.asked)) == ("proposed", 1)
    assert run_jobs("admit_answered") == ["reads"]
    write.refresh_from_db()
    found = newest(write)
    assert (write.status, found.rule, found.model["asked"]["model"]) == ("blocked", "unfit_reason", MODEL)
    assert "unfit_reason" not in str(at_work.asked)
    assert admission.why_blocked(write).endswith(f"blocks {write.ref} (fits: 0.1).")


def test_each_step_may_run_twice(at_work: Model, offer: Any) -> None:
    write = offer()
    request = AdmissionRequest.objects.get(write=write)
    for step in (admission_jobs.begin, admission_jobs.answer, admission_jobs.go_on):
        step(request.pk)
        step(request.pk)
    counts = (AnswerAsk.objects.filter(asked_for=write.ref).count(), Admission.objects.filter(write=write).count())
    assert (counts, len(at_work.asked)) == ((1, 1), 1)


def test_an_answer_that_is_late_is_missing_and_a_person_is_asked(at_work: Model, offer: Any) -> None:
    write = offer()
    run_jobs("admit_write")
    tasks.admit_again()
    assert run_jobs("admit_answered") == []  # there is time left
    AdmissionRequest.objects.update(at=timezone.now() - admission_jobs.LATE)
    tasks.admit_again()
    run_jobs("admit_answered")
    write.refresh_from_db()
    (wrong,) = newest(write).escalations
    assert (write.status, wrong) == ("waiting", {"q": "fits", "why": "missing", "reason": parsing.LATE})


def test_a_write_may_stand_in_line_for_the_model(at_work: Model, offer: Any) -> None:
    write = offer()
    run_jobs("admit_write")
    AnswerAsk.objects.update(asked_at=timezone.now() - timedelta(seconds=30))
    run_jobs("answer_for_write")
    run_jobs("admit_answered")
    assert newest(write).answers["fits"] == {"p": 0.1}


def test_an_answer_about_an_earlier_edition_is_about_nothing(at_work: Model, offer: Any, agent: Any) -> None:
    write = offer()
    run_jobs("admit_write")
    edit(write, agent, "update shop.jobs set state = 'queued' where job_id = 8", answers={"fits": {"p": 0.95}})
    run_jobs("answer_for_write")
    run_jobs("admit_answered")
    write.refresh_from_db()
    assert (write.status, admission.latest(write)) == ("proposed", None)
    run_jobs("admit_write")
    write.refresh_from_db()
    assert (write.status, newest(write).answers["fits"], newest(write).model["asked"]) == ("waiting", {"p": 0.95}, {})


def test_another_version_asks_anew(at_work: Model, offer: Any, define: Any) -> None:
    write = offer()
    run_jobs("admit_write")
    run_jobs("answer_for_write")
    body = with_a_model()
    body["program"]["questions"][-1]["text"] = "Does the stated reason name the rows?"
    define("policy", "sql-writes", body)
    for _ in range(2):
        run_jobs("admit_answered")
        run_jobs("admit_write")
        run_jobs("answer_for_write")
    write.refresh_from_db()
    found = newest(write)
    assert (write.status, found.rule, found.version and found.version.version) == ("blocked", "unfit_reason", 2)
    assert ["name the rows" in str(one) for one in at_work.asked] == [False, True]


def test_a_version_that_comes_in_force_while_it_is_judged_judges_it(
    aim: Any, offer: Any, define: Any, enforced: Any, entries: Any, monkeypatch: Any
) -> None:
    """What was judged by the one before is not recorded at all: not even for a moment is the write let in by it."""
    aim()
    write = offer()
    judge = admitting.judge

    def just_before(*given: Any) -> Any:
        found = judge(*given)
        define("policy", "sql-writes", {**allowing(), "title": "Writes"})
        return found

    with monkeypatch.context() as patched:
        patched.setattr(admitting, "judge", just_before)
        run_jobs("admit_write")
    write.refresh_from_db()
    assert (write.status, admission.latest(write), len(entries(write.ref))) == ("proposed", None, 1)
    run_jobs("admit_write")
    found = newest(write)
    assert found.version
    assert found.version.version == 2


def test_what_was_given_up_says_so_and_is_tried_again(
    aim: Any, offer: Any, enforced: Any, mia: Any, client: Client, monkeypatch: Any
) -> None:
    aim()
    write = offer()
    with monkeypatch.context() as patched:
        patched.setattr(observing, "of", lambda write: 1 / 0)
        for _ in range(outbox.MOST_ATTEMPTS):
            with pytest.raises(ZeroDivisionError):
                run_jobs("admit_write")
    run_jobs("admit_write")
    client.force_login(mia)
    assert "It could not be checked so far. It was tried 8 times and never finished. It is" in plain(
        page(client, write)
    )
    tasks.admit_again()
    assert run_jobs("admit_write") == []  # not at once
    Outbox.objects.update(gave_up_at=timezone.now() - outbox.RESUME_AFTER - timedelta(seconds=1))
    tasks.admit_again()
    assert run_jobs("admit_write") == ["reads"]
    write.refresh_from_db()
    assert write.status == "waiting"


@pytest.mark.django_db(transaction=True)
def test_each_role_can_do_its_step_and_says_nothing_of_answers(at_work: Model, offer: Any, as_role: Any) -> None:
    from django.db import connection, utils

    as_role("agents")
    write = offer()
    request = AdmissionRequest.objects.values_list("pk", flat=True).latest("pk")
    with pytest.raises(utils.ProgrammingError, match="permission denied"), connection.cursor() as cursor:
        cursor.execute("insert into writes_admissionrequest (write_id, edition, answer_ask) values (1, 1, 1)")
    steps = (("reads", admission_jobs.begin), ("answers", admission_jobs.answer), ("reads", admission_jobs.go_on))
    for role, step in steps:
        as_role(role)
        step(request)
        admission_jobs.take_up_again() if role == "reads" else None
    write.refresh_from_db()
    assert write.status == "blocked"
    as_role("people")
    assert admission_jobs.trouble_with(write) == ""
