"""The keyboard alone: every control is reached in order and seen; single keys only move, and can be switched off."""

from __future__ import annotations

import string
import time
from typing import Any

import pytest
from playwright.async_api import Browser, Page, expect

from tests.browser.behind import app_value, hand_in, until
from tests.browser.conftest import Product, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")
# What a person can reach by Tab: of a group of radio buttons it is one.
CONTROLS = """() => {
  const able = "a[href], button, input, select, textarea, summary, [tabindex='0']";
  const isRadioOfOthers = (node) => node.type === "radio" && !node.checked
    && (document.querySelector(`[name="${node.name}"]:checked`) || document.querySelector(`[name="${node.name}"]`) !== node);
  window.inOrder = [...document.querySelectorAll("*")];
  return inOrder.map((node, place) => [node, place]).filter(([node]) => node.matches(able) && !node.disabled
    && node.type !== "hidden" && node.checkVisibility({visibilityProperty: true}) && !node.closest("dialog:not([open])")
    && !isRadioOfOthers(node)).map(([node, place]) => place);
}"""  # noqa: E501
# Where the focus is, how it shows, and what it is on.
FOCUS = """() => {
  const node = document.activeElement;
  const ringed = (part) => { const s = getComputedStyle(node, part); return s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 };
  return node === document.body ? null : {place: inOrder.indexOf(node), ring: ringed() || ringed("::after"), html: node.outerHTML.slice(0, 120)};
}"""  # noqa: E501

DECIDED = """select concat_ws(' ', (select count(*) from triage_review), (select count(*) from writes_decision),
  (select count(*) from writes_previewrequest),
  (select count(*) from triage_draft where status <> 'waiting' or snoozed_until is not null))"""


async def walk(page: Page) -> list[dict[str, Any]]:
    """Press Tab until the focus leaves the page; where it was."""
    steps: list[dict[str, Any]] = []
    for _ in range(600):
        await page.keyboard.press("Tab")
        step = await page.evaluate(FOCUS)
        if step is None or (steps and step["place"] == steps[0]["place"]):
            return steps
        assert not steps or step["place"] != steps[-1]["place"], f"trapped in {step['html']}"
        steps.append(step)
    raise AssertionError("the walk did not end")


async def rail(page: Page) -> list[str]:
    """The places that the rail leads to."""
    return list(await page.locator("nav.rail a").evaluate_all("links => links.map((link) => link.pathname)"))


@pytest.mark.parametrize("who", ["ada", "jonas"])
async def test_tab_reaches_every_control_in_order_and_shows_where_it_is(product: Product, page: Page, who: str) -> None:
    await sign_in(page, product, who)
    faults: list[str] = []
    for address in [*await rail(page), "/drafts/1/", "/writes/1/", "/incidents/1/"]:
        await page.goto(product.people + address)
        await page.evaluate("document.activeElement?.blur()")
        controls = await page.evaluate(CONTROLS)
        steps = await walk(page)
        places = [step["place"] for step in steps]
        if "Skip to content" not in steps[0]["html"]:
            faults.append(f"{address} begins with {steps[0]['html']}")
        if places != sorted(places):
            faults.append(
                f"{address} jumps: {[steps[i]['html'] for i in range(1, len(places)) if places[i] < places[i - 1]]}"
            )
        missed = sorted(set(controls) - set(places))
        for place in missed[:3]:
            faults.append(
                f"{address} never reaches {await page.evaluate('(p) => inOrder[p].outerHTML.slice(0, 120)', place)}"
            )
        faults += [f"{address} does not show the focus on {step['html']}" for step in steps if not step["ring"]][:3]
    assert faults == []


