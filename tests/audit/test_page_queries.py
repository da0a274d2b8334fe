"""No page of the log takes more than twelve queries, also for an admin, who sees the longest rail."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import search_following
from tests.audit.test_trust_answers import Shown
from tests.audit.test_trust_answers import shown as shown

pytestmark = pytest.mark.django_db(transaction=True)
MOST = 12


def taken(shown: Shown, address: str) -> list[str]:
    shown.become("people")
    with CaptureQueriesContext(connection) as asked:
        assert shown.client.get(address).status_code == 200
    shown.become("owner")
    return [one["sql"] for one in asked.captured_queries]


def test_no_page_of_the_log_takes_more(shown: Shown, make_person: Any) -> None:
    shown.client.force_login(make_person("ada", "admin"))
    for _ in range(4):
        receipt = shown.call()
    shown.seal()
    shown.become("worker")
    search_following.follow(10)
    for address in ("/audit/", "/audit/?q=job_id", f"/audit/{receipt.seq}/", "/audit/health/"):
        queries = taken(shown, address)
        assert len(queries) <= MOST, "\n".join([address, *queries])


def test_an_entry_of_a_longer_log_takes_one_more_for_each_stored_level(shown: Shown, make_person: Any) -> None:
    shown.client.force_login(make_person("ada", "admin"))
    for _ in range(130):
        receipt = shown.call()
    shown.seal()
    queries = taken(shown, f"/audit/{receipt.seq}/")
    assert any("audit_node" in query for query in queries)
    assert len(queries) <= MOST, "\n".join(queries)
