"""The write's page in a real browser: Enter approves nothing, letters move, Ctrl+Enter sends a form of one button."""

from __future__ import annotations

import re

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.browser.axe import faults
from tests.browser.behind import app_value
from tests.browser.conftest import Product, sign_in

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]
DECISIONS = "select count(*) from writes_decision where write_id = {}"


def propose(product: Product, job: int) -> int:
    """An agent's proposal; its number."""
    body = {
        "target": "shop", "title": f"Count an attempt of job {job}", "reason": "It failed once more.",
        "statement": "update shop.jobs set attempts = attempts + 1 where job_id = $1",
        "parameters": [{"t": "bigint", "v": str(job)}],
    }  # fmt: skip
    headers = {"Authorization": f"Bearer {product.agent_token}"}
    return int(httpx.post(f"{product.agents}/api/v1/writes", json=body, headers=headers, timeout=30).json()["id"])


async def previewed(page: Page, product: Product, job: int) -> int:
    """The number of a proposed write whose page is open, with its preview."""
    number = propose(product, job)
    await sign_in(page, product, "ada")
    await page.goto(f"{product.people}/writes/{number}/")
    await page.get_by_role("button", name=re.compile("Preview")).click()
    await expect(page.get_by_role("button", name=re.compile("Approve: update 1 row"))).to_be_visible(timeout=60_000)
    return number


async def test_enter_approves_nothing_wherever_it_is_pressed(product: Product, page: Page) -> None:
    number = await previewed(page, product, 90311)
    await page.get_by_label("Why").fill("The worker is gone.")
    password = page.get_by_label(re.compile("password", re.IGNORECASE))
    await password.fill(product.passwords["ada"])
    for press in ("Enter", "Control+Enter"):
        await password.press(press)
        await page.get_by_label("Why").press(press)
    await page.locator("body").press("Enter")
    await page.wait_for_timeout(1500)
    assert app_value(product, DECISIONS.format(number)) == 0
    await expect(page.get_by_label("Why")).to_have_value(re.compile("The worker is gone."))
    await page.locator("h1").click()
    await page.keyboard.press("r")
    await expect(page.get_by_role("button", name="Reject")).to_be_focused()
    assert app_value(product, DECISIONS.format(number)) == 0


async def test_ctrl_enter_sends_a_comment_which_has_one_button(product: Product, page: Page) -> None:
    number = await previewed(page, product, 90312)
    comment = page.get_by_label("Comment")
    await comment.fill("Did the worker come back?")
    await comment.press("Control+Enter")
    await expect(page.locator("#comments")).to_contain_text("Did the worker come back?")
    assert app_value(product, f"select count(*) from writes_writecomment where write_id = {number}") == 1
    assert app_value(product, DECISIONS.format(number)) == 0


@pytest.mark.parametrize("width", [400, 1280])
async def test_it_is_read_and_decided_at_every_width(product: Product, page: Page, width: int) -> None:
    await page.set_viewport_size({"width": width, "height": 800})
    number = await previewed(page, product, 90313 + width % 7)
    assert await faults(page, f"/writes/{number}/") == {}
    await page.get_by_label("Why").fill("Not this one.")
    await page.get_by_role("button", name="Reject").click()
    await expect(page.locator(".page__head .state")).to_have_text("Rejected")
    assert app_value(product, DECISIONS.format(number)) == 1
