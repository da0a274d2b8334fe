"""What a formula's tree tells of policy: thresholds with consequences, weights, rankings, labels, texts. Pure.

It looks at any statement that is a read, also at one that `evidence.metrics.formula` would not take, so that its author
is told what is wrong and not only that a name is on no list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import postgast

from evidence.metrics import columns, lint_pairs
from evidence.metrics.dimensions import INSTANT, Dimensions, with_parts
from evidence.metrics.flaws import AGENT_PARAMETER, CONSEQUENCE, FREE_TEXT, LABEL, RANKING, WEIGHT
from evidence.metrics.lint_pairs import COMPARING, EXTREME, ORDERING, is_scope, operator
from evidence.metrics.references import EXPOSED, named_as
from evidence.metrics.statements import nodes
from evidence.wording import folding

pb = postgast.pg_query_pb2  # the names of the grammar's closed sets
Found = Iterator[tuple[str, str]]  # a code, and what was found
RANKS = frozenset({
    "rank", "dense_rank", "percent_rank", "cume_dist", "ntile", "row_number", "first_value", "last_value", "nth_value",
    "lag", "lead", "mode", "percentile_cont", "percentile_disc", "max_by", "min_by",
})  # fmt: skip
TEXTS = frozenset({
    "concat", "concat_ws", "format", "string_agg", "array_agg", "to_char", "quote_literal", "repeat", "json_agg",
    "jsonb_agg", "json_build_object", "jsonb_build_object", "to_json", "to_jsonb", "row_to_json", "chr", "initcap",
})  # fmt: skip
NUMBERS = frozenset({"interval", "numeric", "int2", "int4", "int8", "float4", "float8"})
# Texts that PostgreSQL reads as a number (its documentation, 4.1.2.6) or as a length of time (8.5.4).
NUMBER = re.compile(r"[+-]?(?:0[xob][0-9a-f_]+|(?=\.?[0-9])[0-9_]*(?:\.[0-9_]*)?(?:e[+-]?[0-9_]+)?)", re.I | re.A)
LENGTH = re.compile(
    r"(?:@ *)?(?:[+-]?[0-9.]+ *(?:us|ms|mic|mil|s|m|h|d|w|y|c)[a-z]* *)+(?:ago)?|[+-]?[0-9]+:[0-9:.]+"
    r"|P(?=[0-9T])(?:[0-9.]+[YMWD])*(?:T(?:[0-9.]+[HMS])+)?",
    re.I | re.A,
)
LABELS = frozenset({
    "verdict", "verdicts", "rule", "rules", "review", "reviews", "reviewer", "reviewed", "assignee", "assignees",
    "label", "labels", "labeled", "labelled", "labeling", "labelling", "postmortem", "postmortems", "mortem",
    "overrule", "overrules", "overruled", "decided", "groundtruth", "truth",
})  # fmt: skip


def flaws(tree: Any, fields: Mapping[str, str]) -> Found:
    """Every flaw of a statement over these source fields."""
    known = _known(tree)
    dimensions = Dimensions(with_parts(tree, fields, known), known)
    for node in nodes(tree):
        of_kind = _BY_KIND.get(type(node).__name__)
        if of_kind is not None:
            yield from of_kind(node)
        if type(node).__name__ == "CaseExpr":
            yield from _consequences(node, dimensions)
    yield from lint_pairs.flaws(tree, dimensions)
    yield from ((WEIGHT, found) for found in dimensions.unlike(tree))
    yield from _answered(tree.stmts[0].stmt.select_stmt)


def written(tree: Any) -> Iterator[str]:
    """The texts that a statement may answer: its constants, as the grammar reads them, whatever they are escaped with.

    What something is compared with is the source's word, and a key of the scope or a part of a moment is no answer.
    """
    yield from (str(node.sval.sval) for node in _constants(tree) if node.HasField("sval"))


def _constants(tree: Any) -> Iterator[Any]:
    """The constants that may become a value."""
    named = {node.location for part in nodes(tree) for node in _not_answered(part)}
    yield from (node for node in nodes(tree) if type(node).__name__ == "A_Const" and node.location not in named)


def _not_answered(node: Any) -> Iterator[Any]:
    kind = type(node).__name__
    if kind == "A_Expr" and operator(node) in COMPARING | {"->>"}:
        # NULLIF compares, too, and answers its left side.
        for side in (node.rexpr,) if node.kind == pb.AEXPR_NULLIF else (node.lexpr, node.rexpr):
            yield from (item.a_const for item in (side.list.items if side.HasField("list") else [side]))
    elif kind == "FuncCall" and node.funcname[-1].string.sval == "extract":
        yield node.args[0].a_const


def labels(name: str) -> Iterator[str]:
    """The words of an identifier that name an outcome, a decision or who made it."""
    return (word for word in folding.words(name) if word in LABELS)


def _known(tree: Any) -> dict[str, str]:
    """What each name stands for: a relation, or a part of the statement."""
    found: dict[str, str] = {}
    for node in nodes(tree):
        if type(node).__name__ == "RangeVar":
            found[named_as(node)] = node.relname.removeprefix(EXPOSED)
        if type(node).__name__ == "RangeSubselect":
            found[named_as(node)] = named_as(node)
    return found


def _consequences(case: Any, dimensions: Dimensions) -> Found:
    """A quantity above or below something, answered by a word or a yes: value > x is 'page'."""
    words = [text for result in _results(case) for text in _words(result)]
    tests = [node for test in (case.arg, *(when.case_when.expr for when in case.args)) for node in nodes(test)]
    is_threshold = any(
        type(node).__name__ == "A_Expr"
        and operator(node) in ORDERING
        and INSTANT not in (dimensions.of(node.lexpr), dimensions.of(node.rexpr))
        for node in tests
    )
    if is_threshold:
        yield from ((CONSEQUENCE, word) for word in words)


def _results(case: Any) -> list[Any]:
    return [when.case_when.result for when in case.args] + [case.defresult]


def _words(result: Any) -> Iterator[str]:
    """The texts and truth values that a result may be, under whatever is called on them."""
    for constant in _constants(result):
        if constant.HasField("sval"):
            yield str(constant.sval.sval)
        elif constant.HasField("boolval"):
            yield str(constant.boolval.boolval).lower()


def _answered(select: Any) -> Found:
    """The truth values that are answered, but for those with a meaning, in each SELECT whose rows are the answer's."""
    if select.HasField("larg"):
        yield from _answered(select.larg)
        yield from _answered(select.rarg)
    for target in select.target_list:
        name = target.res_target.name
        if name not in columns.FLAGS | columns.MODEL_FLAGS and _is_truth(target.res_target.val):
            yield CONSEQUENCE, name or "a yes or no"
        if name not in columns.TICKS and _is_given_back(target.res_target.val):
            yield FREE_TEXT, ":scope"


