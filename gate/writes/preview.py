"""What a write would do: run twice, rolled back twice. It starts only from a person's request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from django.db import transaction

from audit import alarm, log
from audit.kinds import Kind
from gate.writes import (
    blast,
    canaries,
    digests,
    effect,
    http_preview,
    http_statement,
    people,
    proofs,
    sentences,
    session,
    shapes,
    tables,
    targets,
)
from gate.writes.blast import Touched
from gate.writes.effect import Effect, Footprint, Row
from gate.writes.errors import Unfit
from gate.writes.images import TooLarge
from gate.writes.models import Preview, PreviewRequest, WriteRequest
from gate.writes.older_servers import Unpaired
from gate.writes.parameters import Parameter
from gate.writes.screening import screened
from gate.writes.statement import Statement
from gate.writes.targets import WriteTarget


class NoEffect(Exception):
    """There is no effect that a person could approve; the sentence says why."""


@dataclass(frozen=True)
class Seen:
    """What two dry runs showed, or why they showed nothing."""

    rows: list[Row] = field(default_factory=list)
    volatile: list[str] = field(default_factory=list)
    footprint: Footprint = field(default_factory=dict)
    blast: list[dict[str, Any]] = field(default_factory=list)
    bound: list[str] | None = None
    shape: dict[str, Any] = field(default_factory=dict)
    effect_digest: str = ""
    error: str = ""


@dataclass(frozen=True)
class Run:
    """One dry run."""

    effect: Effect
    blast: list[Touched]
    shape: dict[str, Any]


def make(request_id: int) -> None:
    """Preview what a request asks for and record it. Safe to run twice, also at once: the first result stays."""
    request = PreviewRequest.objects.select_related("write__target").get(pk=request_id)
    if Preview.objects.filter(request=request).exists():
        return
    _record(request, _look(request.write))


def _look(write: WriteRequest) -> Seen:
    if why := alarm.why_off():
        return Seen(error=why)
    if write.status != WriteRequest.Status.WAITING:
        return Seen(error=f"{write.ref} is {write.get_status_display().lower()}, so there is nothing to preview.")
    try:
        if (planned := canaries.planned(write)) is not None:
            return Seen(**planned)
        target = targets.of(write.target)
        return _dry_run(target, *screened(write)) if target.action is None else _as_sent(target, write)
    except (NoEffect, http_preview.NoEffect, Unfit, TooLarge, Unpaired, proofs.Unusable, session.Unreachable) as reason:
        return Seen(error=str(reason))
    except psycopg.Error as error:
        return Seen(error=sentences.of(error))


def _as_sent(target: WriteTarget, write: WriteRequest) -> Seen:
    """Nobody can try an HTTP action: what is approved is the request, and what its read-back says now."""
    found = http_preview.rows(target, http_statement.screened(write))
    return Seen(found, effect_digest=digests.of_effect(found, [], None))


def _dry_run(target: WriteTarget, statement: Statement, given: Sequence[Parameter]) -> Seen:
    one, two = (_one_run(target, statement, given) for _ in range(2))
    first, second = one.effect, two.effect
    bound = _bound(target, statement, two.shape["key"])
    volatile = _volatile(first, second, bound)
    _check_is_approvable(target, statement, first, second, volatile)
    touched = [each.as_json() for each in blast.steady(one.blast, two.blast)]
    return Seen(
        second.rows, volatile, second.footprint, touched, bound, two.shape, second.digest(volatile, bound)
    )  # fmt: skip


def _bound(target: WriteTarget, statement: Statement, key: Sequence[str]) -> list[str] | None:
    """The columns that the approval is bound to, by the target's policy; None for all of them."""
    if target.policy.binding == "strict" or statement.touched is None:
        return None
    return sorted(statement.touched.union(key))


def _one_run(target: WriteTarget, statement: Statement, given: Sequence[Parameter]) -> Run:
    """One dry run in a session of its own, so that the footprint counts nothing else."""
    with session.opened(target) as connection:
        _check_can_execute(connection, target)
        session.begin(connection)
        try:
            _check_is_shown(connection, statement)
            shape = shapes.of(connection, statement)
            found = effect.run(connection, target, statement, given)
            return Run(found, blast.of(connection, target, found.elsewhere, target.policy.row_cap), shape)
        finally:
            if not connection.closed:
                connection.execute("ROLLBACK")


def _check_can_execute(connection: psycopg.Connection[object], target: WriteTarget) -> None:
    if connection.info.server_version < session.OLDEST_VERSION:
        version = connection.info.server_version // 10_000
        raise NoEffect(f"{target.name} runs PostgreSQL {version}; writes need 13 or newer.")
    # Without its proof an approved write could run twice, so it is asked for before approval.
    proofs.check(connection, target)


def _check_is_shown(connection: psycopg.Connection[object], statement: Statement) -> None:
    if why := tables.why_not_called(connection, statement) or tables.why_not_shown(connection, statement):
        raise NoEffect(why)


