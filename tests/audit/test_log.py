import uuid

import pytest
from django.db import connection, transaction

from audit import log
from audit.kinds import Kind
from audit.models import Entry

ADA = log.Actor("person", "Ada Okafor", "ada")


@pytest.mark.django_db
def test_an_entry_is_committed_on_its_own() -> None:
    call = uuid.uuid4()
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        log.record(Kind.CALL_STARTED, ADA, call_id=call, args={"job_id": 1})
        raise ZeroDivisionError
    assert Entry.objects.filter(call_id=call).count() == 1


@pytest.mark.django_db(transaction=True)
def test_as_role(as_role) -> None:
    as_role("agents")
    log.record(Kind.CALL_STARTED, ADA)
    with connection.cursor() as c:
        c.execute("select current_user")
        assert c.fetchone()[0] == "counterseal_agents"
