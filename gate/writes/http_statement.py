"""The canonical request of an HTTP action: the address and the body's exact bytes. They are shown, hashed and sent.

The body is the part of RFC 8785 that holds text, whole numbers, true, false and null: a fraction may be rounded by
whoever reads it, so it is written as text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from evidence import arguments
from gate.writes import targets
from gate.writes.characters import hidden
from gate.writes.errors import Unfit
from gate.writes.http_target import FIELD, HttpAction
from gate.writes.models import WriteRequest
from gate.writes.statement import LONGEST_STATEMENT

LARGEST_NUMBER = 2**53 - 1  # above it, readers that take numbers for floats round


@dataclass(frozen=True)
class Request:
    """One request as it is sent, but for its headers."""

    method: str
    url: str
    fields: dict[str, Any]

    @property
    def body(self) -> str:
        """The body's bytes as text: they are UTF-8."""
        return json.dumps(self.fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))

    @property
    def text(self) -> str:
        """What is shown and hashed."""
        return f"{self.method} {self.url}\n{self.body}"

    @property
    def verb(self) -> str:
        """The method as a write keeps it."""
        return self.method.lower()

    @property
    def table(self) -> str:
        """Host and path, as people read where it goes."""
        parts = urlsplit(self.url)
        return f"{parts.netloc}{parts.path}"


def canonical(action: HttpAction, text: str, parameters: Any) -> Request:
    """The request that `text` asks for: the body's fields as a JSON object, or a whole canonical request. Raises Unfit.

    The fields are all that a proposal says; the rest is the target's.
    """
    if parameters:
        raise Unfit("An HTTP action takes no parameters: its fields stand in the JSON object of the statement.")
    if len(text) > LONGEST_STATEMENT:
        raise Unfit(f"The statement is longer than {LONGEST_STATEMENT:,} characters.")
    line, is_whole, body = text.strip().partition("\n{")
    fields = _fields(f"{{{body}" if is_whole and not line.startswith("{") else text.strip())
    if why := arguments.misfit(action.body, fields):
        raise Unfit(f"The fields do not fit the target's schema. {why}")
    made = Request(action.method, filled(action.url, fields), fields)
    if code := hidden(made.text, allow="\n"):
        raise Unfit(f"The statement holds the character {code}, which a reader would not see.")
    if not text.strip().startswith("{") and line != f"{made.method} {made.url}":
        raise Unfit("The first line is not the one that these fields make; give the JSON object of the fields alone.")
    return made


def screened(write: WriteRequest) -> Request:
    """What a stored write sends. Raises Unfit when that could not be proposed, or is not what its page shows."""
    action = targets.of(write.target).action
    if action is None:
        raise Unfit(f"{write.ref} is no HTTP action.")
    made = canonical(action, write.statement, write.parameters)
    if (made.text, made.verb, made.table) != (write.statement, write.verb, write.table):
        raise Unfit(f"The request of {write.ref} is not in the form that is shown and sent.")
    return made


def filled(template: str, fields: Mapping[str, Any]) -> str:
    """An address with its fields in place, each as one segment or value. Raises Unfit."""
    return FIELD.sub(lambda found: _segment(found[1], fields.get(found[1])), template)


def _segment(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Unfit(f"The field {name} stands in the address, so it is text that is not empty, or a whole number.")
    if set(str(value)) == {"."}:
        raise Unfit(f"The field {name} stands in the address and would lead to another one.")
    return quote(str(value), safe="")


def _fields(text: str) -> dict[str, Any]:
    try:
        found = json.loads(
            text, object_pairs_hook=_object, parse_int=_whole, parse_float=_no_number, parse_constant=_no_number
        )
    except (json.JSONDecodeError, RecursionError) as error:
        raise Unfit("The statement of an HTTP action is the JSON object of its fields.") from error
    if not isinstance(found, dict):
        raise Unfit("The statement of an HTTP action is the JSON object of its fields.")
    _check_text(found)
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unfit("A field is there twice.")
    return found


def _whole(text: str) -> int:
    if len(text) > 17 or abs(int(text)) > LARGEST_NUMBER:
        raise Unfit("A number is too large to come through unchanged; write it as text.")
    return int(text)


def _no_number(text: str) -> None:
    raise Unfit("A number with a fraction may be rounded on its way; write it as text, or as a whole number of cents.")


def _check_text(found: dict[str, Any]) -> None:
    try:
        json.dumps(found, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError) as error:
        raise Unfit("The fields hold what is no text, or nest too deeply.") from error