def _volatile(first: Effect, second: Effect, bound: Sequence[str] | None) -> list[str]:
    """Columns whose new value differs between the runs: the clock, sequences, random ids. Raises NoEffect."""
    if _as_it_was(first, bound) != _as_it_was(second, bound):
        raise NoEffect("The rows changed between the two dry runs; preview it again.")
    pairs = zip(first.rows, second.rows, strict=True)
    return sorted({
        column
        for one, other in pairs
        for column in one["after"] or ()
        if one["after"][column] != other["after"].get(column) and (_sets(one, column) or _sets(other, column))
    })  # fmt: skip


def _as_it_was(found: Effect, bound: Sequence[str] | None) -> list[digests.Image]:
    """The rows before the change, as far as the approval is bound to them."""
    if bound is None:
        return [row["before"] for row in found.rows]
    return [row["before"] and {name: row["before"].get(name) for name in bound} for row in found.rows]


def _sets(row: Row, column: str) -> bool:
    """Whether the change made this value; another session may have made one that is only carried along."""
    return row["before"] is None or row["before"].get(column) != row["after"].get(column)


def _check_is_approvable(
    target: WriteTarget, statement: Statement, first: Effect, second: Effect, volatile: Sequence[str]
) -> None:
    if first.footprint != second.footprint:
        raise NoEffect("Its two dry runs touched different tables or numbers of rows, so there is no one effect.")
    if target.ledger in second.footprint:
        raise NoEffect(f"It would write {target.ledger} by a trigger or a rule; no proposal may.")
    if open_values := sorted(statement.computed.intersection(volatile)):
        raise NoEffect(f"{', '.join(open_values)} would get another value in each run, so there is none to approve.")
    if not any(second.own) and second.rows:
        raise NoEffect(f"{target.name} does not count what is written (track_counts), so its footprint is not known.")
    if not _is_final(statement.verb, second.own, len(second.rows)):
        raise NoEffect(f"A trigger or cascade changes {statement.table} again, so what it leaves cannot be shown.")


def _is_final(verb: str, own: Sequence[int], rows: int) -> bool:
    """Whether the rows that the statement returned are all that it changes in its table: a trigger may go on.

    A row that moves to another partition counts as one deleted and one inserted.
    """
    inserted, updated, deleted = own
    if verb == "insert":
        return (inserted, updated, deleted) == (rows, 0, 0)
    if verb == "delete":
        return (inserted, updated, deleted) == (0, 0, rows)
    return inserted == deleted and updated + inserted == rows


@transaction.atomic
def _record(request: PreviewRequest, seen: Seen) -> None:
    # The lock makes two deliveries take turns; the second finds the first one's preview.
    write = WriteRequest.objects.select_for_update(of=("self",)).select_related("target").get(pk=request.write_id)
    if Preview.objects.filter(request=request).exists():
        return
    if write.edition != request.write.edition:
        seen = Seen(error=f"{write.ref} was edited while it was previewed; preview it again.")
    made = Preview.objects.create(
        request=request, write=write, edition=write.edition, rows=seen.rows,
        row_count=None if seen.error else len(seen.rows), volatile=seen.volatile, footprint=seen.footprint,
        blast=seen.blast, bound=seen.bound, shape=seen.shape, effect_digest=seen.effect_digest, error=seen.error,
        digest=digest(write, seen),
    )  # fmt: skip
    write.version += 1
    write.save(update_fields=["version"])
    log.record_with(
        Kind.WRITE_PREVIEWED, log.Actor.process(), subject=write.ref, incident_id=write.incident_id,
        status="failed" if seen.error else "ok", error=seen.error, summary=_summary(write, made, request),
        args={"request": request.pk, "proposal": write.proposal_digest, "preview": made.digest},
        result={
            "rows": seen.rows, "volatile": seen.volatile, "footprint": seen.footprint, "blast": seen.blast,
            "bound": seen.bound,
        },
    )  # fmt: skip


def _summary(write: WriteRequest, made: Preview, request: PreviewRequest) -> str:
    asked_by = people.name_of(request.by_id)
    if made.error:
        return f"No effect to approve, asked by {asked_by}"
    rows = "1 row" if made.row_count == 1 else f"{made.row_count} rows"
    return f"{rows} of {write.table}, asked by {asked_by}"


def digest(write: WriteRequest, seen: Seen | Preview) -> str:
    """The preview's digest, from what was seen or from what is stored of it."""
    return digests.of_preview(**parts(write, seen))


def parts(write: WriteRequest, seen: Seen | Preview) -> dict[str, Any]:
    """What its digest is over."""
    return {
        "proposal": write.proposal_digest, "effect": seen.effect_digest, "rows": seen.rows,
        "row_count": None if seen.error else len(seen.rows), "footprint": seen.footprint, "volatile": seen.volatile,
        "blast": seen.blast, "error": seen.error,
    }  # fmt: skip
