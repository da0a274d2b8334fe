"""An alarm stands until the whole log is verified clean, or two admins override what they saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client

from audit import alarm, overriding
from audit.models import Entry, Override
from audit.refusing import NotAllowed
from tests import cited
from tests.cited import verified

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(make_person: Callable[..., Any]) -> Any:
    return make_person("ada", "admin", "Ada Okafor")


@pytest.fixture
def ben(make_person: Callable[..., Any]) -> Any:
    return make_person("ben", "admin", "Ben Ito")


def overridden(ada: Any, ben: Any) -> Override:
    stands = alarm.current()
    assert stands is not None
    asked = overriding.ask(by=ada, reason="A test entry, and known.", seen=stands.verification)
    return overriding.confirm(asked.pk, by=ben)


def test_nothing_stands_against_a_log_that_verifies(django_assert_num_queries: Any) -> None:
    verified()
    with django_assert_num_queries(1):
        assert alarm.current() is None
    assert alarm.why_off() == ""


def test_findings_stand_until_the_whole_log_is_clean() -> None:
    found = verified(("D1", "A-41007"), is_full=False)
    stands = alarm.current()
    assert stands is not None
    assert (stands.verification, stands.count, stands.entry) == (found.pk, 1, 41007)
    assert alarm.why_off().startswith("Entry A-41007 does not match its digest. Approving and running writes is off.")
    verified(is_full=False)
    assert alarm.current() is not None
    verified()
    assert alarm.current() is None


def test_a_finding_about_something_else_says_what() -> None:
    verified(("L2", "leaf 12"))
    stands = alarm.current()
    assert stands is not None
    assert stands.entry is None
    assert stands.headline == "Leaf 12: A leaf has no entry, and no retention accounts for it."


@pytest.mark.parametrize("state", ["tampered", "wrong_key"])
def test_a_sealer_that_stopped_over_the_tree_or_its_key_counts_as_well(state: str) -> None:
    cited.say(state, "The stored tree does not give the root that was signed.")
    assert alarm.why_off().startswith("The stored tree does not give the root that was signed. Approving")
    cited.say("held")
    assert alarm.current() is None


def test_two_admins_override_what_they_saw(ada: Any, ben: Any) -> None:
    verified(("D1", "A-5"), ("D1", "A-6"))
    overridden(ada, ben)
    stands = alarm.current()
    assert stands is not None
    assert not stands.is_off
    assert alarm.why_off() == ""
    assert stands.override is not None
    assert stands.override.words == "Ada Okafor and Ben Ito"
    verified(("D1", "A-6"), is_full=False)
    assert alarm.why_off() == "", "what was found again is what they saw"
    verified(("D2", "A-6"))
    assert alarm.why_off(), "and this is something else"


def test_what_was_found_in_between_is_not_covered_by_a_later_smaller_one(ada: Any, ben: Any) -> None:
    verified(("D1", "A-5"))
    overridden(ada, ben)
    verified(("D1", "A-5"), ("D1", "A-9"))
    verified(("D1", "A-5"), is_full=False)
    assert alarm.why_off()


def test_an_override_ends_with_a_clean_verification(ada: Any, ben: Any) -> None:
    verified(("D1", "A-5"))
    overridden(ada, ben)
    verified()
    verified(("D1", "A-5"))
    assert alarm.why_off()


def test_a_verification_with_more_findings_than_it_keeps_is_not_covered(ada: Any, ben: Any) -> None:
    verified(("D1", "A-5"))
    overridden(ada, ben)
    more = verified(("D1", "A-5"))
    more.pk, more.finding_count = None, 101
    more.save(force_insert=True)
    assert alarm.why_off()


def test_an_override_of_the_sealers_state_lasts_while_nothing_is_sealed(ada: Any, ben: Any) -> None:
    cited.say("tampered", "The tree is wrong.")
    overridden(ada, ben)
    assert alarm.why_off() == ""
    cited.say("wrong_key", "The key is wrong.")
    assert alarm.why_off()
    cited.say("tampered", "The tree is wrong.")
    verified(("D1", "A-5"))
    assert alarm.why_off(), "it covers no verification"


def test_nobody_confirms_their_own_while_there_is_another_admin(ada: Any, ben: Any) -> None:
    verified(("D1", "A-5"))
    asked = overriding.ask(by=ada, reason="It is known.", seen=alarm.current().verification)
    with pytest.raises(NotAllowed, match="another admin must confirm"):
        overriding.confirm(asked.pk, by=ada)
    ben.is_active = False
    ben.save()
    assert overriding.confirm(asked.pk, by=ada).solo
    assert alarm.current().override.words == "Ada Okafor, alone"


def test_a_request_that_is_not_as_the_log_says_is_not_confirmed(ada: Any, ben: Any) -> None:
    """Whoever can write into the database could ask in another's name, and be the second hand to it."""
    verified(("D1", "A-5"))
    Override.objects.create(verification=1, reason="r", asked_by=ada, asked_by_name="Ada Okafor")
    with pytest.raises(NotAllowed, match="does not say that this was asked for as it stands here"):
        overriding.confirm(overriding.waiting().pk, by=ben)
    overriding.withdraw(overriding.waiting().pk, by=ben)
    asked = overriding.ask(by=ada, reason="It is known.", seen=alarm.current().verification)
    Override.objects.filter(pk=asked.pk).update(asked_by=ben)
    with pytest.raises(NotAllowed, match="does not say that this was asked for as it stands here"):
        overriding.confirm(asked.pk, by=ada)


