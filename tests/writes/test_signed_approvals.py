"""Approvals that a passkey signs: what is signed, who may be asked, and that the writer believes nothing else."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest
import rfc8785
from django.test import Client
from django.utils import timezone

from audit.models import Entry
from gate.errors import NotAllowed, Stale
from gate.people import keys
from gate.writes import approval, deciding, execution, offering, pinned, quorum
from gate.writes.models import Decision, OfferedStatement, PinnedKey
from tests.software_key import ES256, SoftwareKey, unb64
from tests.writes.conftest import PASSWORD, body
from tests.writes.signing import OPERATOR, SESSION, enrolled, offered, pinned_key, shown, signed

pytestmark = pytest.mark.django_db
OF_ANOTHER_JOB = [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "8"}, {"t": "text", "v": "running"}]


@pytest.fixture
def target(define: Any, shop: Any) -> Any:
    """A target that is approved with a passkey alone."""
    return define("target", "shop", body(method="passkey"))


@pytest.fixture
def key(mia: Any) -> SoftwareKey:
    """A key of mia's that the writer has pinned."""
    made = SoftwareKey()
    pinned_key(mia, made)
    return made


@pytest.mark.parametrize("algorithm", [-8, ES256])
def test_a_signed_approval_runs_the_write(previewed: Any, mia: Any, job: Any, algorithm: int) -> None:
    made = SoftwareKey(algorithm)
    pinned_key(mia, made)
    write = previewed()
    decision = signed(write, mia, made)
    assert (decision.method, set(decision.assertion)) == (
        "passkey",
        {"credential", "client_data", "authenticator_data", "signature"},
    )
    execution.execute(write.pk)
    assert job(7) == "queued"


def test_what_is_signed_is_the_digest_of_the_canonical_statement(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    options = offered(write, mia)
    statement = OfferedStatement.objects.get().statement
    assert unb64(options["challenge"]) == hashlib.sha256(rfc8785.dumps(statement)).digest()
    assert (options["userVerification"], len(options["allowCredentials"])) == ("required", 1)
    assert {"decision", "proposal", "preview", "policy", "target", "approver", "nonce", "expires_at"} <= set(statement)
    assert len(statement["nonce"]) == 64


def test_a_password_does_not_do_where_the_policy_asks_for_a_passkey(previewed: Any, approve: Any) -> None:
    with pytest.raises(NotAllowed, match="approved with a passkey"):
        approve(previewed(), password=PASSWORD)


def test_whoever_has_no_key_or_none_that_is_pinned_is_told_what_to_do(previewed: Any, mia: Any) -> None:
    write = previewed()
    with pytest.raises(NotAllowed, match="add one on the page My keys"):
        offered(write, mia)
    enrolled(mia, SoftwareKey())
    with pytest.raises(NotAllowed, match=r"manage\.py pin_key mia"):
        offered(write, mia)


def test_a_key_signs_a_rejection_that_needs_no_pin_and_none_is_needed(previewed: Any, mia: Any) -> None:
    first, second, made = previewed(), previewed(parameters=OF_ANOTHER_JOB), SoftwareKey()
    enrolled(mia, made)
    decision = signed(first, mia, made, "reject")
    assert (decision.method, decision.act, decision.assertion["credential"]) == (
        "passkey",
        "reject",
        keys.live(mia).get().credential_id,
    )
    plain = deciding.decide(second, by=mia, **shown(second, "reject"))
    assert (plain.method, plain.assertion) == ("session", None)


def test_the_signature_of_a_rejection_approves_nothing(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    answer = key.sign(offered(write, mia, "reject"))
    with pytest.raises(Stale, match="decide again"):
        deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write, "approve"))
    assert not Decision.objects.exists()


def test_an_offer_is_for_once_for_its_write_its_person_and_its_session(
    previewed: Any, mia: Any, key: SoftwareKey, make_person: Any
) -> None:
    write, other, kim = previewed(), previewed(parameters=OF_ANOTHER_JOB), make_person("kim", "on_call")
    answer = key.sign(offered(write, mia))
    for at, by, session in ((other, mia, SESSION), (write, kim, SESSION), (write, mia, "another session")):
        with pytest.raises(NotAllowed, match="begin again"):
            deciding.decide(at, by=by, assertion=answer, session=session, **shown(at))
    deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write))
    with pytest.raises(NotAllowed, match="begin again"):
        deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write))
    assert Decision.objects.count() == 1


def test_an_offer_lasts_five_minutes(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    answer = key.sign(offered(write, mia))
    left = OfferedStatement.objects.get().expires_at - timezone.now()
    assert timedelta(minutes=4) < left <= offering.LASTS == timedelta(minutes=5)
    OfferedStatement.objects.update(expires_at=timezone.now())
    with pytest.raises(NotAllowed, match="longer than five minutes"):
        deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write))


