"""What people do to incidents by hand: open, close, reopen, comment, assign, and stop an investigation."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.at_once import ask
from audit.models import Entry
from evidence.errors import Problem
from gate.errors import NotAllowed, Stale
from gate.triage import by_hand, incident_actions, intake, scope, submissions, verdicts
from gate.triage.models import Comment, Incident, Investigation
from tests.triage.conftest import handed_in

pytestmark = pytest.mark.django_db
WHY = "The provider confirmed it by phone."
HOSTILE = '<script>alert(1)</script> "quoted" &'


@pytest.fixture
def ada(make_person) -> Any:
    return make_person("ada", full_name="Ada Lovelace")


@pytest.fixture
def desk(client: Client, ada) -> Client:
    client.force_login(ada)
    return client


def last(incident: Incident) -> Entry:
    return Entry.objects.filter(incident_id=incident.pk).order_by("-seq")[0]


FORM = {"title": "Job 7 hangs", "subject.job_id": "7", "began_at": "2026-11-29 02:10:44", "severity": "",
        "facts": "error: ReadTimeout\namount_cents: 1290"}  # fmt: skip


def test_a_person_opens_an_incident_as_a_monitor_would(desk: Client, classes: None) -> None:
    assert "A job failed" in desk.get("/incidents/new/").content.decode()
    assert 'name="subject.job_id"' in desk.get("/incidents/new/?class=job_failed").content.decode()
    response = desk.post("/incidents/new/?class=job_failed", FORM)
    incident = Incident.objects.get()
    assert response["Location"] == f"/incidents/{incident.pk}/"
    assert (incident.subject, incident.severity) == ({"job_id": 7}, "high")
    assert incident.facts == {"error": "ReadTimeout", "amount_cents": 1290}
    assert incident.dedup_key.startswith("job_failed:")
    entry = last(incident)
    assert (entry.kind, entry.actor_kind, entry.actor) == ("incident.opened", "person", "Ada Lovelace")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"title": ""}, "Say what happened"),
        ({"subject.job_id": "seven"}, "whole number"),
        ({"subject.job_id": ""}, "Give the job_id"),
        ({"began_at": "yesterday"}, "valid date"),
        ({"facts": "no colon here"}, "one fact a line"),
        ({"facts": "a: 1\na: 2"}, "each key once"),
        ({"facts": "a: [1]"}, "a text, a whole number"),
        ({"facts": f"a: {'x' * 501}"}, "longer than 500"),
    ],
)
def test_what_cannot_be_is_asked_for_again(desk: Client, classes: None, changes: dict[str, str], words: str) -> None:
    response = desk.post("/incidents/new/?class=job_failed", {**FORM, **changes})
    page = response.content.decode()
    assert response.status_code == 422
    assert words in page
    assert not Incident.objects.exists()
    assert ("Job 7 hangs" in page) == (changes.get("title") is None)


def test_what_the_intake_refuses_is_refused_and_the_typing_kept(desk: Client, classes: None) -> None:
    response = desk.post("/incidents/new/?class=job_failed", {**FORM, "began_at": "2999-01-01 00:00:00"})
    assert response.status_code == 409
    assert "lies in the future" in response.content.decode()
    assert "Job 7 hangs" in response.content.decode()
    assert not Incident.objects.exists()


def test_one_thing_is_open_once(ada, open_incident, report) -> None:
    known = open_incident()
    with pytest.raises(NotAllowed, match=f"{known.ref} is open for the same thing"):
        by_hand.open_incident(report(), by=ada)
    assert Incident.objects.count() == 1


def test_no_monitor_rewrites_what_a_person_opened(ada, report) -> None:
    incident = by_hand.open_incident(report(title="By hand"), by=ada)
    intake.receive(report(title="Other words"), intake.Monitor("ada"))
    intake.receive(report(title="Other words"), intake.Monitor("Ada Lovelace"))
    incident.refresh_from_db()
    assert incident.title == "By hand"
    assert incident.opened_by == "Ada Lovelace, by hand"


def test_only_on_call_and_admins_open_incidents(client: Client, make_person, report) -> None:
    for role in ("viewer", "auditor"):
        person = make_person(role, role)
        client.force_login(person)
        assert client.get("/incidents/new/").status_code == 403
        assert "/incidents/new/" not in client.get("/incidents/").content.decode()
        with pytest.raises(NotAllowed, match="Your role opens no incidents"):
            by_hand.open_incident(report(), by=person)
    client.force_login(make_person("mia", "admin"))
    assert "/incidents/new/" in client.get("/incidents/").content.decode()


def test_without_a_class_the_page_says_how_to_begin(desk: Client) -> None:
    assert "No incident class is in force." in desk.get("/incidents/new/?class=none").content.decode()


def test_a_person_closes_with_a_reason(desk: Client, open_incident) -> None:
    incident = open_incident()
    assert f"Close {incident.ref}" in desk.get(f"/incidents/{incident.pk}/").content.decode()
    response = desk.post(f"/incidents/{incident.pk}/closing/", {"reason": WHY, "seen_version": 1})
    assert response.status_code == 302
    incident.refresh_from_db()
    assert (incident.status, incident.version) == ("closed", 2)
    assert incident.closed_at is not None
    assert (last(incident).kind, last(incident).summary) == ("incident.closed", WHY)
    page = desk.get(f"/incidents/{incident.pk}/").content.decode()
    assert WHY in page
    assert f"Reopen {incident.ref}" in page


def test_nothing_is_closed_while_an_investigation_runs(ada, running: Investigation) -> None:
    with pytest.raises(NotAllowed, match="stop the investigation first"):
        incident_actions.close(running.incident_id, by=ada, reason=WHY, seen_version=1)
    assert Incident.objects.get().status == "investigating"
    assert last(running.incident).kind == "investigation.started"


def test_nothing_is_closed_while_a_verdict_or_a_draft_waits(ada, principal, running: Investigation) -> None:
    submissions.submit(principal, running.pk, handed_in())
    with pytest.raises(NotAllowed, match="is being rendered"):
        incident_actions.close(running.incident_id, by=ada, reason=WHY, seen_version=1)
    verdicts.render(running.pk)
    with pytest.raises(NotAllowed, match=r"V-\d+ waits for review"):
        incident_actions.close(running.incident_id, by=ada, reason=WHY, seen_version=1)
    assert Incident.objects.get().status == "drafted"


def test_whoever_decides_second_is_told_and_keeps_the_typing(desk: Client, ada, make_person, open_incident) -> None:
    incident = open_incident()
    incident_actions.assign(incident.pk, by=make_person("mia"), to=ada, seen_version=1)
    response = desk.post(f"/incidents/{incident.pk}/closing/", {"reason": WHY, "seen_version": 1})
    page = response.content.decode()
    assert response.status_code == 409
    assert "was changed while you were reading" in page
    assert WHY in page
    assert 'name="seen_version" value="2"' in page
    assert Incident.objects.get().status == "open"
    for act in (incident_actions.close, incident_actions.reopen):
        with pytest.raises(Stale):
            act(incident.pk, by=ada, reason=WHY, seen_version=1)
    with pytest.raises(Stale):
        incident_actions.assign(incident.pk, by=ada, to=None, seen_version=1)


def test_a_reason_is_needed(desk: Client, open_incident) -> None:
    incident = open_incident()
    response = desk.post(f"/incidents/{incident.pk}/closing/", {"seen_version": 1})
    assert response.status_code == 422
    assert "one sentence that the next reader can check" in response.content.decode()
    assert Incident.objects.get().status == "open"


def test_a_closed_incident_is_opened_again(ada, open_incident) -> None:
    incident = open_incident()
    with pytest.raises(NotAllowed, match="nothing to reopen"):
        incident_actions.reopen(incident.pk, by=ada, reason=WHY, seen_version=1)
    incident_actions.close(incident.pk, by=ada, reason=WHY, seen_version=1)
    with pytest.raises(NotAllowed, match="is closed already"):
        incident_actions.close(incident.pk, by=ada, reason=WHY, seen_version=2)
    incident_actions.reopen(incident.pk, by=ada, reason=WHY, seen_version=2)
    incident.refresh_from_db()
    assert (incident.status, incident.closed_at, incident.version) == ("reopened", None, 3)
    assert last(incident).kind == "incident.reopened"


def test_it_stays_closed_when_another_is_open_for_the_same_thing(ada, open_incident) -> None:
    first = open_incident()
    incident_actions.close(first.pk, by=ada, reason=WHY, seen_version=1)
    second = open_incident()
    with pytest.raises(NotAllowed, match=f"{second.ref} is open for the same thing"):
        incident_actions.reopen(first.pk, by=ada, reason=WHY, seen_version=2)
    first.refresh_from_db()
    assert (first.status, last(first).kind) == ("closed", "incident.closed")


def test_a_comment_stands_whole_in_the_timeline(desk: Client, open_incident) -> None:
    incident, text = open_incident(), "word " * 300 + "end"
    assert desk.post(f"/incidents/{incident.pk}/comments/", {"text": text}).status_code == 302
    assert Comment.objects.get().text == text
    assert last(incident).kind == "comment.added"
    assert text in desk.get(f"/incidents/{incident.pk}/").content.decode()
    assert desk.post(f"/incidents/{incident.pk}/comments/", {"text": ""}).status_code == 422
    long = desk.post(f"/incidents/{incident.pk}/comments/", {"text": "x" * 4001})
    assert "x" * 4001 in long.content.decode()
    assert Comment.objects.count() == 1


def test_an_incident_is_given_to_a_person_and_back(desk: Client, make_person, open_incident) -> None:
    incident, mia = open_incident(), make_person("mia", full_name="Mia Lindqvist")
    desk.post(f"/incidents/{incident.pk}/assignment/", {"to": mia.pk, "seen_version": 1})
    incident.refresh_from_db()
    assert incident.owner == mia
    assert (last(incident).kind, last(incident).summary) == ("assignment.changed", "to Mia Lindqvist")
    desk.post(f"/incidents/{incident.pk}/assignment/", {"to": "", "seen_version": 2})
    incident.refresh_from_db()
    assert incident.owner is None
    assert last(incident).summary == "to nobody"


def test_an_incident_goes_to_nobody_who_cannot_work_on_it(ada, make_person, open_incident) -> None:
    incident, vera = open_incident(), make_person("vera", "viewer")
    gone = make_person("gone")
    gone.is_active = False
    gone.save()
    for person in (vera, gone):
        with pytest.raises(NotAllowed, match="cannot work on incidents"):
            incident_actions.assign(incident.pk, by=ada, to=person, seen_version=1)
    incident_actions.close(incident.pk, by=ada, reason=WHY, seen_version=1)
    with pytest.raises(NotAllowed, match="reopen it before you assign it"):
        incident_actions.assign(incident.pk, by=ada, to=ada, seen_version=2)


def test_a_person_stops_an_investigation(desk: Client, principal, running: Investigation) -> None:
    incident = running.incident
    address = f"/incidents/{incident.pk}/investigations/{running.pk}/stop/"
    assert address in desk.get(f"/incidents/{incident.pk}/").content.decode()
    assert desk.post(address, {"reason": ""}).status_code == 422
    assert desk.post(address, {"reason": "It asks in circles."}).status_code == 302
    running.refresh_from_db()
    incident.refresh_from_db()
    assert (running.status, incident.status) == ("abandoned", "open")
    entry = last(incident)
    assert (entry.kind, entry.run_id, entry.summary) == (
        "investigation.stopped", str(running.pk), "It asks in circles.",
    )  # fmt: skip
    again = desk.post(address, {"reason": "Again."})
    assert again.status_code == 409
    assert "nothing to stop" in again.content.decode()


def test_the_agents_next_call_is_refused_with_a_sentence(ada, principal, running: Investigation) -> None:
    held = ask(scope.resolving(principal, running.pk))
    incident_actions.stop(running.pk, by=ada, reason=WHY)
    for act in (lambda: ask(held.taking_call()), lambda: ask(scope.resolving(principal, running.pk)),
                lambda: submissions.submit(principal, running.pk, handed_in())):  # fmt: skip
        with pytest.raises(Problem) as refused:
            act()
        assert refused.value.sentence == "Start an investigation first."


def test_an_investigation_is_stopped_under_its_own_incident_only(desk: Client, running, open_incident) -> None:
    other = open_incident(subject={"job_id": 2})
    address = f"/incidents/{other.pk}/investigations/{running.pk}/stop/"
    assert desk.post(address, {"reason": WHY}).status_code == 404
    running.refresh_from_db()
    assert running.status == "running"


@pytest.mark.parametrize("role", ["viewer", "auditor"])
def test_who_only_reads_changes_nothing(client: Client, make_person, running: Investigation, role: str) -> None:
    client.force_login(make_person("vera", role))
    incident, entry = running.incident, last(running.incident)
    address = f"/incidents/{incident.pk}/"
    page = client.get(address).content.decode()
    assert "Your role closes no incidents" in page
    for words in ("Stop this investigation", "closing/", "comments/", "assignment/"):
        assert words not in page
    said = {"reason": WHY, "text": WHY, "to": "", "seen_version": 1}
    for act in ("closing", "reopening", "comments", "assignment", f"investigations/{running.pk}/stop"):
        response = client.post(f"{address}{act}/", said)
        assert response.status_code == 409, act
        assert "Your role" in response.content.decode()
    assert last(incident).seq == entry.seq
    assert Incident.objects.get().status == "investigating"


def test_an_admin_does_not_close(make_person, open_incident) -> None:
    with pytest.raises(NotAllowed, match="someone on call does"):
        incident_actions.close(open_incident().pk, by=make_person("mia", "admin"), reason=WHY, seen_version=1)


@pytest.mark.parametrize("act", ["closing", "reopening", "comments", "assignment", "investigations/1/stop"])
def test_acts_are_posted_by_someone_signed_in(client: Client, ada, act: str) -> None:
    assert client.post(f"/incidents/1/{act}/")["Location"].startswith("/sign-in/")
    client.force_login(ada)
    assert client.get(f"/incidents/1/{act}/").status_code == 405
    assert client.post(f"/incidents/1/{act}/").status_code == 404


def test_what_people_write_is_never_markup(desk: Client, ada, report) -> None:
    incident = by_hand.open_incident(report(title=HOSTILE, facts={"error": HOSTILE}), by=ada)
    incident_actions.comment(incident.pk, by=ada, text=HOSTILE)
    incident_actions.close(incident.pk, by=ada, reason=HOSTILE, seen_version=1)
    assert "<script>alert" not in desk.get(f"/incidents/{incident.pk}/").content.decode()
    stale = desk.post(f"/incidents/{incident.pk}/closing/", {"reason": HOSTILE, "seen_version": 1})
    assert "<script>alert" not in stale.content.decode()
    typed = desk.post("/incidents/new/?class=job_failed", {**FORM, "title": HOSTILE, "facts": HOSTILE})
    assert "<script>alert" not in typed.content.decode()


def test_a_page_needs_as_many_queries_for_ten_comments_as_for_one(
    desk: Client, ada, open_incident, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    incident = open_incident()
    incident_actions.comment(incident.pk, by=ada, text="one")
    with django_assert_max_num_queries(20) as first:
        desk.get(f"/incidents/{incident.pk}/")
    for number in range(9):
        incident_actions.comment(incident.pk, by=ada, text=f"more {number}")
    with django_assert_num_queries(len(first)):
        desk.get(f"/incidents/{incident.pk}/")


@pytest.mark.django_db(transaction=True)
def test_every_act_works_with_the_role_of_the_people_plane(as_role, client, ada, running, open_incident) -> None:
    other = open_incident(subject={"job_id": 2})
    as_role("people")
    client.force_login(ada)
    assert client.post("/incidents/new/?class=job_failed", FORM).status_code == 302
    address = f"/incidents/{running.incident_id}/"
    acts = [
        (f"{address}investigations/{running.pk}/stop/", {"reason": WHY}),
        (f"{address}comments/", {"text": WHY}),
        (f"{address}assignment/", {"to": ada.pk, "seen_version": 1}),
        (f"{address}closing/", {"reason": WHY, "seen_version": 2}),
        (f"{address}reopening/", {"reason": WHY, "seen_version": 3}),
        (f"/incidents/{other.pk}/closing/", {"reason": WHY, "seen_version": 1}),
    ]
    for place, said in acts:
        assert client.post(place, said).status_code == 302, place
    assert client.get(address).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", ["agents", "worker", "writer"])
def test_no_other_process_reads_comments(as_role, process: str) -> None:
    from django.db import DatabaseError

    as_role(process)
    with pytest.raises(DatabaseError, match="permission denied"):
        Comment.objects.exists()
