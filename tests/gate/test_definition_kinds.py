"""What every kind of definition gives its pages: a body to start from, and how what is in force fares."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from audit import twohands
from evidence.models import Certificate

WITH_EXAMPLE = [kind for kind in twohands.KINDS.values() if kind.example]


@pytest.mark.django_db
@pytest.mark.parametrize("kind", WITH_EXAMPLE, ids=[kind.name for kind in WITH_EXAMPLE])
def test_the_body_to_start_from_is_a_valid_one(
    kind: twohands.DefinitionKind, client: Client, make_person, define
) -> None:
    define("source", "myshop", dict(twohands.KINDS["source"].example))  # that the tool's body names
    kind.check("example", dict(kind.example))
    client.force_login(make_person("mia", "admin"))
    page = client.get(f"/{kind.plural}/new/").content.decode()
    assert next(iter(kind.example)) in page


def test_all_kinds_but_rules_have_one() -> None:
    kinds = {"source", "tool", "metric", "valuation", "class", "target", "policy"}
    assert {kind.name for kind in WITH_EXAMPLE} == kinds


@pytest.mark.django_db
def test_a_rules_draft_says_where_its_body_comes_from(client: Client, make_person) -> None:
    client.force_login(make_person("mia", "admin"))
    assert "manage.py rule_body HYPOTHESIS VERSION prints what goes here" in client.get("/rules/new/").content.decode()
    assert "rule_body" not in client.get("/tools/new/").content.decode()


@pytest.fixture
def certificate(define) -> Certificate:
    source = define("source", "proven", dict(twohands.KINDS["source"].example))
    return Certificate.objects.create(
        id="0198c0de-0000-7000-8000-000000000001", source="proven", source_version=source.version, role="reader",
        address="user=reader", server="1/2", digest="0" * 64, at=timezone.now(), holds=True,
        facts=[{"fact": "tables", "sentence": "It may change no table.", "holds": True, "seen": "none", "mend": ""}],
    )  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "cannot write"),
        ({"holds": False}, "dark"),
        ({"source_version": 99}, "not proven yet"),
        ({"at": timezone.now() - timedelta(minutes=11)}, "proof too old"),
    ],
)
def test_a_source_shows_whether_it_is_proven(client: Client, make_person, certificate, change, words) -> None:
    Certificate.objects.update(**change)
    client.force_login(make_person("vera", "viewer"))
    assert words in client.get("/sources/").content.decode()
    assert words in client.get("/sources/proven/").content.decode()


@pytest.mark.django_db
def test_each_fact_is_on_the_page(client: Client, make_person, certificate) -> None:
    client.force_login(make_person("vera", "viewer"))
    assert "It may change no table." in client.get("/sources/proven/").content.decode()


@pytest.mark.django_db
def test_the_page_says_what_mends_a_fact_and_which_line_stops_what(client: Client, make_person, certificate) -> None:
    lock = {"fact": "lock_functions", "sentence": "It takes no lock.", "holds": False, "seen": "pg_advisory_lock",
            "mend": "REVOKE EXECUTE ON ROUTINE it;", "weight": "layer", "excused": "left to later lines"}  # fmt: skip
    Certificate.objects.update(facts=[*certificate.facts, lock])
    client.force_login(make_person("vera", "viewer"))
    page = client.get("/sources/proven/").content.decode()
    for words in ("pg_advisory_lock", "left to later lines", "REVOKE EXECUTE ON ROUTINE it;"):
        assert words in page
    assert "is not served" not in page
    assert "<dt>Advisory locks that stop others</dt><dd>the parser&#x27;s list of names</dd>" in page
    assert str(certificate.pk) in page
