"""What an objection may do: take the pass away, and nothing else. Pure.

Someone says that an entry speaks against a fact. The fact's own checks are put to that entry. Only an entry that meets
all of them answers the objection; whatever else it is, a person looks. No objection excuses or adds anything.
"""

from __future__ import annotations

from collections.abc import Sequence

from gate.triage import provenance
from gate.triage.cases import Finding, RecordedCall
from gate.triage.judge import Judge, read
from gate.triage.lines import Line
from gate.triage.readers.document import storable
from gate.triage.rules.language import Need
from gate.triage.sheet import OBJECTIONS, Sheet

ANSWERED = "Every objection is answered by the very entry that it points at"
ANSWERED_EARN = "Entries that meet all checks of the fact which they were held against"
OPEN = "An objection stands"


def check_objections(sheet: Sheet, objections: Sequence[Finding], judges: Sequence[Judge]) -> None:
    """One line for all objections; none where nobody objected."""
    if not objections:
        return
    line, ids = Line(seen="all answered"), []
    for fact, audit_id in provenance.pairs(objections):
        ids.append(audit_id)
        if not any(_is_answered(line, judge, fact, audit_id) for judge in judges):
            why = f"{storable(audit_id)} is held against `{storable(fact)}`, and does not meet the checks of that fact."
            line.worsen("fails", audit_id, why, OPEN)
    sheet.close(
        line, fact=OBJECTIONS, title=ANSWERED, earn=ANSWERED_EARN, predicate=OBJECTIONS, audit_ids=ids,
        code="objection_stands",
    )  # fmt: skip


def _is_answered(line: Line, judge: Judge, fact: str, audit_id: str) -> bool:
    found = [call for call in judge.entries if call.audit_id == audit_id]
    needs = [need for known in judge.rule.facts if known.name == fact for need in known.needs]
    if len(found) != 1 or not provenance.may_speak(found[0], judge.incident, judge.decided_at):
        return False
    return any(_meets(line, judge, need, found[0]) for need in needs if found[0].tool in need.tools)


def _meets(line: Line, judge: Judge, need: Need, call: RecordedCall) -> bool:
    answer = read(Line(), need, call, "")
    if answer is None:
        return False
    line.answers.append(answer)
    tests = (need.asked, need.answered, *(check.test for check in need.checks))
    return all(Line().holds(test, answer, judge.case(Line()), "") for test in tests)
