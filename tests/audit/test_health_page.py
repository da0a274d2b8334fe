"""How the log does, on one page."""

from __future__ import annotations

import html
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit import health_lag, health_plot, health_resting, health_starts, log, notes, verify_asks
from audit.drill import recorded as drills
from audit.drill.known import KNOWN
from audit.drill.run import Outcome
from audit.kinds import Kind
from audit.models import Entry
from audit.verify import note
from audit.verify.run import Outside
from audit.verify_watch import Watch
from tests.audit.test_trust_answers import AGENT, KEY, WITNESSED, Shown
from tests.audit.test_trust_answers import shown as shown

pytestmark = pytest.mark.django_db(transaction=True)


def page(shown: Shown, address: str = "/audit/health/") -> str:
    shown.become("people")
    response = shown.client.get(address)
    shown.become("owner")
    assert response.status_code == 200
    return html.unescape(response.content.decode())


def test_an_empty_log_has_a_page_too(shown: Shown) -> None:
    text = page(shown)
    assert "The sealer has never run" in text
    assert "Nothing is sealed yet." in text
    assert "No checkpoint leaves this installation." in text
    assert "manage.py verify_log" in text


def test_it_says_how_the_log_does(shown: Shown) -> None:
    shown.call()
    shown.seal()
    shown.run("insert into audit_sealstate values (1, 'sealing', '', now())")
    shown.run(WITNESSED, "witness", 3, "failed", "It cannot be reached.")
    shown.run(
        "insert into audit_verification (size, is_full, findings, finding_count, is_clean)"
        " values (3, true, '[]', 0, true)"
    )
    text = page(shown)
    assert "Sealed and verified" in text
    assert "It cannot be reached." in text
    assert "<code>manage.py verify_log</code>" not in text
    assert "example.com/log\n3\n" in text
    assert f"{datetime.now(UTC):%Y-%m}" in text
    assert "no call with an unknown outcome" in text
    assert "Everything is kept." in text
    assert 'href="/audit/health/"><span class="state state--ok" data-glyph="✓">Log sealed' in text
    shown.become("auditor")
    verify_asks.say(doing="", new_at=datetime.now(UTC), new_from=3, new_size=3, new_findings=0)
    assert re.search(r"; next <time [^>]*>\d+ \w{3} \d\d:\d\d UTC<", page(shown))  # with its day: it is tomorrow's


def test_who_holds_the_horizon_is_named(shown: Shown, cluster_socket: Any) -> None:
    import psycopg

    name = connection.settings_dict["NAME"]
    with psycopg.connect(
        host=str(cluster_socket), user="counterseal_owner", password="test-owner", dbname=name, application_name="slow"
    ) as slow:
        slow.execute("select pg_current_xact_id()")
        assert "counterseal_owner</code>" in page(shown)


def test_a_session_of_which_no_time_is_known_is_named_all_the_same(shown: Shown, monkeypatch: Any) -> None:
    nobody = health_lag.Holder(7, None, None, "", None, None, None)
    monkeypatch.setattr(health_lag, "holders", lambda: [nobody])
    assert "session 7 of <code>the server</code> has written and not ended" in page(shown)


def test_calls_without_a_finish_are_counted_and_listed_page_by_page(shown: Shown, monkeypatch: Any) -> None:
    monkeypatch.setattr(health_starts, "MOST_LISTED", 2)
    monkeypatch.setattr(health_starts, "MOST_STARTS", 4)
    monkeypatch.setattr(health_starts, "RUNS_FOR", timedelta(0))
    shown.become("agents")
    lone = [log.record(Kind.CALL_STARTED, AGENT, call_id=uuid.uuid4(), tool="slow").seq for _ in range(3)]
    shown.become("owner")
    for _ in range(3):
        shown.call()
    first = health_starts.starts()
    assert (first.count, first.looked_at, first.is_all) == (1, 4, False)
    assert [one.seq for one in first.shown] == [lone[2]]
    second = health_starts.starts(first.older)
    assert [one.seq for one in second.shown] == [lone[1], lone[0]]
    assert (second.count, second.unknown, second.older, second.is_all) == (2, 2, None, True)
    assert health_starts.starts(lone[0]).count == 0
    assert "unknown" in page(shown, f"/audit/health/starts/?before={first.older}")
    assert "with an unknown outcome" in page(shown)


def test_a_call_that_just_began_may_still_run(shown: Shown) -> None:
    shown.become("agents")
    log.record(Kind.CALL_STARTED, AGENT, call_id=uuid.uuid4(), tool="slow")
    shown.become("owner")
    assert (health_starts.starts().count, health_starts.starts().unknown) == (1, 0)
    assert "may still run" in page(shown, "/audit/health/starts/")


