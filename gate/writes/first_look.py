"""A first look at what a write would change, through a source's read-only credential: nothing is run, nothing locked.

The statement is turned into a SELECT of the rows that it names, with the values that it would give them. Triggers,
constraints and what a cast refuses are not in it; the writer's dry run has them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import postgast
from django.conf import settings
from django.db import IntegrityError, transaction
from psycopg import sql

from audit import log, twohands
from audit.kinds import Kind
from audit.models import Definition
from evidence import credentials, proof, reader, written_reads
from evidence.errors import Problem, Refused
from evidence.reader import ReadResult
from gate.writes import targets
from gate.writes.errors import Unfit
from gate.writes.models import FirstLook, PreviewRequest, WriteRequest
from gate.writes.parameters import Parameter
from gate.writes.screening import screened
from gate.writes.statement import Statement, messages
from gate.writes.targets import WriteTarget

Row = dict[str, Any]
KIND = "postgresql"  # of the targets whose statements are read here, and so of their sources
NOT_SHOWN = ("set_to_default", "multi_assign_ref")


def make(request_id: int) -> None:
    """Look at what a person asked to see, and record it. Safe to run twice: the first result stays."""
    request = PreviewRequest.objects.select_related("write__target").get(pk=request_id)
    if FirstLook.objects.filter(request=request).exists():
        return
    _look_and_record(request.write, request)


def make_unasked(write_id: int) -> None:
    """Look at what was proposed, before anybody asks: the credential changes nothing. Safe to run twice."""
    write = WriteRequest.objects.select_related("target").get(pk=write_id)
    is_seen = FirstLook.objects.filter(write=write, edition=write.edition, request=None).exists()
    if is_seen or write.status != WriteRequest.Status.WAITING or targets.of(write.target).first_look_source is None:
        return
    _look_and_record(write, None)


def _look_and_record(write: WriteRequest, request: PreviewRequest | None) -> None:
    rows, error = _look(write)
    try:
        _record(write, request, rows, error)
    except IntegrityError:
        return  # another delivery of the same was faster


def _look(write: WriteRequest) -> tuple[list[Row], str]:
    target = targets.of(write.target)
    try:
        statement, given = screened(write)
        source = source_of(target)
        text = as_select(statement, given, shown_in=source.body["schema"])
        limits = reader.Limits(rows=target.policy.row_cap)
        found = read(write, source, text, [one.v for one in given], limits)
    except (Unfit, Refused, Problem) as reason:
        return [], reason.sentence if isinstance(reason, Refused | Problem) else str(reason)
    if found.truncated:
        return [], f"There are more than the {target.policy.row_cap:,} rows, or larger ones, than are shown."
    return [_row(one) for one in found.rows], ""


def read(write: WriteRequest, source: Definition, text: str, given: list[Any], limits: reader.Limits) -> ReadResult:
    """One guarded read about a write. Raises Refused; one that wrote darkens the source."""
    try:
        return reader.read(
            credentials.secret(source, "reader_env"), text, given, limits=limits, schema=source.body["schema"]
        )
    except Refused as refused:
        if refused.code == written_reads.WROTE:
            written_reads.note(source, write.ref, settings.PROCESS)
        raise


def source_of(target: WriteTarget) -> Definition:
    """The source that shows the target's rows, proven. Raises Unfit when it cannot, Problem while it is dark."""
    source = twohands.active("source", target.first_look_source or "")
    if source is None:
        raise Unfit(f"The source {target.first_look_source} is not in force; an admin can activate it.")
    if source.body["kind"] != KIND:
        raise Unfit(f"The source {source.name} is no {KIND} source, so it shows none of the target's rows.")
    proof.require(source)
    return source


def _row(found: Mapping[str, Any]) -> Row:
    before, after = _image(found["before"]), _image(found.get("after"))
    return {"key": {}, "columns": list(before or {}), "before": before, "after": after}


def _image(found: Mapping[str, Any] | None) -> dict[str, str | None] | None:
    return None if found is None else {name: _text(value) for name, value in found.items()}


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, default=str) if isinstance(value, bool | dict | list) else str(value)