def _is_given_back(node: Any) -> bool:
    """Whether a value may be what the caller typed, under what passes it on."""
    if node.HasField("func_call") and node.func_call.funcname[-1].string.sval in ("lower", "upper", "min", "max"):
        return any(map(_is_given_back, node.func_call.args))
    if node.HasField("coalesce_expr"):
        return any(map(_is_given_back, node.coalesce_expr.args))
    if node.HasField("case_expr"):
        return any(map(_is_given_back, _results(node.case_expr)))
    return is_scope(node)


def _is_truth(node: Any) -> bool:
    kind = node.WhichOneof("node")
    if kind == "type_cast":
        return node.type_cast.type_name.names[-1].string.sval == "bool" or _is_truth(node.type_cast.arg)
    if kind == "func_call":
        return node.func_call.funcname[-1].string.sval in ("bool_or", "bool_and", "every")
    if kind == "coalesce_expr":
        return any(map(_is_truth, node.coalesce_expr.args))
    if kind == "case_expr":
        return any(map(_is_truth, _results(node.case_expr)))
    if kind == "sub_link":
        return bool(node.sub_link.sub_link_type in (pb.EXISTS_SUBLINK, pb.ANY_SUBLINK, pb.ALL_SUBLINK))
    if kind == "a_expr":
        return node.a_expr.kind != pb.AEXPR_NULLIF and operator(node.a_expr) in COMPARING
    return kind in ("bool_expr", "null_test", "boolean_test") or node.a_const.HasField("boolval")


