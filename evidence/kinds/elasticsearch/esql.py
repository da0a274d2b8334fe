"""ES|QL, read command by command against a closed list. What is not listed is refused.

Left out on purpose: what reads or calls something else than the indexes of FROM (ENRICH, LOOKUP JOIN, COMPLETION,
RERANK, FORK, subqueries, SHOW, ROW, SET), what makes a count inexact (SAMPLE, COUNT_DISTINCT, PERCENTILE), regular
expressions (RLIKE, GROK), comments, texts in three quotes, in which a backslash means nothing, and names put together
from parameters (??name).
Source: the ES|QL reference of commands and functions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from evidence.kinds.elasticsearch.completeness import DEFAULT_ROWS

LONGEST = 10_000  # characters of a query
COMMANDS = frozenset(("where", "stats", "keep", "drop", "sort", "limit", "eval", "rename"))
FUNCTIONS = frozenset((
    "abs", "avg", "bucket", "case", "ceil", "cidr_match", "coalesce", "concat", "count", "date_diff", "date_extract",
    "date_format", "date_trunc", "ends_with", "floor", "greatest", "least", "left", "length", "locate", "ltrim",
    "match", "match_phrase", "max", "min", "right", "round", "rtrim", "split", "starts_with",
    "substring", "sum", "to_boolean", "to_datetime", "to_double", "to_integer", "to_ip", "to_long", "to_lower",
    "to_string", "to_upper", "trim",
))  # fmt: skip
# Words that may stand before a parenthesis and are no function.
OPERATORS = frozenset(("and", "or", "not", "in", "like", "where", "by", "is"))
_WORD = r"[A-Za-z_@][A-Za-z0-9_@.]*(?:-[A-Za-z0-9_@.]+)*"
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?!"")(?:\\.|[^"\\\r\n])*")|(?P<parameter>\?[A-Za-z_][A-Za-z0-9_]*)|(?P<quoted>`[^`]+`)'
    rf"|(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<word>{_WORD})"
    r"|(?P<sign>==|!=|<=|>=|=~|::|[<>=+\-*/%(),|:.\[\]]))",
    re.ASCII,
)
_INDEX = re.compile(r"[a-z0-9][a-z0-9._*-]*", re.ASCII)
_NAMES = r"[^|,\s\"`()\[\]:]+"
_FROM = re.compile(rf"\s*from\s+(?P<indexes>{_NAMES}(?:\s*,\s*{_NAMES})*)\s*(?:\|.*)?", re.IGNORECASE | re.DOTALL)
_COMMENTS = ("//", "/*")

Token = tuple[str, str]


@dataclass(frozen=True)
class Query:
    """What a query reads, and how many rows it can give."""

    indexes: tuple[str, ...]
    parameters: frozenset[str]  # the names after a question mark
    limit: int
    one_row: bool  # its last count is not grouped, so that there is one row and no second


def parse(text: str, allowed: Collection[str]) -> Query:
    """The query that a text says, over the allowed indexes alone. Raises ValueError with a sentence."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"A query is a text of at most {LONGEST:,} characters.")
    indexes = named(text)
    _check_indexes(indexes, allowed)
    commands = list(_commands(_tokens(text.partition("|")[1] + text.partition("|")[2])))
    for command in commands:
        _check(command)
    names = frozenset(said[1:] for command in commands for kind, said in command if kind == "parameter")
    return Query(indexes, names, _limit(commands), _is_one_row(commands))


def named(text: str) -> tuple[str, ...]:
    """The indexes that FROM names, whatever they are. Raises ValueError."""
    found = _FROM.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ValueError("A query begins with FROM and the names of its indexes, then | and what is done with them.")
    return tuple(name.strip() for name in found["indexes"].split(","))


def _check_indexes(indexes: Sequence[str], allowed: Collection[str]) -> None:
    stray = next((name for name in indexes if _INDEX.fullmatch(name) is None or name not in allowed), None)
    if stray is not None:
        raise ValueError(f"FROM names {stray[:60]}; it may name {', '.join(sorted(allowed))}.")


def _tokens(text: str) -> Iterator[Token]:
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        if found is None or text[found.start() :].lstrip().startswith(_COMMENTS):
            raise ValueError(f"The query cannot be read from here on: {text[place:].strip()[:40]}")
        place = found.end()
        kind = found.lastgroup or ""
        yield kind, found[kind]


def _commands(tokens: Iterator[Token]) -> Iterator[list[Token]]:
    """The tokens of each command, without the | that each begins with."""
    command: list[Token] | None = None
    for token in tokens:
        if token == ("sign", "|"):
            if command is not None:
                yield command
            command = []
        elif command is None:
            raise ValueError("After FROM comes | and a command.")
        else:
            command.append(token)
    if command is not None:
        yield command


def _check(command: Sequence[Token]) -> None:
    if not command or command[0][0] != "word" or command[0][1].lower() not in COMMANDS:
        named = command[0][1] if command else "nothing"
        raise ValueError(f"{named[:40]} is none of the commands that are read here: {', '.join(sorted(COMMANDS))}.")
    if _name(command) == "limit" and (len(command) != 2 or not command[1][1].isdigit()):
        raise ValueError("LIMIT is followed by a whole number.")
    for (kind, said), (_, following) in zip(command[1:], [*command[2:], ("", "")], strict=True):
        if kind == "word" and following == "(" and said.lower() not in FUNCTIONS | OPERATORS:
            raise ValueError(f"{said[:40]} is none of the functions that are read here.")
        if kind == "word" and said.lower() == "rlike":
            raise ValueError("RLIKE is not read here; LIKE is.")
        if kind == "quoted" and following == "(":
            raise ValueError("A name in backquotes is a field, not a function.")


def _name(command: Sequence[Token]) -> str:
    return command[0][1].lower()


def _limit(commands: Sequence[Sequence[Token]]) -> int:
    return min([DEFAULT_ROWS, *(int(command[1][1]) for command in commands if _name(command) == "limit")])


def _is_one_row(commands: Sequence[Sequence[Token]]) -> bool:
    """A count without BY gives one row, unless a condition after it can take that away, too."""
    names = [_name(command) for command in commands]
    if "stats" not in names:
        return False
    last = len(names) - 1 - names[::-1].index("stats")
    is_grouped = any(kind == "word" and said.lower() == "by" for kind, said in commands[last])
    return not is_grouped and "where" not in names[last:] and _limit(commands) > 0
