"""What was reported and handed in: an incident each, a draft each, and the reviews that were given."""

from __future__ import annotations

from tests.kills.diary import Submission
from tests.kills.scene import Scene


def every_incident_is_there_once(scene: Scene) -> list[str]:
    """A report that was repeated opened one incident."""
    there = {key: (number, count) for key, number, count in scene.rows(
        "select dedup_key, min(id), count(*) from triage_incident where dedup_key like 'kills-%%' group by dedup_key"
    )}  # fmt: skip
    return [
        f"I-{number} of the key {key} was acknowledged; there is {there.get(key)}."
        for key, number in scene.diary.incidents.items()
        if there.get(key) != (number, 1)
    ]


def every_submission_has_one_draft(scene: Scene) -> list[str]:
    """No draft lost, none twice, none from nothing."""
    told = scene.rows(
        "select i.id, i.hypothesis, i.answer, count(d.id) from triage_investigation i"
        " left join triage_draft d on d.investigation_id = i.id where i.submitted_at is not null group by i.id"
    )
    wrong = [
        f"Investigation {number} was handed in and has {drafts} drafts." for number, _, _, drafts in told if drafts != 1
    ]
    cited = _findings(scene)
    there = {number: Submission(what, cited.get(number, []), answer) for number, what, answer, _ in told}
    for number, work in scene.diary.submissions.items():
        if there.get(number) != work:
            wrong.append(f"What investigation {number} handed in was acknowledged and is not there.")
    early = scene.rows(
        "select d.id from triage_draft d join triage_investigation i on i.id = d.investigation_id"
        " where i.submitted_at is null"
    )
    return wrong + [f"V-{draft} is a draft of something that nobody handed in." for (draft,) in early]


def _findings(scene: Scene) -> dict[int, list[dict[str, str]]]:
    found: dict[int, list[dict[str, str]]] = {}
    for number, fact, audit_id, note in scene.rows(
        "select investigation_id, fact, audit_id, note from triage_finding order by investigation_id, position"
    ):
        found.setdefault(number, []).append({"fact": fact, "audit_id": audit_id, "note": note})
    return found


def every_submission_and_draft_has_one_entry(scene: Scene) -> list[str]:
    """The log tells each once."""
    return [
        f"The log tells of {what} {number} times."
        for what, number in scene.rows(
            "select 'the findings of investigation ' || i.id, count(e.id) from triage_investigation i"
            " left join audit_entry e on e.run_id = i.id::text and e.kind = 'findings.submitted'"
            " where i.submitted_at is not null group by i.id"
            " having count(e.id) <> 1 union all "
            "select 'the verdict V-' || d.id, count(e.id) from triage_draft d left join audit_entry e"
            " on e.subject = 'V-' || d.id and e.kind = 'verdict.rendered' group by d.id having count(e.id) <> 1"
        )
    ]
