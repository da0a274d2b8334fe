"""Whether a question asks what is so, and one thing at a time: what can be seen in its words.

The signs are those that evidence questions are linted for: https://github.com/doronp/jevc. Signs, not proofs: what
only makes a question worse is a warning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from gate.admission.findings import Finding
from gate.admission.shape import place, questions_of

# Nobody who is asked what is so needs these; "ask" is a good word in a question.
VERDICT_WORD = re.compile(r"\b(?:allow|deny|block|approve)\b")
# Names of what to do about it, where two of them are options.
VERDICT_OPTIONS = frozenset({
    "allow", "ask", "deny", "block", "approve", "reject", "escalate", "permit", "refuse", "proceed", "halt", "warn",
    "pass", "fail",
})  # fmt: skip
FRAMING = re.compile(
    r"\bwhat (?:should|action|verdict|decision|to do)\b|\bwhich (?:action|verdict|decision)\b|\bdecide (?:whether|if)\b"
)
VERB = r"(?:is|are|was|were|does|do|did|has|have|had|will|would|can|could)"
COMPOUND = re.compile(rf"\band also\b|\bor whether\b|\b(?:and|or) {VERB} (?:it|this|that|the|they|any|there)\b")
# ", or …?" begins a second question, unless an "or" before it makes it the last of several examples.
TRAILING_OR = re.compile(r"(?:(?!\bor\b).)*, or\s+[^,?]{0,60}\?", re.DOTALL)
CARVE_OUT = re.compile(
    r"\b(?:except|excepting|excluding|unless|other than|aside from|apart from|with the exception of)\b"
)
PATTERN = re.compile(r"\*\.|/\*|\*/|\.\*")
DIGITS = re.compile(r"\d+")


def check(program: Any) -> list[Finding]:
    """Every finding about the words of the questions. Total: any JSON."""
    return [
        found for number, one in enumerate(questions_of(program), 1) for found in _check(one, place("q", one, number))
    ]


def folded(text: str) -> str:
    """Text as a reader takes it: lower case, one width, nothing invisible in it, one space between words."""
    plain = unicodedata.normalize("NFKC", text)
    seen = "".join(one for one in plain if unicodedata.category(one) != "Cf")
    return " ".join(seen.casefold().split())


def _check(question: dict[Any, Any], at: str) -> Iterator[Finding]:
    text = folded(question["text"]) if isinstance(question.get("text"), str) else ""
    options = question["options"] if isinstance(question.get("options"), dict) else {}
    levels = question["levels"] if isinstance(question.get("levels"), list) else []
    yield from _check_verdict(text, options, [folded(one) for one in levels if isinstance(one, str)], at)
    if COMPOUND.search(text) or TRAILING_OR.match(text) or _asked(text) > 1:
        yield Finding("compound", at, "warn")
    if CARVE_OUT.search(text):
        yield Finding("carve_out", at, "warn")
    if PATTERN.search(text):
        yield Finding("pattern_in_text", at, "warn")
    if len(levels) > 1 and _is_undescribed(levels):
        yield Finding("undescribed_levels", at, "warn")


def _asked(text: str) -> int:
    """How many questions end in a question mark."""
    return sum(any(map(str.isalnum, one)) for one in text.split("?")[:-1])


def _check_verdict(text: str, options: dict[Any, Any], levels: list[str], at: str) -> Iterator[Finding]:
    # The words of a name stand between underscores.
    names = [folded(one.replace("_", " ")) for one in options if isinstance(one, str)]
    described = [folded(one) for one in options.values() if isinstance(one, str)]
    if any(VERDICT_WORD.search(one) for one in (text, *names, *described, *levels)):
        yield Finding("verdict_word", at)
    if sum(one in VERDICT_OPTIONS for one in names) > 1 or sum(one in VERDICT_OPTIONS for one in levels) > 1:
        yield Finding("verdict_options", at)
    if FRAMING.search(text):
        yield Finding("verdict_framing", at)


def _is_undescribed(levels: list[Any]) -> bool:
    """Blank, or told apart by a number alone, so that whoever answers learns an index and not what it means."""
    texts = [folded(one) if isinstance(one, str) else "" for one in levels]
    return "" in texts or len({DIGITS.sub("", one).strip() for one in texts}) == 1
