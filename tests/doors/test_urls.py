"""Every address of both planes, with every method, by everyone who could come."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django import forms as django_forms
from django.db import transaction
from django.test import Client

from audit import heartbeats, relay
from tests.doors import sealed, walking
from tests.doors.conftest import World, session_of
from tests.doors.expected import AGENTS_PLANE, ANYONE, PEOPLES_PLANE

pytestmark = pytest.mark.django_db
PLANES = {
    "people": ("gate.config.urls_people", PEOPLES_PLANE),
    "agents": ("gate.config.urls_agents", AGENTS_PLANE),
}
# An auditor may what a viewer may. On the agents' plane a person is a cookie: the two who may most stand for all.
COMERS = [("people", who) for who in sorted(ANYONE - {"auditor"})]
COMERS += [("agents", who) for who in ("agent", "intake", "nobody", "on_call", "admin")]
OUTCOMES = {"pass", "fail", "passed", "failed", "agreed", "overruled", "sent_back"}
ABOUT_OUTCOMES = {"outcome", "verdict", "reasons", "receipt", "checks", "review"}
# What speaks of itself: the schema, and the verdict of a policy over the caller's own action.
SPEAKS_OF_ITSELF = ("/api/v1/schema", "/api/v1/admission/decide")
WIDE = 200


@pytest.mark.parametrize("plane", PLANES)
def test_every_address_has_an_owner(plane: str) -> None:
    urlconf, expected = PLANES[plane]
    found = set(walking.routes(urlconf))
    assert not found - set(expected), f"Say in tests/doors/expected.py who may pass {sorted(found - set(expected))}."
    assert not set(expected) - found, f"These addresses are gone, so take them out: {sorted(set(expected) - found)}."


def test_the_walk_fills_every_field_of_every_form(world: World) -> None:
    filled = set(walking.forms(world, "viewer")[0])
    for form in descendants(django_forms.BaseForm):
        if form.__module__.partition(".")[0] in ("audit", "evidence", "gate"):
            missing = set(form.base_fields) - filled
            assert not missing, f"Say in tests/doors/walking.py what to type into {sorted(missing)} of {form.__name__}."


def descendants(of: type[Any]) -> Iterator[type[Any]]:
    for each in of.__subclasses__():
        yield each
        yield from descendants(each)


# Doors of a button alone: its form has no field that anything could be typed into.
BUTTONS = ("/activation/", "/golden/")


@pytest.fixture
def comes(world: World) -> Any:
    """A client, as the caller would come."""
    heartbeats.beat(relay.NAME)

    def come(who: str) -> Client:
        token = {"agent": world.agent_token, "intake": world.intake_token}.get(who)
        if who in world.people:
            return session_of(world.people[who])
        return Client(headers={"Authorization": f"Bearer {token}"} if token else {}, raise_request_exception=False)

    return come


def enter(settings: Any, plane: str) -> None:
    """Be the process that serves a plane."""
    settings.ROOT_URLCONF = PLANES[plane][0]
    settings.MIDDLEWARE = settings.AGENTS_MIDDLEWARE if plane == "agents" else settings.PEOPLE_MIDDLEWARE


@contextmanager
def undone() -> Iterator[None]:
    """What happened behind one door is gone before the next one is tried."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def bodies(world: World, plane: str, who: str, method: str) -> list[Any]:
    if method in ("GET", "HEAD", "OPTIONS", "TRACE"):
        return [None]
    return walking.objects(world) if plane == "agents" else walking.forms(world, who)


def send(client: Client, plane: str, method: str, address: str, body: Any) -> Any:
    if body is None:
        return client.generic(method, address)
    if plane == "agents":
        return client.generic(method, address, json.dumps(body), content_type="application/json")
    if method == "POST":
        return client.post(address, {**body, "file": walking.upload()})
    return client.generic(method, address, json.dumps(body), content_type="application/json")


def is_through(answer: Any) -> bool:
    """Whether the caller got what the door guards: an answer, or the way on. To be sent to sign in is neither."""
    return answer.status_code < 400 and "?next=" not in answer.get("Location", "")


