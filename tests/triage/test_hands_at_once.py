"""Two at once about one incident: one of them decides, the other is told, and nothing stands half done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from audit.models import Entry
from evidence.errors import Problem
from gate.errors import NotAllowed, Stale
from gate.triage import by_hand, incident_actions, intake, investigations, submissions
from gate.triage.models import Incident, Investigation
from tests.triage.conftest import MONITOR, handed_in
from tests.triage.test_roles_and_races import at_once

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "The provider confirmed it by phone."


def told(act: Callable[[], Any]) -> Callable[[], Any]:
    """The act, answering the refusal that it met."""

    def run() -> Any:
        try:
            return act()
        except NotAllowed as refusal:
            return refusal

    return run


def kinds(incident: Incident) -> list[str]:
    return list(Entry.objects.filter(incident_id=incident.pk).order_by("seq").values_list("kind", flat=True))


def test_two_people_close_it_once(make_person, open_incident) -> None:
    incident = open_incident()

    def close(name: str) -> Callable[[], Any]:
        person = make_person(name)
        return told(lambda: incident_actions.close(incident.pk, by=person, reason=WHY, seen_version=1))

    answers = at_once(close("ada"), close("mia"))
    assert sorted(type(answer) for answer in answers if isinstance(answer, Stale)) == [Stale]
    assert kinds(incident) == ["incident.opened", "incident.closed"]


def test_an_agent_starts_or_a_person_closes_but_not_both(make_person, principal, open_incident) -> None:
    incident, ada = open_incident(), make_person("ada")
    answers = at_once(
        told(lambda: incident_actions.close(incident.pk, by=ada, reason=WHY, seen_version=1)),
        lambda: investigations.start(principal, incident.pk),
    )
    refused = [answer for answer in answers if isinstance(answer, NotAllowed | Problem)]
    assert len(refused) == 1
    assert kinds(incident)[1:] in (["incident.closed"], ["investigation.started"])


def test_findings_come_in_or_a_person_stops_but_not_both(make_person, principal, running: Investigation) -> None:
    ada = make_person("ada")
    answers = at_once(
        told(lambda: incident_actions.stop(running.pk, by=ada, reason=WHY)),
        lambda: submissions.submit(principal, running.pk, handed_in()),
    )
    refused = [answer for answer in answers if isinstance(answer, NotAllowed | Problem)]
    assert len(refused) == 1
    running.refresh_from_db()
    assert (running.status, kinds(running.incident)[-1]) in (
        ("abandoned", "investigation.stopped"), ("submitted", "findings.submitted"),
    )  # fmt: skip


def test_a_monitor_and_a_person_open_one_thing_once(make_person, report) -> None:
    ada, said = make_person("ada"), report()
    at_once(told(lambda: by_hand.open_incident(said, by=ada)), lambda: intake.receive(said, MONITOR))
    incident = Incident.objects.get()
    assert kinds(incident).count("incident.opened") == 1
