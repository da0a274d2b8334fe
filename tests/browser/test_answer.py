"""The agreed answer in a browser: it is copied to the letter, stays the agent's until edited, and needs no script."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from playwright.async_api import Browser, BrowserContext, Page

from gate.config import smtp
from gate.triage import actions
from tests.browser.axe import faults_in_each_look
from tests.gate.conftest import make_draft as make_draft

pytestmark = pytest.mark.asyncio(loop_scope="session")
ANSWER = 'The job failed twice.\n\nThen it "succeeded" <at once>.'


@dataclass(frozen=True)
class Place:
    """A server with one agreed draft, and the cookie of somebody who may send."""

    origin: str
    cookie: str
    draft: int
    incident: int

    @property
    def page(self) -> str:
        return f"{self.origin}/drafts/{self.draft}/"

    @property
    def letter(self) -> str:
        return f"{self.page}sending/"


@pytest.fixture
def place(live_server: Any, settings: Any, make_person: Any, make_draft: Callable[..., Any]) -> Place:
    settings.MAIL = smtp.parse("smtp://127.0.0.1:1", "counterseal@example.org")
    ada, draft, client = make_person("ada"), make_draft(title="Payout failed"), Client()
    draft.investigation.answer = ANSWER
    draft.investigation.save()
    actions.review(draft.pk, by=ada, act="agree", reason="It is as it says.", seen_version=1)
    client.force_login(ada)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    return Place(live_server.url, f"{cookie.key}={cookie.value}", draft.pk, draft.investigation.incident_id)


async def enter(browser: Browser, place: Place, **options: Any) -> BrowserContext:
    context = await browser.new_context(reduced_motion="reduce", **options)
    name, _, value = place.cookie.partition("=")
    await context.add_cookies([{"name": name, "value": value, "url": place.origin}])
    await context.route("**/nudges/", lambda route: route.abort())  # this server would wait for the end of a stream
    return context


async def test_the_copy_is_the_answer_to_the_letter(place: Place, browser: Browser) -> None:
    context = await enter(browser, place, permissions=["clipboard-read", "clipboard-write"])
    page = await context.new_page()
    for address in (place.page, f"{place.origin}/incidents/{place.incident}/"):
        await page.goto(address)
        await page.get_by_role("button", name="Copy the answer").click()
        await page.get_by_text("Copied.").wait_for()
        assert await page.evaluate("navigator.clipboard.readText()") == ANSWER
    await context.close()


async def test_without_script_or_clipboard_the_text_stands_there_to_be_selected(place: Place, browser: Browser) -> None:
    context = await enter(browser, place, java_script_enabled=False)
    page = await context.new_page()
    await page.goto(place.page)
    assert await page.locator("#answer").input_value() == ANSWER
    assert not await page.locator("[data-copies]").is_visible()
    await context.close()
    context = await enter(browser, place)
    await context.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})")
    page = await context.new_page()
    await page.goto(place.page)
    assert not await page.locator("[data-copies]").is_visible()
    await context.close()


async def test_the_words_are_the_agents_until_somebody_edits_them(place: Place, browser: Browser) -> None:
    context = await enter(browser, place)
    page = await context.new_page()
    await page.goto(place.letter)
    words = page.locator("#letter")
    assert await is_the_agents(page)
    await words.fill(f"Noa, {ANSWER}")
    assert not await is_the_agents(page)
    await words.fill(ANSWER)
    assert await is_the_agents(page)
    await context.close()


async def is_the_agents(page: Page) -> bool:
    style: str = await page.locator("#letter").evaluate("node => getComputedStyle(node).borderStyle")
    return style == "dashed"


async def test_axe_finds_nothing_on_the_answer(place: Place, browser: Browser) -> None:
    context = await enter(browser, place)
    page = await context.new_page()
    found: dict[str, Any] = {}
    for address in (place.page, place.letter, f"{place.origin}/incidents/{place.incident}/"):
        await page.goto(address)
        found |= await faults_in_each_look(page, address)
    await context.close()
    assert found == {}