async def test_the_skip_link_leads_past_the_rail(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    await page.goto(f"{product.people}/writes/")
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.getElementById('main').contains(document.activeElement)")


async def test_j_and_k_move_and_enter_opens(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    links = page.locator(".row__title a")
    await page.keyboard.press("j")
    await expect(links.nth(0)).to_be_focused()
    await page.keyboard.press("j")
    await expect(links.nth(1)).to_be_focused()
    await page.keyboard.press("k")
    await expect(links.nth(0)).to_be_focused()
    href = await links.nth(0).get_attribute("href")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**{href}")


@pytest.mark.parametrize(
    ("where", "focused"),
    [
        (
            "/drafts/{draft}/",
            {"1": "Agree: fail 1", "2": "Overrule… 2", "3": "Send back… 3", "c": "Claim C", "h": "Snooze H"},
        ),
        ("/writes/1/", {"r": "Reject R", "c": "Request changes C", "p": "Preview P"}),
    ],
    ids=["draft", "write"],
)
async def test_a_key_moves_to_its_button_and_decides_nothing(
    product: Product, page: Page, where: str, focused: dict[str, str]
) -> None:
    draft = await drafted(product)
    before = decided(product)
    await sign_in(page, product, "ada")
    await page.goto(product.people + where.format(draft=draft))
    for key, name in focused.items():
        await page.keyboard.press(key)
        await expect(page.get_by_role("button", name=name, exact=True)).to_be_focused()
    for key in (string.ascii_lowercase + string.digits).replace("g", ""):
        await page.evaluate("document.activeElement?.blur()")
        await page.keyboard.press(key)
    await page.evaluate("document.activeElement?.blur()")  # Ctrl+Enter is allowed to send a form of one button
    await page.keyboard.press("1")
    await page.keyboard.press("Control+Enter")
    await page.wait_for_timeout(300)
    assert page.url == product.people + where.format(draft=draft)
    assert decided(product) == before


async def drafted(product: Product) -> int:
    """A new draft that waits, as the worker made it."""
    number = hand_in(product, f"Found by the keyboard {time.time_ns()}")
    await until(product, f"select count(*) from triage_draft where investigation_id = {number}", 1)
    return int(app_value(product, f"select id from triage_draft where investigation_id = {number}"))


def decided(product: Product) -> Any:
    """How much was decided, claimed and asked for so far."""
    return app_value(product, DECIDED)


async def test_g_goes_to_a_place(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    for key, place in (("w", "/writes/"), ("a", "/audit/"), ("i", "/inbox/")):
        await page.keyboard.press("g")
        await page.keyboard.press(key)
        await page.wait_for_url(f"**{place}")


async def test_keys_are_letters_while_somebody_types(product: Product, page: Page) -> None:
    await sign_in(page, product, "ada")
    await page.evaluate("document.activeElement?.blur()")
    await page.keyboard.press("/")
    await expect(page.get_by_label("Search everything")).to_be_focused()
    await page.keyboard.type("gi jk1?")
    await expect(page.get_by_label("Search everything")).to_have_value("gi jk1?")
    await expect(page.locator("dialog#keys")).to_be_hidden()
    assert page.url.endswith("/inbox/")


async def test_keys_can_be_switched_off_and_stay_off(product: Product, browser: Browser) -> None:
    context = await browser.new_context(viewport={"width": 1360, "height": 900})
    page = await context.new_page()
    await sign_in(page, product, "ada")
    await page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    await expect(sheet).to_be_visible()
    await sheet.get_by_label("Single keys are on").uncheck()
    await page.keyboard.press("Escape")
    await expect(sheet).to_be_hidden()
    await page.reload()
    await page.keyboard.press("j")
    await page.keyboard.press("?")
    await expect(page.locator(".row__title a").first).not_to_be_focused()
    await expect(sheet).to_be_hidden()
    await page.get_by_role("button", name="Keys ?").click()
    await expect(sheet.get_by_label("Single keys are on")).not_to_be_checked()
    await sheet.get_by_label("Single keys are on").check()
    await page.keyboard.press("Escape")
    await page.locator("main").click(position={"x": 5, "y": 5})
    await page.keyboard.press("j")
    await expect(page.locator(".row__title a").first).to_be_focused()
    await context.close()
