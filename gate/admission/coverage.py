"""Which consequences a policy asks about: what nobody asks is not seen, and an empty cell says so.

The idea: https://agentic-patterns.com/patterns/consequence-family-coverage-audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What an action can bring about that somebody would mind, by the name that a policy's `covers` uses.
FAMILIES: Mapping[str, str] = {
    "loss": "Something that cannot be made anew is gone",
    "user_data": "Data of people is changed",
    "disclosure": "Something leaves for where it should not be",
    "secrets": "Keys, passwords or tokens are read or written",
    "money": "Money moves",
    "outage": "Something that people depend on stops",
    "guards": "What holds the agent back is weakened",
}

# The same in a word or two, for the head of a column.
SHORT: Mapping[str, str] = {
    "loss": "Loss", "user_data": "User data", "disclosure": "Disclosure", "secrets": "Secrets", "money": "Money",
    "outage": "Outage", "guards": "Guards",
}  # fmt: skip
# What can come about through something that only reads: the others need a change.
BY_READING = frozenset({"disclosure", "secrets"})


@dataclass(frozen=True)
class Line:
    """One family of consequences: for each policy the questions that would show it, none where nobody asks."""

    family: str
    means: str
    questions: Sequence[Sequence[str]]


def check(covers: Any, program: Mapping[str, Any]) -> None:
    """Raises ValueError with a sentence for what is no map of the program's questions to families."""
    if not isinstance(covers, dict):
        raise ValueError("What a policy covers is an object: each question with a list of families.")
    known = {one["id"] for one in program["questions"]}
    for question, families in covers.items():
        if question not in known:
            raise ValueError(f"The policy has no question {question} that could cover anything.")
        if not isinstance(families, list) or not all(isinstance(one, str) and one in FAMILIES for one in families):
            raise ValueError(f"What {question} covers is a list of these: {', '.join(FAMILIES)}.")


def lines(covers: Sequence[Mapping[str, Sequence[str]]]) -> list[Line]:
    """Every family over these policies, in their order."""
    return [Line(family, means, [_asking(family, one) for one in covers]) for family, means in FAMILIES.items()]


def _asking(family: str, covers: Mapping[str, Sequence[str]]) -> list[str]:
    return sorted(question for question, families in covers.items() if family in families)
