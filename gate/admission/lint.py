"""Everything that is wrong with a program, or could be better. Total: any JSON gives findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gate.admission import program as programs
from gate.admission import reach, shape, wording
from gate.admission.findings import Finding, has_errors

# Beyond these nobody reads a policy whole: the pattern's text takes twelve questions for a bad sign.
MANY_QUESTIONS, MANY_RULES = 6, 12
# Beyond these nobody waits for the answer to what the rules reach.
MOST_QUESTIONS, MOST_RULES, MOST_CONDITIONS = 200, 200, 1_000


def lint(program: Any) -> list[Finding]:
    """Every finding, in the order of code and place. One error makes the program unusable."""
    if _is_too_large(program):
        return [Finding("too_large", "program")]
    found = shape.check(program)
    # What the rules reach can be asked only of rules that can be read.
    reached = [] if has_errors(found) else reach.check(programs.build(program))
    return sorted({*found, *wording.check(program), *_sizes(program), *reached})


def _is_too_large(program: Any) -> bool:
    questions, rules = (_listed(program, key) for key in ("questions", "rules"))
    conditions = sum(len(_listed(one, "when")) for one in rules)
    return len(questions) > MOST_QUESTIONS or len(rules) > MOST_RULES or conditions > MOST_CONDITIONS


def _listed(part: Any, key: str) -> list[Any]:
    found = part.get(key) if isinstance(part, dict) else None
    return found if isinstance(found, list) else []


def _sizes(program: Any) -> Iterator[Finding]:
    if len(shape.questions_of(program)) > MANY_QUESTIONS:
        yield Finding("many_questions", "program", "warn")
    if len(_listed(program, "rules")) > MANY_RULES:
        yield Finding("many_rules", "program", "warn")
