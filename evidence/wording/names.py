"""Advice, judgments and rankings in names: of tools, of fields that a tool answers, and of values that it promises.

The same word may be the tool's opinion or a fact that a system keeps: a queue has a `priority`, a log line a
`severity`, a load balancer counts `healthy` hosts. What decides is whose word it is. Words of the first sort below are
never a fact. Words of the second sort are the source's where the field is one: a column that the statement reads under
this name, or a field of a native answer, which is passed on unchanged. They are the tool's own where a statement makes
them up. Numbers of things (`failed: 3`, `unhealthy_count`) and moments (`failed_at`) are facts in any case. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence.wording import folding
from evidence.wording.flaws import ADVICE, RANKING, VERDICT

Words = tuple[str, ...]
# Never a fact, wherever they stand in a name. A star takes any ending.
NEVER = {
    ADVICE: (
        "recommend*", "suggest*", "advice", "advise", "advised", "next step", "next steps", "next action",
        "next actions", "next best", "action required", "required action", "proposed action", "action to take",
        "actions to take", "how to fix", "what to do", "call to action", "should", "remediation", "mitigation",
        "workaround", "best practice", "best practices",
    ),
    VERDICT: (
        "verdict*", "root cause", "root causes", "possible cause", "suspected cause", "main cause", "culprit*", "blame",
        "diagnosis", "assessment", "judgment", "judgement", "risk score", "health score", "confidence score",
        "severity score", "priority score", "safe to", "is safe", "looks ok", "looks good", "looks fine", "all clear",
        "certainty", "likelihood", "likely", "unlikely", "probable", "probably", "suspect", "suspects",
    ),
    RANKING: ("most likely", "least likely", "likeliest", "top cause", "top causes", "top suspect", "top candidate"),
}  # fmt: skip
# A judgment as the last word of a name, unless the field counts: `is_healthy`, `job_health`; not `health_check_url`.
CONDITIONS = {
    VERDICT: (
        "healthy", "unhealthy", "health", "safe", "unsafe", "pass", "passes", "passed", "fail", "fails", "ok",
        "anomalous", "anomaly", "outlier", "suspicious", "conclusion",
    ),
    RANKING: ("winner",),
}  # fmt: skip
# A grade, as a number too: at the end of a name, or before what makes a grade of it.
GRADES = {
    VERDICT: ("priority", "severity", "confidence", "risk", "urgency", "criticality", "probability"),
    RANKING: ("score", "grade", "rating", "importance", "relevance"),
}
OF_A_GRADE = {
    "level", "class", "label", "name", "text", "number", "value", "score", "rating", "percent", "band", "tier",
}  # fmt: skip
ORDERS = {"best", "worst", "rank", "ranked", "ranking"}  # wherever they stand
TOP = "top"  # as a word of its own: not `desktop` and `stop_at`
NO_TOP = {"level", "of"}  # what may come after it
ACTIONS = {
    "restart", "retry", "rerun", "rollback", "requeue", "redeploy", "revert", "escalate", "ignore", "reboot", "fix",
    "failover", "repair", "remediate", "mitigate", "kill",
}  # fmt: skip
# What an order is about: `restart_service`; `restart_pending` and `rollback_complete` are states.
OBJECTS = {
    "it", "now", "later", "all", "job", "service", "worker", "pod", "deploy", "deployment", "instance", "host",
}  # fmt: skip
DOINGS = ACTIONS | {"action", "actions"}  # a field of just this name says what to do
NEEDED = {"needed", "required", "advised", "now"}
JUDGING = {
    ADVICE: ACTIONS | {"advise", "propose"},
    VERDICT: {"judge", "decide", "diagnose", "assess", "triage", "approve", "reject"},
    RANKING: {"rank", "score", "grade", "prioritize", "prioritise", "choose", "pick"},
}
# A judgment as the last word of a tool's name. Not `health`: that of a cluster is what its own address is called.
TOOL_ENDS = {
    VERDICT: {*CONDITIONS[VERDICT], "confidence"} - {"health"},
    RANKING: {"score"},
}
# Values that a contract itself promises: an order, a judgment. What systems record is in the past: failed, succeeded.
VALUES = {
    ADVICE: ("do not", "no action", "take action", "not needed"),
    VERDICT: (
        "healthy", "unhealthy", "safe", "unsafe", "pass", "fail", "good", "bad", "benign", "harmless", "true positive",
        "false positive",
    ),
    RANKING: ("best", "worst"),
}  # fmt: skip
COUNTING = {"integer", "number", "array", "object", "null"}
ENDINGS = {"at", "count", "counts", "total", "on", "since", "until", "rate"}


def of_a_tool(name: str) -> Iterator[tuple[str, str]]:
    """The flaws in a tool's name, as code and word. A tool that acts or judges says so with its first word."""
    said = folding.words(name)
    yield from never(name)
    for code, verbs in JUDGING.items():
        if said and (said[0] in verbs or (code == ADVICE and said[:2] == ("roll", "back"))):
            yield code, said[0]
    yield from ((RANKING, word) for word in _orders(said))
    yield from ((code, last) for code, ends in TOOL_ENDS.items() for last in said[-1:] if last in ends)


