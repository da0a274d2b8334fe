"""The formula as data: one SELECT over exposed views, its only parameters the decision point and the scope.

What counts as a read at all is `evidence.grammar`'s. Beyond that a formula has to give the same answer whenever it is
asked about the same moment, so functions, operators and types are closed lists: what is not known to be stable is
refused, and so is what rounds, for a number that is taken apart has to add up. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import postgast

from evidence import grammar
from evidence.errors import Refused

pb = postgast.pg_query_pb2  # the names of the grammar's closed sets
PARAMETERS = {"decision_point": 1, "scope": 2}  # :name, and the $n that it is sent as
EXPOSED = "vis_"
LONGEST_VALUE = 1  # of the cursor that is made only to be checked
FUNCTIONS = frozenset({"sum", "count", "min", "max", "bool_or", "bool_and", "extract", "abs", "lower", "upper"})
OPERATORS = frozenset({"+", "-", "*", "=", "<>", "!=", "<", "<=", ">", ">=", "->>"})
TYPES = frozenset({"int2", "int4", "int8", "numeric", "text", "timestamptz", "timestamp", "date", "interval", "bool"})
TIMES = frozenset({"timestamptz", "timestamp", "date"})
# Kinds of expression that compare, and no others: BETWEEN, IN, IS DISTINCT FROM, NULLIF.
EXPRESSIONS = frozenset({
    pb.AEXPR_OP, pb.AEXPR_IN, pb.AEXPR_DISTINCT, pb.AEXPR_NOT_DISTINCT, pb.AEXPR_NULLIF, pb.AEXPR_BETWEEN,
    pb.AEXPR_NOT_BETWEEN,
})  # fmt: skip
NODES = frozenset({
    "A_Const", "A_Expr", "Alias", "BoolExpr", "Boolean", "BooleanTest", "CTE", "CaseExpr", "CaseWhen", "CoalesceExpr",
    "ColumnRef", "CommonTableExpr", "Float", "FuncCall", "Integer", "JoinExpr", "List", "MinMaxExpr", "NullTest",
    "ParamRef", "ParseResult", "RangeSubselect", "RangeVar", "RawStmt", "ResTarget", "SelectStmt", "SortBy", "String",
    "SubLink", "TypeCast", "TypeName", "WindowDef", "WithClause",
})  # fmt: skip
# Texts that PostgreSQL reads as the moment of the call when a time is wanted (documentation, 8.5.1.4).
MOMENTS = frozenset({"now", "today", "tomorrow", "yesterday", "infinity", "allballs"})
LETTERS = re.compile("[a-z]+")  # it passes over anything else between words: ',now'
COMMENTS = (pb.SQL_COMMENT, pb.C_COMMENT)
DERIVED = ""  # what an alias stands for that is no relation of the source


@dataclass(frozen=True)
class Formula:
    """A statement that was checked, and what it reads."""

    sql: str  # with $1 for the decision point and $2 for the scope
    columns: tuple[str, ...]
    fields: frozenset[str]  # "relation.column"
    scope: frozenset[str]
    moments: frozenset[str]  # the keys of the scope that are read as moments
    tree: Any

    @property
    def relations(self) -> frozenset[str]:
        """The relations of the source, without what their views' names begin with."""
        return frozenset(aliases(self.tree).values()) - {DERIVED}


@lru_cache(maxsize=256)
def parse(text: str) -> Formula:
    """The checked formula. Raises ValueError, with one sentence, for what a formula may not be."""
    sql = numbered(text)
    tree = tree_of(sql)
    for node in nodes(tree):
        _check(node)
    known = aliases(tree)
    return Formula(sql, answered(tree), _fields(tree, known), _scope(tree), _moments(tree), tree)


def tree_of(sql: str) -> Any:
    """The tree of a statement that is a read. Raises ValueError with the sentence of the guarded read."""
    try:
        grammar.check(sql, LONGEST_VALUE)
    except Refused as refused:
        raise ValueError(refused.sentence) from refused
    return postgast.parse(sql)


def nodes(tree: Any) -> Iterator[Any]:
    """Every node of a tree."""
    return (node for _, node in postgast.walk(tree))


