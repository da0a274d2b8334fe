"""`kill -9` of the writer under an open page: the page comes to the truth by itself, without anybody's help.

That nothing is lost or done twice, whatever is killed, is what tests/kills shows without a browser.
"""

from __future__ import annotations

import os
import re
import signal
import time

import httpx2
import pytest
from playwright.async_api import Page, expect

from tests.browser.behind import LIMIT
from tests.browser.conftest import Product, sign_in
from tests.machine import command_line, environment_of, pids

pytestmark = pytest.mark.asyncio(loop_scope="session")


def kill_writer(product: Product) -> None:
    """SIGKILL for the writer of this product and its children."""
    for pid in pids():
        if {"celery", "writes"} <= set(command_line(pid)) and _is_of(product, pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _is_of(product: Product, pid: int) -> bool:
    return environment_of(pid).get("COUNTERSEAL_VAR") == str(product.var)


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


async def test_an_open_page_shows_what_became_of_a_write_whose_writer_was_killed(product: Product, page: Page) -> None:
    number = propose(product, f"2027-01-01T00:00:{time.time_ns() % 60:02d}Z")
    await sign_in(page, product, "ada")
    await page.goto(f"{product.people}/writes/{number}/")
    await page.get_by_role("button", name=re.compile("Preview")).click()
    kill_writer(product)
    approve = page.get_by_role("button", name=re.compile("Approve: update 1 row in shop.jobs"))
    await expect(approve).to_be_visible(timeout=LIMIT * 1000)
    await page.get_by_label("Why").fill("Only to be killed.")
    await page.get_by_label(re.compile("password", re.IGNORECASE)).fill(product.passwords["ada"])
    await approve.click()
    for _ in range(3):
        kill_writer(product)
        await page.wait_for_timeout(1500)
    await expect(page.locator(".page__head .state")).to_have_text("Executed", timeout=LIMIT * 1000)
