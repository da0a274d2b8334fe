"""The verdict: tested code that turns citations into pass or fail. Pure and total; no Django, no clock, no database.

Every step can only take the pass away. No step reads anything that the agent wrote except hypothesis, fact and id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from gate.triage import outcomes, provenance
from gate.triage.cases import Finding, IncidentFacts, RecordedCall
from gate.triage.lines import CRASHES, Line
from gate.triage.outcomes import ActiveRule, CheckResult, Fail, Pass, Reason
from gate.triage.provenance import Citation
from gate.triage.readers.document import Answer, storable
from gate.triage.rules.language import Case, Check, Fact, Need, Rule, either
from gate.triage.wording import Wording

__all__ = ["ActiveRule", "CheckResult", "Fail", "Finding", "IncidentFacts", "Pass", "Reason", "RecordedCall", "verdict"]

# The two lines that the engine adds to those of the rule
PROVENANCE = "provenance"
LATER_ANSWERS = "later_answers"
BELONGS = "Every cited call belongs to {ref}, succeeded, is uncut, and falls between start and decision"
BELONGS_EARN = "Calls made for {ref} itself, finished, uncut and at most {freshness} old when they are handed in"
NO_LATER = "No later answer on the same subject contradicts what is cited"
NO_LATER_EARN = "The newest answers on this subject, all of them saying the same"
CONTRADICTED = "A later answer contradicts it"


def verdict(
    *,
    hypothesis: str,
    findings: Iterable[Finding],
    entries: Iterable[RecordedCall],
    incident: IncidentFacts,
    rules: Mapping[str, ActiveRule],
    decided_at: datetime,
    objections: Sequence[Finding] = (),
) -> Pass | Fail:
    """Pass with a receipt, or Fail with reasons. It never raises: what it cannot read fails.

    `entries` are all recorded calls on the incident up to `decided_at`, and whatever else was cited. An objection
    points at one of them. All of them are looked at anyway, so an objection has nothing to add and nothing to excuse.
    """
    try:
        return _decide(hypothesis, list(findings), list(entries), incident, rules, decided_at)
    except CRASHES as crash:
        sentence = f"The case has a shape that no check reads ({crash.__class__.__name__})."
        reason = Reason("unreadable", "What cannot be read fails", sentence)
        return Fail((reason,), (), outcomes.receipt(str(hypothesis), None, (), (), None))


def _decide(
    hypothesis: str,
    findings: list[Finding],
    entries: list[RecordedCall],
    incident: IncidentFacts,
    rules: Mapping[str, ActiveRule],
    decided_at: datetime,
) -> Pass | Fail:
    active = rules.get(hypothesis)
    refusal = _refusal(hypothesis, active, incident)
    if refusal is not None or active is None or active.rule is None:
        reasons = () if refusal is None else (refusal,)
        return Fail(reasons, (), outcomes.receipt(hypothesis, active, (), (), decided_at))
    ordered = sorted(entries, key=lambda call: (call.finished_at, call.audit_id))
    citations = provenance.resolve(findings, ordered, active.rule, incident, decided_at)
    judge = _Judge(active.rule, ordered, citations, incident, decided_at)
    judge.walk()
    return judge.outcome(active)


def _refusal(hypothesis: str, active: ActiveRule | None, incident: IncidentFacts) -> Reason | None:
    name = storable(str(hypothesis))
    if active is None:
        sentence = f"No active rule says what would show `{name}`, so a person decides."
        return Reason("no_rule", "No rule, no pass", sentence)
    if active.rule is None:
        sentence = f"The active version of `{name}` is not the one that this worker has loaded; deploy that version."
        return Reason("rule_not_loaded", "The rule is not loaded", sentence)
    if hypothesis not in incident.hypotheses:
        sentence = f"The class of {incident.ref} does not allow `{name}`."
        return Reason("hypothesis_not_allowed", "The hypothesis does not fit", sentence)
    return None


class _Judge:
    """One walk through the checks of one case."""

    def __init__(
        self,
        rule: Rule,
        entries: Sequence[RecordedCall],
        citations: tuple[Citation, ...],
        incident: IncidentFacts,
        decided_at: datetime,
    ) -> None:
        self.rule, self.entries, self.citations = rule, entries, citations
        self.incident, self.decided_at = incident, decided_at
        self.words = Wording(incident)
        self.lines: list[CheckResult] = []
        self.reasons: list[Reason] = []

    def walk(self) -> None:
        """Every check of the rule, then provenance, then later answers."""
        for fact in self.rule.facts:
            for need in fact.needs:
                for check in need.checks:
                    self._check(fact, need, check)
        self._check_provenance()
        self._check_later_answers()

    def outcome(self, active: ActiveRule) -> Pass | Fail:
        """Pass when every line holds and nothing at all speaks against it."""
        checks = tuple(self.lines)
        cited = {citation.audit_id for citation in self.citations if citation.call is not None}
        calls = tuple(call for call in self.entries if call.audit_id in cited)
        receipt = outcomes.receipt(self.rule.hypothesis, active, checks, calls, self.decided_at)
        # Two lines are the engine's own: a rule without a check has nothing to pass by.
        is_earned = len(checks) > 2 and all(line.outcome == "holds" for line in checks) and not self.reasons
        return Pass(receipt, checks) if is_earned else Fail(tuple(dict.fromkeys(self.reasons)), checks, receipt)

    def _check(self, fact: Fact, need: Need, check: Check) -> None:
        line, cited = Line(), self._cited(fact, need)
        for citation in cited:
            self._put(line, citation, need, check)
        code = "unreadable" if line.outcome == "unreadable" else "check_failed"
        if not cited:
            why = f"No answer of {either(need.tools)} is cited for `{fact.name}`."
            line.worsen("fails", "no entry cited", why, "A fact is missing")
            code = "missing_fact"
        self._close(line, fact.name, check.title, check.earn, [citation.audit_id for citation in cited], code)

    def _cited(self, fact: Fact, need: Need) -> list[Citation]:
        """What was cited for the fact, as far as it can be meant for this need."""
        return [
            citation
            for citation in self.citations
            if citation.fact == fact.name and citation.call is not None and citation.call.tool in need.tools
        ]

    def _put(self, line: Line, citation: Citation, need: Need, check: Check) -> None:
        if citation.call is None or not citation.is_readable:
            problem = citation.problems[0]
            line.worsen("unreadable", "not read", problem.sentence, problem.headline)
            return
        answer, case = need.read(citation.call), self._case(line)
        line.answers.append(answer)
        for test in (need.asked, need.answered, check.test):
            if not line.holds(test, answer, case, check.unreadable):
                return

    def _case(self, line: Line) -> Case:
        """Fresh answers of every fact: what a test reads of them counts for its own line."""
        cited = {fact.name: tuple(self._answers(fact)) for fact in self.rule.facts}
        line.answers.extend(answer for answers in cited.values() for answer in answers)
        return Case(self.incident, cited)

    def _answers(self, fact: Fact) -> Iterable[Answer]:
        for need in fact.needs:
            for citation in self._cited(fact, need):
                if citation.call is not None and citation.is_readable:
                    yield need.read(citation.call)

    def _check_provenance(self) -> None:
        line = Line(seen=", ".join(self._times()))
        for citation in self.citations:
            for problem in citation.problems:
                line.worsen("fails", line.seen, problem.sentence, problem.headline)
                self.reasons.append(problem)
        if not self.citations:
            line.worsen("fails", "no entry cited", "Nothing is cited.", "A fact is missing")
        audit_ids = [citation.audit_id for citation in self.citations]
        self._close(line, PROVENANCE, BELONGS, BELONGS_EARN, audit_ids, "" if self.citations else "missing_fact")

    def _times(self) -> list[str]:
        calls = {citation.call.audit_id: citation.call for citation in self.citations if citation.call is not None}
        return sorted({call.called_at.strftime("%H:%M") for call in calls.values()})

    def _check_later_answers(self) -> None:
        line, asked = Line(seen="none contradicts"), []
        for fact in self.rule.facts:
            for need in fact.needs:
                asked += [call.audit_id for call in self._later(fact, need) if self._ask_again(line, need, call)]
        self._close(line, LATER_ANSWERS, NO_LATER, NO_LATER_EARN, asked, "contradicted_later")

    def _later(self, fact: Fact, need: Need) -> list[RecordedCall]:
        """Uncited answers from the first cited one on: choosing the best of several tries is not evidence."""
        cited = [citation.call for citation in self._cited(fact, need) if citation.call is not None]
        if not cited:
            return []
        first, ids = min(call.finished_at for call in cited), {call.audit_id for call in cited}
        return [
            call
            for call in self.entries
            if call.tool in need.tools
            and call.audit_id not in ids
            and call.incident_id == self.incident.id
            and call.status == "ok"
            and first <= call.finished_at <= self.decided_at
        ]

    def _ask_again(self, line: Line, need: Need, call: RecordedCall) -> bool:
        """True when the call asked about the same subject; the line then says whether it contradicts."""
        answer, about = need.read(call), Line()
        case = self._case(about)
        if call.is_intact is True and not about.holds(need.asked, answer, case, ""):
            return False
        line.answers.append(answer)
        if call.is_intact is not True or call.truncated is not False:
            why = f"{call.audit_id} is a later answer on the same subject that cannot be read whole."
            line.worsen("unreadable", "not read", why, CONTRADICTED)
        for test in (need.answered, *need.again):
            told = Line()
            if line.outcome == "holds" and not told.holds(test, answer, case, CONTRADICTED):
                line.worsen(told.outcome, told.seen, f"A later answer on the same subject, {told.why}", CONTRADICTED)
        return True

    def _close(self, line: Line, fact: str, title: str, earn: str, audit_ids: list[str], code: str) -> None:
        if line.outcome != "holds" and code != "":
            self.reasons.append(Reason(code, line.headline, line.why))
        title, earn, number = self.words.fill(title), self.words.fill(earn), len(self.lines) + 1
        self.lines.append(line.close(number=number, fact=fact, title=title, earn=earn, audit_ids=audit_ids))