def test_rows_of_the_default_partition_are_told(shown: Shown, cluster_socket: Any) -> None:
    import psycopg

    name = connection.settings_dict["NAME"]
    with psycopg.connect(host=str(cluster_socket), user="postgres", dbname=name) as root:
        root.execute(
            "insert into audit_payload values ('00000000-0000-7000-8000-000000000000', '', null, null, 'zlib')"
        )
    assert "A month had no partition of its own; look at beat." in page(shown)


def test_it_takes_the_same_few_queries_whatever_there_is(shown: Shown) -> None:
    shown.become("people")
    with CaptureQueriesContext(connection) as empty:
        shown.client.get("/audit/health/")
    for _ in range(5):
        shown.call()
        shown.seal()
    shown.become("people")
    with CaptureQueriesContext(connection) as full:
        shown.client.get("/audit/health/")
    assert len(full) == len(empty) <= 12


def test_the_lag_is_that_of_the_first_entry_under_a_checkpoint(shown: Shown) -> None:
    shown.call()
    shown.seal()
    shown.call()
    shown.seal()
    found = health_lag.lag()
    (newest, *_), started = found.newest, Entry.objects.filter(kind=Kind.CALL_STARTED).order_by("-seq")[0]
    assert newest.lag == pytest.approx((newest.at - started.at).total_seconds(), abs=0.001)
    assert found.median is not None


