"""Whether an answer was right: who may say so, that it is kept once, and what a policy's page makes of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit import reading
from audit.models import Entry
from audit.refusing import NotAllowed
from gate.admission import decision_page, judging, labels, measuring, policies
from gate.admission.decision_page import DecisionPage
from gate.admission.models import AnswerLabel
from gate.admission.reliability import Reliability
from gate.admission.usable import usable
from tests.admission.programs import enum, level, probe, program, rule, yesno
from tests.admission.test_pages import principal_of, text

pytestmark = pytest.mark.django_db
QUESTIONS = [yesno("regenerable"), enum("place"), level("loss"), probe("tracked", "yes", "no")]
PROGRAM = program(QUESTIONS, [rule("gone", "block", ("place", "is", "z"), ("loss", "gte", 2))])
ANSWERS = {
    "regenerable": {"p": 0.97}, "place": {"value": "x", "confidence": 0.9},
    "loss": {"abstain": True, "why": "It is not said."}, "tracked": {"value": "no", "by": "probe"},
}  # fmt: skip
ASKED = {"questions": ["regenerable", "loss"], "model": "narrow-7b", "latency_ms": 40, "entry": "A-7"}


@pytest.fixture
def decided(define: Any, make_agent: Any) -> Any:
    define("policy", "deletes", {"title": "Deletes", "program": PROGRAM, "cases": []})
    agent = principal_of(make_agent("coder")[0])

    def make(**answers: Any) -> DecisionPage:
        whole = {**ANSWERS, **answers}
        found = judging.judge("deletes", whole)
        told = judging.recorded(
            found, agent, subject="rm -rf", answers=whole, action={}, model={"id": "big-1"}, asked=ASKED
        )  # fmt: skip
        assert told.entry is not None
        page = decision_page.one("deletes", told.entry.seq)
        assert page is not None
        return page

    return make


def signed_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client


def address(page: DecisionPage) -> str:
    return f"/policies/deletes/decisions/{page.entry.seq}/"


def test_a_decision_says_who_answered_each_question(decided: Any, make_person: Any) -> None:
    page = text(signed_in(make_person("vi", "viewer")).get(address(decided())))
    for words in (
        "answering model, narrow-7b",
        "the agent itself, big-1",
        '<td class="soft">client probe</td>',
        "A-7</a>, 40 ms",
    ):
        assert words in page, words
    assert "Record what I know" not in page


def test_what_is_said_of_answers_is_kept_once_and_is_an_entry(decided: Any, make_person: Any) -> None:
    page, client = decided(), signed_in(make_person("jo", "on_call"))
    shown = client.get(address(page))
    assert [one.line.question.id for one in shown.context["labels"].lines] == ["regenerable", "place", "tracked"]
    assert "yes, 0.97" in text(shown)
    done = client.post(f"{address(page)}labels/", {"said_0": "right", "said_1": "wrong", "back": "/writes/"})
    assert (done.status_code, done.headers["Location"]) == (302, "/writes/")
    kept = {row.question: (row.said, row.model) for row in AnswerLabel.objects.filter(decision=page.entry.seq)}
    assert kept == {"regenerable": ("right", "narrow-7b"), "place": ("wrong", "big-1, by an agent's word")}
    entry = Entry.objects.filter(kind="admission.labeled", principal="jo").latest("seq")
    assert (entry.subject, entry.summary) == ("rm -rf", "1 right, 1 wrong")
    assert reading.content_of(entry).args == {
        "decision": page.entry.ref, "said": {"regenerable": "right", "place": "wrong"},
    }  # fmt: skip
    again = client.post(f"{address(page)}labels/", {"said_0": "wrong"})
    assert again.status_code == 409
    assert "what is said first stays" in text(again)
    assert "you said right" in text(client.get(address(page)))


@pytest.mark.parametrize(
    ("said", "sentence"),
    [({}, "at least one answer"), ({"loss": "right"}, "loss has no answer"), ({"nobody": "right"}, "nobody has no")],
)
def test_nothing_else_can_be_said(decided: Any, make_person: Any, said: dict[str, str], sentence: str) -> None:
    with pytest.raises(NotAllowed, match=sentence):
        labels.say(decided(), said, by=make_person("jo", "on_call"))
    assert not AnswerLabel.objects.exists()


def test_who_only_looks_says_nothing(decided: Any, make_person: Any) -> None:
    page = decided()
    client = signed_in(make_person("vi", "viewer"))
    assert client.post(f"{address(page)}labels/", {"said_0": "right"}).status_code == 403
    with pytest.raises(NotAllowed, match="Your role"):
        labels.say(page, {"place": "right"}, by=make_person("vo", "auditor"))


def test_the_form_leads_to_no_other_site(decided: Any, make_person: Any) -> None:
    page = decided()
    fields = {"said_0": "right", "back": "https://elsewhere.example/"}
    done = signed_in(make_person("jo", "on_call")).post(f"{address(page)}labels/", fields)
    assert done.headers["Location"] == address(page)


def measured() -> dict[tuple[str, str], Any]:
    found = usable(PROGRAM)
    assert found is not None
    return {(one.question.id, one.model): one for one in measuring.measured("deletes", found.questions)}


def test_answers_are_measured_by_question_and_model(decided: Any, make_person: Any) -> None:
    jo, mia = make_person("jo", "on_call"), make_person("mia", "admin")
    for p, said in ((0.97, "right"), (0.9, "wrong"), (0.5001, "wrong"), (0.2, "right"), (0.8, "cannot_say")):
        labels.say(decided(regenerable={"p": p}), {"regenerable": said, "tracked": "right"}, by=jo)
    disputed = decided()
    labels.say(disputed, {"regenerable": "right"}, by=jo)
    labels.say(disputed, {"regenerable": "wrong"}, by=mia)
    found = measured()
    assert found.keys() == {("regenerable", "narrow-7b"), ("tracked", "")}
    model, by_probe = found["regenerable", "narrow-7b"], found["tracked", ""]
    assert (model.right.right, model.right.n, model.disputed) == (2, 4, 1)
    # 0.5001 is within the band of the question, so no rule would see it.
    assert (model.at_threshold.right, model.at_threshold.n) == (2, 3)
    assert (by_probe.right.right, by_probe.right.n, by_probe.samples) == (5, 5, [])
    shown = Reliability(model)
    assert (shown.percent, shown.threshold) == ("66.7%", "outside 0.35 to 0.65")
    assert shown.suggestion.startswith("No threshold is earned yet")
    assert shown.picture is not None
    # A yes that was wrong was not so, and neither was a no that was right.
    assert [(dot.found.share.right, dot.found.share.n) for dot in shown.picture.dots] == [(0, 1), (0, 1), (1, 2)]


def test_another_text_is_another_question(decided: Any, make_person: Any) -> None:
    labels.say(decided(), {"place": "right"}, by=make_person("jo", "on_call"))
    other = usable({**PROGRAM, "questions": [*QUESTIONS[:1], enum("place", text="Where is place?"), *QUESTIONS[2:]]})
    assert other is not None
    assert measuring.measured("deletes", other.questions) == []
    looser = usable({**PROGRAM, "questions": [*QUESTIONS[:1], enum("place", min_confidence=0.1), *QUESTIONS[2:]]})
    assert looser is not None
    assert [one.model for one in measuring.measured("deletes", looser.questions)] == ["big-1, by an agent's word"]


def test_a_threshold_is_a_guess_until_an_answer_beyond_it_was_reviewed(decided: Any, make_person: Any) -> None:
    jo = make_person("jo", "on_call")
    client = signed_in(jo)
    assert text(client.get("/policies/deletes/")).count("a guess: not measured") == 3
    for _ in range(35):
        labels.say(decided(), {"regenerable": "right"}, by=jo)
    page = text(client.get("/policies/deletes/"))
    assert page.count("a guess: not measured") == 2
    for words in (
        "<b>100.0%</b>", "35 of 35 reviewed, between 90.1% and 100.0%", "said 0.97, was so 35 of 35", "narrow-7b",
        "Suggested: unsure between 0.03 and 0.97 (0.97 to 0.97 in nine of ten resamples)",
    ):  # fmt: skip
        assert words in page, words


def test_the_digest_of_a_version_does_not_change_with_what_is_said(decided: Any, make_person: Any) -> None:
    page = decided()
    assert page.version is not None
    before = policies.digest(page.version)
    labels.say(page, {"place": "right"}, by=make_person("jo", "on_call"))
    assert policies.digest(page.version) == before
