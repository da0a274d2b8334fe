"""The catalogs against the roles table, for every table, role and privilege; and that a stronger role is refused."""

from typing import Any

import pytest
from django.db import connection

from gate.config import powers, provision
from gate.config.roles import GRANTS, WRITES_KINDS, role_name

pytestmark = pytest.mark.django_db


def owner_runs(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


@pytest.mark.parametrize("process", GRANTS)
def test_the_catalogs_say_what_the_table_says(process: str) -> None:
    assert powers.held(role_name(process)) == powers.allowed(process)
    assert powers.beyond(process, role_name(process)) == []


@pytest.mark.parametrize("process", GRANTS)
def test_each_role_writes_the_kinds_of_its_row(process: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select attname from pg_attribute where attrelid = 'audit_kind'::regclass and attnum > 0"
            " and has_column_privilege(%s, attrelid, attnum, 'insert')",
            [role_name(process)],
        )
        assert {row[0] for row in cursor.fetchall()} == {str(kind.value) for kind in WRITES_KINDS[process]}


def test_an_upgrade_makes_room_for_a_kind_that_is_new() -> None:
    owner_runs('alter table audit_kind drop column "call.refused"')
    provision.apply()
    assert powers.held(role_name("agents")) == powers.allowed("agents")


STRONGER = [
    ("grant delete on audit_entry to {role}", "DELETE on audit_entry"),
    ("grant update on triage_draft to {role}", "UPDATE on triage_draft.outcome"),
    ("grant select on people_person to public", "SELECT on people_person.password"),
    ("grant create on schema public to {role}", "CREATE in the schema public"),
    ("grant execute on function audit_ensure_partitions(int) to {role}", "EXECUTE on audit_ensure_partitions"),
    ("alter table triage_incident disable row level security", "rows of triage_incident without a policy"),
    ("create policy loose on triage_incident to {role} using (true)", "the policy loose on triage_incident"),
    ("grant insert (at) on audit_append to {role}", "INSERT on audit_append.at"),
    ("grant insert on audit_entry to {role}", "INSERT on audit_entry.at"),
    ('grant insert ("draft.agreed") on audit_kind to {role}', "entries of kind draft.agreed"),
]


@pytest.mark.parametrize(("statement", "found"), STRONGER)
def test_a_role_with_more_than_its_row_is_found_out(statement: str, found: str) -> None:
    role = role_name("agents")
    owner_runs(statement.format(role=role))
    assert any(found in one for one in powers.beyond("agents", role))


@pytest.mark.parametrize(("statement", "found"), STRONGER)
def test_an_upgrade_takes_back_what_the_table_does_not_say(statement: str, found: str) -> None:
    role = role_name("agents")
    owner_runs(statement.format(role=role))
    provision.apply()
    left = powers.beyond("agents", role)
    assert left == []


def test_attributes_and_memberships_count(superuser: Any) -> None:
    superuser.execute("create role strong_agents login createdb in role counterseal_people")
    try:
        found = powers.beyond("agents", "strong_agents")
    finally:
        superuser.execute("drop role strong_agents")
    assert {"the attribute CREATEDB", "membership in counterseal_people"} <= set(found)


def test_a_process_refuses_to_start_as_the_owner() -> None:
    with pytest.raises(powers.TooPowerful, match="can do more than agents may"):
        powers.check("agents")
    assert any("ownership of" in found for found in powers.beyond("agents", role_name("owner")))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("process", GRANTS)
def test_a_process_starts_as_its_own_role(as_role: Any, process: str) -> None:
    as_role(process)
    powers.check(process)


@pytest.mark.django_db(transaction=True)
def test_a_process_refuses_to_start_as_another_role(as_role: Any) -> None:
    as_role("people")
    with pytest.raises(powers.TooPowerful, match="more than agents may"):
        powers.check("agents")
