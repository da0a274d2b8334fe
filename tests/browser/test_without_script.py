"""A whole day on call without a line of JavaScript: every decision is a form, every row a link."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator

import httpx2
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.behind import app_value, hand_in, until
from tests.browser.conftest import Product, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
REASON = "The worker is gone and the job is safe to run again."
PATIENCE = 60.0  # seconds for the writer, while the page is loaded again by hand


@pytest_asyncio.fixture(loop_scope="session")
async def page(browser: Browser) -> AsyncIterator[Page]:
    """A page whose scripts do not run."""
    context = await browser.new_context(viewport={"width": 1360, "height": 900}, java_script_enabled=False)
    yield await context.new_page()
    await context.close()


async def drafted(product: Product, title: str) -> int:
    """A new draft that waits; its number."""
    number = hand_in(product, title)
    await until(product, f"select count(*) from triage_draft where investigation_id = {number}", 1)
    return int(app_value(product, f"select id from triage_draft where investigation_id = {number}"))


def propose(product: Product, title: str) -> int:
    """A write that an agent proposes; its number."""
    body = {
        "target": "shop", "title": title, "reason": "It failed twice and nothing holds it.",
        "statement": "update shop.jobs set state = $1 where job_id = $2",
        "parameters": [{"t": "text", "v": "queued"}, {"t": "bigint", "v": "90455"}],
    }  # fmt: skip
    agent = {"Authorization": f"Bearer {product.agent_token}"}
    answer = httpx2.post(f"{product.agents}/api/v1/writes", json=body, headers=agent, timeout=30).raise_for_status()
    number, deadline = int(answer.json()["id"]), time.monotonic() + PATIENCE
    # Without a script its page does not say by itself that admission has answered.
    address = f"{product.agents}/api/v1/writes/{number}"
    while httpx2.get(address, headers=agent, timeout=30).json()["status"] == "proposed":
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return number


async def again_until(page: Page, selector: str) -> None:
    """Load the page again, as somebody without scripts does, until something is there."""
    deadline = time.monotonic() + PATIENCE
    while not await page.locator(selector).count():
        assert time.monotonic() < deadline, await page.locator("main").inner_text()
        await page.wait_for_timeout(300)
        await page.reload()


async def test_a_day_on_call(product: Product, page: Page) -> None:
    mark = f"by-hand-{time.time_ns()}"
    acts = {"Agree: fail": "agreed", "Overrule…": "overruled", "Send back…": "sent_back"}
    drafts = [await drafted(product, f"{mark} {word}") for word in acts.values()]
    write = propose(product, f"Requeue 90455 {mark}")

    await sign_in(page, product, "ada")
    await page.get_by_label("Search the inbox").fill(mark)
    await page.get_by_label("Kind").select_option("incident")
    await page.get_by_label("Search the inbox").press("Enter")
    await expect(page.locator(".row__title a")).to_have_count(3)
    await expect(page).to_have_url(re.compile("q=by-hand-"))

    await page.get_by_role("link", name=f"{mark} agreed").click()
    await page.get_by_role("button", name="Claim").click()
    await expect(page.locator(".facts")).to_contain_text("by you, until")
    for draft, (button, status) in zip(drafts, acts.items(), strict=True):
        await page.goto(f"{product.people}/drafts/{draft}/")
        await page.get_by_role("button", name=button).click()
        await expect(page.locator(".err")).to_have_text("Write one sentence that the next reader can check.")
        await page.get_by_label("Why").fill(f"I looked at it, and it is {status}.")
        await page.get_by_role("button", name=button).click()
        await page.wait_for_url("**/inbox/")
        assert app_value(product, f"select status from triage_draft where id = {draft}") == status

    await page.goto(f"{product.people}/writes/{write}/")
    await page.get_by_role("button", name="Preview").click()
    await again_until(page, "button:text('Preview again')")  # a first look has rows to compare, too
    await page.get_by_label("Why").fill(REASON)
    await page.get_by_label(re.compile("password", re.IGNORECASE)).fill(product.passwords["ada"])
    await page.get_by_role("button", name="Approve: update 1 row in shop.jobs").click()
    await again_until(page, ".page__head .state:text-is('Executed')")

    await page.get_by_label("Search everything").fill(mark)
    await page.get_by_label("Search everything").press("Enter")
    await page.locator("main").get_by_role("link", name=f"{mark} overruled").first.click()
    await page.get_by_label("What the next reader should know").fill("The shop was closed that night.")
    await page.get_by_role("button", name="Comment").click()
    await expect(page.locator("main")).to_contain_text("The shop was closed that night.")

    await page.goto(f"{product.people}/me/")
    await page.get_by_role("button", name="Sign out", exact=True).click()
    await page.goto(f"{product.people}/inbox/")
    await expect(page.get_by_label("Password")).to_be_visible()
