"""Whether every rule can be the one that decides, and nothing unsure passes before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterator

from gate.admission.boxes import Box, Space, TooMany, both
from gate.admission.findings import Finding
from gate.admission.program import Program, Question


def check(program: Program) -> list[Finding]:
    """Every finding about what the rules reach, for a program whose shape is right."""
    space = Space(program)
    boxes = [space.box(rule.when) for rule in program.rules]
    try:
        return [
            *_unread(program), *_shadowed(program, space, boxes), *_unreachable(program, space, boxes),
            *_unasked(program, space, boxes),
        ]  # fmt: skip
    except TooMany:
        return [Finding("too_many_overlaps", "program")]


def _unread(program: Program) -> Iterator[Finding]:
    read = {one.q for rule in program.rules for one in rule.when}
    yield from (Finding("unread_question", f"q:{one.id}", "warn") for one in program.questions if one.id not in read)


def _shadowed(program: Program, space: Space, boxes: list[Box | None]) -> Iterator[Finding]:
    for number, (rule, box) in enumerate(zip(program.rules, boxes, strict=True)):
        if box is not None and not space.is_left(box, boxes[:number]):
            yield Finding("shadowed_rule", f"r:{rule.id}")


def _unreachable(program: Program, space: Space, boxes: list[Box | None]) -> Iterator[Finding]:
    """The verdicts that must have a rule, and that no answers lead to through one."""
    if not program.must_reach:
        return
    judged = space.sure() if program.precheck_confidence else {}
    reached = {
        rule.then
        for number, (rule, box) in enumerate(zip(program.rules, boxes, strict=True))
        if space.is_left(both(judged, box), boxes[:number])
    }
    if space.is_left(judged, boxes):
        reached.add(program.otherwise)
    yield from (Finding("verdict_unreachable", f"verdict:{one}") for one in program.must_reach if one not in reached)


def _unasked(program: Program, space: Space, boxes: list[Box | None]) -> Iterator[Finding]:
    """The questions whose unsure answers are let pass: by a rule that reads them, or because no rule matched."""
    if program.precheck_confidence:
        return  # whatever is unsure is asked about before any rule
    for question in _needing(program):
        if any(space.is_left(one, boxes[:number]) for number, one in _passing(program, space, boxes, question)):
            yield Finding("allow_before_escalation", f"q:{question.id}")


def _needing(program: Program) -> list[Question]:
    """The questions whose doubt needs a person: those that an `unsure` rule names; where there is none, every one."""
    named = {one.q for rule in program.rules for one in rule.when if one.op == "unsure"}
    return [one for one in program.questions if one.can_be_unsure and (not named or one.id in named)]


def _passing(
    program: Program, space: Space, boxes: list[Box | None], question: Question
) -> Iterator[tuple[int, Box | None]]:  # fmt: skip
    """Where this question is unsure and the program says allow, with how many rules come before."""
    unsure = space.unsure(question.id)
    for number, (rule, box) in enumerate(zip(program.rules, boxes, strict=True)):
        if rule.then == "allow" and any(one.q == question.id for one in rule.when):
            yield number, both(unsure, box)
    if program.otherwise == "allow":
        yield len(boxes), unsure
