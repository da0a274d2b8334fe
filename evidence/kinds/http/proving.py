"""What certificates of HTTP sources have in common: where the credential leads, and as whom."""

from __future__ import annotations

import hashlib
from functools import lru_cache

from audit.models import Definition
from evidence.credentials import of_variable
from evidence.kinds.http import site
from evidence.kinds.http.site import Site
from evidence.layers import Attack
from evidence.stating import Proven, Seen, Weight, excused

CLIENT = "the client, which sends GET, to endpoints that are fixed"
WIRE = "the client, which checks each address and connects to what it checked"
LITERALS = "arguments encoded as one value, or as one text in the query"
LIMITS = "the limits of time and bytes"
# Of every kind that is read over HTTP.
ATTACKS = (
    Attack("Leading the client elsewhere: redirects, private addresses, names that change", (), WIRE),
    Attack("Arguments that become another address, parameter or query", (), LITERALS),
    Attack("Answers without end, packed bombs, servers that drip", (), LIMITS),
)


def credentials(source: Definition) -> tuple[str, ...]:
    """The variables that the proof needs; none where the server asks for no credential."""
    return tuple(source.body[key] for key in ("reader_env", "doctor_env") if key in source.body)


def address(source: Definition) -> str:
    """Where the credential leads and as whom, without its secret. Raises Problem when it is unset.

    A token has no name that two processes could compare, so it is told by a mark that is slow to make.
    """
    found = site.of(source.name, source.body)
    return f"{found.origin}{found.base}, {role(found)}"


def role(found: Site) -> str:
    """Who the server takes the reader for, as far as the credential says. Raises Problem."""
    if not found.variable:
        return "without a credential"
    secret = of_variable(found.name, found.variable)
    user = f"user {secret.partition(':')[0]}, " if found.credential == "basic" else ""
    return f"{user}credential {_mark(secret, str(found.origin))}"


@lru_cache(maxsize=64)
def _mark(secret: str, salt: str) -> str:
    return hashlib.scrypt(secret.encode(), salt=salt.encode(), n=2**14, r=8, p=1, dklen=6).hex()


def proven(source: Definition, server: str, facts: list[Seen]) -> Proven:
    """A proof with what every HTTP source's says besides. Raises Problem for an unset credential."""
    found = site.of(source.name, source.body)
    return Proven(address(source), role(found), server, [*facts, _encrypted(found), _named(found)])


def _encrypted(found: Site) -> Seen:
    is_https = found.origin.scheme == "https"
    seen = "https" if is_https else "http: whoever is on the way can read it, as the definition says"
    return Seen("encrypted", "How the server is reached.", True, seen, "", Weight.NOTE)


def _named(found: Site) -> Seen:
    named = ", ".join(map(str, found.named))
    seen = f"at everybody's addresses and at {named}" if named else "at everybody's addresses alone"
    return Seen("addresses", "Where the server may be reached.", True, seen, "", Weight.NOTE)


def reached(server: str) -> Seen:
    """The fact that the server let the reader in, and which server that is."""
    return Seen("reached", "The reader's credential is let in.", True, server, "", Weight.WALL)


def layer(source: Definition, name: str, sentence: str, contrary: str, seen: str, mend: str) -> Seen:
    """A fact that later lines close where it does not hold. `contrary` says what was seen against it, if anything."""
    fact = Seen(name, sentence, not contrary, contrary or seen, mend if contrary else "", Weight.LAYER)
    return excused(fact, source.body.get("accepts", ()))
