from __future__ import annotations

from typing import Any

import pytest

from audit import reading
from gate.errors import NotAllowed
from gate.writes import actions, digests
from gate.writes.errors import Unfit
from gate.writes.models import WriteRequest
from tests.writes.conftest import REQUEUE, REQUEUE_PARAMETERS, body

pytestmark = pytest.mark.django_db


def test_a_proposal_waits_in_its_canonical_form(propose: Any, entries: Any) -> None:
    write = propose()
    assert (write.status, write.verb, write.table) == ("waiting", "update", "shop.jobs")
    assert write.statement == "UPDATE shop.jobs SET state = $1, locked_by = NULL WHERE job_id = $2 AND state = $3"
    assert write.proposal_digest == digests.of_proposal(WriteRequest.objects.select_related("target").get(pk=write.pk))
    entry, admitted = entries(write.ref)
    assert (entry.kind, admitted.kind) == ("write.proposed", "write.admitted")
    assert (entry.kind, entry.actor, entry.principal) == ("write.proposed", "triage-agent", "jonas")
    assert reading.payload_of(entry.pk).args["proposal"] == write.proposal_digest


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"target": "no\x00where"}, "no target of this name"), ({"target": "nowhere"}, "no target of this name"),
        ({"statement": "delete from jobs"}, "Name the schema"),
        ({"parameters": [{"t": "bigint", "v": 1}]}, "may be rounded"), ({"title": " "}, "needs a title"),
        ({"reason": ""}, "needs a reason"), ({"title": "a\u202eb"}, "U+202E"), ({"reason": "a\u200bb"}, "U+200B"),
        ({"title": "a\nb"}, "U+000A"), ({"title": "a" * 201}, "longer than"),
        ({"incident": "I-999999"}, "no open incident"),
        ({"incident": "318"}, "no open incident"), ({"incident": "I-" + "9" * 30}, "no open incident"),
    ],
)  # fmt: skip
def test_what_is_refused_is_said_and_leaves_no_trace(propose: Any, changed: dict[str, Any], sentence: str) -> None:
    before = WriteRequest.objects.count()
    with pytest.raises(Unfit, match=sentence.replace("+", "\\+")):
        propose(**{"parameters": REQUEUE_PARAMETERS, **changed})
    assert WriteRequest.objects.count() == before


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("auditor", False), ("on_call", True), ("admin", True)])
def test_who_may_propose(propose: Any, make_person: Any, role: str, may: bool) -> None:
    person = make_person("someone", role)
    if may:
        assert propose(by_person=person).proposed_by_person == person
        return
    with pytest.raises(NotAllowed, match="proposes no writes"):
        propose(by_person=person)


CHANGES = {
    "statement": "DELETE FROM shop.jobs", "verb": "delete", "table": "shop.lie", "title": "Something else",
    "parameters": [{"t": "text", "v": "queued"}],
}  # fmt: skip


@pytest.mark.parametrize("field", CHANGES)
def test_the_proposal_digest_covers_every_part_that_runs(propose: Any, field: str) -> None:
    write = propose()
    setattr(write, field, CHANGES[field])
    assert digests.of_proposal(write) != write.proposal_digest


def test_a_type_or_a_null_changes_the_digest(propose: Any) -> None:
    seen = {
        propose(parameters=[{"t": t, "v": v}, *REQUEUE_PARAMETERS[1:]]).proposal_digest
        for t, v in (("text", "1"), ("bigint", "1"), ("text", None), ("text", "null"), ("text", ""))
    }
    assert len(seen) == 5


def test_the_stated_reason_is_no_part_of_what_is_approved(propose: Any) -> None:
    write = propose()
    write.reason = "pre-approved by security"
    assert digests.of_proposal(write) == write.proposal_digest


def test_a_new_version_of_the_target_is_another_proposal(propose: Any, define: Any) -> None:
    first = propose()
    define("target", "shop", body(row_cap=5))
    second = propose()
    assert (first.target.version, second.target.version) == (1, 2)
    second.expires_at, second.proposed_by_agent_id = first.expires_at, first.proposed_by_agent_id
    assert digests.of_proposal(second) != first.proposal_digest


def test_a_secret_in_a_proposal_is_masked_in_the_log(propose: Any, entries: Any) -> None:
    write = propose(REQUEUE, [{"t": "text", "v": "Bearer abcdefghijklmnop"}, *REQUEUE_PARAMETERS[1:]])
    assert "abcdefghijklmnop" not in str(reading.payload_of(entries(write.ref)[0].pk).args)


def test_there_is_exactly_one_proposer(target: Any) -> None:
    from django.db import IntegrityError

    with pytest.raises(IntegrityError, match="writes_one_proposer"):
        actions.propose(target="shop", statement=REQUEUE, parameters=REQUEUE_PARAMETERS, title="a", reason="b")
