"""Every act of the permission matrix, tried through its page by every role."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.models import AgentToken
from evidence.models import AgentAlert
from evidence.monitoring_models import What
from gate.people import changes, permissions
from gate.people.models import Change, Person, Visit
from gate.triage.models import Investigation
from gate.writes.models import WriteRequest
from tests.gate.conftest import make_draft as make_draft
from tests.writes.conftest import body

pytestmark = pytest.mark.django_db
LETTER = {"to": "noa@example.org", "text": "It is fine.", "seen_sendings": "0"}
REASON = {"reason": "For a test.", "seen_version": "1"}


@pytest.fixture
def door(make_draft: Callable[..., Any], ada: Any, mia: Any, shop: Any) -> Callable[[str], Any]:
    """What to send for an act: a request that the act's own role gets through with."""
    draft = make_draft()
    incident, agent = draft.investigation.incident, draft.investigation.agent
    write = WriteRequest.objects.create(
        target=shop, title="t", statement="s", verb="update", table="shop.jobs", parameters=[],
        reason="r", proposed_by_agent=agent, expires_at=timezone.now() + timedelta(hours=1), proposal_digest="0" * 64,
        status="waiting",
    )  # fmt: skip
    running = Investigation.objects.create(
        incident=make_draft().investigation.incident, agent=agent, briefing={}, budget_calls=1,
        deadline_at=timezone.now() + timedelta(hours=1),
    )  # fmt: skip
    change = changes.draft(mia, act="role", role="viewer", by=ada, reason="For a test.")
    token = AgentToken.objects.get(agent=agent)
    decision = {"decision": "reject", "proposal_digest": write.proposal_digest, **REASON}
    entry = log.record(Kind.COMMENT_ADDED, ada.actor(), args={"text": "Hm."})
    now = timezone.now()
    alert = AgentAlert.objects.create(
        agent=agent.name, what=What.BUDGET, about="", sentence="It is spent.", opened_at=now, true_at=now
    )
    doors: dict[str, Callable[[Client], Any]] = {
        "audit.view": lambda client: client.get("/audit/"),
        "audit.export": lambda client: client.post("/audit/export/?tool=none", {"format": "jsonl"}),
        "audit.verify": lambda client: client.post("/audit/verifications/"),
        "audit.hold": lambda client: client.post("/audit/holds/", {"what": "2026-01", "reason": "For a test."}),
        "audit.redact": lambda client: client.get(f"/audit/{entry.seq}/redaction/"),
        "audit.override": lambda client: client.post("/audit/alarm/", {"reason": "For a test."}),
        "gate.review_draft": lambda client: client.post(f"/drafts/{draft.pk}/claim/"),
        "gate.send_answer": lambda client: client.post(f"/drafts/{draft.pk}/sending/", LETTER),
        "gate.open_incident": lambda client: client.get("/incidents/new/"),
        "gate.close_incident": lambda client: client.post(f"/incidents/{incident.pk}/closing/", REASON),
        "gate.discuss_incident": lambda client: client.post(f"/incidents/{incident.pk}/comments/", {"text": "Hm."}),
        "gate.stop_investigation": lambda client: client.post(
            f"/incidents/{running.incident_id}/investigations/{running.pk}/stop/", REASON
        ),
        "gate.upload_trace": lambda client: client.get(
            f"/incidents/{running.incident_id}/investigations/{running.pk}/traces/"
        ),
        "gate.promote_case": lambda client: client.get(f"/incidents/{incident.pk}/case/"),
        "gate.replay_cases": lambda client: client.post("/rules/replay/"),
        "gate.propose_write": lambda client: client.post(
            "/writes/new/", {"target": "shop", "title": "t", "statement": "x", "reason": "r"}
        ),
        "gate.preview_write": lambda client: client.post(f"/writes/{write.pk}/preview/"),
        "gate.decide_write": lambda client: client.post(f"/writes/{write.pk}/decision/", decision),
        "gate.discuss_write": lambda client: client.post(f"/writes/{write.pk}/comments/", {"text": "Hm."}),
        "gate.view_canaries": lambda client: client.get("/writes/canaries/"),
        "gate.label_answers": lambda client: client.post("/policies/none/decisions/1/labels/"),
        "gate.lift_pause": lambda client: client.post("/writes/canaries/1/lifting/", REASON),
        "gate.change_definition": lambda client: client.get("/sources/new/"),
        "evidence.acknowledge_alert": lambda client: client.post(
            f"/agents/alerts/{alert.pk}/acknowledgment/", {"reason": "For a test."}
        ),
        "audit.change_agents": lambda client: client.post(f"/agents/tokens/{token.pk}/revocation/"),
        "people.view": lambda client: client.get("/people/"),
        "people.change": lambda client: client.post(f"/people/changes/{change.pk}/withdrawal/"),
        "people.try_mail": lambda client: client.get("/mail/"),
    }
    return doors.__getitem__


