"""Advice, judgments and rankings in the sentences of a contract: its purpose, its limitations, its descriptions.

A sentence may name what it denies ("gives no recommendation") and tell what happened ("how often a pod restarted"), so
single verbs are no flaw: it takes an order ("restart the job"), an ought, or a judgment that is passed. The words are
English; what another language says is the second person's to read. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from evidence.wording import folding
from evidence.wording.flaws import ADVICE, RANKING, VERDICT

ORDERS = (
    r"re-?start|re-?try|re-?run|re-?queue|re-?deploy|re-?boot|roll[ -]?back|revert|escalate|remediate|mitigate|ignore"
    r"|scale (?:up|down|out|in)|kill|delete|truncate|approve|reject|fail[ -]?over|disable|enable|shut down|drain|cordon"
    r"|refund|fix|repair|choose|pick|page|contact|notify|try again"
)
DONE = (
    r"re-?started|re-?tried|re-?run|re-?queued|re-?deployed|re-?booted|rolled back|reverted|escalated|remediated"
    r"|mitigated|ignored|scaled|killed|deleted|approved|rejected|failed over|disabled|enabled|drained|refunded|fixed"
    r"|repaired"
)
# What follows an order and no noun: "restart the job", but not "restart count".
OBJECT = (
    r"the|a|an|this|that|these|those|it|them|all|any|your|its|every|each|if|when|unless|until|after|before|immediately|now"
    r"|later|again|someone|on-call"
)
READER = r"you|we|operators?|staff|someone|somebody|a person|the agent|agents|on-call|the team"
FINE = r"healthy|unhealthy|safe|unsafe|fine|okay|ok|good|bad|normal|abnormal|anomalous|suspicious|benign|harmless"


@dataclass(frozen=True)
class Pattern:
    """A way to say it. One that names a thing may be denied: "no verdict"; an order stays one."""

    code: str
    regex: re.Pattern[str]
    is_deniable: bool = False


def _orders(*regexes: str) -> list[Pattern]:
    return [Pattern(ADVICE, re.compile(regex)) for regex in regexes]


def _named(code: str, *regexes: str) -> list[Pattern]:
    return [Pattern(code, re.compile(regex), True) for regex in regexes]


PATTERNS = [
    *_orders(
        r"\b(?:should|shouldn't|ought to)\b",
        r"\bnext (?:step|action)s?\b",
        rf"\b(?:{READER}) (?:must|needs? to|ha(?:s|ve) to|had better|may want to|can safely)\b",
        rf"\b(?:must|ha(?:s|ve) to|needs? to|(?:is|are) to) (?:be )?(?:{DONE}|{ORDERS})\b",
        rf"(?:^|[.;:!?,] )(?:please )?(?:{ORDERS}) (?:{OBJECT})\b",
        rf"(?:^|[.;:!?] )(?:please )?(?:{ORDERS})(?:[.!]|$)",
        rf"\b(?:then|so|otherwise|please|do not|don't|never|better|and) (?:{ORDERS}) (?:{OBJECT})\b",
        rf"\b(?:then|otherwise|please|do not|don't|never) (?:{ORDERS})(?:[.!,]|$)",
        rf"\bmeans? (?:that )?(?:choose|{READER}|{ORDERS})\b",
        r"(?:^|[.;:!?,] |\b(?:then|so|not|don't|please) )wait (?:for|until)\b",
        r"\baction (?:is )?(?:required|needed)\b",
        r"\bcall to action\b",
        r"(?:^|[.;:!?,] )(?:please )?consider\b",
        r"\bdecid\w+ (?:whether|if|what|which|how)\b",
        r"\b(?:help|let)s? (?:\w+ )?(?:choose|decide)\b",
        r"(?:^|[.;:!?,] )(?:please )?(?:call|use|run|try) \w+ (?:first|next|instead|before)\b",
    ),
    *_named(ADVICE, r"\brecommend\w*", r"\bsuggest\w*", r"\badvi[cs]e[sd]?\b|\badvisable\b", r"\bbest practices?\b"),
    *_named(
        VERDICT,
        r"\bverdicts?\b",
        r"\broot[ -]causes?\b",
        r"\bculprits?\b|\bto blame\b",
        r"\bconfidence\b(?! (?:interval|level|bound|limit)s?\b)",
        r"\b(?:risk|health|confidence) (?:scores?|ratings?)\b",
        r"\b(?:un)?likel(?:y|iest|ihood)\b|\bprobabl[ey]\b",
        r"\bpass(?:es|ed)?(?: or |/)fail(?:s|ed)?\b",
        r"\b(?:a|as) (?:pass|fail)\b",
        r"\bdiagnos(?:e[sd]?|is)\b|\bjudg(?:e[sd]?|e?ments?)\b",
        r"\bsafe to\b",
        r"\bexplains? why\b",
        r"\b(?:identif|determin)\w+ (?:\w+ ){0,4}?(?:caus(?:e|es|ed)|at fault|responsible)\b",
        r"\b(?:assign|decid|estimat|judg|rat|assess|classif)\w*\b(?: \w+){0,4}? (?:severity|priority|risk|urgency)\b",
    ),
    *_named(
        VERDICT,
        r"\b(?:whether|if|is|are|was|were|looks?|seems?|appears?|means?|proves?|shows?)(?: [\w'-]+){0,4}? "
        rf"(?:{FINE})\b",
    ),
    *_named(
        RANKING,
        r"(?<!at )\bbest\b(?![ -]effort| practice)",
        r"(?<!at )\bworst\b(?![ -]case)",
        r"\b(?:most|least) (?:likely|probable|relevant|suspicious|important|urgent|promising|severe|critical)\b",
        r"(?:^|[.;:!?] |\b(?:the|its) )top (?!of\b|level\b|left\b|right\b)\w+",
        r"\btop (?:\d+|one|two|three|five|ten|few|causes?|candidates?|suspects?|results?|hits?|match(?:es)?)\b",
        r"\branks?\b|\branked\b|\brankings?\b",
        r"\bscor(?:ed|ing)\b",
        r"\bby (?:relevance|importance|likelihood|suspicion|risk|urgency)\b",
    ),
]
DENIED = re.compile(r"\b(?:no|not|never|nor|neither|without|nothing|cannot)\b(?! only| doubt| question)")
CLAUSE = re.compile(r"[.,;:!?()]|\bbut\b")
WORDS_BEFORE = 5


def flaws(text: str) -> Iterator[tuple[str, str]]:
    """The flaws in a text, as code and the words that are one."""
    said = folding.folded(text)
    for pattern in PATTERNS:
        for found in pattern.regex.finditer(said):
            if not (pattern.is_deniable and _is_denied(said[: found.start()])):
                yield pattern.code, found[0].strip(" .,;:!?")
                break


def _is_denied(before: str) -> bool:
    """Whether the clause so far says that it is not so."""
    clause = CLAUSE.split(before)[-1]
    return DENIED.search(" ".join(clause.split()[-WORDS_BEFORE:])) is not None
