from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from gate.writes import tasks
from gate.writes.models import WriteRequest

pytestmark = pytest.mark.django_db


def past(write: Any, **more: Any) -> None:
    WriteRequest.objects.filter(pk=write.pk).update(expires_at=timezone.now() - timedelta(seconds=1), **more)


@pytest.mark.parametrize("status", ["proposed", "waiting", "approved"])
def test_what_nobody_acted_on_in_time_expires_once(propose: Any, entries: Any, status: str) -> None:
    write = propose()
    past(write, status=status)
    tasks.expire_writes()
    tasks.expire_writes()
    write.refresh_from_db()
    assert (write.status, write.version) == ("expired", 3)
    assert [entry.kind for entry in entries(write.ref)] == ["write.proposed", "write.admitted", "write.expired"]


COULD_RUN = {"proposed", "waiting", "changes_requested", "approved"}


@pytest.mark.parametrize("status", [s for s in WriteRequest.Status.values if s not in COULD_RUN])
def test_what_runs_or_is_over_does_not_expire(propose: Any, status: str) -> None:
    write = propose()
    past(write, status=status)
    tasks.expire_writes()
    write.refresh_from_db()
    assert write.status == status


def test_what_has_time_left_waits_on(propose: Any) -> None:
    write = propose()
    tasks.expire_writes()
    write.refresh_from_db()
    assert write.status == "waiting"
