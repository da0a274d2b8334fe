"""Signing in through a provider, the whole way over HTTP, and what does not get in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from django.db import connection
from django.test import Client

import gate.people
from audit import reading
from audit.models import Entry
from gate.config import database, oidc
from gate.config.roles import role_name
from gate.people import actions, changes, guessing, identities
from gate.people.models import Identity, Person, Visit
from tests.people import sign_in_provider
from tests.people.sign_in_provider import Browser, Idp, query_of

pytestmark = pytest.mark.django_db(transaction=True)
SUBJECT = "sub-of-mia"


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, cluster_socket: Path, django_db_setup: None
) -> Iterator[tuple[Idp, str]]:
    """A provider, and the people's plane that knows it, as the people role."""
    name = connection.settings_dict["NAME"]
    url = database.socket_url(cluster_socket, role_name("people"), "test-people", name)
    with sign_in_provider.idp() as provider:
        with sign_in_provider.plane(tmp_path_factory.mktemp("var"), url, provider) as origin:
            yield provider, origin


@pytest.fixture(autouse=True)
def slow_passwords(settings: Any) -> None:
    """The plane knows the product's own hasher alone."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]


@pytest.fixture
def provider(running: tuple[Idp, str]) -> Idp:
    """The provider, behaving."""
    running[0].behave()
    return running[0]


@pytest.fixture
def browser(running: tuple[Idp, str], provider: Idp) -> Callable[[], Browser]:
    """A new browser."""
    return lambda: Browser(running[1])


@pytest.fixture
def connected(mia: Any, provider: Idp) -> Any:
    """Mia, who connected an identity of hers."""
    identities.connect(mia, provider.url, SUBJECT)
    return mia


def newest(kind: str, subject: str) -> Entry:
    return Entry.objects.filter(kind=kind, subject=subject).latest("seq")


def test_from_connecting_to_a_sign_in(mia: Any, provider: Idp, browser: Any) -> None:
    here = browser()
    here.sign_in("mia")
    assert f"Connect who you are at {provider.url[7:]}" in here.get("/me/").text
    assert here.connect(SUBJECT).headers["Location"] == "/me/"
    assert "From now on you can sign in with" in here.get("/me/").text
    entry = newest("person.changed", "person mia")
    assert (entry.actor, entry.summary) == ("Mia Lindqvist", f"connected an identity of {provider.url}")
    assert reading.payload_of(entry.pk).args == {"issuer": provider.url, "subject": SUBJECT}

    elsewhere = browser()
    assert f"Sign in with {provider.url[7:]}" in elsewhere.get("/sign-in/").text
    answer = elsewhere.there_and_back(SUBJECT, "/sign-in/provider/?next=/writes/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/writes/")
    assert "Mia Lindqvist" in elsewhere.get("/me/").text
    entry = newest("person.signed_in", "mia")
    assert (entry.actor, entry.principal, entry.summary) == ("Mia Lindqvist", "mia", f"through {provider.url}")
    assert Visit.objects.filter(person=mia).count() == 2


def test_what_is_asked_of_the_provider(running: tuple[Idp, str], provider: Idp, browser: Any) -> None:
    sent = browser().get("/sign-in/provider/").headers["Location"]
    asked = query_of(sent)
    assert (asked["scope"], asked["response_type"], asked["client_id"]) == ("openid", "code", "counterseal")
    assert asked["redirect_uri"] == f"{running[1]}/sign-in/provider/return/"
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["nonce"]) > 20
    assert len(asked["state"]) >= 16


def test_the_code_is_redeemed_with_the_verifier_of_its_challenge(connected: Any, provider: Idp, browser: Any) -> None:
    here = browser()
    sent = here.get("/sign-in/provider/").headers["Location"]
    here.get(sign_in_provider.back_from(sent, SUBJECT))
    digest = hashlib.sha256(provider.asked[-1]["code_verifier"].encode()).digest()
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == query_of(sent)["code_challenge"]


def test_another_host_header_leads_the_answer_nowhere_else(running: tuple[Idp, str], browser: Any) -> None:
    sent = browser().client.get("/sign-in/provider/", headers={"Host": "127.0.0.1:1"}).headers["Location"]
    assert query_of(sent)["redirect_uri"] == f"{running[1]}/sign-in/provider/return/"


def is_refused(here: Browser, answer: httpx2.Response, sentence: str) -> bool:
    assert answer.status_code == 403, (answer.status_code, answer.headers.get("Location"))
    assert sentence in answer.text.replace("&#x27;", "'")
    return not here.is_in() and not Visit.objects.exists()


def test_somebody_unknown_is_refused_and_recorded(mia: Any, provider: Idp, browser: Any) -> None:
    here = browser()
    assert is_refused(here, here.there_and_back("somebody"), "That identity is connected with nobody here.")
    entry = newest("person.refused", "someone unknown")
    assert entry.summary.startswith(f"through {provider.url}: That identity is connected with nobody here.")
    assert (Person.objects.count(), Identity.objects.count()) == (1, 0)


def test_the_same_address_and_name_are_nobody(connected: Any, provider: Idp, browser: Any) -> None:
    Person.objects.filter(pk=connected.pk).update(email="mia@example.org")
    known = {"email": "mia@example.org", "email_verified": True, "preferred_username": "mia", "name": "Mia Lindqvist"}
    provider.alter = lambda claims: {**claims, **known}
    here = browser()
    assert is_refused(here, here.there_and_back("another-sub"), "connected with nobody here")
    assert Identity.objects.count() == 1


def test_a_role_comes_from_nowhere_else(connected: Any, provider: Idp, browser: Any) -> None:
    provider.alter = lambda claims: {**claims, "role": "admin", "roles": ["admin"], "groups": ["admin"]}
    assert browser().there_and_back(SUBJECT).status_code == 302
    connected.refresh_from_db()
    assert (connected.role, connected.email, connected.full_name) == ("on_call", "", "Mia Lindqvist")


def test_who_was_deactivated_is_refused(connected: Any, browser: Any) -> None:
    Person.objects.filter(pk=connected.pk).update(is_active=False)
    here = browser()
    assert is_refused(here, here.there_and_back(SUBJECT), "Mia Lindqvist is deactivated here; ask an admin.")
    assert "is deactivated here" in newest("person.refused", "mia").summary


def test_a_stranger_who_guesses_passwords_keeps_nobody_from_the_provider(connected: Any, browser: Any) -> None:
    here = browser()
    for _ in range(6):
        here.post("/sign-in/", "/sign-in/", username="mia", password="guess")
    here.there_and_back(SUBJECT)
    assert here.get("/inbox/").status_code == 200


def test_an_answer_is_good_in_the_browser_that_asked(connected: Any, browser: Any) -> None:
    here, mallory = browser(), browser()
    back = mallory.there(SUBJECT)
    assert is_refused(here, here.get(back), "was not begun in this browser")
    here.get("/sign-in/provider/")  # one of its own does not help
    assert is_refused(here, here.get(back), "was not begun in this browser")


def test_a_made_up_state_is_refused(connected: Any, browser: Any) -> None:
    here = browser()
    back = here.there(SUBJECT)
    state = query_of(back)["state"]
    for other in ("made-up", "", state[:-1]):
        assert is_refused(here, here.get(back.replace(state, other)), "was not begun in this browser")
    assert is_refused(here, here.get(back.replace("state=", "estate=")), "was not begun in this browser")


def test_an_answer_is_good_once(connected: Any, browser: Any) -> None:
    here = browser()
    back = here.there(SUBJECT)
    assert here.get(back).status_code == 302
    visits = Visit.objects.count()
    again = here.get(back)
    assert again.headers["Location"] == "/me/"
    assert "was not begun in this browser" in here.get("/me/").text
    assert Visit.objects.count() == visits


def test_a_code_that_was_used_is_refused_with_a_state_of_ones_own(connected: Any, browser: Any) -> None:
    here, mallory = browser(), browser()
    used = here.there(SUBJECT)
    here.get(used)
    Visit.objects.all().delete()
    own = mallory.there("mallory")
    stolen = own.replace(query_of(own)["code"], query_of(used)["code"])
    assert is_refused(mallory, mallory.get(stolen), "What the sign-in provider answered does not hold")


def test_a_code_of_somebody_elses_trip_is_refused(connected: Any, browser: Any) -> None:
    """The code is good still, but the token says whose trip it was for."""
    here, mallory = browser(), browser()
    fresh, own = here.there(SUBJECT), mallory.there("mallory")
    injected = own.replace(query_of(own)["code"], query_of(fresh)["code"])
    assert is_refused(mallory, mallory.get(injected), "was not begun in this browser")


FORGERIES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "for another client": (lambda claims: {**claims, "aud": "another"}, "does not hold"),
    "for nobody": (lambda claims: {name: claims[name] for name in claims if name != "aud"}, "does not hold"),
    "by another issuer": (lambda claims: {**claims, "iss": "https://evil.example"}, "does not hold"),
    "over": (lambda claims: {**claims, "exp": 1}, "does not hold"),
    "of another trip": (lambda claims: {**claims, "nonce": "another"}, "was not begun in this browser"),
    "of no trip": (lambda claims: {n: claims[n] for n in claims if n != "nonce"}, "was not begun in this browser"),
    "about nobody": (lambda claims: {n: claims[n] for n in claims if n != "sub"}, "does not answer as it should"),
    "about an empty name": (lambda claims: {**claims, "sub": ""}, "does not answer as it should"),
    "about too long a name": (lambda claims: {**claims, "sub": "x" * 300}, "does not answer as it should"),
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_token_that_is_not_for_us_now_is_refused(connected: Any, provider: Idp, browser: Any, forgery: str) -> None:
    provider.alter, sentence = FORGERIES[forgery]
    here = browser()
    assert is_refused(here, here.there_and_back(SUBJECT), sentence)


@pytest.mark.parametrize(
    "answer",
    [
        lambda answer: {name: answer[name] for name in answer if name != "id_token"},
        lambda answer: {**answer, "id_token": "x"},
        lambda answer: {**answer, "id_token": 7},
        lambda answer: {},
        lambda answer: ["x"],
        lambda answer: "text",
        lambda answer: {**answer, "expires_in": "soon"},
    ],
)
def test_an_answer_out_of_the_standard_is_refused(connected: Any, provider: Idp, browser: Any, answer: Any) -> None:
    provider.answer = answer
    here = browser()
    assert is_refused(here, here.there_and_back(SUBJECT), "sign-in provider")


def test_a_provider_that_calls_itself_something_else_signs_nobody_in(
    connected: Any, provider: Idp, browser: Any
) -> None:
    """Else whoever runs one tenant of many could vouch for the people of another."""
    provider.describe = lambda description: {**description, "issuer": "https://another.example"}
    provider.alter = lambda claims: {**claims, "iss": "https://another.example"}
    here = browser()
    assert is_refused(here, here.there_and_back(SUBJECT), "does not hold")


def test_a_provider_that_is_down_or_unreadable_is_said(connected: Any, provider: Idp, browser: Any) -> None:
    here = browser()
    back = here.there(SUBJECT)
    for describe, status in ((dict, 503), (lambda _: {}, 200), (lambda _: ["x"], 200)):
        provider.describe, provider.status = describe, status
        assert is_refused(here, here.get("/sign-in/provider/"), "The sign-in provider does not answer as it should")
    assert is_refused(here, here.get(back), "The sign-in provider does not answer as it should")


def test_who_gives_up_at_the_provider_is_told_so(browser: Any) -> None:
    here = browser()
    sent = here.get("/sign-in/provider/").headers["Location"]
    back = httpx2.post(sent, data={"action": "deny"}).headers["Location"]
    back += f"&state={query_of(sent)['state']}"
    assert is_refused(here, here.get(back), "The sign-in was not finished at the provider")


@pytest.mark.parametrize(
    "wanted", ["https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)", "http:x.example"]
)  # fmt: skip
def test_it_leads_nowhere_else(connected: Any, browser: Any, wanted: str) -> None:
    here = browser()
    sent = here.client.get("/sign-in/provider/", params={"next": wanted})
    answer = here.get(sign_in_provider.back_from(sent.headers["Location"], SUBJECT))
    assert answer.headers["Location"] == "/inbox/"


def test_the_link_at_the_door_keeps_where_one_was_going(browser: Any) -> None:
    assert 'href="/sign-in/provider/?next=%2Fwrites%2F"' in browser().get("/sign-in/?next=/writes/").text


def test_connecting_needs_the_password_each_time(mia: Any, browser: Any) -> None:
    here = browser()
    here.sign_in("mia")
    assert here.get("/me/identity/provider/").headers["Location"] == "/me/"
    assert "Type your password first." in here.get("/me/").text
    refused = here.post("/me/identity/", "/me/", own_password="guess")
    assert (refused.status_code, "4 tries left" in refused.text) == (422, True)
    assert here.post("/me/identity/", "/me/", own_password="correct horse battery").status_code == 302
    assert "/me/identity/provider/" in here.get("/me/").text
    sent = here.get("/me/identity/provider/")
    assert query_of(sent.headers["Location"])["prompt"] == "login"
    assert here.get("/me/identity/provider/").headers["Location"] == "/me/"  # once
    assert not Identity.objects.exists()


def test_a_sign_in_connects_nothing(mia: Any, browser: Any) -> None:
    """Somebody who is signed in and comes back from a sign-in as somebody unknown stays who they are, unconnected."""
    here = browser()
    here.sign_in("mia")
    assert here.there_and_back("somebody").headers["Location"] == "/me/"
    assert "connected with nobody here" in here.get("/me/").text
    assert not Identity.objects.exists()


def test_connecting_ends_with_who_began_it(mia: Any, ben: Any, browser: Any) -> None:
    here = browser()
    here.sign_in("mia")
    here.post("/me/identity/", "/me/", own_password="correct horse battery")
    back = here.there(SUBJECT, "/me/identity/provider/")
    cookies = {name: here.client.cookies[name] for name in here.client.cookies}
    here.sign_in("ben")  # the session of mia is gone, and the state with it
    assert here.get(back).headers["Location"] == "/me/"
    mallory = browser()
    mallory.client.cookies.update(cookies)
    assert mallory.get(back).status_code == 403
    assert not Identity.objects.exists()


def test_what_somebody_else_began_connects_nobody(
    mia: Any, ben: Any, sign_in: Any, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Django drops the session when another person signs in; this holds if it ever does not."""
    settings.OIDC = oidc.SignInProvider("https://login.example.org", "counterseal", "secret")
    claimed = SimpleNamespace(issuer=settings.OIDC.url, subject=SUBJECT, connects=mia.pk, next_url="")
    monkeypatch.setattr(gate.people, "provider", SimpleNamespace(finish=lambda _: claimed), raising=False)
    for browser in (sign_in(ben), Client()):
        assert browser.get("/sign-in/provider/return/").status_code in (302, 403)
    assert not Identity.objects.exists()
    assert sign_in(mia).get("/sign-in/provider/return/")["Location"] == "/me/"
    assert Identity.objects.get().person == mia


