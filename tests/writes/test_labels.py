"""A decided write asks whether the answers that admission decided by were right; one that waits does not."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from gate.admission import policies
from gate.admission.models import AnswerLabel
from gate.writes.models import WriteRequest

pytestmark = pytest.mark.django_db


def page(client: Client, write: WriteRequest) -> str:
    return " ".join(client.get(f"/writes/{write.pk}/").content.decode().split())


def test_whether_its_answers_were_right_is_asked_once_it_is_decided(define: Any, propose: Any, mia: Any) -> None:
    define("policy", "sql-writes", policies.shipped_body("sql-writes"))
    write = propose()
    client = Client()
    client.force_login(mia)
    assert "Were the answers right?" not in page(client, write)
    WriteRequest.objects.filter(pk=write.pk).update(status="rejected")
    shown = page(client, write)
    assert "Were the answers right?" in shown
    address = re.search(r'action="(/policies/sql-writes/decisions/\d+/labels/)"', shown)
    assert address is not None
    first = re.search(r'name="(said_\d+)" value="right"', shown)
    assert first is not None
    done = client.post(address[1], {first[1]: "right", "back": f"/writes/{write.pk}/"})
    assert done.headers["Location"] == f"/writes/{write.pk}/"
    assert "you said right" in page(client, write)
    kept = AnswerLabel.objects.get()
    assert (kept.policy, kept.said, kept.by) == ("sql-writes", "right", mia)
