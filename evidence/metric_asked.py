"""One question of a metric as its page shows it: waiting, with its answer, or with why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from audit.reading import seq_of
from evidence.metrics import serving
from evidence.metrics.reading_answers import Shown, of_tool
from evidence.models import MetricAsk

Kind = MetricAsk.Kind
WORDS: Mapping[str, str] = {
    Kind.EXPLAIN: "Value", Kind.COMPARE: "What if", Kind.TRACE_ENTITY: "Trace of one", Kind.TRACE_EVENT: "Trace of",
}  # fmt: skip


class Asked:
    """One question as it is shown: waiting, with its answer, or with why there is none."""

    def __init__(self, ask: MetricAsk) -> None:
        self.ask = ask
        self.kind = Kind(ask.kind)

    @property
    def is_open(self) -> bool:
        return not self.ask.is_answered

    @cached_property
    def answer(self) -> Shown | None:
        """The answer; None where there is none, or one that cannot be read."""
        return of_tool(serving.TOOLS[self.kind], self.ask.answer)

    @property
    def problem(self) -> str:
        """Why there is no answer, of a question that is done with."""
        if self.is_open or self.answer is not None:
            return ""
        return self.ask.problem or "Its answer cannot be read here."

    @property
    def entry(self) -> int | None:
        """The number of the entry of the read."""
        return seq_of(self.ask.audit_id)

    @property
    def scope(self) -> Mapping[str, Any]:
        return dict(sorted(self.ask.arguments.get("scope", {}).items()))

    @property
    def words(self) -> str:
        """What sort of question it is."""
        return WORDS[self.kind]

    @property
    def wanted(self) -> str:
        """What it asks for besides its scope, in words."""
        said = self.ask.arguments
        if self.kind == Kind.COMPARE:
            return f"{said['variable']} = {said['value']}"
        return str(said.get("decomposition") or said.get("entity") or said.get("event") or "")
