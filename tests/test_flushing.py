"""After a test that committed nothing is left for the next one, whatever refuses to be deleted."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from audit import log, redacting
from audit.kinds import Kind
from audit.models import Entry, Redaction
from gate.people.models import Person
from tests import flushing

pytestmark = pytest.mark.django_db(transaction=True)


def full() -> set[str]:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    with connection.cursor() as cursor:
        cursor.execute(" union all ".join(f"select '{name}' where exists (select from {name})" for name in names))
        return {name for (name,) in cursor.fetchall()}


def test_tables_with_rows_are_emptied_those_that_refuse_too(make_person: Any, make_agent: Any) -> None:
    make_agent()
    entry = Entry.objects.get(pk=log.record(Kind.CALL_FINISHED, log.Actor.process(), args={"job_id": 7}).id)
    redacting.ask(entry, part="args", reason="It names a customer.", by=make_person("ada", "admin"))
    with pytest.raises(DatabaseError, match="audit_redaction"), transaction.atomic():
        Redaction.objects.all().delete()
    assert {Person._meta.db_table, Redaction._meta.db_table} < full()
    with connection.cursor() as cursor:
        cursor.execute(flushing._statement())
    assert full() <= set(flushing.KEPT)
