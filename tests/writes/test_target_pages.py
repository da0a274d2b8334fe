"""Targets as pages: a policy in words, who may approve, versions as differences, and a form for two hands."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from audit.models import Definition
from gate.triage import classes
from gate.writes import http_target_form
from gate.writes.target_forms import initial_of
from tests import diffs
from tests.writes.conftest import BODY, body

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(client: Client, make_person: Any) -> Client:
    client.force_login(make_person("olga", "admin", "Olga Ruiz"))
    return client


def words(answer: Any) -> str:
    text = answer.content.decode().split("<main")[1]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())


def typed(**changes: Any) -> dict[str, Any]:
    """What a browser sends for the form as it opens, with something changed."""
    shown = {"name": "shop", **initial_of(BODY), "reason": "For a test.", **changes}
    return {name: value for name, value in shown.items() if value is not False}


def test_a_target_says_its_policy_in_words_and_who_may_approve(
    define: Any, admin: Client, mia: Any, make_person: Any
) -> None:
    strict = {"approvers": {"on_call": 2, "admin": 1}, "method": "passkey", "risk": "high", "break_glass": True}
    define("target", "shop", body(**strict))
    page = words(admin.get("/targets/shop/"))
    for said in (
        "1 admin and 2 on-call, with a passkey; never whoever proposed it", "agents, on-call people, admins.",
        "10 at most.", "A proposal expires after 4 h.", "High: a new key waits", "One person may approve alone",
        "WRITES_TEST_DSN , in the writer’s environment alone", "Mia Lindqvist too few: nothing can be approved",
    ):  # fmt: skip
        assert said in page, said
    assert "Olga Ruiz" in page
    assert "version 1: 1 admin and 2 on-call, with a passkey" in words(admin.get("/targets/"))


def test_the_form_drafts_the_next_version_and_another_admin_activates_it(
    define: Any, admin: Client, make_person: Any
) -> None:
    define("target", "shop", BODY)
    opened = admin.get("/targets/shop/new/").content.decode()
    assert ('value="10"' in opened, 'value="4 h"' in opened, "readonly" in opened) == (True, True, True)
    answer = admin.post("/targets/shop/new/", typed(on_call="2", expiry_seconds="1 h 30 min", break_glass="on"))
    assert answer["Location"] == "/targets/shop/"
    made = body(approvers={"on_call": 2}, expiry_seconds=5400, break_glass=True)
    waiting = Definition.objects.get(kind="target", name="shop", version=2)
    assert (waiting.status, waiting.body) == ("draft", made)
    page = words(admin.get("/targets/shop/"))
    changed = [line.replace(" ", "") for line in diffs.lines(admin.get("/targets/shop/").content.decode())]
    assert {'-"on_call":1', '+"on_call":2'} <= set(changed)
    assert "Activate version 2" not in page  # she drafted it
    admin.force_login(make_person("ben", "admin"))
    assert admin.post("/targets/shop/versions/2/activation/").status_code == 302
    waiting.refresh_from_db()
    assert waiting.status == "active"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"on_call": "0"}, "approvers says how many"), ({"credential_env": "postgres://x"}, "an environment variable"),
        ({"row_cap": "0"}, "greater than or equal to 1"), ({"expiry_seconds": "soon"}, "Write it like 3 h"),
        ({"proposers": []}, "This field is required"), ({"first_look_source": "a b"}, "name of a source"),
        ({"expiry_seconds": "30 d"}, "expiry_seconds is a whole number"), ({"reason": ""}, "This field is required"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_target_is_said_beside_it(define: Any, admin: Client, changed: Any, why: str) -> None:
    define("target", "shop", BODY)
    answer = admin.post("/targets/shop/new/", typed(**changed))
    assert (answer.status_code, why in words(answer)) == (422, True)
    assert Definition.objects.filter(kind="target").count() == 1


SCHEMA = {
    "type": "object", "properties": {"id": {"type": "string"}, "cents": {"type": "integer"}}, "required": ["id"],
    "additionalProperties": False,
}  # fmt: skip
REFUND: dict[str, Any] = {
    "method": "POST", "url": "https://billing.example.com/refunds/{id}", "header": "X-Key", "body": SCHEMA,
    "named_hosts": ["10.0.0.1:8080"], "timeout_seconds": 7,
    "probe": {"url": "https://billing.example.com/refunds/{id}", "pointer": "/refund/done", "equals": True},
}  # fmt: skip


def refunds(**changes: Any) -> dict[str, Any]:
    """What a browser sends for the form of an HTTP target."""
    return typed(name="refunds", **{"kind": "http", **http_target_form.initial_of(REFUND), **changes})


@pytest.mark.parametrize("expected", ["refunded", True, 7, {"field": "id"}, None])
def test_an_http_action_is_typed_field_by_field(define: Any, admin: Client, expected: Any) -> None:
    define("target", "shop", BODY)
    probe = None if expected is None else {**REFUND["probe"], "equals": expected}
    action = {**REFUND, "probe": probe}
    answer = admin.post("/targets/new/", typed(name="refunds", kind="http", **http_target_form.initial_of(action)))
    assert (answer.status_code, answer.get("Location")) == (302, "/targets/refunds/")
    drafted = Definition.objects.get(kind="target", name="refunds").body
    assert drafted == {**{name: BODY[name] for name in ("credential_env", "environment", "policy")},
                       "kind": "http", "action": action}  # fmt: skip
    page = words(admin.get("/targets/refunds/"))
    read_back = {
        "refunded": '/refund/done is "refunded"', True: "/refund/done is true", 7: "/refund/done is 7",
        None: "Read-back none: a lost answer",
    }  # fmt: skip
    said = "/refund/done is the body’s id" if isinstance(expected, dict) else read_back[expected]
    for one in (said, "Sends POST https://billing.example.com/refunds/{id}", "Waits for 7 seconds", "10.0.0.1:8080"):
        assert one in page, one
    again = admin.get("/targets/refunds/new/").content.decode()
    assert ('value="https://billing.example.com/refunds/{id}"' in again, 'value="7"' in again) == (True, True)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("http_method", "GET", "Select a valid choice"), ("url", "ftp://a.example.com/x", "url is https"),
        ("url", "https://a.example.com/{lost}", "url names lost"), ("header", "Host", "header names the header"),
        ("schema", "{", "This is not JSON"), ("schema", "[]", "JSON object"), ("schema", "{}", "body"),
        ("named_hosts", "A_b", "named_hosts lists hosts"), ("timeout_seconds", "31", "from 1 to 30"),
        ("timeout_seconds", "", "from 1 to 30"), ("probe_url", "", "the probe's url has a host"),
        ("probe_pointer", "status", "is a JSON pointer"), ("probe_equals", "1.5", "text, a whole number"),
        ("probe_equals", "maybe", "Write a whole number"), ("probe_equals", "", "Say which value"),
        ("schema", "", "schema of body cannot be used"), ("url", "", "url has a host"),
    ],
)  # fmt: skip
def test_what_an_action_lacks_is_said_beside_its_field(
    define: Any, admin: Client, field: str, value: str, why: str
) -> None:
    define("target", "shop", BODY)
    answer = admin.post("/targets/new/", refunds(**{field: value}))
    said = re.findall(rf'id="{field}-err">([^<]*)', answer.content.decode())
    assert (answer.status_code, len(said)) == (422, 1)
    assert why in html.unescape(said[0])
    assert not Definition.objects.filter(kind="target", name="refunds").exists()


def test_a_database_keeps_its_source_and_is_asked_for_no_action(define: Any, admin: Client) -> None:
    says = {"labels": {"shop.jobs": {"columns": {"state": "operational"}, "triggers": {"touch": "operational"}}}}
    define("target", "shop", {**BODY, "first_look_source": "shop", "admission": says})
    page = words(admin.get("/targets/shop/"))
    for said in ("First look through the source shop", "Checked by the policy sql-writes, where it is in force",
                 "In shop.jobs no user data: state, what the trigger touch does"):  # fmt: skip
        assert said in page, said
    assert "&quot;touch&quot;: &quot;operational&quot;" in admin.get("/targets/shop/new/").content.decode()
    given = typed(first_look_source="shop", row_cap="5", timeout_seconds="soon", schema="{", admission=json.dumps(says))
    assert admin.post("/targets/shop/new/", given).status_code == 302
    made = Definition.objects.get(kind="target", name="shop", version=2).body
    assert made == {**body(row_cap=5), "first_look_source": "shop", "admission": says}


def test_as_json_it_stays_possible_and_others_only_read(define: Any, admin: Client, mia: Any) -> None:
    define("target", "shop", BODY)
    assert 'name="body"' in admin.get("/targets/shop/new/?as=json").content.decode()
    given = {"name": "shop", "body": json.dumps(body(row_cap=5)), "reason": "For a test."}
    assert admin.post("/targets/shop/new/", given).status_code == 302
    admin.force_login(mia)
    assert admin.get("/targets/shop/new/").status_code == 403
    assert admin.post("/targets/shop/new/", typed()).status_code == 403
    assert "Draft a change" not in words(admin.get("/targets/shop/"))
    assert admin.get("/targets/nothing/").status_code == 404


@pytest.mark.parametrize("kind", ["target", "class"])
def test_a_version_that_was_activated_alone_says_so(
    client: Client, target: Any, define: Any, mia: Any, kind: str
) -> None:
    one = target if kind == "target" else define("class", "job_failed", classes.EXAMPLE)
    Definition.objects.filter(pk=one.pk).update(solo=True, activated_by=mia, activated_at=timezone.now())
    client.force_login(mia)
    address = {"target": "/targets/shop/", "class": "/classes/job_failed/"}[kind]
    assert "alone: there was no second person who could" in client.get(address).content.decode()
