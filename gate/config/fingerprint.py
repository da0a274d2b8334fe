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
    and attnum > 0 and not attisdropped
union all
-- Entries are of the newest epoch; which that is, reopening the log changes.
select concat_ws(' ', 'epoch', pg_get_expr(adbin, adrelid) = (select max(number)::text from audit_epoch))
  from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
  where adrelid = 'audit_entry'::regclass and attname = 'epoch'
union all
-- Without its name, which says the month where the table is a partition.
select concat_ws(' ', 'constraint', conrelid::regclass, convalidated, conenforced, pg_get_constraintdef(con.oid))
  from pg_constraint con join pg_class c on c.oid = conrelid
  where c.relnamespace = 'public'::regnamespace and c.relname like 'audit\\_%' and contype <> 'n'
union all
-- Indexes that keep a second row of one key out, and those that sort by an order of somebody's own.
select concat_ws(' ', 'index', indrelid::regclass, indisunique, indisvalid, indimmediate,
    substring(pg_get_indexdef(indexrelid) from ' USING .*'))
  from pg_index i join pg_class c on c.oid = indrelid
  where c.relnamespace = 'public'::regnamespace and c.relname like 'audit\\_%' and (indisunique or exists (
    select from unnest(indclass) class join pg_opclass o on o.oid = class
    where o.opcnamespace <> 'pg_catalog'::regnamespace))
union all
-- A child's rows are met in its parent, and none of the parent's triggers stands on it.
select concat_ws(' ', 'child', inhrelid::regclass, 'of', inhparent::regclass)
  from pg_inherits join pg_class c on c.oid = inhparent
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
union all
select concat_ws(' ', 'cast', castsource::regtype, casttarget::regtype, castcontext, castfunc::regprocedure)
  from pg_cast where oid >= 16384
union all
select concat_ws(' ', 'sequence', seqrelid::regclass, seqincrement, seqmin, seqmax, seqcycle, seqcache)
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
    or nspname like 'counterseal\\_%'  -- where a session of a role of that name looks first
union all
select concat_ws(' ', 'default', defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype,
    array(select unnest(defaclacl)::text order by 1))
  from pg_default_acl where defaclrole::regrole::text like 'counterseal\\_%'  -- what the owner makes, months among it
union all
select concat_ws(' ', 'parameter', parname, array(select unnest(paracl)::text order by 1))
  from pg_parameter_acl where paracl::text ~ '[{,"](counterseal_|=)'
union all
-- Also what somebody has set for the whole server.
select concat_ws(' ', 'begins with', name, reset_val)
  from pg_settings where name in ('search_path', 'session_replication_role', 'row_security')
union all
select concat_ws(' ', 'database', datdba::regrole, array(select unnest(datacl)::text order by 1))
  from pg_database where datname = current_database()
union all
select concat_ws(' ', 'setting', coalesce(rolname, 'all'), setconfig)
  from pg_db_role_setting left join pg_roles on pg_roles.oid = setrole
  where setdatabase in (0, (select oid from pg_database where datname = current_database()))
    and (setrole = 0 or rolname like 'counterseal\\_%')
"""


def lines() -> list[str]:
    """One line for each guard: triggers, rules, functions, owners, grants, forms, policies, roles, settings.

    Of months' partitions, which come and go without an upgrade, a line for each way in which one is guarded.
    """
    now = _now()
    return sorted(now.fixed | set(now.partitions.values()))


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


def differences(recorded: VerifiedEntry) -> list[str]:
    """What guards the data now and did not, or did and does not any more, against a `log.schema` entry; sentences."""
    was = _recorded(recorded)
    if was is None:
        return ["It does not hold the guards that it was written about, so they cannot be compared."]
    now = _now()
    found = [f"This guard is gone: {line}" for line in sorted(was - now.fixed) if not line.startswith(GUARDED)]
    found += [f"This was not there: {line}" for line in sorted(now.fixed - was)]
    return found + [
        f"The partition {name} is not guarded as it was."
        for name, guarded in sorted(now.partitions.items())
        if guarded not in was
    ]


def _recorded(entry: VerifiedEntry) -> set[str] | None:
    """The guards that an entry holds; None when somebody has put anything else there."""
    try:
        found = simplejson.loads(entry.result.kept or b"")
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, list) or not all(isinstance(line, str) for line in found):
        return None
    return set(found) if digest_of(found) == entry.text("tool_hash") else None


PARTITION = re.compile(r"\b(audit_[a-z]+)_[0-9]{6}\b")
GUARDED = "partition guarded as "


@dataclass
class _Guards:
    fixed: set[str]
    partitions: dict[str, str]  # by name, what all of its guards come to


def _now() -> _Guards:
    with connection.cursor() as cursor:
        cursor.execute(GUARDS)
        guards = [row[0] for row in cursor.fetchall()]
    fixed, partitions = set(), defaultdict(set)
    for line in guards:
        named = PARTITION.search(line)
        if named:
            partitions[named[0]].add(PARTITION.sub(r"\1_month", line))
        else:
            fixed.add(line)
    return _Guards(fixed, {name: GUARDED + digest_of(sorted(found)) for name, found in partitions.items()})
