"""Admission: what is proposed is observed, judged by the policy that its target names, and then shown or stopped.

For a write an allow is an ask: a person decides. The answers are about exactly one proposal: they carry its digest,
and where that is not the digest of what would run, they are void. Safe to run twice, also at once: one result stays.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from audit import log, masking, twohands
from audit.kinds import Kind
from audit.models import Definition
from gate.admission import judging, labels, policies
from gate.admission.answering import asked
from gate.admission.answering.asked import Gathered
from gate.admission.judging import Judged
from gate.admission.models import AnswerAsk
from gate.admission.program import Question
from gate.admission.usable import usable
from gate.writes import actions, digests, first_look, target_admission
from gate.writes.models import Admission, WriteRequest
from gate.writes.probes import observing
from gate.writes.probes.fact import Facts

OBSERVED_BY = "probes"
Verdict = Admission.Verdict


@dataclass(frozen=True)
class Found:
    """What was observed of one edition of a write, and what a policy made of it."""

    write: WriteRequest
    facts: Facts
    given: Gathered
    judged: Judged

    @property
    def verdict(self) -> Verdict:
        """What becomes of it. A policy that only observes holds nothing back."""
        return Verdict.BLOCK if self.judged.is_enforced and self.judged.verdict == "block" else Verdict.ASK


def admit(write_id: int, ask: AnswerAsk | None = None, *, edition: int | None = None) -> None:
    """Judge what was proposed and record it; then take the first look at what people will see.

    `ask` is what the answering model was asked about it; without one it is asked nothing. With `edition`, another one
    is left alone: whoever edited it has asked for it.
    """
    write = WriteRequest.objects.select_related("target").get(pk=write_id)
    if write.status == WriteRequest.Status.PROPOSED and edition in (None, write.edition):
        _record(judge(write, ask))
    first_look.make_unasked(write_id)


def judge(write: WriteRequest, ask: AnswerAsk | None = None) -> Found:
    """What the policy in force says of a write as its row stands."""
    facts = observing.of(write)
    policy = target_admission.of(write.target.body).policy
    version = judging.version_of(policy)
    given = _answers(write, version, facts, ask)
    # Digested from the row as it is after everything was observed: what was changed meanwhile is another action.
    now = WriteRequest.objects.select_related("target").get(pk=write.pk)
    judged = judging.judge_by(
        version, policy, given.answers, judged=write.proposal_digest, executed=digests.of_proposal(now),
        is_clamped=True,
    )  # fmt: skip
    return Found(write, facts, given, judged)


def _answers(write: WriteRequest, version: Definition | None, facts: Facts, ask: AnswerAsk | None) -> Gathered:
    """What was observed, what the proposer's model says, and of the rest what the answering model said."""
    questions = models_questions(version)
    asks = {one.id for one in questions}
    observed = {name: fact.as_answer() for name, fact in facts.items() if name not in asks}
    given = {**observed, **_said(write, questions)}
    wanted = asked.unanswered(version, given)
    if not wanted:
        return Gathered(given)
    if ask is None or version is None:
        return asked.without(given, wanted, asked.NOT_AT_WORK)
    # Another version's questions are others, whatever they are called.
    return asked.merged(given, wanted, ask if ask.version_id == version.pk else None)


def models_questions(version: Definition | None) -> list[Question]:
    """The questions of a version that are a model's: it answers for no probe."""
    program = usable(version.body["program"]) if version else None
    return [one for one in program.questions if one.by == "model"] if program else []


def left_open(write: WriteRequest, version: Definition | None) -> list[str]:
    """The questions of a version that the proposer's model left to the answering one, in order."""
    return asked.unanswered(version, _said(write, models_questions(version)))


def _said(write: WriteRequest, questions: Sequence[Question]) -> dict[str, Any]:
    meant = _meant(write, questions)
    return {name: answer for name, answer in write.answers.items() if name in meant}


def _meant(write: WriteRequest, questions: Sequence[Question]) -> set[str]:
    """The questions that the proposer's answers are about: of a version that came since, those in the same words."""
    made = Admission.objects.filter(write=write, edition=write.edition).select_related("version")
    first = made.order_by("pk").first()
    if first is None:
        return {one.id for one in questions}
    then = usable(first.version.body["program"]) if first.version else None
    known = {labels.digest(one) for one in then.questions} if then else set()
    return {one.id for one in questions if labels.digest(one) in known}


def about(write: WriteRequest) -> dict[str, Any]:
    """The action as a model is told of it. What it answers to it is never told: no rule, and no word of a verdict."""
    return {
        "target": write.target.name, "title": write.title, "statement": write.statement,
        "parameters": write.parameters, "reason": write.reason,
    }  # fmt: skip


@transaction.atomic
def _record(found: Found) -> None:
    write, judged = found.write, found.judged
    version = judged.version
    twohands.hold(policies.KIND.name, judged.policy)
    if judging.version_of(judged.policy) != version:
        actions.ask_admission(write)  # what came in force since may ask something else
        return
    if not _settle(found):
        return  # it was edited, which has a job of its own, or another delivery of the same was faster
    log.record_with(
        Kind.WRITE_BLOCKED if found.verdict == Verdict.BLOCK else Kind.WRITE_ADMITTED, log.Actor.process(),
        subject=write.ref, summary=judging.summary(judged), incident_id=write.incident_id,
        run_id=str(write.investigation_id or ""), tool=judged.policy,
        tool_version=version.version if version else None, tool_hash=policies.digest(version) if version else "",
        args=masking.mask(judging.args_of(judged, found.given.answers, _action(found), write.model, found.given.asked)),
        result=judging.result_of(judged),
    )  # fmt: skip


def _settle(found: Found) -> bool:
    """Through the database's own function: no role lets a proposal in any other way."""
    judged = found.judged
    made = {
        "proposal_digest": found.write.proposal_digest, "policy": judged.policy,
        "version": judged.version.pk if judged.version else None, "verdict": found.verdict,
        "decided": judged.decision.verdict, "is_enforced": judged.is_enforced, "rule": judged.decision.rule or "",
        "escalations": [{**one.as_json(), "reason": one.reason} for one in judged.decision.escalations],
        "answers": found.given.answers, "facts": _in_words(found.facts),
        "model": {"said": found.write.model, "asked": found.given.asked},
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            "select writes_admit(%s, %s, %s::jsonb)", [found.write.pk, found.write.edition, json.dumps(made)]
        )
        (is_settled,) = cursor.fetchone()
    return bool(is_settled)


def _in_words(facts: Facts) -> dict[str, dict[str, str]]:
    return {name: {"seen": fact.seen, "source": fact.source} for name, fact in facts.items()}


def _action(found: Found) -> dict[str, Any]:
    write = found.write
    return {
        "write": write.ref, "edition": write.edition, "proposal": write.proposal_digest, "target": write.target.name,
        "target_version": write.target.version, "verb": write.verb, "table": write.table, "observed_by": OBSERVED_BY,
        "facts": _in_words(found.facts),
    }  # fmt: skip
