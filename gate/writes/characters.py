"""Characters that a reader cannot see, or that change the order in which text is read."""

import unicodedata
from collections.abc import Mapping
from typing import Any

# Controls, formats (bidi, zero width, tags), surrogates, private use, unassigned, line and paragraph separators.
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Drawn as nothing or as a space, though their category does not say so.
DRAWN_AS_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | {
    chr(point) for point in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
}


def hidden(text: str, allow: str = "") -> str:
    """The first hidden character of `text` by its code point, like "U+202E"; empty when there is none."""
    found = next((one for one in text if one not in allow and _is_hidden(one)), "")
    return f"U+{ord(found):04X}" if found else ""


def _is_hidden(one: str) -> bool:
    category = unicodedata.category(one)
    is_odd_space = category == "Zs" and one != " "
    return category in HIDDEN_CATEGORIES or is_odd_space or one in DRAWN_AS_NOTHING


def unkept(value: Any) -> str:
    """The first character in JSON's texts that PostgreSQL's jsonb refuses (NUL, half a pair) by its code point."""
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list):
        return next(filter(None, map(unkept, value)), "")
    text = value if isinstance(value, str) else ""
    found = next((one for one in text if one == "\0" or unicodedata.category(one) == "Cs"), "")
    return f"U+{ord(found):04X}" if found else ""


def spelled_out(text: str) -> str:
    """`text` with each hidden character written as its code point, for values that come from a target's own rows."""
    return "".join(f"‹U+{ord(one):04X}›" if _is_hidden(one) else one for one in text)
