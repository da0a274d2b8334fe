"""What a statement reads and answers by name: relations and their columns, keys of the scope, its own columns. Pure.

Each name stands for one thing, so that whoever looks at a column knows from which relation it is.
"""

from __future__ import annotations

from typing import Any

from evidence.metrics.statements import PARAMETERS, nodes

EXPOSED = "vis_"
DERIVED = ""  # what an alias stands for that is no relation of the source
TIMES = frozenset({"timestamptz", "timestamp", "date"})


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


def fields(tree: Any, known: dict[str, str]) -> frozenset[str]:
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


def scope(tree: Any) -> frozenset[str]:
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


def moments(tree: Any) -> frozenset[str]:
    """The keys of the scope below a cast to a moment: PostgreSQL reads 'now' as one, so a text will not do."""
    casts = [node for node in nodes(tree) if type(node).__name__ == "TypeCast"]
    wanted = [cast.arg for cast in casts if cast.type_name.names[-1].string.sval in TIMES]
    return frozenset().union(*map(_scope_below, wanted))


def _scope_below(tree: Any) -> frozenset[str]:
    uses = [node for node in nodes(tree) if type(node).__name__ == "A_Expr" and node.name[0].string.sval == "->>"]
    return frozenset(str(node.rexpr.a_const.sval.sval) for node in uses)


def answered(tree: Any) -> tuple[str, ...]:
    """The names of what is answered, which the leftmost SELECT gives. Raises ValueError for one without a name."""
    select = leftmost(tree.stmts[0].stmt.select_stmt)
    if not select.target_list:
        raise ValueError("A formula answers at least one column.")
    return tuple(_name(target.res_target) for target in select.target_list)


def leftmost(select: Any) -> Any:
    """The SELECT that names what several that are put together answer."""
    while select.HasField("larg"):
        select = select.larg
    return select


def column_of(target: Any) -> str:
    """What a value is answered as; empty where it has no name."""
    fields = target.val.column_ref.fields
    return str(target.name or (fields[-1].string.sval if fields else ""))


def _name(target: Any) -> str:
    name = column_of(target)
    if not name:
        raise ValueError("Each value that a formula answers has a name: … as quantity.")
    return str(name)
