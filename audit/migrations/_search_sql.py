"""What words stand in which entry, in SQL: rows that can be built again, and how far the log was followed for them."""

# Without a trigger that refuses change: the rows say nothing that payloads do not, and a redaction deletes them.
TABLES = """
create table audit_search (
  entry_id uuid not null primary key,
  seq bigint not null,
  doc tsvector not null
) partition by range (entry_id);
create index audit_search_doc on audit_search using gin (doc);
create table audit_search_default partition of audit_search default;

create table audit_searchstate (
  id smallint not null primary key default 1 check (id = 1),
  next_leaf bigint not null default 0,   -- the first leaf that was not looked at
  newest bigint not null default 0,      -- the number of the entry of the last one that was
  analyzed bigint not null default 0     -- how many leaves there were when the planner was told last
);
insert into audit_searchstate default values;
"""

# A wrong guess of the planner costs seconds where the search takes milliseconds, and only an owner may tell it.
FUNCTIONS = """
create function audit_analyze_search() returns void language plpgsql security definer
  set search_path = pg_catalog, public, pg_temp as $$
begin
  analyze public.audit_search;
end $$;
revoke execute on function audit_analyze_search() from public;
"""
