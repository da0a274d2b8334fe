"""Sending an approved HTTP action at most once.

No target of this kind can be asked what became of a request, so that it leaves is noted before it does, and it never
leaves a second time. Its answer decides, and where that is lost, the read-back; where that says nothing, a person.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from gate.writes import http_call, http_preview
from gate.writes.approval import Approved
from gate.writes.attempts import OVERTAKEN, Claim, Outcome, Refused, Status
from gate.writes.effect import Row
from gate.writes.errors import Unfit
from gate.writes.http_call import Answer
from gate.writes.http_statement import Request, screened

# The target read the request and says that it did nothing. The others of 400 to 499 leave it open.
REFUSALS = frozenset({400, 401, 402, 403, 404, 405, 406, 410, 411, 412, 413, 414, 415, 421, 422, 426, 428, 429, 431})


def run(
    claim: Claim, *, still_approved: Callable[[Claim], Approved], check_log: Callable[[], None]
) -> Outcome:  # fmt: skip
    """Send what was approved, or find out what became of it. Raises Refused."""
    if claim.earlier is not None:
        return _found_out(claim, "It was sent, and its answer was lost.", None)
    approved = still_approved(claim)
    request = approved.statement
    assert isinstance(request, Request)  # approval reads it by the kind of the target
    _check_unchanged(approved, request)
    check_log()
    if not claim.note({"sent_at": timezone.now().isoformat()}):
        raise Refused(Outcome(Status.UNKNOWN, error=OVERTAKEN))
    return _sent(claim, request)


def _check_unchanged(approved: Approved, request: Request) -> None:
    """Raises Refused when the read-back says something else than when it was approved."""
    if not approved.preview.rows:
        return
    try:
        row = http_preview.read_back(approved.target, request)
    except http_call.Unreadable as reason:
        raise Refused(Outcome(Status.FAILED, error=f"{reason} Nothing was sent; propose it again.")) from reason
    (seen,) = approved.preview.rows
    if row != seen:
        change: Row = {**row, "before": seen["before"], "after": row["before"]}
        why = "The target says something else now than when this was approved, so nothing was sent."
        raise Refused(Outcome(Status.REFUSED_STALE, [change], 1, error=why))


def _sent(claim: Claim, request: Request) -> Outcome:
    try:
        answer = http_call.send(claim.target, request, claim.ledger_key)
    except http_call.NotSent as reason:
        return Outcome(Status.FAILED, error=f"{reason} Nothing was sent.")
    except http_call.NoAnswer as reason:
        return _found_out(claim, str(reason), None)
    return _answered(claim, answer)


def _answered(claim: Claim, answer: Answer) -> Outcome:
    kept = {"status": answer.status, "sha256": hashlib.sha256(answer.body).hexdigest(), "is_cut": answer.is_cut}
    if answer.status in REFUSALS:
        return Outcome(Status.FAILED, error=f"{claim.target.name} refused it with {answer.status}.", answer=kept)
    if 200 <= answer.status < 300 and not claim.preview.rows:
        return _executed(claim, kept)
    return _found_out(claim, f"{claim.target.name} answered {answer.status}.", kept)


def _found_out(claim: Claim, why: str, kept: dict[str, Any] | None) -> Outcome:
    """What the read-back says. That it does not show the effect proves nothing: it may still be on its way."""
    if not claim.preview.rows:
        return Outcome(Status.UNKNOWN, error=f"{why} The target has no read-back; look at it.", answer=kept)
    try:
        row = http_preview.read_back(claim.target, screened(claim.write))
    except (http_call.Unreadable, Unfit) as reason:
        return Outcome(Status.UNKNOWN, error=f"{why} {reason}", answer=kept)
    if http_preview.is_done(row):
        return _executed(claim, kept)
    return Outcome(Status.UNKNOWN, error=f"{why} The read-back does not show its effect.", answer=kept)


def _executed(claim: Claim, kept: dict[str, Any] | None) -> Outcome:
    seen = claim.preview
    return Outcome(Status.EXECUTED, seen.rows, seen.row_count, seen.effect_digest, answer=kept)