def what_it_tells(world: World, plane: str, who: str, answer: Any, where: str) -> list[str]:
    """On the agents' plane no answer tells of outcomes or of another agent; nobody unknown reads of either anywhere."""
    if plane == "people" and who in world.people:
        return []
    text = answer.content.decode()
    told = [f"{where} told {who} {secret}" for secret in world.secrets if secret in text]
    if text and answer["Content-Type"].endswith("json") and not where.endswith(SPEAKS_OF_ITSELF):
        words, keys = said(json.loads(text))
        if words & OUTCOMES or about_outcomes(keys):
            told.append(f"{where} told {who} of an outcome: {text[:WIDE]}")
    return told


def about_outcomes(keys: set[str]) -> set[str]:
    """The keys that tell of an outcome. Reasons beside a metric's number say what is missing from it."""
    return keys & (ABOUT_OUTCOMES - ({"reasons"} if "mechanism_status" in keys else set()))


def said(value: Any) -> tuple[set[str], set[str]]:
    """The texts and the keys of a JSON value."""
    if isinstance(value, dict):
        inner = [said(each) for each in value.values()]
        return set().union(*(texts for texts, _ in inner)), set(value).union(*(keys for _, keys in inner))
    if isinstance(value, list):
        inner = [said(each) for each in value]
        return set().union(*(texts for texts, _ in inner)), set().union(*(keys for _, keys in inner))
    return ({value} if isinstance(value, str) else set()), set()


@pytest.mark.timeout(900)  # a busy machine walks slowly
@pytest.mark.parametrize(("plane", "who"), COMERS)
def test_nobody_passes_a_door_that_is_not_theirs(comes: Any, world: World, settings: Any, plane: str, who: str) -> None:
    enter(settings, plane)
    urlconf, _ = PLANES[plane]
    faults = []
    for route in walking.routes(urlconf):
        with undone():
            walking.open_up(route, world)
            before = guarded(plane, who)
            client = comes(who)
            for method in walking.METHODS:
                faults += walk(client, world, plane, who, route, method)
            faults += what_changed(before, plane, who, f"/{route}")
    assert not faults, "\n".join(faults)


def walk(client: Client, world: World, plane: str, who: str, route: str, method: str) -> list[str]:
    """Try a door's addresses with each body: a sentence for everything that should not have happened."""
    expected = PLANES[plane][1].get(route, {})
    most = None if method in expected else 1  # a method that nothing serves is refused whatever comes with it
    forms = 1 if route.endswith(BUTTONS) else most
    passed, faults = [], []
    for address in walking.addresses(route, world)[:most]:
        for body in bodies(world, plane, who, method)[:forms]:
            answer = send(client, plane, method, address, body)
            where = f"{method} {address}"
            if answer.status_code >= 500:
                faults.append(f"{where} broke for {who}.")
            if is_through(answer):
                passed.append(where)
            faults += what_it_tells(world, plane, who, answer, where)
    if bool(passed) != (who in expected.get(method, ())):
        faults.append(f"{method} /{route} {'let' if passed else 'kept out'} {who}: {passed[:3]}")
    return faults


def guarded(plane: str, who: str) -> dict[str, Any]:
    """What this caller may change nothing of."""
    may = (plane == "people" and who == "on_call", plane == "people" and who == "admin")
    return {
        **({} if may[0] else sealed.decided()),
        **({} if may[1] else sealed.governed(me=who.replace("_", "-") if plane == "people" else "")),
        **({} if any(may) else sealed.previewed()),
    }


def what_changed(before: dict[str, Any], plane: str, who: str, where: str) -> list[str]:
    """A sentence for each thing that the caller may not change and did."""
    now = guarded(plane, who)
    return [f"{where} let {who} change {what}." for what in before if before[what] != now[what]]


def test_the_same_walk_decides_for_someone_on_call(comes: Any, world: World, settings: Any) -> None:
    """Else the walk would find nothing only because what it sends decides nothing."""
    enter(settings, "people")
    client = comes("on_call")
    for act, noun, table in (
        (f"/drafts/{world.own_draft.pk}/review/", "reviews", "agree"),
        (f"/writes/{world.write.pk}/decision/", "decisions", "approve"),
    ):
        before = sealed.decided()[noun]
        assert is_through(client.post(act, walking.forms(world, "on_call")[0]))
        assert [row["act"] for row in sealed.decided()[noun] if row not in before] == [table]
