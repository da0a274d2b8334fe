"""Typed facts in a text: numbers with units, money, moments, addresses, hosts, paths, hashes and ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from evidence.survival.words import STOP_WORDS

_TIME = {"ns": "1e-9", "us": "1e-6", "µs": "1e-6", "ms": "0.001", "s": "1", "sec": "1", "secs": "1", "second": "1",
         "seconds": "1", "min": "60", "mins": "60", "minute": "60", "minutes": "60", "h": "3600", "hr": "3600",
         "hour": "3600", "hours": "3600", "d": "86400", "day": "86400", "days": "86400",
         "millisecond": "0.001", "milliseconds": "0.001"}  # fmt: skip
_BYTES = {f"{letter}{'i' if base == 1024 else ''}{tail}": str(base**power)
          for base in (1000, 1024) for power, letter in enumerate("KMGTP", 1) for tail in ("B", "")
          if tail or base == 1024} | {"B": "1", "bytes": "1", "byte": "1", "kB": "1000"}  # fmt: skip
# Unit as written → (dimension, how many of the base unit it is).
UNITS: Mapping[str, tuple[str, Fraction]] = (
    {unit: ("time", Fraction(size)) for unit, size in _TIME.items()}
    | {unit: ("bytes", Fraction(size)) for unit, size in _BYTES.items()}
    | {"%": ("share", Fraction(1, 100)), "percent": ("share", Fraction(1, 100))}
    | {"°C": ("°C", Fraction(1)), "°F": ("°F", Fraction(1))}
    | {"k": ("", Fraction(1000)), "K": ("", Fraction(1000)), "M": ("", Fraction(1_000_000))}
)
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
# Bounded, so that no text makes a number that takes a machine down.
_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,9}|\d{1,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?"
# A path may begin on its own, or after a host or a port.
_ROOT = r"(?:(?<![\w:/.])|(?<=\.[a-z]{2})|(?<=\.[a-z]{3})|(?<=\.local)|(?<=:\d{2})|(?<=:\d{4}))/"
_ID = r"\b(?=[\w.-]{0,63}\d)(?=[\w.-]{0,63}[a-zA-Z])[a-zA-Z0-9](?:[\w.-]*[a-zA-Z0-9])?\b"
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS).replace("(?:tember)", "t?(?:ember)")
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_RATE = r"/(?:second|sec|s|minute|min|hour|h)\b"
_SIGNED = r"(?:(?<![\w.)\]])[-−+])?"
PATTERN = re.compile(
    rf"""
    (?P<uuid>\b[0-9a-fA-F]{{8}}(?:-[0-9a-fA-F]{{4}}){{3}}-[0-9a-fA-F]{{12}}\b)
  | (?P<moment>\b\d{{4}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?)
  | (?P<date>\b(?:(?:{_MONTH})\.?\ {_DAY},?|{_DAY}\ (?:of\ )?(?:{_MONTH})\.?,?)\ \d{{4}}\b)
  | (?P<clock>\b\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\b)
  | (?P<ip>(?<![\w.])\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?![\w.]*\d))
  | (?P<path>{_ROOT}(?:[\w.*-]+/)*[\w.*-]*\w[\w*-]*)
  | (?P<money>[$€£]\s?{_NUMBER}(?:\s?(?:k|K|M|B|bn)(?!\w))?
      |\b(?:USD|EUR|GBP)\s?{_NUMBER}|{_NUMBER}\s?(?:USD|EUR|GBP)\b)
  | (?P<hash>\b(?=[0-9a-f]*\d)(?=[0-9]*[a-f])[0-9a-f]{{7,64}}\b)
  | (?P<number>{_SIGNED}(?<![\w.]){_NUMBER}(?:\+?[ -]?(?:{_UNIT})(?![\w%])(?:{_RATE})?)?(?!\w|-[a-zA-Z_]))
  | (?P<host>\b(?:[a-zA-Z][\w-]{{0,62}}\.){{1,9}}[a-zA-Z][\w-]{{1,62}}\b)
  | (?P<id>{_ID}|\b[a-zA-Z]\w*_\w+\b|\b(?:[A-Z][a-z0-9]{{1,30}}){{2,8}}\b)
    """,
    re.VERBOSE,
)
CURRENCIES = {"$": "USD", "€": "EUR", "£": "GBP"}
MULTIPLES = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "bn": 10**9}
# What a number counts stands after it, or before it where it is money of another kind. Words that only join are none.
COUNTED = re.compile(r"[ \u00a0-]?([^\W\d_]+)(?![\w]*[=:])")
BEFORE = re.compile(
    r"(?:[\u20a0-\u20cf¢¤¥]|\b(?:AUD|BRL|CAD|CHF|CNY|CZK|DKK|HKD|HUF|INR|JPY|KRW|MXN|NOK|NZD|PLN|SEK|SGD|TRY|ZAR))\s?$"
)
# A field whose name says that it is a name, or how many of something.
COUNTING_FIELD = re.compile(
    r"(?:^|[_.-])(?:ids?|counts?|index|port|pid|version|code|status|year|rows?|items?|attempts?|retries|errors?|failures?|"
    r"jobs?|slots?|pages?|replicas|restarts)$|[a-z](?:Id|Ids|Count|Port|Code|Version)$"
)
JOINING = STOP_WORDS | frozenset(
    ("after", "again", "also", "before", "below", "but", "during", "if", "or", "over", "since", "so", "than", "then",
     "under", "until", "up", "vs", "when", "where", "which", "while")
)  # fmt: skip
NUMERIC = re.compile(_NUMBER)
NAMED_MONTH = re.compile(_MONTH)
# The unit that the name of a field states.
FIELD_UNIT = re.compile(r"_(ms|us|ns|s|sec|seconds|minutes|hours|days|bytes|kb|mb|gb|pct|percent)$", re.IGNORECASE)
FIELD_UNITS = {"kb": "KB", "mb": "MB", "gb": "GB", "pct": "%"}


class Atom(NamedTuple):
    """One fact. A quantity has a `number` in its base unit and a `dimension`; `step` is its last written digit there.

    `written` is the number as it stands, whatever its unit.
    """

    kind: str
    value: str
    start: int
    end: int
    number: Fraction | None = None
    dimension: str = ""
    step: Fraction = Fraction(1)
    field: str | None = None
    written: Fraction | None = None


def atoms_of(text: str, start: int = 0, end: int | None = None, field: str | None = None) -> Iterator[Atom]:
    """The facts in a part of a text. `field` is the name that the part stands under, which may state a unit."""
    for found in PATTERN.finditer(text, start, len(text) if end is None else end):
        kind = str(found.lastgroup)
        if kind in ("number", "money"):
            yield _quantity(found, kind, field)
        elif kind == "date":
            yield Atom("moment", _date(found[0]), *found.span(), field=field)
        else:
            yield Atom(kind, _plain(kind, found[0]), found.start(), found.end(), field=field)


def _date(written: str) -> str:
    """A date that names its month, as the others are written."""
    month = NAMED_MONTH.search(written)
    assert month is not None  # the pattern has one in it
    day, year = (int(digits) for digits in re.findall(r"\d+", written))
    number = next(number for number, name in enumerate(MONTHS, 1) if name.startswith(month[0][:3]))
    return f"{year:04}-{number:02}-{day:02}"


def is_counting(atom: Atom, text: str, start: int, end: int) -> bool:
    """Whether a number in a part of a text says what it counts, in words or a currency that are no unit of ours."""
    if atom.number is None or atom.dimension:
        return False
    if COUNTING_FIELD.search(atom.field or ""):
        return True
    follows = COUNTED.match(text, atom.end, end)
    counts = follows is not None and follows[1].lower() not in JOINING
    return counts or BEFORE.search(text, max(start, atom.start - 5), atom.start) is not None


def _plain(kind: str, written: str) -> str:
    """A name as it is compared: in lower case, and a moment without the two ways to write its parts."""
    plain = written.lower()
    return plain.replace("t", " ").replace(",", ".").removesuffix("z") if kind in ("moment", "clock") else plain


def _quantity(found: re.Match[str], kind: str, field: str | None) -> Atom:
    written = NUMERIC.search(found[0])
    assert written is not None  # the pattern has one in it
    number = Decimal(written[0].replace(",", ""))
    places = -min(int(number.as_tuple().exponent), 0)
    if kind == "money":
        sign, _, more = found[0].partition(written[0])
        sign, more = (sign.strip(), more.strip()) if sign.strip() else (more.strip(), "")
        dimension, size = CURRENCIES.get(sign, sign), Fraction(MULTIPLES.get(more, 1))
    else:
        dimension, size = _dimension(found[0][written.end() :].lstrip(" +-"), field)
    plain = Fraction(-number if found[0][0] in "-−" else number)
    value = f"{plain * size} {dimension}".rstrip()
    return Atom(kind, value, *found.span(), plain * size, dimension, Fraction(1, 10**places) * size, field, plain)


def _dimension(unit: str, field: str | None) -> tuple[str, Fraction]:
    named = FIELD_UNIT.search(field or "")
    if not unit and named:
        unit = FIELD_UNITS.get(named[1].lower(), named[1].lower())
    unit, _, per = unit.partition("/")
    dimension, size = UNITS.get(unit, ("", Fraction(1)))
    return (f"{dimension}/time", size / UNITS[per][1]) if per else (dimension, size)
