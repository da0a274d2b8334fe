"""What makes a metric's definition a policy, and what to write instead. Pure."""

from __future__ import annotations

from dataclasses import dataclass

WORDS, CONSEQUENCE, WEIGHT, RANKING, LABEL = "words", "consequence", "weight", "ranking", "label"
AGENT_PARAMETER, FREE_TEXT, DIRECTION, UNVERSIONED = "agent_parameter", "free_text", "direction", "unversioned"
INSTEAD = {
    WORDS: "says what to do or judges; name what is counted",
    CONSEQUENCE: "names the consequence of a threshold; answer the quantity, and leave what follows from it to a rule",
    WEIGHT: "weighs without a unit; count in units of the table and keep prices in a valuation",
    RANKING: "ranks; answer every row and leave the choice to the reader",
    LABEL: "reads an outcome that was held out; a metric is made of what the source recorded",
    AGENT_PARAMETER: "would let the caller change what is computed; read it from recorded configuration",
    FREE_TEXT: "is free text in an answer; answer numbers, units, keys and kinds of a closed list",
    DIRECTION: "says which way is better, which is a rule's to say; leave it out",
    UNVERSIONED: "leaves open which definition this is, or who answers for it",
}


@dataclass(frozen=True)
class Flaw:
    """One flaw: its code, where it stands, and what was found there."""

    code: str
    place: str  # a JSON pointer into the body; "metric_id" for the name
    found: str

    @property
    def advice(self) -> str:
        """What to write instead, for whoever sees the place."""
        return f"“{self.found}” {INSTEAD[self.code]}."

    @property
    def sentence(self) -> str:
        """What to write instead, and where."""
        return f"{self.place}: {self.advice}"
