"""The canonical statement: parsed, screened, and written back by code. That text is shown, hashed and run.

The screen is a list of what may stand in a statement, not of what may not; it is a second line. The first is what
the target's role may execute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import postgast
from google.protobuf.message import DecodeError, Message

from gate.writes.characters import hidden
from gate.writes.errors import Unfit

LONGEST_STATEMENT = 20_000
LEDGER_TABLE = "gate_ledger"
PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
VERBS = {"insert_stmt": "insert", "update_stmt": "update", "delete_stmt": "delete"}

NODES = frozenset({
    "InsertStmt", "UpdateStmt", "DeleteStmt", "SelectStmt", "RangeVar", "RangeSubselect", "JoinExpr", "Alias",
    "ResTarget", "MultiAssignRef", "SetToDefault", "ColumnRef", "A_Star", "ParamRef", "List", "RowExpr",
    "A_Const", "Integer", "Float", "Boolean", "String", "BitString", "TypeCast", "TypeName", "CollateClause",
    "A_Expr", "BoolExpr", "NullTest", "BooleanTest", "SubLink", "SortBy",
    "FuncCall", "SQLValueFunction", "CoalesceExpr", "MinMaxExpr", "CaseExpr", "CaseWhen",
    "A_ArrayExpr", "A_Indirection", "A_Indices",
})  # fmt: skip
SENTENCES = {
    "WithClause": "WITH is not taken: name the tables where they are used.",
    "ReturningClause": "RETURNING is not taken: what changed is read by the writer.",
    "OnConflictClause": "ON CONFLICT is not taken: propose the insert or the update that is meant.",
    "RangeFunction": "A function in FROM is not taken.",
    "CurrentOfExpr": "A cursor is not taken: name the rows with WHERE.",
}

# Functions of pg_catalog that have no effect and cannot be made to run for long.
CLOCKS = frozenset({"now", "transaction_timestamp"})
FUNCTIONS = CLOCKS | {
    "gen_random_uuid", "uuidv7", "timezone", "extract", "date_part", "date_trunc", "make_interval", "make_date",
    "lower", "upper", "btrim", "ltrim", "rtrim", "length", "substring", "position", "replace", "left", "right",
    "concat", "concat_ws", "abs", "round", "floor", "ceil", "mod", "count", "min", "max", "sum",
    "to_jsonb", "jsonb_set", "jsonb_build_object", "jsonb_build_array", "jsonb_array_elements",
}  # fmt: skip
# Functions of pg_catalog that take a whole row: t.f calls f with a row of t, where t has no column f.
TAKE_A_ROW = frozenset({
    "any_out", "any_value", "anycompatible_out", "anycompatiblenonarray_out", "anyelement_out", "anynonarray_out",
    "array_agg", "concat", "count", "cume_dist", "dense_rank", "first_value", "hash_record", "json_agg",
    "json_agg_strict", "json_build_array", "json_build_object", "jsonb_agg", "jsonb_agg_strict", "jsonb_build_array",
    "jsonb_build_object", "lag", "last_value", "lead", "max", "min", "mode", "num_nonnulls", "num_nulls",
    "percent_rank", "pg_collation_for", "pg_column_compression", "pg_column_size", "pg_column_toast_chunk_id",
    "pg_restore_attribute_stats", "pg_restore_relation_stats", "pg_typeof", "quote_literal", "quote_nullable", "rank",
    "record_out", "record_send", "row_to_json", "to_json", "to_jsonb",
})  # fmt: skip
# CURRENT_TIMESTAMP and its kin; not CURRENT_USER.
CLOCK_WORDS = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
NEW_EACH_TIME = CLOCKS | {"gen_random_uuid", "uuidv7"}

POSITIONS = frozenset({
    "location", "stmt_location", "stmt_len", "rexpr_list_start", "rexpr_list_end", "list_start", "list_end",
})  # fmt: skip


@dataclass(frozen=True)
class Statement:
    """One canonical INSERT, UPDATE or DELETE on one named table."""

    text: str
    verb: str
    schema: str
    name: str
    # Columns set to a computed value. If that differs from run to run there is no effect to approve; a column set
    # to the clock, to a new UUID or to its default may differ, and is shown as assigned at execution.
    computed: frozenset[str]
    # The columns that it sets or names anywhere; None where it takes whole rows, and so all of them.
    touched: frozenset[str] | None
    sets: frozenset[str]
    late: frozenset[str]  # those set openly to what is new each time: the clock, a new UUID, a default
    functions: frozenset[str]  # of pg_catalog, by name
    alias: str  # what it calls its table: no other table in it can have that name

    @property
    def table(self) -> str:
        """The table with its schema, as people read it."""
        return f"{self.schema}.{self.name}"


def canonical(text: str, parameter_count: int) -> Statement:
    """The one statement in `text`, screened and written back. Raises Unfit with a sentence."""
    _check_text(text, allow="\n\r\t")
    tree = _parse(text)
    node = _only_statement(tree)
    _screen(node)
    _check_parameters(node, parameter_count)
    written = _write_back(tree)
    relation = node.relation
    return Statement(
        written, VERBS[tree.stmts[0].stmt.WhichOneof("node")], relation.schemaname, relation.relname,
        frozenset(_computed(node)), _touched(node), _sets(node), frozenset(_late(node)), _functions(node),
        relation.alias.aliasname or relation.relname,
    )  # fmt: skip


def _check_text(text: str, allow: str = "") -> None:
    if len(text) > LONGEST_STATEMENT:
        raise Unfit(f"The statement is longer than {LONGEST_STATEMENT:,} characters.")
    if code := hidden(text, allow):
        raise Unfit(f"The statement holds the character {code}, which a reader would not see.")


def _parse(text: str) -> Any:
    try:
        return postgast.parse(text)
    except postgast.PgQueryError as error:
        raise Unfit(f"PostgreSQL cannot read the statement: {error}.") from error
    except DecodeError as error:
        raise Unfit("The statement is nested too deeply to be read.") from error


def _only_statement(tree: Any) -> Any:
    if len(tree.stmts) != 1:
        raise Unfit(f"A write is exactly one statement; this is {len(tree.stmts)}.")
    kind = tree.stmts[0].stmt.WhichOneof("node")
    if kind not in VERBS:
        raise Unfit("A write is one INSERT, UPDATE or DELETE.")
    return getattr(tree.stmts[0].stmt, kind)


def _write_back(tree: Any) -> str:
    written: str = postgast.deparse(tree)
    _check_text(written)
    again = _parse(written)
    # A text that does not come back as the same tree is not what was proposed.
    if _without_positions(again) != _without_positions(tree) or postgast.deparse(again) != written:
        raise Unfit("The statement cannot be written back exactly; put it in simpler words.")
    return written


def _without_positions(tree: Any) -> Any:
    copy = type(tree)()
    copy.CopyFrom(tree)
    for node in messages(copy):
        for field, _ in node.ListFields():
            if field.name in POSITIONS:
                node.ClearField(field.name)
    return copy


def messages(node: Message) -> Iterator[Message]:
    yield node
    for field, value in node.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for child in [value] if isinstance(value, Message) else value:
                yield from messages(child)


def _screen(statement: Any) -> None:
    for _, node in postgast.walk(statement):
        name = type(node).DESCRIPTOR.name
        if name not in NODES:
            raise Unfit(SENTENCES.get(name, f"{name} is not taken in a write; put it in simpler words."))
        check = CHECKS.get(name)
        if check:
            check(node)


def _check_insert(node: Any) -> None:
    if node.HasField("select_stmt") and not node.cols:
        raise Unfit("An INSERT must name its columns.")


def _check_table(node: Any) -> None:
    if node.catalogname or not node.schemaname:
        raise Unfit(f"Name the schema of {node.relname}, like shop.{node.relname}.")
    if node.schemaname.lower().startswith("pg_") or node.schemaname.lower() == "information_schema":
        raise Unfit(f"{node.schemaname} belongs to the database itself and has no place in a write.")
    if node.relname.lower() == LEDGER_TABLE:
        raise Unfit(f"{LEDGER_TABLE} is the writer's own proof of what ran; no proposal may name it.")


def _check_function(node: Any) -> None:
    names = [part.string.sval for part in node.funcname]
    if names[-1] not in FUNCTIONS or names[:-1] not in ([], ["pg_catalog"]):
        raise Unfit(f"The function {'.'.join(names)} is not on the list of functions that a write may call.")


def _check_operator(parts: Any) -> None:
    names = [part.string.sval for part in parts]
    if len(names) > 1 and names[0] != "pg_catalog":
        raise Unfit(f"The operator {'.'.join(names)} is not one of PostgreSQL's own.")


def _check_parts(node: Any) -> None:
    # (x).f calls f(x) when x has no field of that name: any function of one argument, on the list or not.
    if any(part.WhichOneof("node") != "a_indices" for part in node.indirection):
        raise Unfit("A field of a value, like (x).y, is not taken: PostgreSQL may read it as a call of the function y.")


def _check_column(node: Any) -> None:
    last = node.fields[-1]
    if len(node.fields) > 1 and last.WhichOneof("node") == "string" and last.string.sval in TAKE_A_ROW:
        name = last.string.sval
        raise Unfit(
            f"Name the column {name} without its table: PostgreSQL may read it as a call of the function {name}."
        )


def _check_alias(node: Any) -> None:
    _check_names([node.aliasname, *(column.string.sval for column in node.colnames)])


def _check_outputs(node: Any) -> None:
    _check_names([target.res_target.name for target in node.target_list if target.res_target.name])


def _check_names(names: list[str]) -> None:
    # Tables and columns must exist in the target; these names are made up, and could read like other SQL.
    if odd := next((name for name in names if not PLAIN_NAME.fullmatch(name)), None):
        raise Unfit(f"Call {odd} by a plain name, of lower-case letters, digits and underscores.")


def _check_clock(node: Any) -> None:
    name = _clock_word(node)
    if not name.startswith(CLOCK_WORDS):
        raise Unfit(f"{name} is not taken: it would name the writer's own session.")


def _clock_word(node: Any) -> str:
    word = postgast.pg_query_pb2.SQLValueFunctionOp.Name(node.op)
    return str(word).removeprefix("SVFOP_")


CHECKS: dict[str, Any] = {
    "InsertStmt": _check_insert,
    "RangeVar": _check_table,
    "Alias": _check_alias,
    "SelectStmt": _check_outputs,
    "A_Indirection": _check_parts,
    "ColumnRef": _check_column,
    "FuncCall": _check_function,
    "A_Expr": lambda node: _check_operator(node.name),
    "SubLink": lambda node: _check_operator(node.oper_name),
    "SortBy": lambda node: _check_operator(node.use_op),
    "SQLValueFunction": _check_clock,
}


def _check_parameters(statement: Any, count: int) -> None:
    used = {node.number for _, node in postgast.walk(statement) if type(node).DESCRIPTOR.name == "ParamRef"}
    if used != set(range(1, count + 1)):
        shown = ", ".join(f"${number}" for number in sorted(used)) or "none"
        raise Unfit(f"The statement uses {shown}, and {count} parameters are given; they must be the same, from $1 on.")


def _computed(statement: Any) -> Iterator[str]:
    for column, value in _assignments(statement):
        if not _differs_openly(value):
            yield column


def _late(statement: Any) -> Iterator[str]:
    for column, value in _assignments(statement):
        if _differs_openly(value):
            yield column


def _functions(statement: Any) -> frozenset[str]:
    calls = (node for _, node in postgast.walk(statement) if type(node).DESCRIPTOR.name == "FuncCall")
    return frozenset(call.funcname[-1].string.sval for call in calls)


def _sets(statement: Any) -> frozenset[str]:
    return frozenset(column for column, _ in _assignments(statement))


def _touched(statement: Any) -> frozenset[str] | None:
    """The columns that an UPDATE sets or asks about. The other verbs take whole rows, as does an UPDATE that says t.*.

    A bare name may stand for a whole row, too; so may any name in an expression that names one of its tables.
    """
    if type(statement).DESCRIPTOR.name != "UpdateStmt":
        return None
    found = set(_sets(statement))
    tables = set(_table_names(statement))
    for _, node in postgast.walk(statement):
        if type(node).DESCRIPTOR.name == "ColumnRef":
            last = node.fields[-1]
            if last.WhichOneof("node") != "string" or (len(node.fields) == 1 and last.string.sval in tables):
                return None
            found.add(last.string.sval)
    return frozenset(found)


def _table_names(statement: Any) -> Iterator[str]:
    for _, node in postgast.walk(statement):
        name = type(node).DESCRIPTOR.name
        if name == "RangeVar":
            yield node.alias.aliasname or node.relname
        elif name == "RangeSubselect":
            yield node.alias.aliasname


def _assignments(statement: Any) -> Iterator[tuple[str, Any]]:
    """Each column that the statement sets, with each value that it gives it."""
    kind = type(statement).DESCRIPTOR.name
    if kind == "UpdateStmt":
        yield from ((target.res_target.name, target.res_target.val) for target in statement.target_list)
    elif kind == "InsertStmt":
        columns = [column.res_target.name for column in statement.cols]
        for row in _inserted(statement.select_stmt.select_stmt):
            # A star stands for as many columns as there are, so each may have its value from it.
            star = next((one for one in row if _is_star(one)), None)
            # PostgreSQL itself refuses lists of unequal length.
            yield from zip(columns, row if star is None else [star] * len(columns), strict=False)


def _is_star(value: Any) -> bool:
    return bool(value.WhichOneof("node") == "column_ref" and value.column_ref.fields[-1].WhichOneof("node") == "a_star")


def _inserted(select: Any) -> Iterator[list[Any]]:
    if select.values_lists:
        yield from (list(values.list.items) for values in select.values_lists)
    elif select.target_list:
        yield [target.res_target.val for target in select.target_list]
    for side in ("larg", "rarg"):
        if select.HasField(side):
            yield from _inserted(getattr(select, side))


def _differs_openly(value: Any) -> bool:
    """Whether everybody can see that the value is new each time: now(), CURRENT_DATE, gen_random_uuid(), DEFAULT."""
    kind = value.WhichOneof("node")
    if kind == "func_call":
        call = value.func_call
        return call.funcname[-1].string.sval in NEW_EACH_TIME and not call.args
    return kind in {"set_to_default", "sqlvalue_function"}
