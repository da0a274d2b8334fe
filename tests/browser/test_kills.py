"""`kill -9` of workers in the running product: no draft is lost, no write is doubled, and the page tells the truth."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg
import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Product, intake_token, sign_in
from tests.machine import command_line, environment_of, pids

pytestmark = pytest.mark.asyncio(loop_scope="session")
LIMIT = 90.0  # seconds for a job to come back: redelivery by the relay, and a worker's restart


def workers(product: Product, queue: str) -> list[int]:
    """The processes of one queue's worker, of this product alone."""
    return [
        pid
        for pid in pids()
        if {"celery", queue} <= set(command_line(pid))
        and environment_of(pid).get("COUNTERSEAL_VAR") == str(product.var)
    ]


def kill_workers(product: Product, queue: str) -> int:
    """SIGKILL for a worker and its children; how many there were."""
    killed = 0
    for pid in workers(product, queue):
        try:
            os.kill(pid, signal.SIGKILL)
            killed += 1
        except ProcessLookupError:
            continue
    return killed


async def runs(product: Product, queue: str) -> bool:
    """Wait until a queue's worker is there again: the supervisor waits a little longer after each death."""
    deadline = time.monotonic() + LIMIT
    while not workers(product, queue) and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    return bool(workers(product, queue))


def query(product: Product, name: str, user: str, secret: str, statement: str) -> Any:
    """The first value of a query, as one of the embedded server's roles."""
    with psycopg.connect(
        host=str(product.sockets), dbname=name, user=user, password=product.secret(secret)
    ) as connection:
        row = connection.execute(statement).fetchone()
    return row[0] if row else None


def app_value(product: Product, statement: str) -> Any:
    """A value of Counterseal's own database, as the people's plane sees it."""
    return query(product, "counterseal", "counterseal_people", "db_people", statement)


async def until(product: Product, statement: str, wanted: Any) -> Any:
    """Wait until a query answers what is wanted, and give the last answer."""
    deadline, seen = time.monotonic() + LIMIT, None
    while time.monotonic() < deadline:
        seen = app_value(product, statement)
        if seen == wanted:
            break
        await asyncio.sleep(0.2)
    return seen


def hand_in(product: Product, title: str) -> int:
    """An incident, an investigation and a submission over REST; the investigation's number."""
    began = (datetime.now(UTC) - timedelta(hours=1)).isoformat().replace("+00:00", "Z")
    report = {"class": "job_failed", "title": title, "subject": {"job_id": 90412}, "began_at": began,
              "dedup_key": title}  # fmt: skip
    with httpx2.Client(base_url=f"{product.agents}/api/v1/", timeout=30) as http:
        monitor = {"Authorization": f"Bearer {intake_token(product)}"}
        agent = {"Authorization": f"Bearer {product.agent_token}"}
        incident = http.post("incidents", json=report, headers=monitor).raise_for_status().json()["incident"]
        started = http.post("investigations", json={"incident": incident}, headers=agent).raise_for_status().json()
        number = int(started["investigation"])
        body = {"hypothesis": "worker_lost", "findings": [], "answer": "Nothing was found."}
        http.post(f"investigations/{number}/findings", json=body, headers=agent).raise_for_status()
    return number


async def test_a_killed_verdict_worker_loses_no_draft(product: Product) -> None:
    drafts = "select count(*) from triage_draft where investigation_id = {}"
    for attempt in range(3):
        assert await runs(product, "verdicts")
        number = hand_in(product, f"Killed at work {attempt} {time.time_ns()}")
        await asyncio.sleep(0.02 * attempt)
        kill_workers(product, "verdicts")
        assert await until(product, drafts.format(number), 1) == 1
        await until(product, f"select status from triage_investigation where id = {number}", "decided")
        assert app_value(product, drafts.format(number)) == 1


def propose(product: Product, run_after: str) -> int:
    """A write to one row that nothing else touches; its number."""
    body = {
        "target": "shop", "title": "Put off job 90412", "reason": "To see that it happens once.",
        "statement": "UPDATE shop.jobs SET run_after = $1 WHERE job_id = $2",
        "parameters": [{"t": "timestamptz", "v": run_after}, {"t": "bigint", "v": "90412"}],
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {product.agent_token}"}
    answer = httpx2.post(f"{product.agents}/api/v1/writes", json=body, headers=headers, timeout=30)
    return int(answer.raise_for_status().json()["id"])


async def test_a_killed_writer_writes_once(product: Product, page: Page) -> None:
    number = propose(product, f"2027-01-01T00:00:{time.time_ns() % 60:02d}Z")
    await sign_in(page, product, "ada")
    await page.goto(f"{product.people}/writes/{number}/")
    await page.get_by_role("button", name=re.compile("Preview")).click()
    kill_workers(product, "writes")
    approve = page.get_by_role("button", name=re.compile("Approve: update 1 row in shop.jobs"))
    await expect(approve).to_be_visible(timeout=LIMIT * 1000)
    await page.get_by_label("Why").fill("Only to be killed.")
    await page.get_by_label(re.compile("password", re.IGNORECASE)).fill(product.passwords["ada"])
    await approve.click()
    for _ in range(3):
        kill_workers(product, "writes")
        await asyncio.sleep(1.5)
    status = f"select status from writes_writerequest where id = {number}"
    assert await until(product, status, "executed") == "executed"
    ledger = f"select count(*) from shop.gate_ledger where write_ref = 'W-{number}'"
    assert query(product, "shop", "shop_owner", "shop_owner", ledger) == 1
    events = f"select count(*) from audit_entry where subject = 'W-{number}' and kind = 'write.executed'"
    assert app_value(product, events) == 1
    await page.goto(f"{product.people}/writes/{number}/")
    await expect(page.locator(".page__head .state")).to_have_text("Executed")
