"""Passkeys: enrolled for the password, confirmed by a second hand, the second step of a sign-in, revoked."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from gate.errors import NotAllowed
from gate.people import guessing, key_challenges, keys, letters
from gate.people.models import Key, KeyChallenge
from tests.people.conftest import PASSWORD
from tests.software_key import ES256, PRESENT, SoftwareKey

pytestmark = pytest.mark.django_db
SESSION = "a session"


def waits(person: Any, key: SoftwareKey, name: str = "desk") -> Key:
    """A key that was enrolled and counts for nothing yet."""
    return keys.enroll(person, key.make(keys.begin(person, name, SESSION)), SESSION)


def counts(person: Any, key: SoftwareKey, admin: Any, name: str = "desk") -> Key:
    """A key that an admin has confirmed."""
    return keys.confirm(waits(person, key, name).pk, by=admin)


@pytest.mark.parametrize("algorithm", [ES256, -8])
def test_a_new_key_waits_and_counts_once_an_admin_confirms_it(mia: Any, ada: Any, algorithm: int) -> None:
    made = waits(mia, SoftwareKey(algorithm))
    assert (made.status, list(keys.live(mia))) == ("waiting", [])
    keys.confirm(made.pk, by=ada)
    assert list(keys.live(mia)) == [made]
    made.refresh_from_db()
    assert (made.decided_by, made.solo, made.confirmed_with) == (ada, False, None)
    assert timedelta(hours=23) < made.quarantined_until - timezone.now() <= timedelta(hours=24)
    entries = Entry.objects.filter(kind="key.enrolled", subject="person mia").order_by("-seq")
    assert [(one.actor, one.status) for one in entries[:2]] == [("Ada Okafor", "ok"), ("Mia Lindqvist", "waits")]


def test_an_own_key_confirms_a_new_one_over_its_fingerprint(mia: Any, ada: Any) -> None:
    old = SoftwareKey()
    first, second = counts(mia, old, ada), waits(mia, SoftwareKey(), "phone")
    options = keys.options_to_confirm(second, SESSION)
    keys.confirm_with_key(second, old.sign(options), SESSION)
    second.refresh_from_db()
    assert (second.is_live, second.confirmed_with, second.decided_by) == (True, first, mia)


def test_a_new_key_cannot_confirm_itself(mia: Any, ada: Any) -> None:
    counts(mia, SoftwareKey(), ada)
    new = SoftwareKey()
    made = waits(mia, new, "phone")
    options = keys.options_to_confirm(made, SESSION)
    assert made.credential_id not in json.dumps(options)
    with pytest.raises(NotAllowed, match="no key of yours that counts"):
        keys.confirm_with_key(made, new.sign(options), SESSION)
    assert not Key.objects.get(pk=made.pk).is_live


def test_a_signature_for_one_new_key_confirms_no_other(mia: Any, ada: Any) -> None:
    old = SoftwareKey()
    counts(mia, old, ada)
    asked, slipped_in = waits(mia, SoftwareKey(), "phone"), waits(mia, SoftwareKey(), "another")
    answer = old.sign(keys.options_to_confirm(asked, SESSION))
    with pytest.raises(NotAllowed, match="begin again"):
        keys.confirm_with_key(slipped_in, answer, SESSION)


@pytest.mark.parametrize("who", ["mia", "viewer"])
def test_only_an_admin_is_the_second_hand(mia: Any, ada: Any, make_person: Any, who: str) -> None:
    made = waits(mia, SoftwareKey())
    by = mia if who == "mia" else make_person("vic", "viewer")
    with pytest.raises(NotAllowed, match="Your role confirms no keys"):
        keys.confirm(made.pk, by=by)


def test_an_admin_confirms_the_own_key_only_while_alone(ada: Any, make_person: Any) -> None:
    made = keys.confirm(waits(ada, SoftwareKey()).pk, by=ada)
    assert made.solo
    make_person("ben", "admin")
    with pytest.raises(NotAllowed, match="another admin"):
        keys.confirm(waits(ada, SoftwareKey(), "second").pk, by=ada)


def test_one_authenticator_serves_one_person(mia: Any, ada: Any) -> None:
    key = SoftwareKey()
    counts(mia, key, ada)
    options = keys.begin(ada, "the same", SESSION)
    assert [one["id"] for one in options["excludeCredentials"]] == [Key.objects.get().credential_id]
    with pytest.raises(NotAllowed, match="One key serves one person"):
        keys.enroll(ada, key.make(options), SESSION)
    other_name = SoftwareKey()
    other_name.private = key.private  # the same key pair under another id
    with pytest.raises(NotAllowed, match="One key serves one person"):
        keys.enroll(ada, other_name.make(keys.begin(ada, "the same", SESSION)), SESSION)


CHANGED: dict[str, dict[str, Any]] = {
    "another origin": {"origin": "https://evil.example.org"}, "another party": {"rp_id": "evil.example.org"},
    "nobody verified": {"flags": PRESENT}, "a frame": {"also": {"crossOrigin": True}},
    "a page around it": {"also": {"topOrigin": "https://evil.example.org"}},
}  # fmt: skip


@pytest.mark.parametrize("what", CHANGED)
def test_what_no_key_of_ours_says_enrolls_nothing_and_signs_nothing(mia: Any, ada: Any, what: str) -> None:
    with pytest.raises(NotAllowed):
        waits(mia, SoftwareKey(**CHANGED[what]))
    assert not Key.objects.exists()
    key = SoftwareKey()
    counts(mia, key, ada)
    for name, value in CHANGED[what].items():
        setattr(key, name, value)
    with pytest.raises(NotAllowed):
        keys.sign_in(mia, key.sign(keys.options_to_sign_in(mia, SESSION)), SESSION)


def test_a_key_of_another_algorithm_is_not_taken(mia: Any) -> None:
    options = keys.begin(mia, "old", SESSION)
    assert [one["alg"] for one in options["pubKeyCredParams"]] == [-8, -7]
    assert options["attestation"] == "none"
    assert options["authenticatorSelection"]["userVerification"] == "required"


@pytest.mark.parametrize("session", ["another session", ""])
def test_a_challenge_is_for_its_session_and_for_once(mia: Any, session: str) -> None:
    sent = SoftwareKey().make(keys.begin(mia, "desk", SESSION))
    with pytest.raises(NotAllowed, match="begin again"):
        keys.enroll(mia, sent, session)
    keys.enroll(mia, sent, SESSION)
    with pytest.raises(NotAllowed, match="begin again"):
        keys.enroll(mia, sent, SESSION)


def test_a_challenge_lasts_five_minutes(mia: Any) -> None:
    sent = SoftwareKey().make(keys.begin(mia, "desk", SESSION))
    KeyChallenge.objects.update(expires_at=timezone.now())
    with pytest.raises(NotAllowed, match="longer than five minutes"):
        keys.enroll(mia, sent, SESSION)
    assert timedelta(minutes=5) == key_challenges.LASTS


def test_a_counter_that_goes_back_is_a_copied_key(mia: Any, ada: Any) -> None:
    key = SoftwareKey()
    counts(mia, key, ada)
    key.count = 7
    keys.sign_in(mia, key.sign(keys.options_to_sign_in(mia, SESSION)), SESSION)
    assert Key.objects.get().sign_count == 8
    key.count = 3
    with pytest.raises(NotAllowed, match="sign count"):
        keys.sign_in(mia, key.sign(keys.options_to_sign_in(mia, SESSION)), SESSION)


def test_tries_with_a_key_run_out_as_those_of_a_password_do(mia: Any, ada: Any) -> None:
    counts(mia, SoftwareKey(), ada)
    stranger = SoftwareKey()
    for _ in range(guessing.TRIES):
        with pytest.raises(NotAllowed, match="no key of yours"):
            keys.sign_in(mia, stranger.sign(keys.options_to_sign_in(mia, SESSION)), SESSION)
    with pytest.raises(NotAllowed, match="Too many tries with a passkey"):
        keys.sign_in(mia, stranger.sign(keys.options_to_sign_in(mia, SESSION)), SESSION)


def test_a_revoked_key_signs_nothing_and_stays_taken(mia: Any, ada: Any, make_person: Any) -> None:
    key = SoftwareKey()
    made = counts(mia, key, ada)
    with pytest.raises(NotAllowed, match="revoked by an admin"):
        keys.revoke(made.pk, by=make_person("vic", "viewer"))
    keys.revoke(made.pk, by=mia)
    assert not keys.live(mia).exists()
    assert Entry.objects.filter(kind="key.revoked", subject="person mia").latest("seq").actor == "Mia Lindqvist"
    with pytest.raises(NotAllowed, match="already"):
        keys.revoke(made.pk, by=mia)
    with pytest.raises(NotAllowed, match="One key serves one person"):
        waits(ada, key)


def test_an_operator_revokes_the_keys_of_somebody_who_lost_them(mia: Any, ada: Any) -> None:
    counts(mia, SoftwareKey(), ada)
    out = StringIO()
    call_command("revoke_keys", "mia", stdout=out)
    assert "Revoked 1 keys of mia" in out.getvalue()
    assert not keys.live(mia).exists()


# The pages


def test_whoever_has_a_key_signs_in_with_password_and_key(mia: Any, ada: Any, client: Client) -> None:
    key = SoftwareKey()
    counts(mia, key, ada)
    answer = client.post("/sign-in/", {"username": "mia", "password": PASSWORD, "next": "/writes/"})
    assert answer["Location"] == "/sign-in/passkey/"
    assert client.get("/inbox/").status_code == 302  # nobody is signed in yet
    options = client.post("/sign-in/passkey/options/").json()["publicKey"]
    assert [one["id"] for one in options["allowCredentials"]] == [Key.objects.get().credential_id]
    answer = client.post("/sign-in/passkey/", {"assertion": key.sign(options)})
    assert answer["Location"] == "/writes/"
    assert client.get("/inbox/").status_code == 200
    entry = Entry.objects.filter(kind="person.signed_in", subject="mia").latest("seq")
    assert entry.summary == "with a password and the passkey “desk”"


def test_the_second_step_without_the_first_leads_to_the_first(client: Client) -> None:
    assert client.get("/sign-in/passkey/")["Location"] == "/sign-in/"
    assert client.post("/sign-in/passkey/options/").status_code == 409


def test_a_new_password_ends_a_sign_in_that_waits_for_its_second_step(mia: Any, ada: Any, client: Client) -> None:
    key = SoftwareKey()
    counts(mia, key, ada)
    client.post("/sign-in/", {"username": "mia", "password": PASSWORD})
    options = client.post("/sign-in/passkey/options/").json()["publicKey"]
    mia.set_password("tall ships leave early")
    mia.save()
    client.post("/sign-in/passkey/", {"assertion": key.sign(options)})
    assert client.get("/inbox/").status_code == 302


def test_a_wrong_key_is_refused_and_recorded(mia: Any, ada: Any, client: Client) -> None:
    counts(mia, SoftwareKey(), ada)
    client.post("/sign-in/", {"username": "mia", "password": PASSWORD})
    options = client.post("/sign-in/passkey/options/").json()["publicKey"]
    answer = client.post("/sign-in/passkey/", {"assertion": SoftwareKey().sign(options)})
    assert (answer.status_code, b"4 tries left" in answer.content) == (422, True)
    assert Entry.objects.filter(kind="person.refused", subject="mia").latest("seq").status == "refused"


def test_enrolling_on_the_page_asks_for_the_password(mia: Any, ada: Any, sign_in: Any, monkeypatch: Any) -> None:
    told: list[str] = []
    monkeypatch.setattr(letters.mail, "send", lambda *, to, subject, text: told.append(f"{to}: {text}"))
    mia.email = "mia@example.org"
    mia.save()
    browser = sign_in(mia)
    wrong = browser.post("/me/keys/options/", {"name": "desk", "own_password": "guess"})
    assert (wrong.status_code, "not your password" in wrong.json()["sentence"]) == (422, True)
    options = browser.post("/me/keys/options/", {"name": "desk", "own_password": PASSWORD}).json()["publicKey"]
    browser.post("/me/keys/enrollment/", {"assertion": SoftwareKey().make(options)})
    made = Key.objects.get()
    assert made.fingerprint in browser.get("/me/keys/").content.decode()
    admin = sign_in(ada)
    assert "A key of Mia Lindqvist waits" in admin.get("/people/").content.decode()
    answer = admin.post(f"/people/keys/{made.pk}/confirmation/")
    assert answer["Location"] == f"/people/{mia.pk}/"
    assert "Ada Okafor confirmed it" in told[0]
    assert told[0].startswith("mia@example.org")
    assert "not pinned by the writer" in browser.get("/me/keys/").content.decode()
    admin.post(f"/people/keys/{made.pk}/revocation/")
    assert not keys.live(mia).exists()


def test_nobody_confirms_or_revokes_somebody_elses_key_on_the_own_page(mia: Any, ada: Any, sign_in: Any) -> None:
    made = waits(mia, SoftwareKey())
    browser = sign_in(ada)
    for address in ("confirmation/options/", "confirmation/", "revocation/"):
        assert browser.post(f"/me/keys/{made.pk}/{address}").status_code == 404
    made.refresh_from_db()
    assert (made.status, made.revoked_at) == ("waiting", None)


def test_keys_work_in_our_own_pages_alone(mia: Any, sign_in: Any) -> None:
    answer = sign_in(mia).get("/me/keys/")
    assert answer["Permissions-Policy"].startswith("publickey-credentials-get=(self)")
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]
    assert answer["X-Frame-Options"] == "DENY"
