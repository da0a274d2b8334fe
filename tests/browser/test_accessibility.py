"""Every page in both themes, wide and narrow: axe finds nothing, and nothing scrolls sideways or is blocked."""

from __future__ import annotations

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Browser, Page

from tests.browser.conftest import Product, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")

WIDTHS = {"wide": 1360, "narrow": 400}


async def addresses(page: Page, product: Product) -> list[str]:
    """The pages to look at: the fixed ones, and one of each kind that the lists link to."""
    fixed = ["/inbox/", "/incidents/", "/writes/", "/audit/", "/sources/", "/tools/", "/rules/", "/classes/",
             "/targets/", "/agents/", "/intake-tokens/", "/search/?q=job", "/incidents/new/", "/people/",
             "/people/roles/", "/me/"]  # fmt: skip
    found = []
    for where, link in (
        ("/inbox/", ".row__title a[href^='/drafts/']"), ("/inbox/", ".row__title a[href^='/writes/']"),
        ("/incidents/", ".row__title a"), ("/audit/?kind=call.finished", ".table--log td.num a"),
        ("/tools/", "main a[href^='/tools/']"), ("/agents/", "main a.by"), ("/incidents/new/", ".row__title a"),
    ):  # fmt: skip
        await page.goto(product.people + where)
        hrefs = await page.locator(link).evaluate_all("links => links.map((link) => link.pathname + link.search)")
        found.extend(hrefs[:2])
    return [*fixed, *found]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", list(WIDTHS))
async def test_axe_finds_nothing(product: Product, browser: Browser, theme: str, width: str) -> None:
    context = await browser.new_context(
        viewport={"width": WIDTHS[width], "height": 900}, color_scheme=theme, reduced_motion="reduce"
    )
    page = await context.new_page()
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: blocked.append(str(error)))
    await sign_in(page, product, "ada")
    problems: dict[str, object] = {}
    for address in await addresses(page, product):
        await page.goto(product.people + address)
        results = await Axe().run(page)
        if results.violations_count:
            problems[address] = [
                (found["id"], [node["html"][:160] for node in found["nodes"][:3]])
                for found in results.response["violations"]
            ]
        if await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            problems[address + " sideways"] = "scrolls"
    await context.close()
    assert problems == {}
    assert blocked == []
