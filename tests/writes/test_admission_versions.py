"""Which policy judges a write: the one its target names, in the version that is in force when a person acts."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit import reading
from audit.models import Entry
from gate.writes import actions, admission, execution, preview
from tests.writes.admissions import WIDE, admitted, allowing, blocking, checks, newest
from tests.writes.admissions import aim as aim
from tests.writes.admissions import enforced as enforced
from tests.writes.admissions import offer as offer
from tests.writes.admissions import source as source
from tests.writes.conftest import BODY, POLICY
from tests.writes.test_screens import page, plain

pytestmark = pytest.mark.django_db


def test_an_allow_is_an_ask(aim: Any, offer: Any, define: Any) -> None:
    aim()
    define("policy", "sql-writes", allowing())
    write = admitted(offer())
    entry = Entry.objects.filter(subject=write.ref, kind="write.admitted").latest("seq")
    result = reading.payload_of(entry.pk).result
    assert (write.status, newest(write).verdict) == ("waiting", "ask")
    assert (result["verdict"], result["rule"], result["is_clamped"]) == ("ask", "production_is_asked", True)


def test_a_version_that_came_since_judges_it_anew(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, enforced: Any
) -> None:
    aim()
    bare, seen = admitted(offer()), admitted(offer(WIDE + " and job_id = 9"))
    preview.make(actions.ask_preview(seen, mia).pk)
    define("policy", "sql-writes", blocking())
    checks(bare).delete(), checks(seen).delete()
    for write, act in ((bare, lambda: actions.ask_preview(bare, mia)), (seen, lambda: approve(seen))):
        with pytest.raises(admission.Outdated, match="Version 2 of the policy sql-writes came in force"):
            act()
        write.refresh_from_db()
        assert (write.status, checks(write).filter(done_at=None).count()) == ("proposed", 1)
        assert (admitted(write).status, newest(write).rule) == ("blocked", "production_is_asked")


def test_the_page_of_one_that_another_version_is_for_offers_to_check_it(
    aim: Any, offer: Any, define: Any, mia: Any, enforced: Any, client: Client
) -> None:
    aim()
    write = admitted(offer())
    define("policy", "sql-writes", blocking())
    client.force_login(mia)
    shown = page(client, write)
    assert f"came in force after {write.ref} was checked, so it is checked anew first." in plain(shown)
    assert ("Check it anew" in shown, "Approve:" in shown) == (True, False)
    assert client.post(f"/writes/{write.pk}/preview/").status_code == 302
    shown = plain(page(client, write))
    assert ("Being checked" in shown, "Check it anew" in shown) == (True, False)


def test_a_version_that_lets_it_wait_changes_nothing_of_what_was_approved(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, make_person: Any, enforced: Any, job: Any
) -> None:
    define("target", "shop", {**BODY, "policy": {**POLICY, "approvers": {"on_call": 2}}})
    write = admitted(offer())
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    define("policy", "sql-writes", {**allowing(), "title": "Writes"})
    other = make_person("nils", "on_call")
    with pytest.raises(admission.Outdated):
        approve(write, by=other)
    approve(admitted(write), by=other)
    execution.execute(write.pk)
    write.refresh_from_db()
    assert (write.status, job(7)) == ("executed", "queued")


def test_a_policy_that_came_after_the_approval_still_stops_it(
    aim: Any, offer: Any, define: Any, mia: Any, approve: Any, enforced: Any, job: Any
) -> None:
    aim()
    write = admitted(offer())
    preview.make(actions.ask_preview(write, mia).pk)
    approve(write)
    define("policy", "sql-writes", blocking())
    execution.execute(write.pk)
    write.refresh_from_db()
    said = Entry.objects.filter(subject=write.ref, kind="write.failed").latest("seq").error
    assert (write.status, job(7)) == ("failed", "running")
    assert "The rule production_is_asked of the policy that is in force now blocks" in said
