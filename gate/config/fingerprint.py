"""A fingerprint of what guards the data: when somebody loosens it between two upgrades, the log says so."""

from __future__ import annotations

import hashlib

from django.db import connection

from audit import log
from audit.kinds import Kind
from audit.models import Entry

# Access lists are sorted, because their order is that of the grants and means nothing.
GUARDS = """
select concat_ws(' ', 'trigger', tgrelid::regclass, tgname, tgenabled, pg_get_triggerdef(oid))
  from pg_trigger where not tgisinternal
union all
select concat_ws(' ', 'key trigger', t.tgrelid::regclass, c.conname, t.tgfoid::regproc, t.tgenabled)
  from pg_trigger t join pg_constraint c on c.oid = t.tgconstraint where t.tgisinternal
union all
select concat_ws(' ', 'event trigger', evtname, evtenabled, evtfoid::regprocedure) from pg_event_trigger
union all
select concat_ws(' ', 'rule', ev_class::regclass, rulename, ev_enabled, pg_get_ruledef(r.oid))
  from pg_rewrite r join pg_class c on c.oid = r.ev_class where c.relnamespace = 'public'::regnamespace
union all
select concat_ws(' ', 'function', oid::regprocedure, proowner::regrole, prosecdef, proconfig,
    encode(sha256(convert_to(prosrc, 'UTF8')), 'hex'), array(select unnest(proacl)::text order by 1))
  from pg_proc where pronamespace = 'public'::regnamespace
union all
select concat_ws(' ', 'relation', oid::regclass, relkind, relowner::regrole, relrowsecurity, relforcerowsecurity,
    reloptions, array(select unnest(relacl)::text order by 1))
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
union all
select concat_ws(' ', 'column', attrelid::regclass, attname, array(select unnest(attacl)::text order by 1))
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and attacl is not null
union all
select concat_ws(' ', 'policy', polrelid::regclass, polname, polcmd, polpermissive,
    array(select role::regrole::text from unnest(polroles) role order by 1),
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
  from pg_policy
union all
select concat_ws(' ', 'role', rolname, rolsuper, rolinherit, rolcreaterole, rolcreatedb, rolcanlogin, rolreplication,
    rolbypassrls, rolconfig)
  from pg_roles where rolname like 'counterseal\\_%'
union all
select concat_ws(' ', 'member', member::regrole, 'of', roleid::regrole, admin_option, inherit_option, set_option)
  from pg_auth_members
  where member::regrole::text like 'counterseal\\_%' or roleid::regrole::text like 'counterseal\\_%'
union all
select concat_ws(' ', 'schema', nspname, nspowner::regrole, array(select unnest(nspacl)::text order by 1))
  from pg_namespace where nspname = 'public'
union all
select concat_ws(' ', 'database', datdba::regrole, array(select unnest(datacl)::text order by 1))
  from pg_database where datname = current_database()
union all
select concat_ws(' ', 'kind', role, kind) from audit_rolekind
"""


def lines() -> list[str]:
    """One line for each guard: triggers, rules, functions, owners, grants, policies, roles, memberships, kinds."""
    with connection.cursor() as cursor:
        cursor.execute(GUARDS)
        return sorted(row[0] for row in cursor.fetchall())


def digest_of(guards: list[str]) -> str:
    """SHA-256 (hex) over the lines."""
    return hashlib.sha256("\n".join(guards).encode()).hexdigest()


def record_when_changed() -> log.Recorded | None:
    """Write a `log.schema` entry unless the last one says the same. Runs as the owner, after the upgrade."""
    guards = lines()
    digest = digest_of(guards)
    last = Entry.objects.filter(kind=Kind.LOG_SCHEMA).order_by("-seq").values_list("tool_hash", flat=True).first()
    if last == digest:
        return None
    return log.record(
        Kind.LOG_SCHEMA,
        log.Actor.process(),
        subject="schema",
        summary=f"{len(guards)} guards, {'first seen' if last is None else 'changed since the last upgrade'}",
        tool_hash=digest,
        args={"before": last, "after": digest},
        result=guards,
    )
