"""What is wrong with an answer, as people read it; the code stands beside it."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, str] = {
    "missing": "there is no answer",
    "malformed": "it is no answer in the form that was asked for",
    "out_of_range": "the number is outside of its range",
    "out_of_enum": "it is none of the answers that there are",
    "wrong_source": "somebody else answered than who was asked",
    "low_confidence": "too unsure",
    "action_changed": "the answers are about another action",
    "no_policy": "no policy is in force",
    "program": "the policy cannot be used",
}


def in_words(code: str) -> str:
    """A defect in words; the code itself for one that is not known here."""
    return WORDS.get(code, code)
