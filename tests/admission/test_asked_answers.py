"""Who asks the answering model waits a bounded time, and goes on with what is there; the log says what came."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from audit import heartbeats, outbox, reading
from audit.models import Entry, Outbox
from gate.admission.answering import asked, parsing, work
from gate.admission.models import AnswerAsk
from tests.admission.model_server import MODEL, Model
from tests.admission.test_answering import ACTION, PROGRAM
from tests.admission.test_answering import configured as configured
from tests.admission.test_answering import model as model
from tests.admission.test_api import Api, entry_of


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, db: None) -> None:
    """An answering worker that takes each job the moment it is asked for."""
    heartbeats.beat(asked.HEARTBEAT)
    monkeypatch.setattr(outbox, "enqueue", lambda task, queue, ask_id: work.answer(ask_id))


@pytest.fixture
def api(make_agent: Any, define: Any) -> Api:
    define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    return Api(make_agent("coder", scopes=("admit",))[1])


TRACKED = {"tracked": {"value": "no", "by": "probe"}}
REST = pytest.mark.urls("gate.config.urls_agents")


@REST
def test_the_model_answers_what_the_agent_left_open(api: Api, configured: Model, at_once: None) -> None:
    own = {**TRACKED, "loss": {"level": 0, "confidence": 0.7}}
    told = api.decide(policy="deletes", answers=own, action={**ACTION, "password": "hunter2"}).json()
    assert (told["verdict"], told["rule"]) == ("allow", "build_output")
    args = entry_of(told)[1].args
    assert args["asked"]["questions"] == ["regenerable", "place"]
    assert (args["asked"]["model"], args["model"]) == (MODEL, {})
    assert str(args["answers"]["regenerable"]["p"]) == "0.97"
    assert not [sent for sent in configured.asked if "How much of loss?" in str(sent) or "hunter2" in str(sent)]
    entry = Entry.objects.get(seq=int(args["asked"]["entry"].removeprefix("A-")))
    content = reading.content_of(entry)
    assert (entry.kind, entry.actor_kind, entry.summary) == (
        "admission.answered", "process", f"2 of 2 answered by {MODEL}",
    )  # fmt: skip
    assert content.result["latency_ms"].keys() == {"regenerable", "place"}
    assert content.args["action"]["password"] == "[masked: password]"


@REST
def test_what_the_model_does_not_answer_is_asked(api: Api, configured: Model, at_once: None) -> None:
    configured.says = (500, b"")
    told = api.decide(policy="deletes", answers=TRACKED).json()
    assert (told["verdict"], told["rule"]) == ("ask", None)
    assert told["escalations"] == [{"q": name, "why": "missing"} for name in ("regenerable", "place", "loss")]
    assert "status 500" in entry_of(told)[1].result["reasons"]["place"]


@REST
@pytest.mark.django_db
def test_without_a_worker_nobody_waits(api: Api) -> None:
    told = api.decide(policy="deletes", answers=TRACKED).json()
    assert told["verdict"] == "ask"
    assert entry_of(told)[1].result["reasons"]["place"] == asked.NOT_AT_WORK
    assert not AnswerAsk.objects.exists()


@REST
def test_nobody_waits_longer_than_is_said(api: Api, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeats.beat(asked.HEARTBEAT)
    monkeypatch.setattr(asked, "LONGEST_WAIT", 0.1)
    told = api.decide(policy="deletes", answers=TRACKED).json()
    assert told["verdict"] == "ask"
    assert entry_of(told)[1].result["reasons"]["place"] == parsing.LATE
    job = Outbox.objects.get(task=asked.TASK)
    assert (job.queue, AnswerAsk.objects.get(pk=job.subject_id).answers) == ("answers", None)


@REST
def test_an_answer_that_the_agent_gave_is_its_own(api: Api, configured: Model, at_once: None) -> None:
    abstained = {"abstain": True, "why": "I would rather not."}
    told = api.decide(
        policy="deletes", answers={**TRACKED, **dict.fromkeys(["regenerable", "place", "loss"], abstained)}
    )
    assert told.json()["verdict"] == "ask"
    assert configured.asked == []


def test_a_second_delivery_asks_nobody(configured: Model, at_once: None, define: Any) -> None:
    version = define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    ask_id = asked.open_ask(version, ["place"], action=ACTION, asked_for="coder")
    first = AnswerAsk.objects.get(pk=ask_id)
    configured.says = '{"answer": {"value": "home", "confidence": 1}}'
    work.answer(ask_id)
    again = AnswerAsk.objects.get(pk=ask_id)
    assert (len(configured.asked), again.answers, again.entry) == (1, first.answers, first.entry)


def test_a_probes_question_is_never_put_to_the_model(configured: Model, at_once: None, define: Any) -> None:
    version = define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    ask_id = asked.open_ask(version, ["tracked", "place"], action=ACTION, asked_for="coder")
    assert (AnswerAsk.objects.get(pk=ask_id).answers or {}).keys() == {"place"}


def test_what_was_asked_is_kept_no_longer_than_somebody_may_wait(configured: Model, at_once: None, define: Any) -> None:
    version = define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    old, newer = (asked.open_ask(version, ["place"], action=ACTION, asked_for="coder") for _ in range(2))
    AnswerAsk.objects.filter(pk=old).update(asked_at=timezone.now() - work.KEPT - timedelta(seconds=1))
    latest = asked.open_ask(version, ["place"], action=ACTION, asked_for="coder")
    assert set(AnswerAsk.objects.values_list("pk", flat=True)) == {newer, latest}
    work.answer(old)  # by a job that comes late
    assert len(configured.asked) == 3


def test_an_ask_that_nobody_waits_for_any_more_is_not_sent(configured: Model, define: Any) -> None:
    version = define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    ask_id = asked.open_ask(version, ["place"], action=ACTION, asked_for="coder")
    work.answer(ask_id, patience=0.0)
    assert AnswerAsk.objects.get(pk=ask_id).answers == {"place": parsing.missing(parsing.LATE)}
    assert configured.asked == []


def test_what_was_asked_of_a_version_that_is_no_longer_in_force_is_left_out(
    configured: Model, define: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"title": "Deletes", "program": PROGRAM, "cases": []}
    version = define("policy", "deletes", body)
    heartbeats.beat(asked.HEARTBEAT)

    def answered_too_late(task: str, queue: str, ask_id: int) -> None:
        work.answer(ask_id)
        define("policy", "deletes", {**body, "title": "Deletes, read anew"})

    monkeypatch.setattr(outbox, "enqueue", answered_too_late)
    found = asked.completed(version, TRACKED, action=ACTION, asked_for="coder")
    assert (len(configured.asked), found.answers, found.asked) == (3, TRACKED, {})


@pytest.mark.django_db(transaction=True)
def test_who_asks_cannot_answer_and_who_answers_sees_no_person(as_role: Any, define: Any) -> None:
    from django.db import connection, utils

    version = define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    as_role("agents")
    ask_id = asked.open_ask(version, ["place"], action=ACTION, asked_for="coder")
    for role, statement in (
        ("agents", "update admission_answerask set answers = '{}'"),
        ("agents", "insert into admission_answerask (version_id, questions, action, asked_for, answers)"
                   " values (1, '[]', '{}', '', '{}')"),
        ("answers", "update admission_answerask set action = '{}'"),
        ("answers", "select * from people_person"),
        ("answers", "select * from audit_entry"),
        ("people", "select * from admission_answerask"),
    ):  # fmt: skip
        as_role(role)
        with pytest.raises(utils.ProgrammingError, match="permission denied"), connection.cursor() as cursor:
            cursor.execute(statement)
    as_role("answers")
    work.answer(ask_id)
    as_role("agents")
    assert AnswerAsk.objects.get(pk=ask_id).answers == {"place": parsing.missing(work.NO_MODEL)}