def test_an_identity_is_one_persons_and_a_person_has_one(connected: Any, ben: Any, browser: Any) -> None:
    here = browser()
    here.sign_in("ben")
    here.connect(SUBJECT)
    assert "That identity is connected with somebody else here" in here.get("/me/").text
    assert "somebody else here" in newest("person.refused", "person ben").summary
    here.connect("sub-of-ben")
    assert here.post("/me/identity/", "/me/", own_password="correct horse battery").status_code == 302
    here.there_and_back("another", "/me/identity/provider/")
    assert "An identity is connected with you already" in here.get("/me/").text
    assert set(Identity.objects.values_list("person__username", "subject")) == {("mia", SUBJECT), ("ben", "sub-of-ben")}


def test_what_is_disconnected_signs_nobody_in(connected: Any, provider: Idp, browser: Any) -> None:
    here, elsewhere = browser(), browser()
    here.sign_in("mia")
    assert here.post("/me/identity/end/", "/me/").status_code == 302
    assert newest("person.changed", "person mia").summary == f"disconnected an identity of {provider.url}"
    assert elsewhere.there_and_back(SUBJECT).status_code == 403


def test_a_password_by_link_disconnects_whoever_connected(ada: Any, ben: Any, connected: Any, browser: Any) -> None:
    token = changes.confirm(changes.draft(connected, act="reset", by=ada, reason="Her laptop is lost.").pk, by=ben)
    actions.use_link(token, "tall ships leave early")
    assert browser().there_and_back(SUBJECT).status_code == 403


