"""One walk through a rule for one subject: what was cited, line by line, and what was asked later. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from gate.triage import provenance
from gate.triage.cases import IncidentFacts, RecordedCall
from gate.triage.lines import Line
from gate.triage.provenance import Citation
from gate.triage.readers.document import Answer, Unreadable, storable
from gate.triage.rules.language import Case, Check, Fact, Need, Rule, either
from gate.triage.sheet import LATER_ANSWERS, Sheet

NO_LATER = "No later answer on the same subject contradicts what is cited"
NO_LATER_EARN = "The newest answers on this subject, all of them saying the same"
CONTRADICTED = "A later answer contradicts it"


class Judge:
    """The rule held against what was cited for one subject: the incident's own, or that of one of its members."""

    def __init__(
        self,
        rule: Rule,
        entries: Sequence[RecordedCall],
        citations: Sequence[Citation],
        incident: IncidentFacts,
        decided_at: datetime,
    ) -> None:
        self.rule, self.entries, self.citations = rule, entries, citations
        self.incident, self.decided_at = incident, decided_at

    def check_facts(self, sheet: Sheet) -> None:
        """Every check of the rule, one line each."""
        for fact in self.rule.facts:
            for need in fact.needs:
                for check in need.checks:
                    self._check(sheet, fact, need, check)

    def _check(self, sheet: Sheet, fact: Fact, need: Need, check: Check) -> None:
        line, cited = Line(), self.cited(fact, need)
        for citation in cited:
            self._put(line, citation, need, check)
        code = "unreadable" if line.outcome == "unreadable" else "check_failed"
        if not cited:
            why = f"No answer of {either(need.tools)} is cited for `{fact.name}`."
            line.worsen("fails", "no entry cited", why, "A fact is missing")
            code = "missing_fact"
        sheet.close(
            line, fact=fact.name, title=check.title, earn=check.earn, predicate=_name(check),
            audit_ids=[citation.audit_id for citation in cited], code=code, whom=self.incident,
        )  # fmt: skip

    def cited(self, fact: Fact, need: Need) -> list[Citation]:
        """What was cited for the fact, as far as it can be meant for this need."""
        return [
            citation
            for citation in self.citations
            if citation.fact == fact.name and citation.call is not None and fact.means(need, citation.call)
        ]

    def _put(self, line: Line, citation: Citation, need: Need, check: Check) -> None:
        if citation.call is None or not citation.is_readable:
            problem = citation.problems[0]
            line.worsen("unreadable", "not read", problem.sentence, problem.headline)
            return
        answer = read(line, need, citation.call, check.unreadable)
        if answer is not None:
            case = self.case(line)
            for test in (need.asked, need.answered, check.test):
                if not line.holds(test, answer, case, check.unreadable):
                    return

    def case(self, line: Line) -> Case:
        """Fresh answers of every fact: what a test reads of them counts for its own line."""
        cited = {fact.name: tuple(self._answers(fact)) for fact in self.rule.facts}
        line.answers.extend(answer for answers in cited.values() for answer in answers)
        return Case(self.incident, cited)

    def _answers(self, fact: Fact) -> Iterable[Answer]:
        for need in fact.needs:
            for citation in self.cited(fact, need):
                # What no reader takes has failed its own line; here there is nothing of it to compare with.
                if citation.call is not None and citation.is_readable:
                    answer = read(Line(), need, citation.call, "")
                    yield from () if answer is None else (answer,)

    def check_later_answers(self, sheet: Sheet) -> None:
        """Choosing the best of several tries is not evidence: what was asked later has to say the same."""
        line, asked = Line(seen="none contradicts"), []
        for fact in self.rule.facts:
            for need in fact.needs:
                asked += [call.audit_id for call in self._later(fact, need) if self._ask_again(line, need, call)]
        sheet.close(
            line, fact=LATER_ANSWERS, title=NO_LATER, earn=NO_LATER_EARN, predicate=LATER_ANSWERS, audit_ids=asked,
            code="contradicted_later", whom=self.incident,
        )  # fmt: skip

    def _later(self, fact: Fact, need: Need) -> list[RecordedCall]:
        """Uncited answers from the first cited one on. One whose time nobody knows may be the newest of all."""
        cited = [citation.call for citation in self.cited(fact, need) if citation.call is not None]
        if not cited:
            return []
        first = min((call.finished_at for call in cited if call.finished_at is not None), default=None)
        ids = {call.audit_id for call in cited}
        return [
            call
            for call in self.entries
            if fact.means(need, call) and call.audit_id not in ids and self._may_contradict(call, first)
        ]

    def _may_contradict(self, call: RecordedCall, first: datetime | None) -> bool:
        if call.called_at is None or call.finished_at is None:
            return True
        if call.status != "ok" or not provenance.is_of(call, self.incident):
            return False
        return (first is None or first <= call.finished_at) and call.finished_at <= self.decided_at

    def _ask_again(self, line: Line, need: Need, call: RecordedCall) -> bool:
        """True when the call asked about the same subject; the line then says whether it contradicts."""
        answer, is_taken = self._about_the_same(need, call)
        if answer is None:
            return False
        line.answers.append(answer)
        if not is_taken or call.is_intact is not True or call.truncated is not False:
            why = f"{storable(str(call.audit_id))} is a later answer on the same subject that cannot be read whole."
            line.worsen("unreadable", "not read", why, CONTRADICTED)
        case = self.case(Line())
        for test in (need.answered, *need.again):
            told = Line()
            if line.outcome == "holds" and not told.holds(test, answer, case, CONTRADICTED):
                line.worsen(told.outcome, told.seen, f"A later answer on the same subject, {told.why}", CONTRADICTED)
        return True

    def _about_the_same(self, need: Need, call: RecordedCall) -> tuple[Answer | None, bool]:
        """The call as an answer about this subject, or None; and whether one reader takes its shape."""
        taken = read(Line(), need, call, "")
        readers = [reader for reader in need.readers if call.tool in reader.tools]
        answers = [taken] if taken is not None else [reader(call) for reader in readers]
        for answer in answers:
            # What the arguments of a changed entry say means nothing, so it may be about anything.
            if call.is_intact is not True or Line().holds(need.asked, answer, self.case(Line()), ""):
                return answer, taken is not None
        return None, False


def read(line: Line, need: Need, call: RecordedCall, headline: str) -> Answer | None:
    """The call as an answer; None, and the line says why, when no reader or more than one takes it."""
    try:
        answer = need.read(call)
    except Unreadable as unread:
        line.worsen("unreadable", unread.seen, f"{storable(call.audit_id)}: {unread.why}", headline)
        return None
    line.answers.append(answer)
    return answer


def _name(check: Check) -> str:
    """What the check is called in its file: the same wherever that lies."""
    return str(getattr(check.test, "__qualname__", type(check.test).__qualname__))
