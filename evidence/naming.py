"""What a statement names, and of what nodes it is made: read out of its tree once, whoever runs it later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import postgast

from evidence.errors import Refused

# A name with its schema, which is empty where the statement does not say it.
Name = tuple[str, str]
# Every node that a SELECT may be made of. What is not here is refused, so a newer grammar brings no surprise.
NODES = frozenset((
    "A_ArrayExpr", "A_Const", "A_Expr", "A_Indices", "A_Indirection", "A_Star", "Alias", "BitString", "BoolExpr",
    "Boolean", "BooleanTest", "CTECycleClause", "CTESearchClause", "CaseExpr", "CaseWhen", "CoalesceExpr",
    "CollateClause", "ColumnDef", "ColumnRef", "CommonTableExpr", "Float", "FuncCall", "GroupingFunc", "GroupingSet",
    "Integer", "JoinExpr", "JsonAggConstructor", "JsonArrayAgg", "JsonArrayConstructor", "JsonArrayQueryConstructor",
    "JsonBehavior", "JsonFormat", "JsonFuncExpr", "JsonIsPredicate", "JsonKeyValue", "JsonObjectAgg",
    "JsonObjectConstructor", "JsonOutput", "JsonArgument", "JsonParseExpr", "JsonReturning", "JsonScalarExpr",
    "JsonSerializeExpr", "JsonTable", "JsonTableColumn", "JsonTablePathSpec", "JsonValueExpr", "List", "MinMaxExpr",
    "NamedArgExpr", "Node", "NullTest", "ParamRef", "ParseResult", "RangeFunction", "RangeSubselect", "RangeTableFunc",
    "RangeTableFuncCol", "RangeTableSample", "RangeVar", "RawStmt", "ResTarget", "RowExpr", "SQLValueFunction",
    "SelectStmt", "SortBy", "String", "SubLink", "TypeCast", "TypeName", "WindowDef", "WithClause", "XmlExpr",
    "XmlSerialize",
))  # fmt: skip


@dataclass(frozen=True)
class Named:
    """The names of a statement. A relation without a schema may also be one of its own WITH queries."""

    relations: frozenset[Name]
    functions: frozenset[Name]
    operators: frozenset[Name]
    types: frozenset[Name]
    queries: frozenset[str]


def named(tree: Any) -> Named:
    """Everything that the tree names. Raises Refused for a node that no plain read is made of."""
    found: dict[str, set[Any]] = {key: set() for key in ("relations", "functions", "operators", "types", "queries")}
    for _, node in postgast.walk(tree):
        kind = type(node).__name__
        if kind not in NODES:
            raise Refused("not_a_read", f"A read is not made of {kind}.")
        if kind in READERS:
            where, read = READERS[kind]
            found[where].update(read(node))
    return Named(**{key: frozenset(names) for key, names in found.items()})


def _joined(parts: Sequence[Any]) -> list[Name]:
    """One name of its parts. Three of them name the database first, which can only be this one."""
    texts = [part.string.sval for part in parts]
    return [(texts[-2] if len(texts) > 1 else "", texts[-1])] if texts else []


def _operator(parts: Sequence[Any]) -> list[Name]:
    # BETWEEN and its like stand in the tree as words; no operator has a letter in it.
    return [name for name in _joined(parts) if not name[1][:1].isalpha()]


READERS: dict[str, tuple[str, Callable[[Any], Sequence[Any]]]] = {
    "RangeVar": ("relations", lambda node: [(node.schemaname, node.relname)]),
    "CommonTableExpr": ("queries", lambda node: [node.ctename]),
    "FuncCall": ("functions", lambda node: _joined(node.funcname)),
    "RangeTableSample": ("functions", lambda node: _joined(node.method)),
    "A_Expr": ("operators", lambda node: _operator(node.name)),
    "SubLink": ("operators", lambda node: _operator(node.oper_name)),
    "SortBy": ("operators", lambda node: _operator(node.use_op)),
    "TypeName": ("types", lambda node: _joined(node.names)),
}
