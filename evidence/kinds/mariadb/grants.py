"""What SHOW GRANTS says of an account, taken apart. What is not understood is kept as such, and never passes.

Both MariaDB and MySQL write a line for each place where the account has something, with names in backquotes:
GRANT SELECT (`id`), INSERT ON `shop`.`jobs` TO `reader`@`%` IDENTIFIED BY PASSWORD '*D82…' WITH GRANT OPTION
Only what stands before TO is ever shown: behind it stands the password's hash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

_NAME = r"`(?:[^`]|``)*`"
_PRIVILEGE = rf"[A-Z][A-Z_ ]*[A-Z](?: \({_NAME}(?:, {_NAME})*\))?"
_LINE = re.compile(
    rf"GRANT (?P<privileges>{_PRIVILEGE}(?:, {_PRIVILEGE})*) ON "
    rf"(?:(?P<type>TABLE|FUNCTION|PROCEDURE|PACKAGE BODY|PACKAGE) )?(?P<place>(?:{_NAME}|\*)\.(?:{_NAME}|\*)) TO "
    r"(?P<behind>.*)",
    re.S,
)
_ROLE = re.compile(rf"GRANT (?P<roles>{_NAME}(?:@{_NAME})?(?:,\s*{_NAME}(?:@{_NAME})?)*) TO .*", re.S)
_PROXY = re.compile(r"GRANT PROXY ON (?P<whom>.*?) TO .*", re.S)
_DEFAULT_ROLE = re.compile(rf"SET DEFAULT ROLE (?P<role>{_NAME}(?:@{_NAME})?) FOR .*", re.S)
_TEXT = re.compile(r"'(?:[^'\\]|''|\\.)*'|" + _NAME, re.S)
_ONE = re.compile(_PRIVILEGE)
READING = frozenset(("SELECT", "SHOW VIEW"))
NOTHING = "USAGE"


@dataclass(frozen=True)
class Grant:
    """Privileges at one place. `schema` is a pattern where the place is a whole schema, and "*" for the server."""

    privileges: tuple[str, ...]  # with their columns, as they stand
    type: str
    place: str
    may_pass_on: bool

    @property
    def schema(self) -> str:
        """The schema of the place, as it is called without its quotes."""
        return _unquoted(_parts(self.place)[0])

    @property
    def object(self) -> str:
        """What of the schema the place is, "*" for all of it."""
        return _unquoted(_parts(self.place)[1])

    @property
    def names(self) -> frozenset[str]:
        """The privileges without their columns."""
        return frozenset(text.partition(" (")[0] for text in self.privileges)

    @property
    def is_of_routine(self) -> bool:
        return self.type not in ("", "TABLE")


@dataclass(frozen=True)
class Held:
    """Everything that an account holds. `unread` are the beginnings of lines that are not understood."""

    grants: tuple[Grant, ...]
    roles: tuple[str, ...]
    proxies: tuple[str, ...]
    unread: tuple[str, ...]


def held(lines: Iterable[str]) -> Held:
    """What the lines of SHOW GRANTS give."""
    grants: list[Grant] = []
    roles: list[str] = []
    proxies: list[str] = []
    unread: list[str] = []
    for line in lines:
        if found := _PROXY.fullmatch(line):
            proxies.append(found["whom"])
        elif found := _ROLE.fullmatch(line) or _DEFAULT_ROLE.fullmatch(line):
            roles += [text for text in found.groupdict().values() if text is not None and text not in roles]
        elif found := _LINE.fullmatch(line):
            privileges = tuple(one[0] for one in _ONE.finditer(found["privileges"]))
            may_pass_on = "GRANT OPTION" in _TEXT.sub("", found["behind"])
            grants.append(Grant(privileges, found["type"] or "", found["place"], may_pass_on))
        else:
            unread.append(line.partition(" TO ")[0].partition(" FROM ")[0][:80])
    return Held(tuple(grants), tuple(roles), tuple(proxies), tuple(unread))


def _parts(place: str) -> tuple[str, str]:
    found = re.fullmatch(rf"({_NAME}|\*)\.({_NAME}|\*)", place)
    assert found is not None  # the line's own pattern holds the same
    return found[1], found[2]


def _unquoted(name: str) -> str:
    return name if name == "*" else name[1:-1].replace("``", "`")


def quoted(name: str) -> str:
    """A name as an identifier."""
    return f"`{name.replace('`', '``')}`"


def pattern(schema: str) -> str:
    """The pattern that names this schema alone: an underscore in it stands for any character."""
    return schema.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%")


def account(current_user: str) -> str:
    """The account that CURRENT_USER() told, as statements name it."""
    user, _, host = current_user.rpartition("@")
    return f"{quoted(user)}@{quoted(host)}"
