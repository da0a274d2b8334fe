"""The sheet that a verdict is written on: lines in order, and what speaks against the pass. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from gate.triage.cases import IncidentFacts
from gate.triage.lines import Line
from gate.triage.outcomes import CheckResult, Reason
from gate.triage.wording import Wording

# The lines that the engine adds to those of the rule
PROVENANCE = "provenance"
LATER_ANSWERS = "later_answers"
SCOPE = "whole_incident"
OBJECTIONS = "objections"


class Sheet:
    """One case's lines and reasons while they are being written."""

    def __init__(self, incident: IncidentFacts) -> None:
        self.incident = incident
        self.lines: list[CheckResult] = []
        self.reasons: list[Reason] = []
        self._words: dict[int, Wording] = {}

    def close(
        self, line: Line, *, fact: str, title: str, earn: str, predicate: str, audit_ids: Iterable[str], code: str,
        whom: IncidentFacts | None = None,
    ) -> None:  # fmt: skip
        """Keep a judged line. Without a code, its reasons were given one by one already.

        `whom` is the incident as the line's subject has it: its own, or a member's.
        """
        if line.outcome != "holds" and code != "":
            self.reasons.append(Reason(code, line.headline, line.why))
        words = self._wording(whom if whom is not None else self.incident)
        self.lines.append(
            line.close(
                number=len(self.lines) + 1, fact=fact, title=words.fill(title), earn=words.fill(earn),
                predicate=predicate, audit_ids=audit_ids,
            )
        )  # fmt: skip

    def _wording(self, whom: IncidentFacts) -> Wording:
        """The words of one subject, filled in once. The incidents outlive the sheet, so their ids stay theirs."""
        if id(whom) not in self._words:
            self._words[id(whom)] = Wording(whom)
        return self._words[id(whom)]
