"""What counts as a read of MariaDB or MySQL, checked before any server sees it: one SELECT over the exposed schema.

The text is taken apart twice. Its tree says that it is made of nothing but what a SELECT is made of and reads nothing
outside of the schema; its words say which functions it calls, whatever the tree calls them. What is sent is the text
itself without its comments: a server would run what stands in some of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from evidence.errors import Refused
from evidence.kinds.mariadb.functions import FUNCTIONS, WORDS

DIALECT = "mysql"
SEQUENCES = ("nextval", "setval")  # of the server's own functions, those that write
LONGEST_STATEMENT = 20_000  # characters
DEEPEST_BRACKETS = 60
# Comments that are run: a server's own, MariaDB's own, and those that set variables for the statement.
RUN = ("/*!", "/*M!", "/*m!", "/*+")
SPACE = re.compile(r"[ \t\r\n]+")  # other characters that look empty are parts of names to a server
COMMENT = re.compile(r"--(?:[ \t][^\n]*)?(?:\n|\Z)|#[^\n]*(?:\n|\Z)|/\*(?![!+]|[Mm]!).*?\*/|;", re.S)
# Every node that a SELECT may be made of, beside functions. What is not here is refused.
NODES = frozenset((
    "Add", "Alias", "All", "And", "Any", "Between", "BitString", "BitwiseAnd", "BitwiseLeftShift", "BitwiseNot",
    "BitwiseOr", "BitwiseRightShift", "BitwiseXor", "Boolean", "CTE", "CharacterSet", "Collate", "Column",
    "DataType", "DataTypeParam", "Distinct", "Div", "EQ", "Escape", "Except", "Exists", "From", "GT", "GTE",
    "Group", "Having", "HexString", "Identifier", "In", "IndexTableHint", "IntDiv", "Intersect", "Interval",
    "Introducer", "Is", "JSONColumnDef", "JSONKeyValue", "JSONPath", "JSONPathFilter", "JSONPathKey",
    "JSONPathRecursive", "JSONPathRoot", "JSONPathScript", "JSONPathSelector", "JSONPathSlice", "JSONPathSubscript",
    "JSONPathUnion", "JSONPathWildcard", "JSONSchema", "JSONValue", "Join", "LT", "LTE", "Lateral", "Like", "Limit",
    "Literal", "MatchAgainst", "Mod", "Mul", "NEQ", "National", "Neg", "Not", "Null", "NullSafeEQ", "NullSafeNEQ",
    "Offset", "Or", "Order", "Ordered", "Paren", "Partition", "Placeholder", "RegexpLike", "Rollup", "Select",
    "Star", "Sub", "Subquery", "Table", "TableAlias", "Tuple", "Union", "Var", "Version", "Where", "Window",
    "WindowSpec", "With", "Xor",
))  # fmt: skip
# Functions of the tree that are none in the text, or that tell of the account.
NOT_CALLED = frozenset(("CurrentUser", "SessionUser", "CurrentRole", "NextValueFor", "Kwarg"))


@dataclass(frozen=True)
class Checked:
    """A read in pieces: between two of them stands the value of a placeholder."""

    pieces: tuple[str, ...]

    @property
    def placeholders(self) -> int:
        """How many values it takes."""
        return len(self.pieces) - 1


@lru_cache(maxsize=512)
def check(text: str, schema: str | None) -> Checked:
    """The checked read. Every `?` in it is a value to come.

    Raises Refused for what is no plain read of the schema; None is a schema that is not known yet.
    """
    _check_size(text)
    tokens = _tokens(text)
    pieces = _without_comments(text, tokens)
    _check_words(tokens)
    tree = _only_select(text)
    _check_tree(tree)
    if schema is not None:
        _check_tables(tree, schema)
    return Checked(pieces)


def _check_size(text: str) -> None:
    if len(text) > LONGEST_STATEMENT:
        raise Refused("too_long", f"The statement is longer than {LONGEST_STATEMENT:,} characters; shorten it.")
    if re.search("[\0\ud800-\udfff]", text):
        raise Refused("not_text", "The statement holds a character that no text in a database can.")
    if any(mark in text for mark in RUN):
        raise Refused("forbidden_comment", "The statement holds a comment that the server would run; leave it out.")
    deepest = now = 0
    for character in text:
        now += (character in "([") - (character in ")]")
        deepest = max(deepest, now)
    if deepest > DEEPEST_BRACKETS:
        raise Refused("too_nested", "The statement is nested too deeply; split it.")


def _tokens(text: str) -> list[Token]:
    try:
        found: list[Token] = sqlglot.tokenize(text, read=DIALECT)
    except SqlglotError as error:
        raise _syntax(error) from error
    while found and found[-1].token_type == TokenType.SEMICOLON:
        found.pop()
    if any(token.token_type == TokenType.SEMICOLON for token in found):
        raise Refused("not_one_statement", "A read is exactly one statement.")
    return found


def _syntax(error: Exception) -> Refused:
    said = re.sub(r"\x1b\[\d+m", "", str(error)).splitlines()[0] if str(error) else type(error).__name__
    return Refused("syntax", f"The statement is not understood: {said[:200].rstrip('.')}.")


def _without_comments(text: str, tokens: list[Token]) -> tuple[str, ...]:
    """The text between placeholders, each comment a space. Raises Refused for a gap that is none of MariaDB's."""
    pieces, at = [""], 0
    for token in tokens:
        pieces[-1] += _gap(text[at : token.start])
        at = token.end + 1
        if token.token_type == TokenType.PLACEHOLDER:
            pieces.append("")
        else:
            pieces[-1] += text[token.start : at]
    _gap(text[at:])
    return tuple(pieces)


