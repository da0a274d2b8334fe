"""One metric at two decision points: what became known between them, in the value and by component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from evidence.metric_asked import Asked
from evidence.metrics import amounts
from evidence.metrics.amounts import Amount
from evidence.metrics.reading_answers import Component, Explained
from evidence.models import MetricAsk


@dataclass(frozen=True)
class OtherMoment:
    """The same question at another decision point, and what lies between the two."""

    asked: Asked
    answer: Explained
    difference: Amount | None  # of the later less the earlier, whichever that is
    is_later: bool

    @property
    def words(self) -> str:
        """What the difference is, in a word and a number."""
        if self.difference is None:
            return "not known"
        if not self.difference.number:
            return "the same"
        return f"{amounts.signed(self.difference)} became known later"


@dataclass(frozen=True)
class Changed:
    """One component at two decision points."""

    name: str
    earlier: Amount | None
    later: Amount | None
    difference: Amount | None


def other_moment(asked: Asked, shown: Explained, at: MetricAsk) -> OtherMoment | None:
    """A question beside the answer that is shown, which is of `at`; None where it is no value of another moment."""
    answer = asked.answer
    if not isinstance(answer, Explained) or asked.ask.decision_point is None or at.decision_point is None:
        return None
    is_later = asked.ask.decision_point > at.decision_point
    pair = (answer.value, shown.value) if is_later else (shown.value, answer.value)
    return OtherMoment(asked, answer, amounts.difference(*pair), is_later)


def changes(earlier: Explained, later: Explained) -> list[Changed]:
    """Each component of the one or the other; what the one did not have is nothing in it."""
    before, after = _named(earlier.components), _named(later.components)
    zero = amounts.made(Fraction(0))
    return [
        Changed(name, before.get(name), after.get(name),
                amounts.difference(after.get(name, zero), before.get(name, zero)))
        for name in dict.fromkeys([*after, *before])
    ]  # fmt: skip


def _named(components: Sequence[Component]) -> dict[str, Amount]:
    return {one.name: one.amount for one in components}
