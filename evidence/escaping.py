"""What cannot be seen is written out, before anybody is shown it: ⟦U+202E⟧ stands where a character turned the text.

Controls, invisible characters, those that turn the reading direction, and half pairs of surrogates can hide an
instruction from people that a model reads, or make a text look like another. A result passes here before it is hashed,
so the entry holds exactly what the agent got, and the agent gets nothing that its people cannot see.

The form can be read back: a source's own "⟦U+" is written out as well, so no text of a source passes for an escape,
and two texts that differ still do. Which characters these are follows Unicode's Default_Ignorable_Code_Point
(DerivedCoreProperties.txt), with the controls, line separators, surrogates and noncharacters besides.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

MARK = "⟦U+"  # what every escape begins with, and nothing else that leaves here
_NOWHERE = "".join(chr(plane * 0x10000 + last) for plane in range(17) for last in (0xFFFE, 0xFFFF))  # no characters
# A tab, a line feed and a carriage return before one are how logs are written; every other control is written out.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    f"{_NOWHERE}]"
    "|\r(?!\n)|[\ufe00-\ufe0f]|⟦(?=U\\+)"
)
_ESCAPE = re.compile("⟦U\\+([0-9A-F]{4,6})⟧")
EMOJI_STYLE = "\ufe0f"


def escaped(value: Any) -> Any:
    """The value with every text in it, also the keys of objects, as `shown`. The argument is not changed."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {escaped(key): escaped(child) for key, child in value.items()}
    if isinstance(value, list):
        return [escaped(child) for child in value]
    return value


def shown(text: str) -> str:
    """The text with what hides in it written out."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_written, text)


def without_hidden(text: str) -> str:
    """The text without what hides in it: what a reader would take it for."""
    return _HIDDEN.sub(lambda found: "⟦" if found[0] == "⟦" else "", text)


def _written(found: re.Match[str]) -> str:
    character = found[0]
    if character == EMOJI_STYLE and _is_picture(found.string[found.start() - 1 : found.start()]):
        return character
    return f"⟦U+{ord(character):04X}⟧"


def _is_picture(before: str) -> bool:
    """Whether a picture may be asked for in color here: the one variation selector that many ordinary texts hold."""
    return bool(before) and unicodedata.category(before) == "So"


def read_back(text: str) -> str:
    """The text that `shown` was given."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text)