def of_a_field(name: str, schema: Any, is_recorded: bool) -> Iterator[tuple[str, str]]:
    """The flaws in the name of a field of an answer, as code and word."""
    found = list(never(name))
    yield from found
    if not found and not is_recorded:
        yield from _of_its_own(folding.words(name), schema)


def _of_its_own(said: Words, schema: Any) -> Iterator[tuple[str, str]]:
    """Flaws of a field that the tool makes up by itself."""
    if not said or said[-1] in ENDINGS:
        return
    yield from ((RANKING, word) for word in _orders(said))
    yield from ((code, word) for code, grades in GRADES.items() for word in grades if _is_grade(said, word))
    if _counts(schema):
        return
    yield from ((code, said[-1]) for code, ends in CONDITIONS.items() if said[-1] in ends and said[0] not in ends)
    yield from ((code, said[0]) for code, ends in CONDITIONS.items() if said == (said[0],) and said[0] in ends)
    if _is_doing(said):
        yield ADVICE, " ".join(said)


def _orders(said: Words) -> Iterator[str]:
    """Words that put things into an order of worth."""
    yield from (word for word in said if word in ORDERS)
    yield from (word for word, after in zip(said, (*said, "")[1:], strict=True) if word == TOP and after not in NO_TOP)


def _is_grade(said: Words, word: str) -> bool:
    if word not in said:
        return False
    after = said[said.index(word) + 1 :]
    return not after or after[0] in OF_A_GRADE or after[0].isdecimal()


def _is_doing(said: Words) -> bool:
    """`retry`, `roll_back`, `needs_restart`, `restart_needed`; not `retry_policy`, which a system keeps."""
    joined = _joined(said)
    if len(joined) == 1:
        return joined[0] in DOINGS
    asked = joined[0] in ("needs", "must", "can") and joined[1] in DOINGS
    return asked or (joined[0] in DOINGS and joined[1] in NEEDED)


def _joined(said: Words) -> Words:
    return ("rollback", *said[2:]) if said[:2] == ("roll", "back") else said


def _counts(schema: Any) -> bool:
    """Whether a field holds a number, or is a record or a list of its own, in which each field is looked at."""
    stated = schema.get("type") if isinstance(schema, dict) else None
    types = {stated} if isinstance(stated, str) else set(stated or ())
    return bool(types - {"null"}) and types <= COUNTING


def of_a_value(value: str) -> Iterator[tuple[str, str]]:
    """The flaws in a value that a contract promises, as code and word."""
    found = list(never(value))
    yield from found
    said = folding.words(value)
    if found or not said:
        return
    joined = _joined(said)
    if joined[0] in ACTIONS and (len(joined) == 1 or joined[1] in OBJECTS):
        yield ADVICE, " ".join(said)
    for code, phrases in VALUES.items():
        yield from ((code, phrase) for phrase in phrases if said[: len(phrase.split())] == tuple(phrase.split()))


def never(name: str) -> Iterator[tuple[str, str]]:
    """Words that are never a fact, in any name."""
    said, parts = folding.words(name), folding.parts(name)
    for code, phrases in NEVER.items():
        yield from ((code, _bare(phrase)) for phrase in phrases if _stands(phrase, said, parts))


def _bare(phrase: str) -> str:
    return phrase.removesuffix("*")


def _stands(phrase: str, said: Words, parts: Words) -> bool:
    """Whether a phrase is in a name. A long stem is looked for in whole pieces, too: capitals may cut it anywhere."""
    if phrase.endswith("*"):
        stem = _bare(phrase)
        return any(word.startswith(stem) for word in said) or any(stem in part for part in parts)
    looked = tuple(phrase.split())
    if len(looked) > 1 and "".join(looked) in (*said, *parts):  # written as one word
        return True
    return any(said[start : start + len(looked)] == looked for start in range(len(said)))
