"""What the form of a source asks for, field by field. Each kind declares its own, so that a new kind brings its form.

A field stands for one key of the body. What it may say is checked where the body is, by the kind's `check_source`,
whose sentences name the key: by that name the form puts each sentence at its field.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum


class Sort(StrEnum):
    """How a value is typed, and what it is in the body."""

    TEXT = "text"
    LONG = "long"  # a text of many lines
    NUMBER = "number"
    YES = "yes"  # true, or left out
    CHOICE = "choice"  # one text of a few
    SEVERAL = "several"  # a list of texts out of a few
    LINES = "lines"  # a list of texts, one a line
    PAIRS = "pairs"  # an object of texts, one a line: name, colon, value


@dataclass(frozen=True)
class Field:
    """One field. `is_listed_empty`: an empty list is said and not left out."""

    key: str
    label: str
    hint: str = ""
    sort: Sort = Sort.TEXT
    is_needed: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    is_listed_empty: bool = False


ENVIRONMENT = Field("environment", "Environment", "A short name in lower case, like production.", is_needed=True)
QUERY = Field("query", "Agents may write queries of their own", "Read by the same lines as every tool’s.", Sort.YES)
SCHEMA = Field("schema", "Schema that the reader sees", "One schema of views, like shop_read.", is_needed=True)


def credentials(end: str, is_needed: bool = True) -> tuple[Field, Field]:
    """The two variables of a source, whose names end in a word that says what they hold."""
    reader = f"The name of an environment variable, like SHOP_READER_{end}; the credential never stands here."
    doctor = f"Another one, like SHOP_DOCTOR_{end}, by which the reader’s rights are looked at."
    return (
        Field("reader_env", "Variable of the reader’s credential", reader, is_needed=is_needed),
        Field("doctor_env", "Variable of the doctor’s credential", doctor, is_needed=is_needed),
    )


def accepts(names: Collection[str]) -> Field:
    """The facts that may be left to later lines."""
    hint = "Facts of the certificate for which the source is served although they do not hold."
    choices = tuple((name, name) for name in sorted(names))
    return Field("accepts", "Left to later lines", hint, Sort.SEVERAL, choices=choices)


def _site(are_credentials_needed: bool = False) -> tuple[Field, ...]:
    """A server that is read over HTTP, as evidence.kinds.http.site has it."""
    sent = "bearer, basic (the variable holds user:password), or header and its name, like header X-Api-Key."
    return (
        Field("url", "Address", "https://, a host in lower case, and the path that everything is behind.",
              is_needed=True),
        ENVIRONMENT,
        *credentials("TOKEN", are_credentials_needed),
        Field("credential", "How the credential is sent", sent, is_needed=are_credentials_needed),
        Field("addresses", "Addresses that are not everybody’s, one a line",
              "Private ones are reached only if they stand here, like 10.0.0.5 or 10.2.0.0/16.", Sort.LINES),
        Field("hosts", "Where redirects may lead, one a line",
              "Like https://mirror.example.com. No credential goes there.", Sort.LINES),
        Field("headers", "Headers that are sent with each request, one a line", "Like X-Scope-OrgID: shop.",
              Sort.PAIRS),
        Field("ca", "Certificates that are trusted, in PEM", "Empty: those that this machine trusts.", Sort.LONG),
    )  # fmt: skip


SITE = _site()
CLOSED_SITE = _site(are_credentials_needed=True)
