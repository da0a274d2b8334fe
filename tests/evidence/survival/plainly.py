"""The compatible measure written the slow way: every unit is compared with every text, one rule after another.

It is the second opinion of the property tests, so it shares no code with what it judges.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from typing import Any

STOP = {
    "a", "an", "and", "are", "as", "at", "be", "been", "by", "for", "from", "in", "is", "it", "of", "on", "or", "that",
    "the", "their", "this", "to", "was", "were", "with",
}  # fmt: skip


def words(text: str) -> list[str]:
    """Words by walking over the characters."""
    found, word = [], ""
    text = unicodedata.normalize("NFKC", text).lower()
    for at, sign in enumerate(text):
        after = text[at + 1 : at + 2]
        if sign.isalnum() or (sign in ".-" and word and word[-1].isalnum() and after.isalnum()):
            word += sign
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


def informing(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOP]


def units(text: str) -> list[str]:
    pieces, start, at = [], 0, 0
    text = text.strip()
    while at < len(text):
        end = at
        while end < len(text) and text[end].isspace():
            end += 1
        ends_sentence = at and text[at - 1] in ".!?" and text[end : end + 1].isalnum()
        if end > at and (text[at:end].count("\n") > 1 or ends_sentence):
            pieces.append(text[start:at])
            start = end
        at = max(end, at + 1)
    return [piece for piece in [*pieces, text[start:]] if len(informing(piece)) > 1]


def matches(unit: str, text: str) -> bool:
    if re.search(rf"(?<!\S){re.escape(' '.join(words(unit)))}(?!\S)", " ".join(words(text))):
        return True
    mine = set(informing(unit))
    shared = len(mine & set(informing(text)))
    return shared > 1 and shared / len(mine) >= 0.5


def report(trace: list[dict[str, Any]]) -> dict[str, Any]:
    """The report of a trace without faults."""
    steps = [{"id": f"step-{at}", **step, "at": at} for at, step in enumerate(trace)]
    evidence = [step for step in steps if step["type"] in ("tool_result", "retrieval")]
    answers = [step for step in steps if step["type"] == "assistant"]
    records = []
    for number, step in enumerate(evidence):
        step.setdefault("evidence_id", f"evidence-{number}")
        later = [sink for sink in steps[step["at"] + 1 :] if sink["type"] in ("assistant", "reasoning")]
        step["hits"] = [[sink for sink in later if matches(unit, sink["content"])] for unit in units(step["content"])]
        records.append(record(step, later, answers[-1:]))
    total = aggregate(records)
    unused = [one for one in records if not one["reused_units"]]
    return {
        "steps": len(steps),
        "evidence_sources": len(evidence),
        "tool_results": sum(step["type"] == "tool_result" for step in steps),
        "retrieval_steps": sum(step["type"] == "retrieval" for step in steps),
        **{key: total[key] for key in ("evidence_units", "reused_units", "final_reused_units")},
        "overall_survival_ratio": total["survival_ratio"],
        "final_answer_survival_ratio": total["final_answer_survival_ratio"],
        "apparently_unused_sources": len(unused),
        "evidence": records,
        "tools": by_name(records, "tool"),
        "sources": by_name(records, "source"),
        "unused_evidence": [
            {key: one[key] for key in ("evidence_id", "step_id", "tool", "source", "evidence_units")} for one in unused
        ],
        "repeated_evidence_groups": groups(evidence),
    }


def record(step: dict[str, Any], later: list[Any], final: list[Any]) -> dict[str, Any]:
    hits = step["hits"]
    sinks = [sink for sink in later if any(sink in found for found in hits)]
    reused, ended = sum(bool(found) for found in hits), sum(any(one in found for one in final) for found in hits)
    return {
        "evidence_id": step["evidence_id"],
        "step_id": step["id"],
        "source_type": step["type"],
        "tool": step.get("tool"),
        "source": step.get("source"),
        "evidence_units": len(hits),
        "reused_units": reused,
        "final_reused_units": ended,
        "survival_ratio": reused / len(hits) if hits else 0.0,
        "final_answer_survival_ratio": ended / len(hits) if hits else 0.0,
        "reused_at": [sink["id"] for sink in sinks],
        "reuse_count": len(sinks),
        "last_reuse_step": sinks[-1]["id"] if sinks else None,
        "steps_until_last_reuse": sinks[-1]["at"] - step["at"] if sinks else None,
    }


def by_name(records: list[Any], key: str) -> dict[str, Any]:
    names = dict.fromkeys(one[key] for one in records if one[key] is not None)
    return {name: aggregate([one for one in records if one[key] == name]) for name in names}


def aggregate(records: list[Any]) -> dict[str, Any]:
    of, reused, final = (
        sum(one[key] for one in records) for key in ("evidence_units", "reused_units", "final_reused_units")
    )
    return {
        "evidence_sources": len(records),
        "evidence_units": of,
        "reused_units": reused,
        "final_reused_units": final,
        "survival_ratio": reused / of if of else 0.0,
        "final_answer_survival_ratio": final / of if of else 0.0,
    }


def groups(evidence: list[Any]) -> list[list[str]]:
    found = [{number} for number in range(len(evidence))]
    for one, other in itertools.combinations(range(len(evidence)), 2):
        if linked(evidence[one], evidence[other]):
            both = [group for group in found if group & {one, other}]
            found = [group for group in found if group not in both] + [set().union(*both)]
    return sorted(
        ([evidence[number]["evidence_id"] for number in sorted(group)] for group in found if len(group) > 1),
        key=lambda ids: [step["evidence_id"] for step in evidence].index(ids[0]),
    )


def linked(one: dict[str, Any], other: dict[str, Any]) -> bool:
    pairs = itertools.product(units(one["content"]), units(other["content"]))
    return any(matches(left, right) or matches(right, left) for left, right in pairs)
