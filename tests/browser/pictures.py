"""Take the README's pictures from a running demo: `python -m tests.browser.pictures var/demo.json`."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

from playwright.async_api import Page, async_playwright

from gate.config.environment import BASE_DIR
from tests.browser.conftest import CHROMIUM_FLAGS, find_chromium

WHERE = BASE_DIR / "static/readme"


async def take(demo: dict[str, dict[str, str]]) -> None:
    """The inbox, and the proposed write with its preview."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        page = await browser.new_page(viewport={"width": 1280, "height": 720})
        await _sign_in(page, demo)
        await page.screenshot(path=WHERE / "inbox.png")
        await page.locator(".row__title a[href^='/writes/']").first.click()
        preview = page.get_by_role("button", name=re.compile("Preview"))
        if await preview.count():
            await preview.click()
        # The first look shows rows before the preview does.
        await page.get_by_role("button", name=re.compile("Approve")).wait_for(timeout=30_000)
        await page.set_viewport_size({"width": 1280, "height": 1280})
        await page.screenshot(path=WHERE / "write.png")
        await browser.close()


async def _sign_in(page: Page, demo: dict[str, dict[str, str]]) -> None:
    username, password = next(iter(demo["people"].items()))
    await page.goto(f"{demo['urls']['people']}/sign-in/")
    await page.get_by_label("Name").fill(username)
    await page.get_by_label("Password").fill(password)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url("**/inbox/")


if __name__ == "__main__":
    WHERE.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(json.loads(Path(sys.argv[1]).read_text())))
