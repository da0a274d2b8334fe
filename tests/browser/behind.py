"""What a test does and looks up behind the browser's back: over REST, and in the product's own databases."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import psycopg

from tests.browser.conftest import Product, intake_token

LIMIT = 90.0  # seconds for a job to come back: redelivery by the relay, and a worker's restart


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
