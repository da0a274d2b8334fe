"""The tables are emptied after a test that committed: those with rows, which are few.

Django truncates all of them and makes content types and permissions anew, which takes longer than most tests do.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.db import connection
from django.test import TransactionTestCase

# Migrations fill these, and no test changes them.
KEPT = ("django_content_type", "auth_permission")
# What refuses that a row is deleted lets itself be truncated, if all that refers to it is.
REFUSING = """
with recursive refusing as (
  select distinct tgrelid::oid as id from pg_trigger
  where not tgisinternal and tgtype & 8 = 8 and tgtype & 1 = 1 and tgrelid::regclass::text = any (%(tables)s)
), along as (
  select id, id as root from refusing
  union
  select c.conrelid, a.root from along a join pg_constraint c on c.contype = 'f' and c.confrelid = a.id
)
select root::regclass::text, array_agg(id::regclass::text) from along group by root
"""
EMPTY = """
do $$
declare
  refusing constant jsonb := '{refusing}';
  name text;
  is_full boolean;
begin
  foreach name in array '{tables}'::text[] loop
    execute 'select exists (select from ' || name || ')' into is_full;
    if is_full then
      if refusing ? name then
        execute 'truncate ' || (select string_agg(value, ', ') from jsonb_array_elements_text(refusing -> name));
      else
        execute 'delete from ' || name;
      end if;
    end if;
  end loop;
end
$$
"""


def replace_flush() -> None:
    """Have Django's own test cases empty the tables so; pytest-django's are made of them."""
    TransactionTestCase._fixture_teardown = _teardown  # type: ignore[method-assign]


def _teardown(case: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_statement())


@cache
def _statement() -> str:
    names = connection.introspection.django_table_names(only_existing=True, include_views=False)
    tables = [name for name in names if name not in KEPT]
    with connection.cursor() as cursor:
        cursor.execute(REFUSING, {"tables": tables})
        refusing = dict(cursor.fetchall())
    return EMPTY.format(refusing=json.dumps(refusing), tables="{" + ",".join(tables) + "}")
