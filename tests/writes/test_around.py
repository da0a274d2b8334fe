"""The write's page around what is decided: comments, editions, expiry, what an agent is told; and the queue."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client

from audit.models import Entry
from gate.writes import actions, commenting, desk, editing, preview
from gate.writes.models import WriteComment
from tests import diffs
from tests.writes.conftest import body

pytestmark = pytest.mark.django_db


@pytest.fixture
def sign_in(client: Client) -> Any:
    def to(person: Any) -> Client:
        client.force_login(person)
        return client

    return to


def words(answer: Any) -> str:
    """The words of a page's body."""
    text = answer.content.decode().split("<main")[1]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def test_a_comment_is_shown_recorded_and_decides_nothing(previewed: Any, sign_in: Any, mia: Any) -> None:
    write = previewed()
    at = f"/writes/{write.pk}/comments/"
    assert sign_in(mia).post(at, {"text": ""}).status_code == 422
    assert sign_in(mia).post(at, {"text": "Is <b>worker-7</b> gone?"}).status_code == 302
    page = sign_in(mia).get(f"/writes/{write.pk}/").content.decode()
    assert "Is &lt;b&gt;worker-7&lt;/b&gt; gone?" in page
    assert Entry.objects.filter(subject=write.ref, kind="comment.added", actor="Mia Lindqvist").exists()
    before = (write.status, write.version)
    write.refresh_from_db()
    assert (write.status, write.version) == before


def test_who_only_looks_comments_nothing(previewed: Any, sign_in: Any, make_person: Any) -> None:
    write = previewed()
    vera = make_person("vera", "viewer")
    answer = sign_in(vera).post(f"/writes/{write.pk}/comments/", {"text": "Kept words."})
    assert (answer.status_code, WriteComment.objects.count()) == (409, 0)
    assert 'name="text"' not in sign_in(vera).get(f"/writes/{write.pk}/").content.decode()


def test_editions_are_shown_as_differences(propose: Any, sign_in: Any, mia: Any) -> None:
    write = propose(by_person=mia)
    changed: dict[str, Any] = {"title": "Requeue job 8", "reason": "worker-7 died", "by_person": mia}
    given = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, {"t": "text", "v": "running\u202e"[:7]}]
    editing.edit(write, seen_version=write.version, statement=write.statement, parameters=given, **changed)
    answer = sign_in(mia).get(f"/writes/{write.pk}/")
    assert "edition 2 stands; nothing approved of an earlier one counts" in words(answer)
    read = diffs.lines(answer.content.decode())
    assert {"-$2 bigint '7'", "+$2 bigint '8'", "-title: Requeue job 7", "+title: Requeue job 8"} <= set(read)


def test_parts_of_a_quorum_and_who_may_not_approve_are_said(
    define: Any, previewed: Any, approve: Any, sign_in: Any, mia: Any, make_person: Any, agent: Any
) -> None:
    from gate.people.models import Person

    define("target", "shop", body(approvers={"on_call": 2}))
    write = previewed()
    approve(write, reason="A reason of hers.")
    noa = words(sign_in(make_person("noa", "on_call")).get(f"/writes/{write.pk}/"))
    assert "1 of 2 approved" in noa
    assert "A reason of hers." not in noa.split("History")[0]
    assert re.search(r"Expires In 3 h 5\d min", noa)
    assert "2 on-call, with a passkey or a fresh password" in noa
    jonas = words(sign_in(Person.objects.get(pk=agent.owner_id)).get(f"/writes/{write.pk}/"))
    assert "You own triage-agent, which proposed this write" in jonas
    assert "Approve: update" not in jonas


def test_the_queue_says_first_what_asks_for_me(
    define: Any, previewed: Any, propose: Any, approve: Any, sign_in: Any, mia: Any, make_person: Any, agent: Any
) -> None:
    from gate.people.models import Person

    define("target", "shop", body(approvers={"on_call": 2}))
    write = previewed(title="Half approved")
    approve(write)
    propose(by_person=mia, title="Proposed by Mia")
    noa, vera = make_person("noa", "on_call"), make_person("vera", "viewer")
    for person, expected in (
        (noa, "Asks for your approval 2 "), (mia, "Proposed by you 1 "), (vera, "Waits for others 2 "),
    ):  # fmt: skip
        page = words(sign_in(person).get("/writes/"))
        assert expected in page
        assert "1 of 2 approved" in page
        assert "expires in 3 h" in page
    assert "Asks for your approval" not in words(sign_in(mia).get("/writes/")).split("Proposed by Mia")[0]
    jonas = Person.objects.get(pk=agent.owner_id)
    mine = words(sign_in(jonas).get("/writes/"))
    assert "Half approved" in mine.split("Waits for others")[1]


def test_what_came_back_is_said_to_its_proposer_who_may_withdraw_it(
    previewed: Any, approve: Any, sign_in: Any, mia: Any, make_person: Any
) -> None:
    noa = make_person("noa", "on_call")
    write = previewed(by_person=noa)
    approve(write, act="request_changes", password="", reason="Name the attempt.")
    assert "Came back to you 1" in words(sign_in(noa).get("/writes/"))
    page = sign_in(noa).get(f"/writes/{write.pk}/").content.decode()
    assert "Name the attempt." in page
    assert (f'href="/writes/{write.pk}/edit/"' in page, 'value="withdraw"' in page) == (True, True)


def test_an_agent_is_told_state_reason_and_what_is_missing(
    define: Any, propose: Any, approve: Any, mia: Any, agent: Any, make_person: Any
) -> None:
    define("target", "shop", body(approvers={"on_call": 2, "admin": 1}))
    write = propose()

    def told() -> tuple[Any, ...]:
        answer = desk.status(agent, {"write": write.ref})
        return answer["status"], answer["edition"], answer["reason"], answer["needs"]

    missing = "approval by 1 admin and 2 on-call"
    assert told() == ("waiting", 1, "", ["a preview, which a person asks for", missing])
    preview.make(actions.ask_preview(write, mia).pk)
    assert told() == ("waiting", 1, "", [missing])
    approve(write, reason="Nobody else reads this yet.")
    assert told() == ("waiting", 1, "", ["approval by 1 admin and 1 on-call"])
    mia.role = "viewer"
    mia.save()
    assert told() == ("waiting", 1, "", [missing])
    noa = make_person("noa", "on_call")
    approve(write, by=noa, act="request_changes", password="", reason="Name the attempt.")
    assert told() == ("changes_requested", 1, "Name the attempt.", ["an edit by its proposer"])


@pytest.mark.django_db(transaction=True)
def test_the_agents_role_reads_just_enough_to_tell(
    define: Any, previewed: Any, approve: Any, mia: Any, agent: Any, as_role: Any
) -> None:
    define("target", "shop", body(approvers={"on_call": 2}))
    write = previewed()
    approve(write)
    as_role("agents")
    assert desk.status(agent, {"write": write.ref})["needs"] == ["approval by 1 on-call"]


def test_the_roles_page_and_guard_agree_on_comments(make_person: Any) -> None:
    allowed = {role for role in ("viewer", "on_call", "admin", "auditor") if _may(make_person(f"p-{role}", role))}
    assert allowed == {"on_call", "admin"}


def _may(person: Any) -> bool:
    from gate.errors import NotAllowed

    try:
        commenting.check_can_comment(person)
    except NotAllowed:
        return False
    return True
