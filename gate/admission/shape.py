"""Whether a program is one: every part of the right kind, every name known, every threshold in its range.

Total: any JSON gives findings, never an exception.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from gate.admission import rule_shape
from gate.admission.findings import Finding
from gate.admission.program import SOURCES, TYPES
from gate.admission.rule_shape import is_verdict
from gate.admission.values import is_name, is_within

FEWEST, MOST_LEVELS = 2, 10
LONGEST_KEY = 40  # of a key that is compared with known ones
# Whoever mistypes a key has left out what it says: a threshold, for one. What only looks like a known key is an error,
# and what looks like none is a remark of somebody's; in a rule nothing is a remark.
ALIKE = 0.75  # by difflib's measure: "min_confidance" to "min_confidence" is 0.93
NOTES = frozenset({"title", "note"})
PROGRAM_KEYS = NOTES | {"questions", "rules", "otherwise", "precheck_confidence", "must_reach"}
QUESTION_KEYS = NOTES | {
    "id", "type", "text", "options", "levels", "by", "unsure_between", "min_confidence", "depends_on", "source",
}  # fmt: skip


def check(program: Any) -> list[Finding]:
    """Every defect of the shape. Without one, `gate.admission.program.build` reads it."""
    if not isinstance(program, dict):
        return [Finding("not_an_object", "program")]
    return list(_check_program(program))


def questions_of(program: Any) -> list[dict[Any, Any]]:
    """Its questions that are objects at all."""
    found = program.get("questions") if isinstance(program, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def place(kind: str, raw: Any, number: int) -> str:
    """Where a question or a rule stands: by its id, or by its number where it has none."""
    name = raw.get("id") if isinstance(raw, dict) else None
    return f"{kind}:{name}" if is_name(name) else f"{kind}:#{number}"


def _check_program(program: dict[Any, Any]) -> Iterator[Finding]:
    yield from _remarks(program, PROGRAM_KEYS, "program")
    yield from _check_list(program, "questions", "no_questions", may_be_empty=False)
    yield from _check_list(program, "rules", "no_rules", may_be_empty=True)
    yield from _check_otherwise(program)
    if not isinstance(program.get("precheck_confidence", True), bool):
        yield Finding("malformed", "program")
    yield from _check_must_reach(program.get("must_reach", []))
    questions = _listed(program, "questions")
    for number, one in enumerate(questions, 1):
        yield from _check_question(one, place("q", one, number), _ids(questions))
    yield from _duplicates(questions, "q", "duplicate_question")
    rules = _listed(program, "rules")
    known = {one["id"]: one for one in reversed(questions_of(program)) if is_name(one.get("id"))}
    for number, one in enumerate(rules, 1):
        yield from rule_shape.check(one, place("r", one, number), known)
    yield from _duplicates(rules, "r", "duplicate_rule")


def _listed(program: dict[Any, Any], key: str) -> list[Any]:
    found = program.get(key)
    return found if isinstance(found, list) else []


def _ids(parts: list[Any]) -> list[str]:
    return [one["id"] for one in parts if isinstance(one, dict) and is_name(one.get("id"))]


def _remarks(part: dict[Any, Any], known: frozenset[str], at: str) -> Iterator[Finding]:
    for key in part:
        if key not in known:
            is_typo = not isinstance(key, str) or get_close_matches(key[:LONGEST_KEY], known, n=1, cutoff=ALIKE)
            yield Finding("unknown_key", at, "error" if is_typo else "warn")


def _check_list(program: dict[Any, Any], key: str, code: str, *, may_be_empty: bool) -> Iterator[Finding]:
    found = program.get(key)
    if not isinstance(found, list) or not (found or may_be_empty):
        yield Finding(code, "program")


def _check_otherwise(program: dict[Any, Any]) -> Iterator[Finding]:
    if program.get("otherwise") is None:
        yield Finding("no_otherwise", "otherwise")
    elif not is_verdict(program["otherwise"]):
        yield Finding("unknown_verdict", "otherwise")


def _check_must_reach(needed: Any) -> Iterator[Finding]:
    if not isinstance(needed, list):
        yield Finding("malformed", "program")
        return
    for one in needed:
        if not is_verdict(one):
            yield Finding("unknown_verdict", f"verdict:{one}" if isinstance(one, str) else "program")


def _duplicates(parts: list[Any], kind: str, code: str) -> Iterator[Finding]:
    seen: set[str] = set()
    twice: set[str] = set()
    for name in _ids(parts):
        (twice if name in seen else seen).add(name)
    yield from (Finding(code, f"{kind}:{name}") for name in sorted(twice))


def _check_question(raw: Any, at: str, known: list[str]) -> Iterator[Finding]:
    if not isinstance(raw, dict) or not is_name(raw.get("id")):
        yield Finding("malformed", at)
        return
    yield from _remarks(raw, QUESTION_KEYS, at)
    if not is_name(raw.get("text")):
        yield Finding("no_text", at)
    if raw.get("by", "model") not in SOURCES:
        yield Finding("unknown_source", at)
    yield from _check_source(raw.get("source", {}), at)
    yield from _check_depends_on(raw.get("depends_on", []), at, known)
    if raw.get("type") not in TYPES:
        yield Finding("unknown_type", at)
        return
    yield from _check_answers(raw, at)
    yield from _check_threshold(raw, at)


def _check_source(written: Any, at: str) -> Iterator[Finding]:
    """The written rule that a question was made from: its text, and where it stands. No verdict rests on it."""
    is_one = isinstance(written, dict) and all(isinstance(written.get(key, ""), str) for key in ("text", "place"))
    if not is_one:
        yield Finding("unreadable_source", at, "warn")


def _check_depends_on(needed: Any, at: str, known: list[str]) -> Iterator[Finding]:
    names = [needed] if isinstance(needed, str) else needed
    if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
        yield Finding("malformed", at)
        return
    if not set(names).issubset(known):
        yield Finding("unknown_question", at)
    if names:
        yield Finding("dependent", at, "warn")


def _check_answers(raw: dict[Any, Any], at: str) -> Iterator[Finding]:
    options, levels = raw.get("options", {}), raw.get("levels", [])
    if not isinstance(options, dict) or not isinstance(levels, list):
        yield Finding("malformed", at)
        return
    is_odd = not all(is_name(name) and isinstance(said, str | None) for name, said in options.items())
    is_odd |= not all(one is None or isinstance(one, str) for one in levels)
    is_odd |= (bool(options) and raw["type"] != "enum") or (bool(levels) and raw["type"] != "level")
    if is_odd:
        yield Finding("malformed", at)
    if raw["type"] == "enum" and len(options) < FEWEST:
        yield Finding("too_few_options", at)
    if raw["type"] == "level" and len(levels) < FEWEST:
        yield Finding("too_few_levels", at)
    if raw["type"] == "level" and len(levels) > MOST_LEVELS:
        yield Finding("too_many_levels", at)


def _check_threshold(raw: dict[Any, Any], at: str) -> Iterator[Finding]:
    """A band belongs to a probability, a least confidence to a choice; a probe says neither."""
    is_probability = raw["type"] == "yesno"
    mine = "unsure_between" if is_probability else "min_confidence"
    other = "min_confidence" if is_probability else "unsure_between"
    if other in raw or (raw.get("by") == "probe" and mine in raw):
        yield Finding("threshold_kind", at)
    if mine in raw and not (_is_band(raw[mine]) if is_probability else is_within(raw[mine], 0, 1)):
        yield Finding("threshold_range", at)


def _is_band(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(is_within(one, 0, 1) for one in value)
    return is_pair and value[0] < value[1]