def test_nothing_else_of_allauth_is_there(mia: Any, browser: Any) -> None:
    here = browser()
    here.sign_in("mia")
    for path in (
        "accounts/login", "accounts/signup", "accounts/email", "accounts/logout", "accounts/password/reset",
        "accounts/3rdparty", "accounts/oidc/oidc/login", "accounts/oidc/oidc/login/callback", "oidc/oidc/login",
        "_allauth/browser/v1/config", "accounts/social/signup", "accounts/reauthenticate",
    ):  # fmt: skip
        assert here.get(f"/{path}/").status_code == 404, path
        assert here.get(f"/{path}").status_code in (301, 404), path


def test_allauth_has_no_tables() -> None:
    assert [name for name in connection.introspection.table_names() if name.startswith(("account_", "social"))] == []


def test_the_policy_of_the_page_is_as_strict_as_ever(browser: Any) -> None:
    policy = browser().get("/sign-in/").headers["Content-Security-Policy"]
    assert "form-action 'self'" in policy
    assert "default-src 'none'" in policy


def test_without_a_provider_there_is_no_such_door(mia: Any, sign_in: Any, settings: Any) -> None:
    assert settings.OIDC is None
    signed_in = sign_in(mia)
    for path in ("/sign-in/provider/", "/sign-in/provider/return/", "/me/identity/provider/"):
        assert signed_in.get(path).status_code == 404
    assert signed_in.post("/me/identity/", {"own_password": "correct horse battery"}).status_code == 404
    assert "Sign in with" not in Client().get("/sign-in/").content.decode()
    assert "through a provider" not in signed_in.get("/me/").content.decode()


def test_trips_run_out_for_an_address() -> None:
    for _ in range(guessing.TRIPS_PER_ADDRESS):
        guessing.take_at_provider("192.0.2.9")
    with pytest.raises(guessing.TooManyTries, match=r"Too many sign-ins from here\. Try again in 14 min"):
        guessing.take_at_provider("192.0.2.9")
    guessing.take_at_provider("192.0.2.10")