def as_select(statement: Statement, given: Sequence[Parameter], *, shown_in: str) -> str:
    """The SELECT of the rows before and after. Raises Unfit for what has none, or shows its value only when it runs.

    A source reads in one schema alone, `shown_in`: the tables stand there, or views of them, by the same names.
    """
    if statement.verb == "insert":
        raise Unfit("An insert changes no row that is there; the writer's dry run shows what it adds.")
    node = getattr(postgast.parse(statement.text).stmts[0].stmt, f"{statement.verb}_stmt")
    tree = postgast.parse(_frame(statement, node))
    select = tree.stmts[0].stmt.select_stmt
    _fill(select, node)
    cast_parameters(tree, given)
    read_in(tree, statement.schema, shown_in)
    return str(postgast.deparse(tree))


def _frame(statement: Statement, node: Any) -> str:
    row = f"to_jsonb({sql.Identifier(statement.alias).as_string(None)}.*)"
    if statement.verb == "delete":
        return f"SELECT {row} AS before FROM x WHERE true"
    sets = ", ".join(f"{sql.Literal(one.res_target.name).as_string(None)}, NULL" for one in node.target_list)
    return f"SELECT {row} AS before, {row} || jsonb_build_object({sets}) AS after FROM x WHERE true"


def fill_rows(select: Any, node: Any) -> None:
    """Put the tables and the condition of an UPDATE or DELETE into a SELECT: its rows are those that would change."""
    del select.from_clause[:]
    select.from_clause.add().range_var.CopyFrom(node.relation)
    select.from_clause.extend(node.from_clause if _is_update(node) else node.using_clause)
    select.ClearField("where_clause")
    if node.HasField("where_clause"):
        select.where_clause.CopyFrom(node.where_clause)


def _is_update(node: Any) -> bool:
    return bool(type(node).DESCRIPTOR.name == "UpdateStmt")


def _fill(select: Any, node: Any) -> None:
    """Put the statement's own tables, conditions and values into the frame."""
    fill_rows(select, node)
    if _is_update(node):
        places = select.target_list[1].res_target.val.a_expr.rexpr.func_call.args[1::2]
        for place, one in zip(places, node.target_list, strict=True):
            _check_shows(one.res_target)
            place.CopyFrom(one.res_target.val)


def _check_shows(assigned: Any) -> None:
    if assigned.val.WhichOneof("node") in NOT_SHOWN:
        raise Unfit(f"What {assigned.name} gets is known only when it runs; the writer's dry run shows it.")


def cast_parameters(tree: Any, given: Sequence[Parameter]) -> None:
    """Each parameter under its own type, as the writer binds it: here nothing else would say which one it has."""
    nodes = [
        one for one in messages(tree) if type(one).DESCRIPTOR.name == "Node" and one.WhichOneof("node") == "param_ref"
    ]
    for one in nodes:
        number = one.param_ref.number
        cast = postgast.parse(f"SELECT ${number}::text::{given[number - 1].t}").stmts[0].stmt.select_stmt
        one.CopyFrom(cast.target_list[0].res_target.val)


def read_in(tree: Any, schema: str, shown_in: str) -> None:
    """Have what stands in one schema read in another, by the same names."""
    for one in messages(tree):
        name = type(one).DESCRIPTOR.name
        if name == "RangeVar" and one.schemaname == schema:
            one.schemaname = shown_in
        elif name == "ColumnRef" and len(one.fields) == 3 and one.fields[0].string.sval == schema:
            one.fields[0].string.sval = shown_in


@transaction.atomic
def _record(write: WriteRequest, request: PreviewRequest | None, rows: list[Row], error: str) -> None:
    FirstLook.objects.create(write=write, request=request, edition=write.edition, rows=rows, error=error)
    log.record_with(
        Kind.WRITE_LOOKED_AT, log.Actor.process(), subject=write.ref, incident_id=write.incident_id,
        status="failed" if error else "ok", error=error, summary=error or f"{len(rows)} of {write.table}, read only",
        args={"request": request.pk if request else None, "proposal": write.proposal_digest}, result={"rows": rows},
    )  # fmt: skip
