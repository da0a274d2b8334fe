"""What admission repeats of an entry goes when the entry is redacted."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit import copies, log, redacting
from audit.kinds import Kind
from audit.models import Entry
from gate.admission import labels
from gate.admission.models import AnswerAsk, AnswerLabel
from tests.admission.test_labels import ANSWERS, decided

__all__ = ["decided"]
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def admins(make_person: Any) -> tuple[Any, Any]:
    return make_person("first-admin", "admin"), make_person("second-admin", "admin")


def redact(entry: Entry, admins: tuple[Any, Any], part: str) -> None:
    """As people's plane does it."""
    wanted = redacting.ask(entry, part=part, reason="It names a customer.", by=admins[0])
    with pytest.raises(DatabaseError, match="not done"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select admission_clear_copies(%s)", [wanted.pk])
    redacting.confirm(wanted.pk, by=admins[1])


@pytest.mark.parametrize(("part", "is_cleared"), [("args", True), ("both", True), ("result", False)])
def test_a_label_keeps_nothing_of_an_answer_that_is_redacted(
    decided: Any, admins: Any, as_role: Any, part: str, is_cleared: bool
) -> None:
    page = decided()
    as_role("people")
    labels.say(page, {"place": "right"}, by=admins[0])
    assert any("answers are cleared" in one.sentence for one in copies.of(page.entry))
    redact(page.entry, admins, part)
    answer = AnswerLabel.objects.get().answer
    assert (answer == ANSWERS["place"]) is not is_cleared
    assert answer.get("abstain", False) is is_cleared


def test_what_the_model_was_sent_goes_with_its_entry_and_is_named_by_the_decision(
    decided: Any, admins: Any, as_role: Any
) -> None:
    page = decided()
    action = {"command": "rm Jane"}
    sent = log.record(Kind.ADMISSION_ANSWERED, log.Actor.process(), tool="deletes", args={"action": action}, result={})
    _, of_another = (
        AnswerAsk.objects.create(version=page.version, questions=["place"], action=action, asked_for="coder", entry=seq)
        for seq in (sent.seq, sent.seq + 10**6)
    )
    as_role("people")
    entry = Entry.objects.get(pk=sent.id)
    assert [(one.subject, "is taken away" in one.sentence) for one in copies.of(entry)] == [("deletes", True)]
    assert "A-7" in [one.subject for one in copies.of(page.entry)]
    redact(entry, admins, "both")
    as_role("owner")
    assert list(AnswerAsk.objects.values_list("pk", flat=True)) == [of_another.pk]
