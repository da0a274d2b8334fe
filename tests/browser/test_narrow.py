"""What a phone's width must not take away."""

from __future__ import annotations

import pytest
from playwright.async_api import Page, expect

from tests.browser.conftest import Product, sign_in

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_the_line_of_links_shows_where_one_is(product: Product, page: Page) -> None:
    await page.set_viewport_size({"width": 400, "height": 800})
    await sign_in(page, product, "mia")
    await page.goto(f"{product.people}/mail/")
    await expect(page.locator(".rail [aria-current]")).to_have_text("Mail")
    # A page is scrolled by whole pixels, so a fraction of one may be left out.
    await expect(page.locator(".rail [aria-current]")).to_be_in_viewport(ratio=0.99)
