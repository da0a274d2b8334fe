"""Editing a write: the next edition, with a digest of its own, so that nothing approved before counts any more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db import ProgrammingError, connection, transaction

from audit import log, masking
from audit.agents import Principal
from audit.kinds import Kind
from audit.refusing import NotAllowed
from gate.people.models import Person
from gate.writes import actions, digests, guards, limits
from gate.writes.models import WriteRequest

EDITED = ("target", "title", "statement", "verb", "table", "parameters", "reason", "expires_at")


@transaction.atomic
def edit(
    write: WriteRequest, *, seen_version: int, statement: str, parameters: Any, title: str, reason: str,
    by_agent: Principal | None = None, by_person: Person | None = None,
    answers: Mapping[str, Any] = actions.NOTHING, model: Mapping[str, Any] = actions.NOTHING,
) -> WriteRequest:  # fmt: skip
    """Propose the write anew in other words: it is judged anew. Only its proposer does.

    Raises Unfit, Stale or NotAllowed.
    """
    # The agents' plane may lock no write: there the database's function looks once more, under a lock of its own.
    write = actions.locked(write) if by_person is not None else actions.found(write)
    guards.check_version(write, seen_version)
    with actions.recorded_refusal(by_person, write.ref, {"act": "edit"}):
        guards.check_can_edit(write, person=by_person, agent=by_agent)
    made = actions.proposal(write.target.name, statement, parameters, title, reason, "")
    guards.check_may_propose_here(made.target, by_person)
    made.pk = write.pk
    with actions.recorded_refusal(by_person, write.ref, {"act": "edit"}):
        limits.check_proposal(made, by_agent, by_person)
    earlier = write.proposal_digest
    actions.take_answers(write, answers, model)
    for name in EDITED:
        setattr(write, name, getattr(made, name))
    write.edition += 1
    write.proposal_digest = digests.of_proposal(write)
    _replace(write, by_agent, by_person)
    write.refresh_from_db()
    _record(write, earlier, actions.proposer(by_agent, by_person))
    return write


def _replace(write: WriteRequest, by_agent: Principal | None, by_person: Person | None) -> None:
    """Through the database's own function: no role may change what a proposal says in any other way."""
    made = {
        "target": write.target_id, "title": write.title, "statement": write.statement, "verb": write.verb,
        "table": write.table, "parameters": write.parameters, "reason": write.reason,
        "expires_at": write.expires_at.isoformat(), "proposal_digest": write.proposal_digest,
        "answers": write.answers, "model": write.model,
    }  # fmt: skip
    editors = [by_agent.agent_id if by_agent else None, by_person.pk if by_person else None]
    try:
        with connection.cursor() as cursor:
            cursor.execute(
                "select writes_edit(%s, %s, %s::jsonb, %s, %s)",
                [write.pk, write.edition - 1, json.dumps(made), *editors],
            )
    except ProgrammingError as error:
        raise NotAllowed(f"{write.ref} was decided about or edited just now; look where it stands.") from error


def _record(write: WriteRequest, earlier: str, editor: log.Actor) -> None:
    actions.ask_admission(write)
    log.record_with(
        Kind.WRITE_EDITED, editor, subject=write.ref, summary=f"edition {write.edition}",
        incident_id=write.incident_id, run_id=str(write.investigation_id or ""),
        args=masking.mask({
            "edition": write.edition, "instead_of": earlier, "proposal": write.proposal_digest,
            "target_digest": write.target.digest, "statement": write.statement, "parameters": write.parameters,
            "title": write.title, "reason": write.reason, "answers": write.answers, "model": write.model,
        }),
    )  # fmt: skip