def test_only_admins_ask_and_only_about_what_they_saw(ada: Any, ben: Any, make_person: Any) -> None:
    found = verified(("D1", "A-5"))
    with pytest.raises(NotAllowed, match="ask an admin"):
        overriding.ask(by=make_person("mia"), reason="It is known.", seen=found.pk)
    verified(("D1", "A-5"))
    with pytest.raises(NotAllowed, match="since; look at that first"):
        overriding.ask(by=ada, reason="It is known.", seen=found.pk)
    asked = overriding.ask(by=ada, reason="It is known.", seen=alarm.current().verification)
    verified(("G1", "A-8"))
    with pytest.raises(NotAllowed, match="ask anew"):
        overriding.confirm(asked.pk, by=ben)
    overriding.withdraw(asked.pk, by=ben)
    verified()
    with pytest.raises(NotAllowed, match="nothing to override"):
        overriding.ask(by=ada, reason="It is known.", seen=None)


def test_each_step_and_each_refusal_is_an_entry(ada: Any, ben: Any) -> None:
    newest = Entry.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    verified(("D1", "A-5"))
    asked = overriding.ask(by=ada, reason="It is known.", seen=alarm.current().verification)
    with pytest.raises(NotAllowed):
        overriding.confirm(asked.pk, by=ada)
    overriding.confirm(asked.pk, by=ben)
    found = Entry.objects.filter(kind="log.overridden", seq__gt=newest).order_by("seq").values_list("status", flat=True)
    assert list(found) == ["asked", "refused", "ok"]


def test_the_database_takes_no_override_that_nobody_asked_for(ada: Any, ben: Any) -> None:
    about = {"reason": "r", "asked_by": ada, "asked_by_name": "Ada"}
    with pytest.raises(DatabaseError), transaction.atomic():
        Override.objects.create(**about, status="confirmed", decided_by=ben)
    waiting = Override.objects.create(**about)
    with pytest.raises(DatabaseError), transaction.atomic():
        Override.objects.filter(pk=waiting.pk).update(status="confirmed", decided_by=ada)
    Override.objects.filter(pk=waiting.pk).update(status="withdrawn", decided_by=ben)
    with pytest.raises(DatabaseError), transaction.atomic():
        Override.objects.filter(pk=waiting.pk).update(status="confirmed")
    with pytest.raises(DatabaseError), transaction.atomic():
        Override.objects.filter(pk=waiting.pk).delete()


def test_the_red_bar_is_on_every_page_and_comes_with_the_strip(client: Client, make_person: Any) -> None:
    client.force_login(make_person("vera", "viewer"))
    assert b'id="redbar" hidden' in client.get("/inbox/").content
    verified(("D1", "A-41007"))
    for page in ("/inbox/", "/writes/", "/audit/", "/me/", "/audit/alarm/"):
        shown = client.get(page).content.decode()
        assert 'class="redbar"' in shown
        assert "Entry A-41007 does not match its digest. Approving and" in shown
        assert 'href="/audit/41007/"' in shown
        assert 'href="/audit/alarm/"' in shown
        assert "Log does not verify" in shown
    strip = client.get("/audit/seal/").content.decode()
    assert "Log does not verify" in strip
    assert 'hx-swap-oob="true"' in strip
    assert "Approving and running" in strip
    verified()
    assert 'id="redbar" hidden hx-swap-oob="true"' in client.get("/audit/seal/").content.decode()


def test_admins_override_on_the_page_and_the_bar_says_who(client: Client, ada: Any, ben: Any) -> None:
    found = verified(("D1", "A-41007"), ("L2", "leaf 12"))
    client.force_login(ada)
    assert b"Let approving go on all the same" in client.get("/audit/alarm/").content
    assert client.post("/audit/alarm/", {"reason": " ", "seen": found.pk}).status_code == 422
    assert client.post("/audit/alarm/", {"reason": "It is known.", "seen": found.pk + 1}).status_code == 409
    assert client.post("/audit/alarm/", {"reason": "It is known.", "seen": found.pk}).status_code == 302
    asked = Override.objects.get(status="waiting")
    assert client.post(f"/audit/overrides/{asked.pk}/confirmation/").status_code == 409
    client.force_login(ben)
    assert b"Confirm: approving goes on" in client.get("/audit/alarm/").content
    assert client.post(f"/audit/overrides/{asked.pk}/confirmation/").status_code == 302
    shown = client.get("/audit/alarm/").content.decode()
    assert "Approving goes on: Ada Okafor and Ben Ito overrode this." in shown
    assert "Log does not verify" in shown


def test_a_verification_has_a_page_of_what_it_found(client: Client, ada: Any) -> None:
    found = verified(("D1", "A-41007"), ("L2", "<leaf 12>"))
    client.force_login(ada)
    shown = client.get(f"/audit/verifications/{found.pk}/").content.decode()
    assert 'href="/audit/41007/"' in shown
    assert "&lt;leaf 12&gt;" in shown
    assert "2 findings" in shown
    assert "nothing amiss" in client.get(f"/audit/verifications/{verified().pk}/").content.decode()