def numbered(text: str) -> str:
    """The text with $1 and $2 for its named parameters, found by PostgreSQL's own scanner: never in a literal."""
    try:
        tokens = list(postgast.scan(text).tokens)
    except (postgast.PgQueryError, UnicodeEncodeError) as error:
        raise ValueError("PostgreSQL's grammar does not take the statement.") from error
    raw, parts, at = text.encode(), [], 0
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.token == pb.PARAM:
            raise ValueError("A formula names its parameters: :decision_point and :scope.")
        if token.token in COMMENTS:
            raise ValueError("A formula holds no comment; say it in the title or the limitations.")
        if token.token == ord(":"):
            parts += [raw[at : token.start], _number(raw, token, following)]
            at = following.end
    return b"".join([*parts, raw[at:]]).decode()


def _number(raw: bytes, colon: Any, following: Any) -> bytes:
    is_name = following is not None and following.start == colon.end
    name = raw[following.start : following.end].decode() if is_name else ""
    if name not in PARAMETERS:
        raise ValueError("A formula has the parameters :decision_point and :scope, and no other.")
    return b"$%d" % PARAMETERS[name]


def _check(node: Any) -> None:
    """Raise ValueError for a node that is on none of the lists."""
    kind = type(node).__name__
    if kind not in NODES:
        raise ValueError(f"A formula may not hold a {kind}: its answer might not be the same each time.")
    checker = _CHECKS.get(kind)
    if checker is not None:
        checker(node)


def _check_function(call: Any) -> None:
    name = call.funcname[-1].string.sval
    schemas = {part.string.sval for part in call.funcname[:-1]}
    if name not in FUNCTIONS or schemas - {"pg_catalog"}:
        raise ValueError(f"A formula may not call {name}; it may call {', '.join(sorted(FUNCTIONS))}.")


def _check_expression(expression: Any) -> None:
    names = [part.string.sval for part in expression.name]
    is_operator = len(names) == 1 and names[0] in OPERATORS
    if expression.kind not in EXPRESSIONS or (expression.kind == pb.AEXPR_OP and not is_operator):
        raise ValueError(
            f"A formula may not use {' '.join(names)}; it may use {' '.join(sorted(OPERATORS))}. A ratio gives its "
            "numerator and its denominator."
        )


def _check_type(name: Any) -> None:
    names = [part.string.sval for part in name.names if part.string.sval != "pg_catalog"]
    if len(names) != 1 or names[0] not in TYPES or name.array_bounds or name.setof:
        raise ValueError(f"A formula may not cast to {'.'.join(names)}; it may cast to {', '.join(sorted(TYPES))}.")


def _check_constant(constant: Any) -> None:
    if constant.HasField("sval") and MOMENTS & set(LETTERS.findall(constant.sval.sval.casefold())):
        raise ValueError(f"'{constant.sval.sval}' may be the moment of the call; use :decision_point.")


def _check_select(select: Any) -> None:
    if select.values_lists:
        raise ValueError("A formula reads rows and brings none of its own: it has no VALUES.")
    if select.with_clause.recursive:
        raise ValueError("A formula is not recursive.")
    if select.locking_clause or select.HasField("into_clause"):
        raise ValueError("A formula only reads.")


def _check_join(join: Any) -> None:
    if join.is_natural or join.using_clause or join.HasField("alias"):
        raise ValueError("A formula joins with ON, so that each column says its relation.")


def _check_relation(relation: Any) -> None:
    if relation.alias.colnames:
        raise ValueError("A formula does not rename the columns of a relation.")


_CHECKS = {
    "A_Const": _check_constant,
    "A_Expr": _check_expression,
    "FuncCall": _check_function,
    "JoinExpr": _check_join,
    "RangeVar": _check_relation,
    "RangeSubselect": _check_relation,
    "SelectStmt": _check_select,
    "TypeName": _check_type,
}


def aliases(tree: Any) -> dict[str, str]:
    """What each name before a column's point stands for: a relation of the source, or DERIVED.

    Raises ValueError for a relation that is not exposed, and for a name that stands for two.
    """
    named = _parts(tree)
    found: dict[str, str] = {}
    for node in nodes(tree):
        kind = type(node).__name__
        if kind not in ("RangeVar", "RangeSubselect"):
            continue
        name, stands_for = named_as(node), _relation(node, named) if kind == "RangeVar" else DERIVED
        if found.setdefault(name, stands_for) != stands_for:
            raise ValueError(f"{name} stands for two relations; name each differently.")
    return found


