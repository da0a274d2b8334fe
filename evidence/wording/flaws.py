"""What is wrong with a word in a contract, and what to write instead. Pure."""

from __future__ import annotations

from dataclasses import dataclass

ADVICE, VERDICT, RANKING = "advice", "verdict", "ranking"
INSTEAD = {
    ADVICE: "is advice; say what was read, and leave what to do about it to the agent and to people",
    VERDICT: "is a judgment; give the recorded fields that it rests on, under their own names: code decides",
    RANKING: "ranks; give the values, sorted by a column that is named, and leave the choice to the reader",
}


@dataclass(frozen=True)
class Flaw:
    """One word of a contract that it may not use: a code for programs, where it stands, and one sentence."""

    code: str  # advice, verdict or ranking
    place: str  # a JSON pointer into the contract's body; "name" for the tool's own name
    word: str

    @property
    def sentence(self) -> str:
        """What to write instead."""
        return f"{self.place}: “{self.word}” {INSTEAD[self.code]}."
