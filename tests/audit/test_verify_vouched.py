"""Every row that decides something is as the newest entry about it says, or a verification finds it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import connection, transaction

from audit import agents, budgets, holds, links, log, overriding, redacting, twohands, verify_vouched, vouching
from audit.kinds import Kind
from audit.models import AgentToken, Definition, Entry, Override
from audit.verify.findings import Report
from tests.cited import verified

pytestmark = pytest.mark.django_db(transaction=True)
AGENT = log.Actor("agent", "triage-agent", "mia")


@pytest.fixture
def decided(own_log: str, as_role: Callable[[str], None], make_person: Any) -> dict[str, Any]:
    """A log in which people have decided about everything that can be decided about; numbers of rows."""
    as_role("owner")
    ada, mia = make_person("ada", "admin"), make_person("mia", "admin")
    held, lifted = (holds.hold(by=ada, reason="The court asked.", incident_id=number) for number in (7, 8))
    holds.lift(lifted.pk, by=mia, reason="It is over.")
    _define(ada, mia)
    agents.issue_token("scout", owner=ada, scopes=["tools"], label="first", by=log.Actor.person(ada))
    agents.issue_token("scout", owner=ada, scopes=["tools"], label="second", by=log.Actor.person(ada))
    token, revoked = AgentToken.objects.order_by("pk")
    agents.revoke_token(revoked.pk, by=log.Actor.person(mia))
    limits = dict.fromkeys(budgets.COLUMNS, 5)
    budgets.change(token.agent_id, limits, by=log.Actor.person(mia))
    redacted, asked = (redacting.ask(_call(), part="both", reason="A customer.", by=ada) for _ in range(2))
    redacting.confirm(redacted.pk, by=mia)
    verified(("D1", "A-5"))
    override = overriding.ask(by=ada, reason="It is known.", seen=1)
    overriding.confirm(override.pk, by=mia)
    link = _cite()
    as_role("auditor")
    return {
        "held": held.pk, "lifted": lifted.pk, "token": token.pk, "revoked": revoked.pk, "agent": token.agent_id,
        "redacted": redacted.pk, "asked": asked.pk, "override": override.pk, "link": link,
    }  # fmt: skip


def _define(ada: Any, mia: Any) -> None:
    """One definition in its second version, one that came with it, and one that was put out of force again."""
    kind = twohands.DefinitionKind(
        "gadget", "gadgets", "Gadgets", "gate.change_definition", lambda name, body: None, can_retire=True
    )
    twohands.register(kind)
    try:
        for name, size in (("lamp", "small"), ("lamp", "large"), ("bulb", "small")):
            version = twohands.draft("gadget", name, {"size": size}, by=ada, reason="as agreed")
            twohands.activate(version.pk, by=mia)
        twohands.retire(version.pk, by=mia, reason="It broke.")
        with transaction.atomic():
            twohands.come_with(Definition.objects.get(name="lamp", version=2), "gadget", "socket", {"size": "any"})
    finally:
        del twohands.KINDS["gadget"]


def _call() -> Entry:
    return Entry.objects.get(pk=log.record(Kind.CALL_FINISHED, AGENT, args={"a": 1}, result={"b": 2}).id)


@transaction.atomic
def _cite() -> Any:
    links.cite(_call().seq, "V-5", "/drafts/5/", "pass: job_completed", ["/b"])
    said = links.said_of("V-5")
    log.record_with(Kind.VERDICT_RENDERED, AGENT, subject="V-5", args={"rows": said}, result={"outcome": "pass"})
    return said[0][1]


def codes(*, is_whole: bool = True, dropped: set[str] | None = None) -> list[str]:
    report = Report()
    verify_vouched.check(report, dropped or set(), is_whole=is_whole)
    return [finding.code for finding in report.first]


COPY = "insert into {table} select (jsonb_populate_record(t, jsonb_build_object('id', 999, {more}))).* from {table} t"
TAMPERINGS = {
    "a hold lifted by hand": ("update audit_hold set lifted_at = now() where id = {held}", ["H1"]),
    "a hold deleted": ("delete from audit_hold where id = {held}", ["H1"]),
    "a hold put on another incident": ("update audit_hold set incident_id = 9 where id = {held}", ["H1"]),
    "a hold in another's name": ("update audit_hold set held_by_id = held_by_id + 1 where id = {held}", ["H1"]),
    "a lifted hold that stands again": ("update audit_hold set lifted_at = null where id = {lifted}", ["H1"]),
    "a hold that nobody has put": (
        COPY.format(table="audit_hold", more="'incident_id', 9") + " where id = {held}", ["H1"],
    ),
    "a definition edited": (
        "update audit_definition set body = '{{\"size\": \"huge\"}}' where name = 'lamp' and version = 2", ["H1"],
    ),
    "a definition drafted by somebody else": (
        "update audit_definition set drafted_by_id = activated_by_id where name = 'lamp' and version = 2", ["H1"],
    ),
    "a definition in force deleted": ("delete from audit_definition where name = 'lamp' and version = 2", ["H1"]),
    "an older definition put in force": (
        "update audit_definition set status = case version when 1 then 'active' else 'retired' end where name = 'lamp'",
        ["H1", "H1"],
    ),
    "what was put out of force in force again": (
        "update audit_definition set status = 'active', retired_at = null where name = 'bulb'", ["H1"],
    ),
    "a definition that nobody has drafted": (
        COPY.format(table="audit_definition", more="'version', 3") + " where name = 'lamp' and version = 2", ["H1"],
    ),
    "an override that nobody gave": (
        COPY.format(table="audit_override", more="'verification', 2") + " where id = {override}", ["H2"],
    ),
    "an override before the first": (
        COPY.replace("999", "-9223372036854775808").format(table="audit_override", more="'solo', true"), ["H2"],
    ),
    "an override of something else": ("update audit_override set verification = 9 where id = {override}", ["H2"]),
    "an override in another's name": (
        "update audit_override set decided_by_name = 'Ben' where id = {override}", ["H2"],
    ),
    "an override taken away": ("delete from audit_override where id = {override}", ["H2"]),
    "a request for a redaction in another's name": (
        "update audit_redaction set asked_by_id = asked_by_id + 1 where id = {asked}", ["H2"],
    ),
    "a request for a redaction of another entry": (
        "update audit_redaction set entry_seq = 1 where id = {asked}", ["H2"],
    ),
    "a request for a redaction that nobody made": (
        COPY.format(table="audit_redaction", more="'entry_id', uuidv7()") + " where id = {asked}", ["H2"],
    ),
    "a redaction to be done once more": (
        "update audit_redaction set recorded_as = null where id = {redacted}", ["H2"],
    ),
    "a redaction that is said to be done": (
        "update audit_redaction set recorded_as = uuidv7() where id = {asked}", ["H2"],
    ),
    "a redaction's request deleted": ("delete from audit_redaction where id = {redacted}", ["H2"]),
    "a token that nobody issued": (
        COPY.format(table="audit_agenttoken", more="'digest', 'x'") + " where id = {token}", ["H3"],
    ),
    "a token for more": (
        "update audit_agenttoken set scopes = '[\"propose\", \"tools\"]' where id = {token}", ["H3"],
    ),
    "a token of another agent": ("update audit_agenttoken set agent_id = 999 where id = {token}", ["H3"]),
    "a token that lasts longer": (
        "update audit_agenttoken set expires_at = expires_at + interval '9 years' where id = {token}", ["H3"],
    ),
    "a revoked token that works again": ("update audit_agenttoken set revoked_at = null where id = {revoked}", ["H3"]),
    "a token deleted": ("delete from audit_agenttoken where id = {token}", ["H3"]),
    "an agent that nobody added": (COPY.format(table="audit_agent", more="'name', 'spy'"), ["H3"]),
    "an agent with a larger budget": ("update audit_agent set calls_per_hour = 1000000 where id = {agent}", ["H3"]),
    "an agent of somebody else": ("update audit_agent set owner_name = 'ben' where id = {agent}", ["H3"]),
    "a citation that no verdict made": (COPY.format(table="audit_link", more="'entry_seq', 1"), ["H4"]),
    "a citation of other fields": ("update audit_link set paths = '[\"/c\"]' where id = {link}", ["H4"]),
    "a citation of another entry": ("update audit_link set entry_seq = 1 where id = {link}", ["H4"]),
    "a citation deleted": ("delete from audit_link where id = {link}", ["H4"]),
}  # fmt: skip


def test_every_row_that_decides_is_held_against_its_entry(decided: dict[str, Any]) -> None:
    """One log for all: each tampering is undone in the transaction that looked at it."""
    assert codes() == []
    connection.close()
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    for name, (statement, found) in TAMPERINGS.items():
        with transaction.atomic():
            _tamper(statement.format(**decided))
            assert codes() == found, name
            assert codes(is_whole=False) == [code for code in found if code != "H4"], name
            transaction.set_rollback(True)


def _tamper(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("set local session_replication_role = replica")
        for table in ("override", "redaction"):
            cursor.execute(f"alter table audit_{table} disable trigger step")
        # Of two versions one is in force at a time, and a copy has a name of its own.
        cursor.execute("drop index audit_one_active_version")
        cursor.execute(statement)


def test_months_that_were_dropped_take_the_words_about_rows_along(decided: dict[str, Any]) -> None:
    month = f"{Entry.objects.latest('seq').at:%Y%m}"
    connection.close()
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("alter table audit_entry disable trigger refuse_change")
            cursor.execute("delete from audit_entry")
        assert set(codes()) == {"H1", "H2", "H3", "H4"}
        assert codes(dropped={month}) == []
        assert codes(dropped={"202001"}) != [], "what was decided since is held"
        transaction.set_rollback(True)


def test_every_column_is_covered_or_is_said_not_to_be() -> None:
    left = {
        model: {field.column for field in model._meta.concrete_fields} - set(covered)
        for model, covered in vouching.COVERED.items()
    }
    assert {model.__name__: names for model, names in left.items() if names} == {"Redaction": {"recorded_as"}}


# What of the log's tables decides nothing: counters, seams, what is derived, and what other checks hold.
DECIDES_NOTHING = {"AgentUse", "Heartbeat", "Outbox", "SavedView", "SealState", "SearchState", "Witnessed"}
HELD_ELSEWHERE = {"Entry", "Payload", "Leaf", "Checkpoint", "Verification", "Retained"}


def test_every_table_of_the_log_is_held_against_it_or_decides_nothing() -> None:
    models = {model.__name__ for model in apps.get_app_config("audit").get_models()}
    vouched = {model.__name__ for model in vouching.COVERED}
    assert models == vouched | DECIDES_NOTHING | HELD_ELSEWHERE
    looked_at = {**verify_vouched.TABLES, **verify_vouched.CITATIONS}
    assert set(vouching.COVERED) == set(looked_at)


def test_an_override_that_is_a_row_alone_opens_nothing(decided: dict[str, Any], as_role: Any) -> None:
    from audit import alarm

    assert alarm.why_off() == "", "two people have overridden it"
    connection.close()
    connection.settings_dict.update(USER="postgres", PASSWORD="")
    _tamper("update audit_override set reason = 'It is nothing.'")
    as_role("writer")
    assert alarm.why_off().startswith("Entry A-5 does not match its digest.")
    found = Override.objects.get()
    assert (found.status, found.reason) == ("confirmed", "It is nothing.")
