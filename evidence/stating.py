"""How a fact about a credential is stated: its sentence, what finds the contrary, and what it weighs.

The query of a fact returns no row when the fact holds. A row says what was seen and, in three more columns, the
statement that mends it: what stands before the object, the object, and what stands behind it. Objects that the same
statement can name together are named together. The role is $1, the schema that the source exposes $2.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

NEWEST = 10**9
# A row without a statement.
NO_MEND = "null::text, null::text, null::text"
# Every role that the reader can become; that it does not inherit says nothing, for SET ROLE needs no inheritance.
REACHED = """
with recursive reached(oid) as (
  select oid from pg_roles where rolname = $1
  union select m.roleid from pg_auth_members m join reached on m.member = reached.oid
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


def holders(check: str) -> str:
    """SQL for whom a privilege is revoked from; `check` is a has_*_privilege with %s for the role's name.

    Where PUBLIC has it, the role may have it besides.
    """
    has_public = check % "'public'"
    return f"case when {has_public} then 'FROM PUBLIC, ' else 'FROM ' end || quote_ident($1)"