def _gap(text: str) -> str:
    """What stands between two words: spaces as they are, comments as a space."""
    if not text or SPACE.fullmatch(text):
        return text
    at = 0
    while at < len(text):
        found = COMMENT.match(text, at) or SPACE.match(text, at)
        if found is None:
            raise Refused(
                "syntax", "Between words stand spaces, or comments: /* … */, # … or -- … with a space after it."
            )
        at = found.end()
    return " "


def _check_words(tokens: list[Token]) -> None:
    """Raise Refused for a function that is not on the list, a variable, or a function of a schema."""
    for at, token in enumerate(tokens):
        if token.token_type in (TokenType.PARAMETER, TokenType.SESSION_PARAMETER):
            raise Refused("forbidden_name", "A read uses no variables.")
        follows = tokens[at + 1].token_type if at + 1 < len(tokens) else None
        if follows != TokenType.L_PAREN or not _is_word(token):
            continue
        if at and tokens[at - 1].token_type == TokenType.DOT:
            raise Refused("forbidden_name", f"The function {token.text[:60]} is a stored one; a read calls none.")
        if not _is_allowed(token) and not _names_a_query(tokens, at):
            raise Refused("forbidden_name", f"The function {token.text[:60]} reaches beyond a read.")


def _is_word(token: Token) -> bool:
    """Whether it is a name or a word of the grammar, quoted or not."""
    if token.token_type in (TokenType.STRING, TokenType.NUMBER):
        return False
    return _is_quoted(token) or token.token_type == TokenType.VAR or re.fullmatch(r"[\w$]+", token.text) is not None


def _is_quoted(token: Token) -> bool:
    return token.token_type == TokenType.IDENTIFIER


def _is_allowed(token: Token) -> bool:
    return not _is_quoted(token) and token.text.lower() in FUNCTIONS | WORDS


def _names_a_query(tokens: list[Token], at: int) -> bool:
    """Whether it is the name of a WITH query with its columns: name (…) AS (…"""
    depth = 0
    for index in range(at + 1, len(tokens)):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(tokens[index].token_type, 0)
        if depth == 0:
            behind = [token.token_type for token in tokens[index + 1 : index + 3]]
            return behind == [TokenType.ALIAS, TokenType.L_PAREN]
    return False


def _only_select(text: str) -> exp.Expression:
    try:
        found = [tree for tree in sqlglot.parse(text, read=DIALECT) if tree is not None]
    except (SqlglotError, RecursionError) as error:
        raise _syntax(error) from error
    if len(found) != 1:
        raise Refused("not_one_statement", f"A read is exactly one statement; this text holds {len(found)}.")
    if not isinstance(found[0], exp.Select | exp.SetOperation | exp.Subquery):
        raise Refused("not_a_read", "Only a SELECT is a read.")
    return found[0]


def _check_tree(tree: exp.Expression) -> None:
    """Raise Refused for a node that no plain read is made of."""
    for node in tree.walk():
        name = type(node).__name__
        is_function = isinstance(node, exp.Func) and name not in NOT_CALLED
        if name not in NODES and not is_function:
            raise Refused("not_a_read", f"A read is not made of {name}.")
        if isinstance(node, exp.Select):
            _check_select(node)


def _check_select(select: exp.Select) -> None:
    for key, sentence in (
        ("into", "SELECT INTO writes."),
        ("locks", "FOR UPDATE and LOCK IN SHARE MODE lock rows."),
        ("operation_modifiers", "A read takes no words like SQL_CALC_FOUND_ROWS behind SELECT."),
        ("hint", "A read takes no hints."),
    ):
        if select.args.get(key):
            raise Refused("not_a_read", sentence)


def _check_tables(tree: exp.Expression, schema: str) -> None:
    """A name without a schema is looked up in the session's, which is the exposed one."""
    for table in tree.find_all(exp.Table):
        if table.catalog or table.db not in ("", schema):
            raise Refused("forbidden_name", f"Tables are read in the schema {schema} alone.")


def calls(text: str, loaded: Collection[str]) -> Iterator[str]:
    """Functions that the text of a view calls and that may write: stored ones, those of sequences, loaded libraries'.

    The server writes a stored function with its schema or in backquotes; `loaded` are the names of loaded ones. Raises
    Refused when the text is not understood.
    """
    tokens = _tokens(text)
    for at, token in enumerate(tokens[:-1]):
        if tokens[at + 1].token_type != TokenType.L_PAREN or not _is_word(token):
            continue
        is_stored = _is_quoted(token) or (at > 0 and tokens[at - 1].token_type == TokenType.DOT)
        writes = token.text.lower() in {*SEQUENCES, *loaded}
        if writes or (is_stored and not _names_a_query(tokens, at)):
            yield token.text


def tables_of(text: str) -> set[tuple[str, str]]:
    """The tables that the text of a view reads, with their schemas. Raises Refused when it is not understood."""
    tree = _only_select(text)
    queries = {query.alias for query in tree.find_all(exp.CTE)}
    found = {(table.db, table.name) for table in tree.find_all(exp.Table) if table.name}
    return {(schema, name) for schema, name in found if schema or name not in queries}