def _parts(tree: Any) -> set[str]:
    """The names of the parts that WITH makes, at the top and each read only behind where it stands.

    Anywhere else the same name would be a table's own, whatever it looks like.
    """
    top = tree.stmts[0].stmt.select_stmt
    named: set[str] = set()
    for item in top.with_clause.ctes:
        part = item.common_table_expr
        if part.ctename.startswith(EXPOSED) or part.aliascolnames:
            raise ValueError(f"The name of a part of a formula does not begin with {EXPOSED}, and renames no columns.")
        for node in nodes(part.ctequery):
            if type(node).__name__ == "RangeVar":
                _relation(node, named)
        named.add(part.ctename)
    if sum(type(node).__name__ == "CommonTableExpr" for node in nodes(tree)) != len(top.with_clause.ctes):
        raise ValueError("A formula has WITH at its beginning and nowhere else.")
    return named


def named_as(node: Any) -> str:
    """The name that a relation's columns are read by."""
    return str(node.alias.aliasname or getattr(node, "relname", ""))


def _relation(node: Any, named: set[str]) -> str:
    if not node.schemaname and node.relname in named:
        return DERIVED
    if node.catalogname or not node.relname.startswith(EXPOSED):
        raise ValueError(f"A formula reads exposed views, whose names begin with {EXPOSED}; {node.relname} is none.")
    return str(node.relname.removeprefix(EXPOSED))


def _fields(tree: Any, known: dict[str, str]) -> frozenset[str]:
    found = set()
    for node in nodes(tree):
        if type(node).__name__ == "ColumnRef":
            relation, column = _column(node, known)
            if relation != DERIVED:
                found.add(f"{relation}.{column}")
    return frozenset(found)


def _column(reference: Any, known: dict[str, str]) -> tuple[str, str]:
    """The relation and the column that a reference names. Raises ValueError unless it names both."""
    parts = [part.string.sval for part in reference.fields if part.HasField("string")]
    if len(parts) != 2 or len(reference.fields) != 2:
        raise ValueError("A formula writes each column with its relation, as j.id, and never all of them.")
    if parts[0] not in known:
        raise ValueError(f"{parts[0]} is no relation of the formula.")
    return known[parts[0]], parts[1]


def field_of(reference: Any, known: dict[str, str]) -> str | None:
    """The source field that a reference names, or None for a column of a part of the formula."""
    relation, column = _column(reference, known)
    return None if relation == DERIVED else f"{relation}.{column}"


def _scope(tree: Any) -> frozenset[str]:
    """The keys of the scope that are read, each as :scope ->> 'key'. Raises ValueError for any other use of it."""
    found = set()
    uses = sum(type(node).__name__ == "ParamRef" and node.number == PARAMETERS["scope"] for node in nodes(tree))
    for node in nodes(tree):
        if type(node).__name__ == "A_Expr" and [part.string.sval for part in node.name] == ["->>"]:
            if node.lexpr.param_ref.number != PARAMETERS["scope"] or not node.rexpr.a_const.HasField("sval"):
                raise ValueError("->> is for the scope: :scope ->> 'key'.")
            found.add(str(node.rexpr.a_const.sval.sval))
            uses -= 1
    if uses:
        raise ValueError("The scope is read key by key: :scope ->> 'key'.")
    return frozenset(found)


def _moments(tree: Any) -> frozenset[str]:
    """The keys of the scope below a cast to a moment: PostgreSQL reads 'now' as one, so a text will not do."""
    casts = [node for node in nodes(tree) if type(node).__name__ == "TypeCast"]
    wanted = [cast.arg for cast in casts if cast.type_name.names[-1].string.sval in TIMES]
    return frozenset().union(*map(_scope_below, wanted))


def _scope_below(tree: Any) -> frozenset[str]:
    uses = [node for node in nodes(tree) if type(node).__name__ == "A_Expr" and node.name[0].string.sval == "->>"]
    return frozenset(str(node.rexpr.a_const.sval.sval) for node in uses)


def answered(tree: Any) -> tuple[str, ...]:
    """The names of what is answered, which the leftmost SELECT gives. Raises ValueError for one without a name."""
    select = tree.stmts[0].stmt.select_stmt
    while select.HasField("larg"):
        select = select.larg
    if not select.target_list:
        raise ValueError("A formula answers at least one column.")
    return tuple(_name(target.res_target) for target in select.target_list)


def _name(target: Any) -> str:
    fields = target.val.column_ref.fields
    name = target.name or (fields[-1].string.sval if fields else "")
    if not name:
        raise ValueError("Each value that a formula answers has a name: … as quantity.")
    return str(name)