def test_the_plot_keeps_each_minutes_longest_wait_inside_its_box() -> None:
    now = datetime(2026, 11, 29, 10, 52, tzinfo=UTC)
    some = [health_lag.Sealed(n, now - timedelta(minutes=59 - n // 2), n / 10) for n in range(100)]
    drawn = health_plot.plot(some, now)
    assert drawn is not None
    assert drawn.top == 10
    points = [tuple(map(float, point.split(","))) for point in drawn.points.split()]
    assert len(points) == 50
    assert all(30 <= x <= 460 and 18 <= y <= 90 for x, y in points)
    assert health_plot.plot(some[:1], now) is None


def test_a_stranger_signs_in_first(client: Any, db: None) -> None:
    for address in ("/audit/health/", "/audit/health/starts/", "/audit/news/"):
        assert client.get(address)["Location"].startswith("/sign-in/")


def become(shown: Shown, make_person: Any, role: str) -> None:
    shown.person = make_person(f"the-{role}", role)
    shown.client.force_login(shown.person)


def post(shown: Shown, address: str) -> int:
    shown.become("people")
    status = shown.client.post(address).status_code
    shown.become("owner")
    return int(status)


def test_an_auditor_has_the_log_verified_and_a_viewer_has_not(shown: Shown, make_person: Any) -> None:
    assert "Verify now" not in page(shown)
    assert post(shown, "/audit/verifications/") == 403
    become(shown, make_person, "auditor")
    assert "Verify now" in page(shown)
    assert post(shown, "/audit/verifications/") == 302
    text = page(shown)
    assert "Verify now" not in text
    assert f"Asked for by {shown.person}, and no verifier is at work" in text
    shown.become("auditor")
    verify_asks.say(doing="", since=None)
    assert f"Verification asked for by {shown.person}, 0 s ago" in page(shown, "/audit/health/verifying/")
    entry = Entry.objects.filter(kind=Kind.LOG_VERIFICATION_ASKED).order_by("-seq")[0]
    assert (entry.principal, entry.status) == ("the-auditor", "ok")


def test_the_strip_says_that_it_runs_and_then_what_was_found(shown: Shown, make_person: Any, settings: Any) -> None:
    become(shown, make_person, "auditor")
    shown.call()
    shown.seal()
    post(shown, "/audit/verifications/")
    shown.become("auditor")
    verify_asks.say(doing="whole", since=datetime.now(UTC), answered=verify_asks.state().asked)
    text = page(shown, "/audit/health/verifying/")
    assert "Verifying the whole log, for 0 s" in text
    assert 'hx-trigger="every 3s"' in text
    shown.become("auditor")
    known = (note.parse_key(str(KEY.public)),)
    Watch(Outside(known), timedelta(hours=24), lambda entry: [], lambda result, entry: None).whole()
    text = page(shown, "/audit/health/verifying/")
    assert "Verified: no findings. Show" in text
    assert "hx-get" not in text, "It asks no more: a press on it shows the page anew."
    text = page(shown)
    assert "Verify now" in text
    assert "0 gaps" in text


def test_the_last_run_over_new_leaves_is_told(shown: Shown) -> None:
    assert "manage.py verify_log --every 24" in page(shown)
    shown.become("auditor")
    verify_asks.say(doing="", new_at=datetime.now(UTC), new_from=3, new_size=1234, new_findings=0)
    assert "3 to 1,234, no findings; looked at each minute" in page(shown)
    shown.become("owner")
    shown.run("update audit_verifierstate set at = now() - interval '5 minutes'")
    assert "the verifier was last seen 5 min ago" in page(shown)


def test_the_drill_is_told_and_its_failure_is_seen(shown: Shown, superuser: Any) -> None:
    shown.become("owner")
    assert "It runs each night by itself." in page(shown)
    found, missed = (Outcome(KNOWN[0], codes) for codes in (KNOWN[0].inside, frozenset()))
    shown.become("drill")
    drills.record([found], 570)
    text = page(shown)
    assert "1 of 1 tamperings of 570 entries were found" in text
    assert "The drill failed" not in text
    shown.become("drill")
    drills.record([found, missed], 570)
    text = page(shown)
    assert "The tamper drill failed: 1 of 2 tamperings of 570 entries were found" in text
    assert 'data-glyph="!">The drill failed' in text
    shown.become("drill")
    drills.record_undone("The log has 7 sealed entries in a row, and a drill needs 330.", is_skipped=True)
    text = page(shown)
    assert "The log has 7 sealed entries" in text
    assert "The tamper drill failed" not in text


def test_a_drill_whose_entry_was_changed_is_not_believed(shown: Shown, tamper: Any) -> None:
    shown.become("drill")
    drills.record([Outcome(KNOWN[0], frozenset())], 570)
    shown.become("owner")
    tamper("update audit_entry set status = 'ok' where kind = 'log.drilled'")
    assert "The entry of the last tamper drill is not what was written." in page(shown)


def test_the_key_of_the_last_checkpoint_is_checked(shown: Shown, settings: Any) -> None:
    shown.call()
    shown.seal()
    settings.LOG_PUBLIC_KEYS = []
    assert "this process was told of no key to check it with" in page(shown)
    settings.LOG_PUBLIC_KEYS = [str(KEY.public)]
    text = page(shown)
    assert "it has signed the last checkpoint, checked now" in text
    assert str(KEY.public) in text
    settings.LOG_PUBLIC_KEYS = [str(notes.SigningKey("example.com/log", bytes(32)).public)]
    assert "It is not signed by a known key." in page(shown)


def test_receipts_that_verdicts_rest_on_are_counted(shown: Shown, monkeypatch: Any) -> None:
    assert "Verdict receipts" in page(shown)
    counts = [health_resting.Resting("Verdict receipts", "each was proven sealed", 4, proven) for proven in (4, 3)]
    monkeypatch.setattr(health_resting, "_counted", [lambda: counts.pop(0)])
    text = page(shown)
    assert "4 of 4" in text
    assert "each was proven sealed" in text
    text = page(shown)
    assert "3 of 4" in text
    assert "1 not proven: a checkpoint is awaited, or an entry no longer stands" in text


def test_followers_are_told_from_those_that_ended(shown: Shown) -> None:
    assert "manage.py export_log --follow" in page(shown)

    def record(summary: str, **about: Any) -> log.Recorded:
        return log.record(Kind.LOG_EXPORTED, log.Actor.process(), subject="log", summary=summary, **about)

    first, second = (record("Following as JSONL began") for _ in range(2))
    assert "2 at work" in page(shown)
    ended = record("7 entries were followed", parent=first.id)
    text = page(shown)
    assert "1 at work" in text
    assert f"A-{second.seq}; by leaf, skips none" in text.replace("</a>", "")
    assert f"A-{ended.seq}" not in text
    last = record("9 entries were followed", parent=second.id)
    assert f"A-{last.seq}" in page(shown)


@pytest.mark.parametrize("at", ["infinity", "-infinity", "4713-01-01 BC", "290000-12-31"])
def test_a_time_that_no_clock_shows_stops_no_page(at: str, shown: Shown, tamper: Any) -> None:
    finish = shown.call()
    shown.seal()
    page(shown, f"/audit/{finish.seq}/")  # who looked is an entry, and has a time
    tamper(f"update audit_entry set at = '{at}'")
    tamper(f"update audit_checkpoint set at = '{at}'")
    for address in ("/audit/", "/audit/health/", "/audit/health/starts/", f"/audit/{finish.seq}/"):
        assert page(shown, address)


def test_the_plot_is_told_in_words_and_numbers() -> None:
    now = datetime(2026, 11, 29, 10, 52, tzinfo=UTC)
    waits = {5: 1.0, 6: 3.8, 7: 0.9}
    some = [health_lag.Sealed(n, now - timedelta(minutes=60 - n, seconds=-1), wait) for n, wait in waits.items()]
    drawn = health_plot.plot(some, now)
    assert drawn is not None
    assert drawn.words == (
        "Longest wait to be sealed in each minute of the last hour: between 0.9 and 3.8 seconds, 1.0 in the middle; "
        "the longest at 09:58:01 UTC."
    )
    assert [(f"{minute:%H:%M}", wait) for minute, wait in drawn.minutes] == [
        ("09:57", 1.0), ("09:58", 3.8), ("09:59", 0.9),
    ]  # fmt: skip
