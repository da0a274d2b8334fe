from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from audit.models import Entry
from gate.errors import NotAllowed, Stale
from gate.triage import actions
from gate.triage.models import Draft, Incident, Review

REASON = "Both calls are of this job, and the count is whole."


def entries(subject: str, **about: object) -> list[str]:
    return list(Entry.objects.filter(subject=subject, **about).order_by("seq").values_list("kind", flat=True))


@pytest.mark.parametrize(
    ("outcome", "act", "incident_status", "is_held"),
    [
        ("pass", "agree", "closed", False),
        ("fail", "agree", "open", True),
        ("pass", "overrule", "open", True),
        ("fail", "overrule", "closed", False),
        ("pass", "send_back", "open", False),
        ("fail", "send_back", "open", False),
    ],
)
@pytest.mark.django_db
def test_what_follows_from_each_act(make_draft, make_person, outcome, act, incident_status, is_held) -> None:
    draft, ada = make_draft(outcome), make_person("ada")
    actions.review(draft.pk, by=ada, act=act, reason=REASON, seen_version=1)
    draft.refresh_from_db()
    incident = Incident.objects.get(pk=draft.investigation.incident_id)
    assert draft.status == actions.STATUSES[Review.Act(act)]
    assert incident.status == incident_status
    assert (incident.owner == ada) is is_held
    assert incident.guidance == (REASON if act == "send_back" else "")
    assert entries(draft.ref) == [actions.KINDS[Review.Act(act)].value]
    # Entries outlive their tests, and others write about an incident of the same number that never was.
    own = [kind for kind in entries(incident.ref, incident_id=incident.pk) if not kind.startswith("call.")]
    assert len(own) == 1


@pytest.mark.django_db
def test_an_older_version_is_stale(make_draft, make_person) -> None:
    draft, ada, mia = make_draft(), make_person("ada"), make_person("mia")
    actions.review(draft.pk, by=mia, act="agree", reason=REASON, seen_version=1)
    with pytest.raises(Stale) as refused:
        actions.review(draft.pk, by=ada, act="overrule", reason=REASON, seen_version=1)
    assert (refused.value.seen, refused.value.current) == (1, 2)


@pytest.mark.parametrize("role", ["viewer", "admin", "auditor"])
@pytest.mark.django_db
def test_only_on_call_reviews(make_draft, make_person, role) -> None:
    draft = make_draft()
    with pytest.raises(NotAllowed, match="Your role reviews no drafts"):
        actions.review(draft.pk, by=make_person("vera", role), act="agree", reason=REASON, seen_version=1)
    assert entries(draft.ref) == []
    assert not Review.objects.exists()


@pytest.mark.django_db
def test_a_claim_keeps_others_out_until_it_lapses(make_draft, make_person) -> None:
    draft, ada, mia = make_draft(), make_person("ada"), make_person("mia", full_name="Mia Lindqvist")
    actions.claim(draft.pk, by=mia)
    with pytest.raises(NotAllowed, match="Mia Lindqvist claimed"):
        actions.review(draft.pk, by=ada, act="agree", reason=REASON, seen_version=1)
    Draft.objects.update(claimed_until=timezone.now() - timedelta(seconds=1))
    assert actions.review(draft.pk, by=ada, act="agree", reason=REASON, seen_version=1).by == ada


@pytest.mark.django_db
def test_a_snoozed_draft_leaves_the_inbox_and_comes_back(make_draft, make_person) -> None:
    from gate.triage import inbox

    draft = make_draft()
    actions.snooze(draft.pk, by=make_person("ada"))
    assert not inbox.open_drafts().exists()
    Draft.objects.update(snoozed_until=timezone.now() - timedelta(seconds=1))
    assert inbox.open_drafts().get() == draft


@pytest.mark.django_db(transaction=True)
def test_of_two_at_once_one_decides(make_draft, make_person) -> None:
    draft, people = make_draft(), [make_person("ada"), make_person("mia")]
    together, outcomes = threading.Barrier(2), []

    def decide(person) -> None:
        together.wait()
        try:
            actions.review(draft.pk, by=person, act="agree", reason=REASON, seen_version=1)
            outcomes.append("recorded")
        except Stale:
            outcomes.append("stale")
        finally:
            connection.close()

    threads = [threading.Thread(target=decide, args=[person]) for person in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["recorded", "stale"]
    assert Review.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_people_role_can_do_all_of_it_and_the_worker_cannot(make_draft, make_person, as_role) -> None:
    from django.db import ProgrammingError

    draft, other, ada = make_draft(), make_draft("fail"), make_person("ada")
    as_role("people")
    actions.claim(draft.pk, by=ada)
    actions.review(draft.pk, by=ada, act="agree", reason=REASON, seen_version=1)
    as_role("worker")
    with pytest.raises(ProgrammingError, match="permission denied"):
        actions.review(other.pk, by=ada, act="agree", reason=REASON, seen_version=1)