def _constant(constant: Any) -> Found:
    """Numbers that somebody chose. 0 and 1 count; anything else weighs, also when it is written as a text."""
    kind = constant.WhichOneof("val")
    if kind == "fval" or (kind == "ival" and constant.ival.ival not in (0, 1)):
        yield WEIGHT, str(constant.fval.fval if kind == "fval" else constant.ival.ival)
    if kind == "sval" and _is_number(constant.sval.sval):
        yield WEIGHT, constant.sval.sval


def _is_number(text: str) -> bool:
    said = " ".join(text.split())
    return bool(NUMBER.fullmatch(said) or LENGTH.fullmatch(said))


def _expression(expression: Any) -> Found:
    said = operator(expression)
    if said == "||":
        yield FREE_TEXT, said
    if said in ("+", "-", "*", "/", "^", "%"):
        kinds = [type(node).__name__ for side in (expression.lexpr, expression.rexpr) for node in nodes(side)]
        if not {"ColumnRef", "ParamRef"} & set(kinds) and len(kinds) > 2:
            yield WEIGHT, f"a number made with {said}"
        if any(is_scope(side) for side in (expression.lexpr, expression.rexpr)):
            yield AGENT_PARAMETER, f":scope with {said}"
    if said in COMPARING and any(_is_extreme(side) for side in (expression.lexpr, expression.rexpr)):
        yield RANKING, EXTREME


def _is_extreme(side: Any) -> bool:
    return side.HasField("sub_link") and _has_extreme(side.sub_link.subselect)


def _has_extreme(select: Any) -> bool:
    called = {node.funcname[-1].string.sval for node in nodes(select) if type(node).__name__ == "FuncCall"}
    return bool(called & {"max", "min"})


def _sub_link(link: Any) -> Found:
    """One that is compared with all rows of a SELECT, or with any: n >= all (…), n in (select max(…) …)."""
    if link.sub_link_type not in (pb.ANY_SUBLINK, pb.ALL_SUBLINK):
        return
    if ORDERING & {part.string.sval for part in link.oper_name} or _has_extreme(link.subselect):
        yield RANKING, EXTREME


def _window(window: Any) -> Found:
    """Counting in an order gives each row its place in it."""
    if window.order_clause:
        yield RANKING, "over (order by …)"


def _cast(cast: Any) -> Found:
    """A text that becomes a length of time is a number as any other: interval '10 min'."""
    if cast.arg.a_const.HasField("sval") and cast.type_name.names[-1].string.sval in NUMBERS:
        yield WEIGHT, cast.arg.a_const.sval.sval


def _call(call: Any) -> Found:
    name = call.funcname[-1].string.sval
    if name == "extract" and not {"ColumnRef", "ParamRef"} & {type(node).__name__ for node in nodes(call)}:
        yield WEIGHT, "a number made with extract"
    if name in RANKS or call.agg_order:
        yield RANKING, name
    if name in TEXTS:
        yield FREE_TEXT, name


def _select(select: Any) -> Found:
    if select.HasField("limit_count") or select.HasField("limit_offset"):
        yield RANKING, "limit"
    if any(part.ByteSize() for part in select.distinct_clause):
        yield RANKING, "distinct on"


def _reference(reference: Any) -> Found:
    for part in reference.fields:
        yield from ((LABEL, part.string.sval) for _ in labels(part.string.sval))


def _relation(relation: Any) -> Found:
    yield from ((LABEL, relation.relname) for _ in labels(f"{relation.schemaname}_{relation.relname}"))


_BY_KIND = {
    "A_Const": _constant,
    "A_Expr": _expression,
    "TypeCast": _cast,
    "FuncCall": _call,
    "SubLink": _sub_link,
    "WindowDef": _window,
    "SelectStmt": _select,
    "ColumnRef": _reference,
    "RangeVar": _relation,
}
