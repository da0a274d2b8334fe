"""Arguments in an address: each stays in the one path segment, or the one value of a parameter, that it was given.

Everything but unreserved characters is percent-encoded (RFC 3986, 2.3). For a path that is not enough: a proxy on the
way may decode it and read a slash or a step upward that nobody wrote, so what could become one is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import Any
from urllib.parse import quote

from evidence.errors import Refused

LONGEST = 2_000  # characters of one argument in an address
MOST_DIGITS = 40  # of a number, before and behind the point
STEPS = ("", ".", "..")
SPLITTERS = frozenset("/\\;?#%")
# Characters that are not seen, or that turn the text around them: control, format, surrogate, private, unassigned,
# and the separators of lines and paragraphs.
UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))


def segment(value: Any) -> str:
    """A value as one segment of a path. Raises Refused for what could be read as anything else there."""
    found = text(value)
    # A reader that folds letters into their usual form may find a slash or dots where there were none.
    for form in (found, unicodedata.normalize("NFKC", found), unicodedata.normalize("NFKD", found)):
        if form.strip() in STEPS or form.strip(". ") == "" or SPLITTERS & set(form):
            raise _wrong("An argument that names something in a path has no / \\ ; ? # or % and is no step of dots.")
    return quote(found, safe="")


def query(pairs: Iterable[tuple[str, Any]]) -> str:
    """Parameters with their values as they stand behind a path, with the question mark; empty for none.

    A list is the parameter several times; None leaves it out. Raises Refused.
    """
    listed = [(name, one) for name, value in pairs for one in (value if isinstance(value, list) else [value])]
    told = [f"{quote(name, safe='')}={quote(text(value), safe='')}" for name, value in listed if value is not None]
    return f"?{'&'.join(told)}" if told else ""


def text(value: Any) -> str:
    """A plain value as text: true and false as JSON has them, numbers with their digits. Raises Refused."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return _digits(Decimal(value))
    if not isinstance(value, str) or len(value) > LONGEST:
        raise _wrong(f"An argument in an address is a text of at most {LONGEST:,} characters, a number, true or false.")
    if any(unicodedata.category(letter) in UNSEEN for letter in value):
        raise _wrong("An argument in an address has no control characters and none that are not seen.")
    return value


def _digits(number: Decimal) -> str:
    # 1e999999999 is ten characters in an argument, and would be a thousand million of them here.
    if not number.is_finite() or abs(number.adjusted()) > MOST_DIGITS or len(number.as_tuple().digits) > MOST_DIGITS:
        raise _wrong(f"A number in an address has at most {MOST_DIGITS} digits.")
    return format(number, "f")


def _wrong(sentence: str) -> Refused:
    return Refused("parameters", sentence)
