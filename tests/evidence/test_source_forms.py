"""A source is typed in fields that its kind declares, and what is wrong with one stands beside it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from audit.models import Definition
from evidence import replicas, sources
from evidence.kinds import KINDS
from evidence.kinds.fields import Sort
from evidence.source_forms import SourceForm, initial_of

ENVELOPE = {"name": "fresh", "reason": "To read from."}
# What each kind of source may say besides its example.
OF_A_SITE = {
    "addresses": ["10.0.0.5", "10.2.0.0/16"], "hosts": ["https://mirror.example.com"],
    "headers": {"X-Scope-OrgID": "shop:eu", "Accept-Language": "en"},
}  # fmt: skip
MORE: dict[str, dict[str, Any]] = {
    "postgresql": {"query": True, "accepts": ["catalog_views", "hiding_functions"], replicas.KEY: 0},
    "mariadb": {"query": True, "datetimes": "utc"},
    "http": OF_A_SITE,
    "prometheus": {**OF_A_SITE, "query": True},
    "loki": {**OF_A_SITE, "query": True},
    "elasticsearch": {**OF_A_SITE, "query": True, "indexes": ["logs-a-*", "logs-b"]},
    "kubernetes": {**OF_A_SITE, "namespaces": [], "everywhere": True, "events_kept_seconds": 7200},
    "cloudwatch": {"log_groups": [], "query_seconds": 30},
}
# Of each field that is typed freely, something that no source of the kind may say.
WRONG: dict[str, str] = {
    "environment": "Production!", "reader_env": "path", "doctor_env": "shop_doctor_dsn", "schema": "Public; drop",
    replicas.KEY: "-1", "url": "ftp://example.com/", "credential": "digest", "addresses": "0.0.0.0/0",
    "hosts": "https://mirror.example.com/path", "headers": "Authorization: x", "ca": "no certificate",
    "probe": "status", "indexes": "*", "namespaces": "Shop_", "events_kept_seconds": "0", "region": "Ireland",
    "log_groups": "a b", "query_seconds": "61", "flavor": "solr", "datetimes": "local", "accepts": "everything",
    "resources": "secrets",
}  # fmt: skip


@pytest.fixture
def mia(client: Client, make_person: Any) -> Any:
    person = make_person("mia", "admin")
    client.force_login(person)
    return person


def typed(kind: str, body: dict[str, Any]) -> dict[str, Any]:
    """What a browser sends of a form that shows this body."""
    shown = initial_of(KINDS[kind], body)
    return {**ENVELOPE, "kind": kind, **{name: value for name, value in shown.items() if value is not False}}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_more", [False, True])
def test_a_body_comes_back_as_it_was(kind: str, is_more: bool) -> None:
    body = {**KINDS[kind].source_example, **(MORE[kind] if is_more else {})}
    if is_more:
        body |= {"calls_per_minute": {"agent": 30, "all": 90}}
    sources.check("fresh", body)
    form = SourceForm(KINDS[kind], typed(kind, body))
    assert form.is_valid(), form.errors
    assert form.body() == body


@pytest.mark.parametrize("kind", KINDS)
def test_there_is_a_field_for_everything_that_a_source_may_say(kind: str) -> None:
    declared = [field.key for field in KINDS[kind].fields]
    assert len(declared) == len(set(declared))
    body = dict(KINDS[kind].source_example)
    for key in {key for one in KINDS.values() for key in (*one.source_example, *MORE[one.name], "accepts", "ca")}:
        known = key in (*declared, "kind")
        try:
            sources.check("fresh", {**body, key: body.get(key, object())})
        except ValueError as problem:
            # A key of another kind is refused by the list of keys, one of this kind by what it says.
            said = str(problem)
            assert known is not (said.startswith("A source of the kind") or "is for sources of the kind" in said), key
        else:
            assert known, key


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_with_a_field_stands_at_it_and_at_no_other(kind: str) -> None:
    body = {**KINDS[kind].source_example, **{k: v for k, v in MORE[kind].items() if k not in ("everywhere",)}}
    if kind == "kubernetes":
        body["namespaces"] = ["shop"]
    assert SourceForm(KINDS[kind], typed(kind, body)).is_valid()
    for field in KINDS[kind].fields:
        if field.sort is Sort.YES:
            continue  # a box is ticked or not
        form = SourceForm(KINDS[kind], {**typed(kind, body), field.key: WRONG[field.key]})
        assert set(form.errors) == {field.key}, (field.key, form.errors)
        assert all(len(errors) == 1 for errors in form.errors.values())


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_needed_is_asked_for_at_its_field(kind: str) -> None:
    for field in KINDS[kind].fields:
        given = typed(kind, dict(KINDS[kind].source_example))
        given.pop(field.key, None)
        form = SourceForm(KINDS[kind], given)
        asked = field.is_needed and not field.is_listed_empty
        if field.key in KINDS[kind].source_example and not form.is_valid():
            assert set(form.errors) <= {field.key, "reader_env", "credential", "namespaces"}
        assert (field.key in form.errors) or not asked


@pytest.mark.django_db
@pytest.mark.parametrize("kind", KINDS)
def test_a_source_of_each_kind_is_registered_without_a_word_of_json(mia: Any, client: Client, kind: str) -> None:
    assert f"/sources/new/?kind={kind}" in client.get("/sources/new/").content.decode()
    page = client.get(f"/sources/new/?kind={kind}").content.decode()
    for field in KINDS[kind].fields:
        assert f'name="{field.key}"' in page, field.key
        assert field.label.replace("'", "&#x27;") in page
    body = {**KINDS[kind].source_example, **MORE[kind]}
    wrong = client.post("/sources/new/", {**typed(kind, body), "environment": "Production!"})
    text = wrong.content.decode()
    assert wrong.status_code == 422
    assert 'id="environment-err"' in text
    assert 'value="Production!"' in text
    assert not Definition.objects.filter(kind="source", name="fresh").exists()
    answer = client.post("/sources/new/", typed(kind, body))
    assert answer["Location"] == "/sources/fresh/"
    assert Definition.objects.get(kind="source", name="fresh").body == body
    again = client.get("/sources/fresh/new/").content.decode()
    assert "readonly" in again
    changed = {**typed(kind, body), "environment": "staging"}
    assert client.post("/sources/fresh/new/", changed)["Location"] == "/sources/fresh/"
    assert Definition.objects.get(kind="source", name="fresh", version=2).body == {**body, "environment": "staging"}


@pytest.mark.django_db
def test_the_kind_of_a_source_follows_from_what_it_is_and_not_from_what_is_sent(mia: Any, client: Client) -> None:
    body = dict(KINDS["postgresql"].source_example)
    client.post("/sources/new/", typed("postgresql", body))
    sent = {**typed("cloudwatch", dict(KINDS["cloudwatch"].source_example)), "schema": "other_read"}
    answer = client.post("/sources/fresh/new/", {**sent, "reader_env": "A_READER_DSN", "doctor_env": "A_DOCTOR_DSN"})
    assert answer.status_code == 302
    assert Definition.objects.get(kind="source", name="fresh", version=2).body["kind"] == "postgresql"
    assert client.get("/sources/nothing/new/").status_code == 404
    assert client.get("/sources/new/?kind=nothing").context["kinds"]
