"""What must be true of a credential that only reads MariaDB or MySQL: what it holds, judged fact by fact.

Nothing here asks a server: examining does, and hands over what it saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evidence.kinds.mariadb import grants
from evidence.kinds.mariadb.grants import NOTHING, READING, Grant, Held
from evidence.stating import Seen, Weight, excused, listed

MOST_MENDED = 300  # statements of one fact


@dataclass(frozen=True)
class Claim:
    """One thing that must be true: its name, its sentence, what mends it where no statement is found, its weight."""

    name: str
    sentence: str
    mend: str = ""
    weight: Weight = Weight.WALL


@dataclass(frozen=True)
class Contrary:
    """Something that is not as it must be, and the statement that mends it (empty: the claim's own words do)."""

    seen: str
    mend: str = ""


ACCOUNT = Claim("account", "From whatever host the reader signs in, it is itself and not nobody.",
                "Give the reader an account of its own.")  # fmt: skip
SERVER = Claim("global_privileges", "The account holds nothing on the whole server.")
SCHEMAS = Claim("schema_privileges", "On whole schemas the account may do nothing but read.")
TABLES = Claim("table_privileges", "On tables and their columns the account may do nothing but read.")
ROUTINES = Claim("routines", "The account runs no stored function and no procedure.")
ROLES = Claim("roles", "The account has no role.")
PROXIES = Claim("proxies", "The account stands for no other account.")
GRANT_OPTION = Claim("grant_option", "The account can pass nothing on.")
UNREAD = Claim(
    "understood", "Everything that the account holds is understood.",
    "Make the reader an account that holds SELECT on the exposed schema and nothing else.",
)  # fmt: skip
EVERYONE = Claim("everyone", "What every account has changes nothing.")
ELSEWHERE = Claim("elsewhere", "The account reads the exposed schema and no other.", weight=Weight.LAYER)
LIMIT = Claim("connection_limit", "The number of the account's sessions is limited.", weight=Weight.LAYER)
VIEWS = Claim(
    "views", "No view that the account reads calls a function that may write.",
    "Take the function out of the view; the doctor needs SELECT and SHOW VIEW where the views are.",
)  # fmt: skip
TABLES_ELSEWHERE = Claim(
    "foreign_tables", "No table that the account reads lies on another server or in a file.",
    "Take these tables out of the exposed schema.",
)  # fmt: skip
DEFINERS = Claim("definers", "With whose rights the exposed views read.", weight=Weight.NOTE)
SIGN_IN = Claim("init_connect", "What the server runs when the account signs in.", weight=Weight.NOTE)
TRANSPORT = Claim("transport", "How the reader's session reaches the server.", weight=Weight.NOTE)
ACCEPTABLE = frozenset((ELSEWHERE.name, LIMIT.name))


def seen(claim: Claim, found: Sequence[Contrary], body: Mapping[str, Any]) -> Seen:
    """The fact of a certificate that says whether the claim holds."""
    holds = not found or claim.weight is Weight.NOTE
    statements = [one.mend for one in found[:MOST_MENDED] if one.mend]
    mend = "" if holds else " ".join(dict.fromkeys(statements)) or claim.mend
    fact = Seen(claim.name, claim.sentence, holds, listed([one.seen for one in found]), mend, claim.weight)
    return excused(fact, body.get("accepts", ()))


def of_grants(held: Held, account: str, schema: str) -> Iterator[tuple[Claim, list[Contrary]]]:
    """Every claim about what an account holds, with what is contrary to it."""
    alone = [grant for grant in held.grants if not grant.is_of_routine]
    yield SERVER, [taken(grant, account, {NOTHING}) for grant in alone if grant.schema == "*" and _more(grant)]
    schemas = [grant for grant in alone if grant.schema != "*" and grant.object == "*"]
    yield SCHEMAS, [taken(grant, account, READING) for grant in schemas if grant.names - READING]
    tables = [grant for grant in alone if grant.schema != "*" and grant.object != "*"]
    yield TABLES, [taken(grant, account, READING) for grant in tables if grant.names - READING - {NOTHING}]
    yield ROUTINES, [taken(grant, account, set()) for grant in held.grants if grant.is_of_routine]
    yield ROLES, [Contrary(f"role {role}", _without_role(role, account)) for role in held.roles]
    yield PROXIES, [Contrary(f"for {whom}", f"REVOKE PROXY ON {whom} FROM {account};") for whom in held.proxies]
    yield GRANT_OPTION, [Contrary(f"on {grant.place}", f"REVOKE GRANT OPTION ON {_on(grant)} FROM {account};")
                         for grant in held.grants if grant.may_pass_on]  # fmt: skip
    yield UNREAD, [Contrary(text) for text in held.unread]
    yield ELSEWHERE, [*_elsewhere(schemas, account, schema), *_other_tables(tables, account, schema)]


def _more(grant: Grant) -> bool:
    return grant.names != {NOTHING}


def _on(grant: Grant) -> str:
    return f"{grant.type} {grant.place}".strip()


def taken(grant: Grant, account: str, kept: frozenset[str] | set[str]) -> Contrary:
    """What takes away all that is not kept. Where it holds everything, nothing can stay."""
    less = [text for text in grant.privileges if text.partition(" (")[0] not in kept]
    return Contrary(f"{', '.join(less)} on {grant.place}", f"REVOKE {', '.join(less)} ON {_on(grant)} FROM {account};")


def _without_role(role: str, account: str) -> str:
    return f"REVOKE {role} FROM {account}; SET DEFAULT ROLE NONE FOR {account};"


def _elsewhere(found: Sequence[Grant], account: str, schema: str) -> Iterator[Contrary]:
    exact = grants.pattern(schema)
    for grant in found:
        reads = [text for text in grant.privileges if text in READING]
        if not reads or grant.schema == exact:
            continue
        taken = f"REVOKE {', '.join(reads)} ON {grant.place} FROM {account};"
        if grant.schema == schema:
            given = f"GRANT {', '.join(reads)} ON {grants.quoted(exact)}.* TO {account};"
            yield Contrary(f"{grant.place} names every schema that differs in a _ of it", f"{taken} {given}")
        else:
            yield Contrary(f"{', '.join(reads)} on {grant.place}", taken)


def _other_tables(found: Sequence[Grant], account: str, schema: str) -> Iterator[Contrary]:
    for grant in found:
        reads = [text for text in grant.privileges if text.partition(" (")[0] in READING]
        if reads and grant.schema != schema:
            taken = f"REVOKE {', '.join(reads)} ON {grant.place} FROM {account};"
            yield Contrary(f"{', '.join(reads)} on {grant.place}", taken)
