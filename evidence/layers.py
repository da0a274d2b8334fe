"""Which line stops what: the attacks that the credential itself stops, and those that rest on the lines behind it.

The lines of a guarded read, from the first: the credential, the extended protocol with the read-only transaction and
its rollback, the cursor's grammar with its limits, and the parser's list of what may be named. The attacks here are
those on PostgreSQL; other kinds of source state theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

CREDENTIAL = "the credential"
TRANSACTION = "the read-only transaction, rolled back and its session emptied"
PROTOCOL = "the extended protocol: one statement at a time"
CURSOR = "the cursor: nothing but a SELECT fits in it"
PARSER = "the parser's list of names"
LIMITS = "the limits of time, rows and bytes"


@dataclass(frozen=True)
class Attack:
    """A family of attacks: the facts by which the credential stops it (none: no privilege does), and who else does."""

    name: str
    facts: tuple[str, ...]
    later: str


ATTACKS = (
    Attack(
        "Changing rows, tables, rights and roles",
        ("superuser", "attributes", "memberships", "ownership", "database", "schemas", "tables", "columns",
         "sequences", "grant_options", "tries"),
        TRANSACTION,
    ),
    Attack("Writing through functions, operators, casts and views", ("definer_functions", "routines", "views"), PARSER),
    Attack("Files, programs and settings of the server", ("superuser", "restricted_functions", "parameters"), PARSER),
    Attack("Reaching other servers", ("foreign_servers", "user_mappings", "foreign_tables", "routines"), PARSER),
    Attack("Code of its own: DO", ("languages",), CURSOR),
    Attack("Large objects", ("large_objects", "large_object_functions"), PARSER),
    Attack("Sequences, transaction numbers, messages in the server's log", ("writing_functions",), PARSER),
    Attack("Replication slots", ("attributes", "slot_functions"), PARSER),
    Attack("Advisory locks that stop others", ("lock_functions",), PARSER),
    Attack("Watching and ending other sessions", ("neighbor_functions", "catalog_views"), PARSER),
    Attack("SQL hidden in a string", ("hiding_functions",), PARSER),
    Attack("Waiting on purpose", ("waiting_functions",), LIMITS),
    Attack("Roles, password hashes and statistics of others", ("restricted_catalogs", "catalog_views"), PARSER),
    Attack("Transactions left prepared", ("prepared_transactions",), CURSOR),
    Attack("Several statements in one, its own password, READ WRITE", (), PROTOCOL),
    Attack("NOTIFY", (), TRANSACTION),
    Attack("SET, LISTEN, PREPARE, COPY and LOCK", (), CURSOR),
    Attack("Answers without end, queries without end", (), LIMITS),
    Attack("Names and sources in the catalog", (), PARSER),
)  # fmt: skip


def report(attacks: Sequence[Attack], facts: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """For each family of attacks, the first line that stops it under the credential that these facts describe."""
    held = {fact["fact"] for fact in facts if fact["holds"]}
    return [(attack.name, CREDENTIAL if attack.facts and held.issuperset(attack.facts) else attack.later)
            for attack in attacks]  # fmt: skip
