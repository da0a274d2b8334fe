"""What an agent learns about its write: where it stands, why it ended, what it still needs. Nobody's name, and no
reason of an approval."""

from __future__ import annotations

from collections import Counter

from django.db import connection

from gate.writes import admission, quorum, targets
from gate.writes.models import Decision, Execution, WriteRequest

Act = Decision.Act
Status = WriteRequest.Status
ENDED_BY = {
    Status.REJECTED: Act.REJECT, Status.CHANGES_REQUESTED: Act.REQUEST_CHANGES, Status.WITHDRAWN: Act.WITHDRAW,
}  # fmt: skip
SETTLED = {
    Status.SETTLED_EXECUTED: "The writer could not say whether it ran; people looked at the target and found that it"
    " did.",
    Status.SETTLED_FAILED: "The writer could not say whether it ran; people looked at the target and found that it did"
    " not.",
}
ENDED_BY_THE_WRITER = frozenset({Status.FAILED, Status.REFUSED_STALE, Status.UNKNOWN})


def reason(write: WriteRequest) -> str:
    """Why it stands where it does: the words of whoever stopped it, or the writer's; empty while nobody did."""
    status = Status(write.status)
    if status in SETTLED:
        return SETTLED[status]
    if status in ENDED_BY:
        own = Decision.objects.filter(write=write, act=ENDED_BY[status], edition=write.edition)
        return own.order_by("-at").values_list("reason", flat=True).first() or ""
    if status in ENDED_BY_THE_WRITER:
        return Execution.objects.filter(write=write).values_list("error", flat=True).first() or ""
    if status == Status.BLOCKED:
        return admission.why_blocked(write)
    return "Nobody acted on it in time." if status == Status.EXPIRED else ""


def rule(write: WriteRequest) -> str:
    """The rule of a policy that blocked it; empty when none did."""
    found = admission.latest(write) if write.status == Status.BLOCKED else None
    return found.rule if found else ""


def needs(write: WriteRequest) -> list[str]:
    """What must still happen before it runs, each as a phrase; empty when nothing can, or nothing must."""
    if write.status == Status.CHANGES_REQUESTED:
        return ["an edit by its proposer"]
    if write.status == Status.PROPOSED:
        return ["admission: it is being checked before a person sees it"]
    if write.status != Status.WAITING:
        return []
    seen = write.previews.filter(edition=write.edition).order_by("-pk").values_list("digest", "error").first()
    if seen is None:
        return ["a preview, which a person asks for", _approvals(write, "")]
    if seen[1]:
        return ["a preview that finds an effect", _approvals(write, "")]
    return [_approvals(write, seen[0])]


def _approvals(write: WriteRequest, preview: str) -> str:
    left = targets.of(write.target).policy.open_seats(_roles(write, preview).values())
    return f"approval by {quorum.seats_in_words(Counter(left))}"


def _roles(write: WriteRequest, preview: str) -> dict[int, str]:
    """The role of each person whose approval counts. The agents' plane sees people's roles through a view."""
    given = Decision.objects.filter(write=write, act=Act.APPROVE, edition=write.edition)
    counted = {
        (by, role)
        for by, role, made in given.values_list("by_id", "role", "statement")
        if made["proposal"] == write.proposal_digest and made["preview"] == preview
    }
    known = [by for by, _ in counted]
    with connection.cursor() as cursor:
        cursor.execute("select id, role from people_approver where is_active and id = any(%s)", [known])
        held = dict(cursor.fetchall())
    return {by: role for by, role in counted if held.get(by) == role}
