"""Counts that live: by a stream while the page is seen, by the poll otherwise, and what is said when neither works."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from tests.browser.behind import app_value, hand_in
from tests.browser.conftest import Product, sign_in
from tests.machine import command_line, environment_of, pids

pytestmark = pytest.mark.asyncio(loop_scope="session")
HIDE = """(isHidden) => {
  Object.defineProperty(document, "hidden", {configurable: true, get: () => isHidden});
  document.dispatchEvent(new Event("visibilitychange"));
}"""
LISTENING = "select count(*) from pg_stat_activity where query = 'listen audit_counts'"
POLL = 15_000  # milliseconds
RESTART = 60_000  # milliseconds for the supervisor to bring a plane back on a busy machine


async def until_listening(product: Product, wanted: int) -> int:
    """How many connections of the people's plane listen, once it is as wanted or for too long."""
    deadline = time.monotonic() + 20
    while (seen := app_value(product, LISTENING)) != wanted and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    return int(seen)


@pytest_asyncio.fixture(loop_scope="session")
async def inbox(product: Product, page: Page) -> AsyncIterator[Page]:
    """The inbox, as somebody on call has it open."""
    await sign_in(page, product, "ada")
    yield page
    await page.close()


async def waiting(page: Page) -> int:
    """The number beside Inbox in the rail."""
    return int(re.sub(r"\D", "", await page.locator("#work .count").first.inner_text()))


async def test_a_new_draft_announces_itself_and_moves_nothing(product: Product, inbox: Page) -> None:
    assert await until_listening(product, 1) == 1
    before = await waiting(inbox)
    first = inbox.locator(".row").first
    where = await first.bounding_box()
    await inbox.locator("#q").fill("half a wo")
    hand_in(product, "The nightly report stopped half way")
    news = inbox.locator(".news a")
    await expect(news).to_have_text("1 new draft. Show", timeout=30_000)
    assert await waiting(inbox) == before + 1
    assert await first.bounding_box() == where
    await expect(inbox.locator("#q")).to_have_value("half a wo")
    await expect(inbox.get_by_text("The nightly report stopped half way")).to_have_count(0)
    await news.click()
    await expect(inbox.get_by_role("link", name="The nightly report stopped half way")).to_be_visible()
    await expect(inbox.locator(".news a")).to_have_count(0)


async def test_a_filter_swaps_the_rows_and_what_is_shown_now_is_not_announced(product: Product, inbox: Page) -> None:
    seen = await inbox.locator("#newest").input_value()
    hand_in(product, "The monthly report stopped half way")
    await expect(inbox.locator(".news a")).to_have_text("1 new draft. Show", timeout=30_000)
    await inbox.get_by_label("Order").select_option("newest")
    await expect(inbox.locator(".row__title a").first).to_have_text("The monthly report stopped half way")
    await expect(inbox.locator(".news a")).to_have_count(0)
    await expect(inbox.locator("#rows")).to_have_count(1)
    assert await inbox.locator("#newest").input_value() != seen


async def test_the_counts_leave_the_focus_where_it_is(product: Product, inbox: Page) -> None:
    before = await waiting(inbox)
    link = inbox.locator("nav.rail").get_by_role("link", name="Writes")
    await link.focus()
    hand_in(product, "The yearly report stopped half way")
    await expect(inbox.locator("#count-inbox")).to_contain_text(str(before + 1), timeout=30_000)
    await expect(link).to_be_focused()


async def test_a_hidden_page_holds_no_stream(product: Product, inbox: Page) -> None:
    assert await until_listening(product, 1) == 1
    await inbox.evaluate(HIDE, True)
    assert await until_listening(product, 0) == 0
    async with inbox.expect_request(re.compile("/inbox/rail/"), timeout=POLL // 2):
        await inbox.evaluate(HIDE, False)
    assert await until_listening(product, 1) == 1


async def test_without_streams_the_poll_does_it_alone(product: Product, browser: Browser) -> None:
    context = await browser.new_context()
    await context.add_init_script("delete window.EventSource")
    page = await context.new_page()
    await sign_in(page, product, "ada")
    assert await until_listening(product, 0) == 0
    before = await waiting(page)
    hand_in(product, "The weekly report stopped half way")
    await expect(page.locator(".news a")).to_have_text("1 new draft. Show", timeout=POLL + 30_000)
    assert await waiting(page) == before + 1
    await context.close()


async def test_a_page_without_its_server_says_so_until_it_is_back(product: Product, inbox: Page) -> None:
    alert = inbox.get_by_role("alert")
    assert await until_listening(product, 1) == 1
    os.kill(people_plane(product), signal.SIGKILL)
    await inbox.get_by_label("Order").select_option("newest")
    await expect(alert).to_contain_text("What you see may be old")
    await expect(alert).to_have_text("", timeout=RESTART)
    assert await until_listening(product, 1) == 1


def people_plane(product: Product) -> int:
    """The process that serves people, of this product alone."""
    for pid in pids():
        is_ours = environment_of(pid).get("COUNTERSEAL_VAR") == str(product.var)
        if is_ours and {"serve", "people"} <= set(command_line(pid)):
            return pid
    raise AssertionError("the people's plane is not there")


async def test_whoever_is_signed_out_elsewhere_is_told(inbox: Page) -> None:
    await inbox.context.clear_cookies()
    await inbox.get_by_label("Order").select_option("newest")
    await expect(inbox.get_by_role("alert")).to_contain_text("You are signed out.")
    await expect(inbox.locator("nav.rail")).to_be_visible()
    await expect(inbox.get_by_label("Password")).to_have_count(0)
