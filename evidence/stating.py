"""How a fact about a credential is stated: its sentence, what finds the contrary, and what it weighs.

The query of a fact returns no row when the fact holds. A row says what was seen and, in three more columns, the
statement that mends it: what stands before the object, the object, and what stands behind it. Objects that the same
statement can name together are named together. The role is $1, the schema that the source exposes $2.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

NEWEST = 10**9
LEFT_TO_LATER_LINES = "The source leaves it to later lines"
MOST_SEEN = 5  # examples that a fact lists
# A row without a statement.
NO_MEND = "null::text, null::text, null::text"
# Every role that the reader can become; that it does not inherit says nothing, for SET ROLE needs no inheritance.
REACHED = """
with recursive reached(oid) as (
  select oid from pg_roles where rolname = $1
  union select m.roleid from pg_auth_members m join reached on m.member = reached.oid
)
"""


# Every relation that the role reads, also what stands behind a view or below a partitioned table, with the one through
# which it does.
BEHIND = """
with recursive behind(oid, door) as (
  select c.oid, c.oid from pg_class c
  where c.relkind in ('r', 'v', 'm', 'p', 'f') and has_any_column_privilege($1::name, c.oid, 'SELECT')
  union select found.oid, behind.door from behind, lateral (
    select d.refobjid as oid from pg_rewrite w join pg_depend d on d.classid = 'pg_rewrite'::regclass
      and d.objid = w.oid and d.refclassid = 'pg_class'::regclass where w.ev_class = behind.oid
    union all select i.inhrelid from pg_inherits i where i.inhparent = behind.oid
  ) found
)
"""


class Weight(StrEnum):
    """What follows when a fact does not hold."""

    WALL = "wall"  # the credential can write, or become one that can: never served
    LAYER = "layer"  # later lines close it: not served either, unless the source's definition accepts it by name
    NOTE = "note"  # worth knowing; nothing follows


@dataclass(frozen=True)
class Fact:
    """One thing that must be true: its name, its sentence, what finds the contrary, and what to do then.

    `mend` is for rows that bring no statement. `since` and `until` are version numbers of the server. A standby
    refuses what `on_standby` says whatever the role's privileges are.
    """

    name: str
    sentence: str
    contrary: str
    mend: str
    weight: Weight = Weight.WALL
    since: int = 0
    until: int = NEWEST
    on_standby: bool = False

    def given(self, role: str, schema: str) -> list[str]:
        """The query's parameters: PostgreSQL takes none that it does not name."""
        return [value for name, value in (("$1", role), ("$2", schema)) if name in self.contrary]


@dataclass(frozen=True)
class Seen:
    """One fact of a certificate, as it is kept and shown."""

    fact: str
    sentence: str
    holds: bool
    seen: str
    mend: str
    weight: str = Weight.WALL
    excused: str = ""  # why the source is served although the fact does not hold


@dataclass(frozen=True)
class Proven:
    """What one proof found."""

    address: str
    role: str
    server: str
    facts: list[Seen]

    @property
    def holds(self) -> bool:
        """Whether the source may be served: there are facts, and each holds or is excused."""
        return bool(self.facts) and all(fact.holds or fact.excused for fact in self.facts)


def excused(fact: Seen, accepted: Collection[str]) -> Seen:
    """The fact, with its excuse where it does not hold and the source accepts it by name. A wall has no excuse."""
    if fact.holds or fact.weight != Weight.LAYER or fact.fact not in accepted:
        return fact
    return replace(fact, excused=LEFT_TO_LATER_LINES)


def listed(found: Sequence[str]) -> str:
    """What was seen, as a few examples."""
    more = f" and {len(found) - MOST_SEEN} more" if len(found) > MOST_SEEN else ""
    return f"{', '.join(found[:MOST_SEEN])}{more}" if found else "nothing contrary"


def unreached(why: str) -> Proven:
    """The proof of a source that cannot be looked at from both sides."""
    mend = "Look whether the server is up and both credentials are set and right."
    return Proven("", "", "", [Seen("reached", "Both credentials reach the source.", False, why, mend)])


def holders(check: str) -> str:
    """SQL for whom a privilege is revoked from; `check` is a has_*_privilege with %s for the role's name.

    Where PUBLIC has it, the role may have it besides.
    """
    has_public = check % "'public'"
    return f"case when {has_public} then 'FROM PUBLIC, ' else 'FROM ' end || quote_ident($1)"
