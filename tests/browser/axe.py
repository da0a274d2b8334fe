"""What axe finds on a page that is open, and whether it scrolls sideways: wide, narrow, and in the dark theme."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.async_api import Page

WIDTHS = {"wide": 1360, "narrow": 400}
LOOKS = (("light", "wide"), ("light", "narrow"), ("dark", "wide"))
GROUND = "getComputedStyle(document.body).backgroundColor"
OF_COLORS = ("color-contrast", "link-in-text-block")  # what a theme can change; the rest is seen in the light one


async def faults_in_each_look(page: Page, address: str) -> dict[str, object]:
    """The faults of each theme at each width; the page is opened once, for loading it takes the longest."""
    problems: dict[str, object] = {}
    grounds = set()
    for theme, width in LOOKS:
        await page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
        await page.set_viewport_size({"width": WIDTHS[width], "height": 900})
        grounds.add(await page.evaluate(GROUND))
        problems |= await faults(page, f"{address}, {theme} and {width}", OF_COLORS if theme == "dark" else ())
    assert len(grounds) == 2, f"both themes look the same on {address}"
    return problems


async def faults(page: Page, address: str, rules: Sequence[str] = ()) -> dict[str, object]:
    """The faults of the page as it looks now, by all of axe's rules or by those that are named."""
    problems: dict[str, object] = {}
    only = {"runOnly": {"type": "rule", "values": rules}} if rules else {}
    violations = await _run(page, {"resultTypes": ["violations"], **only})
    if violations:
        problems[address] = [(found["id"], [node["html"][:160] for node in found["nodes"][:3]]) for found in violations]
    if await page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        problems[f"{address} sideways"] = "scrolls"
    return problems


async def _run(page: Page, options: dict[str, Any]) -> list[dict[str, Any]]:
    """What axe finds wrong. It is put into each page once: it is half a megabyte to read."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(AXE_SCRIPT)
    results: dict[str, list[dict[str, Any]]] = await page.evaluate("options => axe.run(options)", options)
    return results["violations"]