def is_kept_out(answer: Any) -> bool:
    return answer.status_code == 403 or (answer.status_code in (409, 422) and "Your role" in answer.content.decode())


@pytest.fixture
def shop(define: Any) -> Any:
    """A target to propose a write to."""
    return define("target", "shop", body(approvers={"on_call": 1, "admin": 1}))


@pytest.mark.parametrize("role", Person.Role.values)
@pytest.mark.parametrize("act", permissions.MATRIX)
def test_an_act_is_open_to_its_roles_alone(
    client: Client, make_person: Any, shop: Any, door: Any, act: str, role: str
) -> None:
    client.force_login(make_person("somebody", role))
    assert is_kept_out(door(act)(client)) is (role not in permissions.MATRIX[act])


@pytest.mark.parametrize("role", sorted(set(Person.Role.values) - permissions.MATRIX["people.change"]))
def test_who_changes_no_people_finds_each_door_closed(
    client: Client, make_person: Any, ada: Any, mia: Any, role: str
) -> None:
    change = changes.draft(mia, act="deactivate", by=ada, reason="She left.")
    client.force_login(make_person("somebody", role))
    attempts = {
        "/people/invitation/": {"username": "x", "full_name": "X", "role": "admin"},
        f"/people/{mia.pk}/changes/": {"act": "role", "role": "admin", "reason": "x"},
        f"/people/changes/{change.pk}/confirmation/": {},
        f"/people/changes/{change.pk}/withdrawal/": {},
    }
    assert {client.post(path, typed).status_code for path, typed in attempts.items()} == {403}
    change.refresh_from_db()
    assert (change.status, Change.objects.count(), Person.objects.count()) == ("waiting", 1, 3)
    page = client.get(f"/people/{mia.pk}/").content.decode()
    assert "Confirm:" not in page
    assert "Withdraw" not in page


def test_the_pages_from_draft_to_confirmation(ada: Any, ben: Any, mia: Any, sign_in: Any) -> None:
    ours, theirs = sign_in(ada), sign_in(ben)
    typed = {"act": "role", "role": "admin", "reason": "She leads the team now."}
    assert ours.post(f"/people/{mia.pk}/changes/", {**typed, "reason": ""}).status_code == 422
    assert ours.post(f"/people/{mia.pk}/changes/", typed)["Location"] == f"/people/{mia.pk}/"
    assert ours.post(f"/people/{mia.pk}/changes/", typed).status_code == 409
    assert "so another admin must confirm it" in ours.get(f"/people/{mia.pk}/").content.decode()
    assert "A change of Mia Lindqvist waits" in theirs.get("/people/").content.decode()
    assert "Confirm: change of role to admin" in theirs.get(f"/people/{mia.pk}/").content.decode()
    change = Change.objects.get()
    assert ours.post(f"/people/changes/{change.pk}/confirmation/").status_code == 409
    assert theirs.post(f"/people/changes/{change.pk}/confirmation/").status_code == 302
    assert theirs.post(f"/people/changes/{change.pk}/confirmation/").status_code == 409
    mia.refresh_from_db()
    assert mia.role == "admin"


def test_solo_is_said_before_and_shown_after(ada: Any, mia: Any, sign_in: Any) -> None:
    ours = sign_in(ada)
    ours.post(f"/people/{mia.pk}/changes/", {"act": "role", "role": "auditor", "reason": "She audits now."})
    assert "this is recorded as solo" in ours.get(f"/people/{mia.pk}/").content.decode()
    ours.post(f"/people/changes/{Change.objects.get().pk}/confirmation/")
    assert "solo</span>" in ours.get(f"/people/{mia.pk}/").content.decode()


def test_the_list_shows_role_state_and_sessions(ada: Any, mia: Any, make_person: Any, sign_in: Any) -> None:
    Person.objects.filter(pk=make_person("leaver").pk).update(is_active=False)
    sign_in(mia)
    page = sign_in(mia).get("/people/").content.decode()
    for words in ("Mia Lindqvist", "on-call", "deactivated", '<td class="num">2</td>', '<td class="num">0</td>'):
        assert words in page
    assert Visit.objects.count() == 2


def test_the_matrix_page_says_what_the_matrix_says(mia: Any, sign_in: Any) -> None:
    page = sign_in(mia).get("/people/roles/").content.decode()
    assert all(words in page for words in permissions.WORDS.values())
    assert page.count(">may</span>") == sum(len(roles) for roles in permissions.MATRIX.values())
