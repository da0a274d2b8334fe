"""A fingerprint of what guards the data: when somebody loosens it between two upgrades, the log says so."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import timedelta

import simplejson
from django.db import connection
from django.utils import timezone

from audit import log
from audit.kinds import Kind
from audit.models import Entry
from audit.verify.entries import Entry as VerifiedEntry

SAID_ANEW_AFTER = timedelta(days=20)
# Access lists are sorted, because their order is that of the grants and means nothing. A table without one has the
# default, which a partition that an upgrade has seen carries written out.
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
select concat_ws(' ', 'relation', oid::regclass, relkind, relpersistence, relowner::regrole, relrowsecurity,
    relforcerowsecurity, reloptions, array(select unnest(coalesce(relacl, acldefault(
      case relkind when 'S' then 's'::"char" else 'r'::"char" end, relowner)))::text order by 1))
  from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f', 'S')
union all
select concat_ws(' ', 'column', attrelid::regclass, attname, array(select unnest(attacl)::text order by 1))
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  where c.relnamespace = 'public'::regnamespace and attacl is not null
union all
-- What the log's own tables refuse by themselves: two rows of one key, values of another form, nothing at all.
select concat_ws(' ', 'form', attrelid::regclass, attname, format_type(atttypid, atttypmod), attnotnull,
    a.attidentity, case when attname <> 'epoch' then pg_get_expr(d.adbin, d.adrelid) end)
  from pg_attribute a join pg_class c on c.oid = a.attrelid
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where c.relnamespace = 'public'::regnamespace and c.relname like 'audit\\_%' and c.relkind in ('r', 'p')
    and not c.relispartition and attnum > 0 and not attisdropped
union all
-- Entries are of the newest epoch; which that is, reopening the log changes.
select concat_ws(' ', 'epoch', pg_get_expr(adbin, adrelid) = (select max(number)::text from audit_epoch))
  from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
  where adrelid = 'audit_entry'::regclass and attname = 'epoch'
union all
select concat_ws(' ', 'constraint', conrelid::regclass, conname, convalidated, pg_get_constraintdef(con.oid))
  from pg_constraint con join pg_class c on c.oid = conrelid
  where c.relnamespace = 'public'::regnamespace and c.relname like 'audit\\_%' and not c.relispartition
    and contype <> 'n'
union all
select concat_ws(' ', 'sequence', seqrelid::regclass, seqincrement, seqmin, seqmax, seqcycle)
  from pg_sequence join pg_class c on c.oid = seqrelid
  where c.relnamespace = 'public'::regnamespace and c.relname like 'audit\\_%'
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
select concat_ws(' ', 'setting', coalesce(rolname, 'all'), setconfig)
  from pg_db_role_setting left join pg_roles on pg_roles.oid = setrole
  where setdatabase in (0, (select oid from pg_database where datname = current_database()))
    and (setrole = 0 or rolname like 'counterseal\\_%')
union all
select concat_ws(' ', 'kind', role, kind) from audit_rolekind
"""


def lines() -> list[str]:
    """One line for each guard: triggers, rules, functions, owners, grants, forms, policies, roles, settings, kinds."""
    with connection.cursor() as cursor:
        cursor.execute(GUARDS)
        return sorted(row[0] for row in cursor.fetchall())


def digest_of(guards: list[str]) -> str:
    """SHA-256 (hex) over the lines."""
    return hashlib.sha256("\n".join(guards).encode()).hexdigest()


def record_when_changed() -> log.Recorded | None:
    """Write a `log.schema` entry unless the last one says the same. Runs as the owner, after the upgrade.

    One that has grown old is written anew: the month that holds the newest one is never dropped.
    """
    guards = lines()
    digest = digest_of(guards)
    newest = Entry.objects.filter(kind=Kind.LOG_SCHEMA).order_by("-seq").first()
    last = newest.tool_hash if newest else None
    if newest and last == digest and timezone.now() - newest.at < SAID_ANEW_AFTER:
        return None
    return log.record(
        Kind.LOG_SCHEMA,
        log.Actor.process(),
        subject="schema",
        summary=f"{len(guards)} guards, {_words(last, digest)}",
        tool_hash=digest,
        args={"before": last, "after": digest},
        result=guards,
    )


def _words(before: str | None, after: str) -> str:
    if before is None:
        return "first seen"
    return "as before" if before == after else "changed since the last upgrade"


PARTITION = re.compile(r"\b(audit_[a-z]+)_[0-9]{6}\b")


def differences(recorded: VerifiedEntry) -> list[str]:
    """What guards the data now and did not, or did and does not any more, against a `log.schema` entry; sentences.

    Months come and go without an upgrade, so each partition of the log has to look like one that was recorded.
    """
    try:
        then = simplejson.loads(recorded.result.kept or b"")
    except ValueError:
        then = None
    if not isinstance(then, list) or digest_of(then) != recorded.text("tool_hash"):
        return ["It does not hold the guards that it was written about, so they cannot be compared."]
    was, is_now = _by_partition(then), _by_partition(lines())
    found = [f"This guard is gone: {line}" for line in sorted(was.fixed - is_now.fixed)]
    found += [f"This was not there: {line}" for line in sorted(is_now.fixed - was.fixed)]
    return found + [
        f"The partition {name} is not guarded as it was."
        for name, guards in sorted(is_now.partitions.items())
        if guards not in was.partitions.values()
    ]


@dataclass
class _Guards:
    fixed: set[str]
    partitions: dict[str, frozenset[str]]


def _by_partition(guards: list[str]) -> _Guards:
    fixed, partitions = set(), defaultdict(set)
    for line in guards:
        named = PARTITION.search(line)
        if named:
            partitions[named[0]].add(PARTITION.sub(r"\1_month", line))
        else:
            fixed.add(line)
    return _Guards(fixed, {name: frozenset(found) for name, found in partitions.items()})
