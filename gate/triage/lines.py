"""Judging one line of the page: tests put to answers, the first thing that does not hold kept. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gate.triage.outcomes import CheckResult, Outcome
from gate.triage.readers.document import Answer, Unreadable, storable
from gate.triage.rules.language import Case, Judgment, Test

# What code meets in data of the wrong shape. A check that meets it has read nothing, so it fails.
CRASHES = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Read:
    """What was read of one answer, written out."""

    audit_id: str
    result: Mapping[str, str]
    absent: frozenset[str]
    args: Mapping[str, str]

    @classmethod
    def of(cls, answer: Answer) -> Read:
        """What an answer remembers."""
        return cls(answer.call.audit_id, answer.result.read, frozenset(answer.result.absent), answer.args.read)


@dataclass
class Line:
    """A check line while it is being judged."""

    outcome: Outcome = "holds"
    seen: str = ""
    why: str = ""
    headline: str = ""
    answers: list[Answer] = field(default_factory=list)

    def worsen(self, outcome: Outcome, seen: str, why: str, headline: str) -> None:
        """The first thing that does not hold is what the line says."""
        if self.outcome == "holds":
            self.outcome, self.seen, self.why, self.headline = outcome, storable(seen), storable(why), headline

    def holds(self, test: Test, answer: Answer, case: Case, headline: str) -> bool:
        """Put one test to one answer. A test that crashes has read nothing."""
        try:
            judgment = test(answer, case)
        except Unreadable as unread:
            self.worsen("unreadable", unread.seen, f"{answer.call.audit_id}: {unread.why}", headline)
            return False
        except CRASHES as crash:
            why = f"{answer.call.audit_id} has a shape that no check reads ({crash.__class__.__name__})."
            self.worsen("unreadable", "not readable", why, headline)
            return False
        return self._keep(judgment, answer)

    def _keep(self, judgment: Judgment, answer: Answer) -> bool:
        if judgment.holds is not True:
            self.worsen("fails", judgment.seen, f"{answer.call.audit_id}: {judgment.why}", "A check does not hold")
            return False
        if self.outcome == "holds":
            self.seen = storable(judgment.seen)
        return True

    def close(
        self, *, number: int, fact: str, title: str, earn: str, predicate: str, audit_ids: Iterable[str]
    ) -> CheckResult:
        """The line as it is kept, with everything that its tests read."""
        read = [Read.of(answer) for answer in self.answers]
        read = [one for one in read if one.result or one.absent or one.args]
        touched = {*audit_ids, *(one.audit_id for one in read)}
        return CheckResult(
            number=number,
            fact=fact,
            title=title,
            predicate=predicate,
            outcome=self.outcome,
            audit_ids=tuple(storable(ref) for ref in sorted(touched, key=lambda ref: (len(ref), ref))),
            paths=_pointers((one.audit_id, one.result) for one in read),
            absent=_pointers((one.audit_id, one.absent) for one in read),
            args=_pointers((one.audit_id, one.args) for one in read),
            values=_values(read),
            seen=self.seen,
            why=self.why,
            earn=storable(earn),  # it names the subject, whose keys a monitor chose
            unlisted={
                answer.call.audit_id: dict(answer.result.unlisted) for answer in self.answers if answer.result.unlisted
            },
        )


def _pointers(parts: Iterable[tuple[str, Iterable[str]]]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for audit_id, part in parts:
        found.setdefault(audit_id, set()).update(part)
    return {ref: sorted(found[ref]) for ref in sorted(found) if found[ref]}


def _values(read: list[Read]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in read:
        found.setdefault(one.audit_id, {}).update(one.result)
    return {ref: dict(sorted(found[ref].items())) for ref in sorted(found)}