def test_what_changed_after_the_offer_is_not_approved(previewed: Any, mia: Any, key: SoftwareKey, shop: Any) -> None:
    from gate.writes import actions, preview

    write = previewed()
    answer = key.sign(offered(write, mia))
    shop.execute("update shop.jobs set attempts = 9 where job_id = 7")
    preview.make(actions.ask_preview(write, mia).pk)
    with pytest.raises(Stale):
        deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write))


def test_a_new_key_waits_for_writes_of_high_risk(define: Any, shop: Any, previewed: Any, mia: Any) -> None:
    define("target", "shop", body(method="passkey", risk="high"))
    made, write = SoftwareKey(), previewed()
    row = pinned_key(mia, made, is_new=True)
    with pytest.raises(NotAllowed, match="too new for writes of high risk"):
        offered(write, mia)
    PinnedKey.objects.filter(pk=row.pk).update(pinned_at=timezone.now() - pinned.QUARANTINE)
    signed(write, mia, made)
    approval.verified(write)
    # Whatever the page let pass, the writer looks at its own list.
    PinnedKey.objects.filter(pk=row.pk).update(pinned_at=timezone.now() - pinned.QUARANTINE + timedelta(minutes=1))
    with pytest.raises(approval.NotApproved, match="less than 24 hours ago"):
        approval.verified(write)


def test_a_key_that_was_not_asked_decides_nothing(
    define: Any, shop: Any, previewed: Any, mia: Any, key: SoftwareKey
) -> None:
    """A browser may answer with any key of theirs; one that the writer does not believe would only end the write."""
    define("target", "shop", body(method="passkey", risk="high"))
    new, bare, write = SoftwareKey(), SoftwareKey(), previewed()
    pinned_key(mia, new, is_new=True)
    enrolled(mia, bare)
    for other in (new, bare):
        answer = other.sign(offered(write, mia))
        with pytest.raises(NotAllowed, match="not one of those that count"):
            deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write))
    assert not Decision.objects.exists()
    answer = bare.sign(offered(write, mia, "reject"))  # which stops something, and needs no pin
    assert deciding.decide(write, by=mia, assertion=answer, session=SESSION, **shown(write, "reject")).act == "reject"


@pytest.mark.parametrize("wrong", [timedelta(days=1), timedelta(days=-1)])
def test_an_approval_lasts_as_long_by_the_clock_of_the_database(
    previewed: Any, mia: Any, key: SoftwareKey, monkeypatch: Any, wrong: timedelta
) -> None:
    write, now = previewed(), timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + wrong)
    ends = deciding._end_of(write, mia, deciding.Act.APPROVE, quorum.latest_preview(write))
    assert abs(ends - now() - deciding.APPROVAL_LASTS) < timedelta(seconds=30)


def test_the_writer_believes_its_own_list_and_not_the_table_of_keys(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    signed(write, mia, key)
    approval.verified(write)
    pinned.unpin(PinnedKey.objects.get().fingerprint, by=OPERATOR)
    with pytest.raises(approval.NotApproved, match=r"not on the writer.s list"):
        approval.verified(write)


def test_a_key_that_its_person_revoked_opens_nothing_more(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    write = previewed()
    signed(write, mia, key)
    keys.revoke(keys.live(mia).get().pk, by=mia)
    with pytest.raises(approval.NotApproved, match="was revoked"):
        approval.verified(write)


def test_a_pinned_key_of_somebody_else_does_not_do(
    previewed: Any, mia: Any, key: SoftwareKey, make_person: Any
) -> None:
    write, kim = previewed(), make_person("kim", "on_call")
    signed(write, mia, key)
    PinnedKey.objects.update(person=kim)
    with pytest.raises(approval.NotApproved, match=r"not on the writer.s list"):
        approval.verified(write)


def test_the_log_holds_the_assertion_and_the_key_its_last_use(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    from audit import reading

    write = previewed()
    decision = signed(write, mia, key)
    entry = Entry.objects.filter(kind="write.approved", subject=write.ref).latest("seq")
    assert reading.payload_of(entry.pk).args["assertion"] == decision.assertion
    assert keys.live(mia).get().used_for == write.ref


def test_the_page_offers_the_passkey_and_answers_with_options(
    previewed: Any, mia: Any, key: SoftwareKey, client: Client
) -> None:
    write = previewed()
    client.force_login(mia)
    page = client.get(f"/writes/{write.pk}/").content.decode()
    assert f'data-options="/writes/{write.pk}/decision/options/"' in page
    assert 'name="password"' not in page
    sent = {name if name != "act" else "decision": value for name, value in shown(write).items()}
    options = client.post(f"/writes/{write.pk}/decision/options/", sent).json()["publicKey"]
    answer = client.post(f"/writes/{write.pk}/decision/", {**sent, "assertion": key.sign(options)})
    assert answer.status_code == 302
    write.refresh_from_db()
    assert write.status == "approved"


def test_the_options_need_a_csrf_token(previewed: Any, mia: Any, key: SoftwareKey) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(mia)
    write = previewed()
    for address in ("decision/options/", "decision/"):
        assert strict.post(f"/writes/{write.pk}/{address}", {"decision": "approve"}).status_code == 403
    assert not OfferedStatement.objects.exists()
