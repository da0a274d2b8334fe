"""What people did: every decision and review that was acknowledged, with its one entry."""

from __future__ import annotations

from tests.kills.diary import Act
from tests.kills.scene import Scene

KINDS = {
    "approve": "write.approved", "reject": "write.rejected", "agree": "draft.agreed", "overrule": "draft.overruled",
}  # fmt: skip

MOST_PAGES = 10


def every_decision_is_there(scene: Scene) -> list[str]:
    """What was decided about writes."""
    there = _acts(scene, "select 'W-' || write_id, act, reason from writes_decision")
    return _faults(scene, there, {f"W-{number}": act for number, act in scene.diary.decisions.items()})


def every_review_is_there(scene: Scene) -> list[str]:
    """What was decided about drafts."""
    there = _acts(scene, "select 'V-' || draft_id, act, reason from triage_review")
    return _faults(scene, there, {f"V-{number}": act for number, act in scene.diary.reviews.items()})


def reviews_are_shown(scene: Scene) -> list[str]:
    """The page of a draft says what was decided about it; the newest ones are looked at."""
    wrong = []
    for number in sorted(scene.diary.reviews)[-MOST_PAGES:]:
        page, reason = scene.browser.open(f"/drafts/{number}/"), scene.diary.reviews[number].reason
        if f"“{reason}”" not in page.text:
            wrong.append(f"V-{number} was reviewed, and its page does not say “{reason}”.")
    return wrong


def _acts(scene: Scene, statement: str) -> dict[str, Act]:
    return {ref: Act(act, reason) for ref, act, reason in scene.rows(statement)}


def _faults(scene: Scene, there: dict[str, Act], told: dict[str, Act]) -> list[str]:
    wrong = [
        f"{ref} was decided: {act}. There is {there.get(ref)}." for ref, act in told.items() if there.get(ref) != act
    ]
    entries = dict(scene.rows("select kind || ' ' || subject, count(*) from audit_entry group by 1"))
    counts = {ref: entries.get(f"{KINDS[act.act]} {ref}", 0) for ref, act in there.items()}
    return wrong + [
        f"The log tells {count} times what was decided about {ref}." for ref, count in counts.items() if count != 1
    ]
