"""A table tells what its name says only where every word of the name is known."""

from __future__ import annotations

import pytest

from gate.triage.grammars import error_words, hosts, promql, rds_events, tables


@pytest.mark.parametrize(
    "name", ["recipients", "message_recipients", "messages_messagerecipient", "email_recipients", "outbox_recipients"]
)
def test_a_table_of_recipients(name: str) -> None:
    assert tables.holds_recipients(name)


@pytest.mark.parametrize("name", ["bounces", "email_bounces", "messages_bounce", "mail_bounce_events", "bounce_events"])
def test_a_table_of_bounces(name: str) -> None:
    assert tables.holds_bounces(name)


@pytest.mark.parametrize("name", ["orders", "order", "ps_orders", "shop_orders", "prestashop_orders"])
def test_a_table_of_orders(name: str) -> None:
    assert tables.holds_orders(name)


@pytest.mark.parametrize(
    "name",
    [
        "drafts", "draft_recipients", "recipients_old", "recipients_2019", "bounces_archive", "test_bounces", "bounce",
        "order_history", "orders_archive", "old_orders", "tmp_orders", "orders_", "_orders", "", "archive_bounces",
        "purchase_orders", "staging_recipients", "Orders",
    ],
)  # fmt: skip
def test_what_is_in_no_list_tells_nothing(name: str) -> None:
    held = tables.holds_recipients(name), tables.holds_bounces(name), tables.holds_orders(name)
    assert held == (False, name == "bounce", False)


@pytest.mark.parametrize(
    ("name", "is_copy"),
    [
        ("db1.staging", True), ("restore-check.internal", True), ("pg-restore.lab", True), ("db1.cluster", False),
        ("restore.prod", False), ("replica-restore", False), ("restored", True), ("prerestore.lab", False), ("", False),
    ],
)  # fmt: skip
def test_only_some_names_say_that_a_machine_holds_copies(name: str, is_copy: bool) -> None:
    assert hosts.is_of_a_copy(name) is is_copy


@pytest.mark.parametrize(
    ("title", "text", "is_other"),
    [
        ("connection errors in job-1", "deadlock detected", True),
        ("connection errors in job-1", "ECONNREFUSED", False),
        ("job-1: out of memory", "ETIMEDOUT", True), ("job-1: out of memory", "OutOfMemoryError", False),
        ("disk-sync failed", "ETIMEDOUT", False), ("KubeJobFailed job-1", "ERROR", False), ("", "ERROR", False),
        ("connection timed out", "ETIMEDOUT", False),
        ("job-1: 503 Service Unavailable", "timeout", True), ("job-1: 504 Gateway Timeout", "timeout", False),
        ("HTTP 502 from upstream", "ETIMEDOUT", True), ("HTTP 502 from upstream", "502", False),
        ("invoice-export-502 failed", "ETIMEDOUT", False), ("rate limit exceeded", "ETIMEDOUT", True),
        ("rate limit exceeded", "429 Too Many Requests", False), ("dns lookup failed", "ETIMEDOUT", True),
        ("dns lookup failed", "ENOTFOUND", False), ("authentication failed for billing", "ETIMEDOUT", True),
        ("authentication failed for billing", "authentication failed", False), ("exit code 137", "ETIMEDOUT", True),
        ("exit code 137", "OOMKilled", False), ("NullPointerException in job-1", "ETIMEDOUT", True),
        ("NullPointerException in job-1", "java.lang.NullPointerException", False),
        ("could not serialize access", "deadlock detected", True), ("duplicate key in job-1", "ETIMEDOUT", True),
        ("undefined method in job-1", "ERROR", True), ("invalid json in job-1", "ETIMEDOUT", True),
    ],
)  # fmt: skip
def test_a_title_that_tells_of_one_kind_of_error_leaves_no_other(title: str, text: str, is_other: bool) -> None:
    assert error_words.is_of_another_kind(title, text) is is_other


def test_a_particular_error_counts_where_the_title_has_its_words() -> None:
    assert error_words.is_said_in("OOMKilled job-1", "OOMKilled")
    assert not error_words.is_said_in("OOMKilledX job-1", "OOMKilled")
    assert not error_words.is_said_in("connection errors", "OOMKilled")
    assert not error_words.is_said_in("job-1 failed", "job-1 failed")


def test_a_low_quantile_is_not_read() -> None:
    buckets = 'sum by (le) (rate(requests_bucket{service="api"}[5m]))'
    assert promql.parse(f"histogram_quantile(0.99, {buckets})") is not None
    assert promql.parse(f"histogram_quantile(0.5, {buckets})") is None
    assert promql.parse(f"histogram_quantile({buckets})") is None


def test_a_beginning_is_told_from_an_end() -> None:
    assert rds_events.says_begun("Applying autoscaling-initiated modification to allocated storage.")
    assert not rds_events.says_begun("Finished applying autoscaling-initiated modification to allocated storage.")
