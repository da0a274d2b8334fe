"""Text as a reader takes it: letters that look alike are one letter, and what cannot be seen is gone. Pure.

A word may be hidden from a list of words by a letter of another alphabet that looks the same, by an accent, or by a
character without a width. Unicode's own folding (UAX #15, compatibility decomposition) does most of it; the table holds
the look-alikes of Latin letters in the alphabets that are printed with the same fonts (after UTS #39, confusables).
"""

from __future__ import annotations

import re
import unicodedata

_ALIKE = str.maketrans(
    {
        **dict(zip("авекмнорстухгпіјѕԁԛԝһӏьѵ", "abekmhopctyxrnijsdqwhlbv", strict=True)),  # Cyrillic
        **dict(zip("αβεικνορτυχγηωμς", "abeikvoptuxynwus", strict=True)),  # Greek
        **dict(zip("օոսցհգքոյ", "onughqpnj", strict=True)),  # Armenian
        **dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True)),  # small capitals
        **dict(zip("ıɑɡɩøłħŧƀđɨ", "iagiolhtbdi", strict=True)),  # Latin letters that do not come apart
    }
)
# They take no room, or look like nothing, and are no marks or formatting by their category.
_BLANK = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_UNSEEN = ("Mn", "Me", "Cf")
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_PART = re.compile(r"[A-Za-z0-9]+")


def plain(text: str) -> str:
    """The text in the Latin letters that it looks like, with its capitals; control characters become spaces."""
    return "".join(map(_seen, unicodedata.normalize("NFKD", text)))


def _seen(character: str) -> str:
    category = unicodedata.category(character)
    if category in _UNSEEN or character in _BLANK:
        return ""
    if category in ("Cc", "Zs", "Zl", "Zp"):
        return " "
    letter = character.casefold().translate(_ALIKE)
    return letter.upper() if character.isupper() else letter


def folded(text: str) -> str:
    """The same without capitals, with single spaces and straight apostrophes."""
    return " ".join(plain(text).casefold().replace("’", "'").split())


def words(name: str) -> tuple[str, ...]:
    """The words of a name in snake_case, kebab-case, camelCase, or of several words, in small letters."""
    return tuple(word.casefold() for word in _WORD.findall(plain(name)))


def parts(name: str) -> tuple[str, ...]:
    """The pieces between a name's separators, in small letters, whatever its capitals seem to divide."""
    return tuple(part.casefold() for part in _PART.findall(plain(name)))
