"""What axe finds on a page that is open, and whether it scrolls sideways, in both themes, wide and narrow."""

from __future__ import annotations

import itertools

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

WIDTHS = {"wide": 1360, "narrow": 400}
LOOKS = tuple(itertools.product(("light", "dark"), WIDTHS))
GROUND = "getComputedStyle(document.body).backgroundColor"


async def faults_in_each_look(page: Page, address: str) -> dict[str, object]:
    """The faults of each theme at each width; the page is opened once, for loading it takes the longest."""
    problems: dict[str, object] = {}
    grounds = set()
    for theme, width in LOOKS:
        await page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        await page.set_viewport_size({"width": WIDTHS[width], "height": 900})
        grounds.add(await page.evaluate(GROUND))
        problems |= await faults(page, f"{address}, {theme} and {width}")
    assert len(grounds) == 2, f"both themes look the same on {address}"
    return problems


async def faults(page: Page, address: str) -> dict[str, object]:
    """The faults of the page as it looks now."""
    problems: dict[str, object] = {}
    results = await Axe().run(page)
    if results.violations_count:
        problems[address] = [
            (found["id"], [node["html"][:160] for node in found["nodes"][:3]])
            for found in results.response["violations"]
        ]
    if await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        problems[f"{address} sideways"] = "scrolls"
    return problems
