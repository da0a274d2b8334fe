"""What must hold when all is quiet again, whatever was killed. Each promise names what breaks it, a sentence each."""

from __future__ import annotations

from collections.abc import Callable

from tests.kills import promises_log, promises_people, promises_triage, promises_writes
from tests.kills.scene import Scene

ALL: tuple[Callable[[Scene], list[str]], ...] = (
    promises_triage.every_incident_is_there_once,
    promises_triage.every_submission_has_one_draft,
    promises_triage.every_submission_and_draft_has_one_entry,
    promises_people.every_decision_is_there,
    promises_people.every_review_is_there,
    promises_people.reviews_are_shown,
    promises_writes.every_proposal_is_there_once,
    promises_writes.writes_are_executed_at_most_once,
    promises_writes.writes_have_one_effect,
    promises_writes.every_write_is_over_or_waits,
    promises_writes.every_outcome_has_one_entry,
    promises_writes.pages_show_what_is_so,
    promises_log.every_cited_entry_is_there,
    promises_log.unfinished_calls_are_shown,
    promises_log.writers_numbers_have_no_gap,
    promises_log.the_outbox_is_empty,
    promises_log.both_planes_are_well,
)


def broken(scene: Scene) -> list[str]:
    """What does not hold, with the name of what it breaks."""
    return [f"{check.__name__}: {sentence}" for check in ALL for sentence in check(scene)]
