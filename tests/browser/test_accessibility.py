"""Every page wide, narrow and in the dark: axe finds nothing, and nothing scrolls sideways or is blocked.

The pages are drawn from the URL configuration: links are followed until nothing new turns up, and a page that no link
leads to fails the first test until it is found, or named here with the reason.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
from django.test import Client
from django.urls import Resolver404, resolve
from playwright.async_api import Browser, Page

from gate.config.environment import BASE_DIR
from tests.browser.axe import WIDTHS, faults, faults_in_each_look
from tests.browser.conftest import Product, sign_in
from tests.doors.expected import PEOPLES_PLANE, SIGNED_IN

# The timeout is for a busy machine.
pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(600)]

OF_EACH = {"ada": 2, "jonas": 1}  # pages of one sort that are looked at, as somebody on call and as an admin
FOLLOWED = 8  # pages of one sort that are opened for their links
# What answers a GET and is no page, or is met elsewhere.
NO_PAGES = {
    "": "leads to the inbox",
    "healthz": "JSON", "inbox/rail/": "a fragment", "inbox/nudges/": "a stream",
    "writes/<int:pk>/progress/": "a fragment", "audit/news/": "a fragment", "audit/seal/": "a fragment",
    "audit/verifications/<int:pk>/": "needs a finding; its parts are those of audit/alarm/",
    "audit/<int:seq>.json": "JSON",
    "cases/<slug:name>.json": "JSON",
    "rules/<slug:name>/trials/<int:pk>/": "a fragment",
    "rules/replay/<int:pk>/": "the page of rules/replay/, once something was replayed",
    "incidents/<int:pk>/investigations/<int:investigation>/survival.html": "a file to send on",
    "incidents/<int:pk>/case/": "needs a closed incident; its parts are those of incidents/new/",
    "audit/<uuid:key>/": "leads on",
    "metrics/<slug:name>/asks/<int:pk>/": "a fragment; to a browser it leads on",
    "metrics/<slug:name>/versions/<int:number>/golden/": "a fragment; to a browser it leads on",
    "audit/health/verifying/": "a fragment",
    "sign-in/passkey/": "needs a key; looked at in test_passkeys.py",
    "writes/<int:pk>/edit/": "needs an own write; looked at in test_write_parts.py",
    "writes/<int:pk>/rows/<slug:key>/": "needs an effect of many rows; looked at in test_write_parts.py",
    "policies/<slug:name>/decisions/<int:seq>/": "its parts are those of a policy and of a decided write",
    "sign-in/": "looked at below, as a stranger",
    "<slug:plural>/": "every kind of definition has a list of its own",
    "<slug:plural>/new/": "and a form of its own",
    "<slug:plural>/<slug:name>/": "and a page of its own",
    "drafts/<int:pk>/sending/": "needs a mail server; looked at in test_answer.py",
}  # fmt: skip
REFUSALS = ("/nothing/is/here/at/all/", "/sign-out/", "/audit/999999999/")
Pages = dict[str, list[str]]  # who reads → addresses
found: Pages = {}


def route_of(address: str) -> str | None:
    """The route of the people's plane that an address is served by."""
    try:
        return str(resolve(urlsplit(address).path, urlconf="gate.config.urls_people").route)
    except Resolver404:
        return None


def pages() -> Iterator[str]:
    """The routes that show a page to somebody who is signed in."""
    for route, methods in PEOPLES_PLANE.items():
        if methods.get("GET", frozenset()) & SIGNED_IN and route not in NO_PAGES:
            yield route


async def follow(page: Page, product: Product, most: int) -> list[str]:
    """Follow links from the pages without parameters; the addresses that opened, at most so many of one sort."""
    queue = [f"/{route}" for route in pages() if "<" not in route]
    seen: Counter[str] = Counter()
    opened = []
    for address in queue:  # it grows while it is walked
        route = route_of(address)
        if route is None or route not in pages() or seen[route] >= FOLLOWED:
            continue
        answer = await page.request.get(product.people + address, max_redirects=0)  # not drawn: only its links count
        if answer.status != 200 or "text/html" not in answer.headers["content-type"]:
            continue
        seen[route] += 1
        opened += [address] if seen[route] <= most else []
        queue += [href for href in links(address, await answer.text()) if href not in queue]
    return opened


def links(address: str, text: str) -> Iterator[str]:
    """Where a page's links lead within the product, each once and without its fragment."""
    hrefs = (html.unescape(href) for href in re.findall(r'<a\b[^>]*?\shref="([^"]+)"', text))
    for href in dict.fromkeys(urldefrag(urljoin(address, href)).url for href in hrefs):
        if href.startswith("/"):
            yield href


async def addresses(browser: Browser, product: Product) -> Pages:
    """The pages as somebody on call and as an admin finds them. Found once for all tests."""
    for who, most in OF_EACH.items():
        if who not in found:
            context = await browser.new_context()
            page = await context.new_page()
            await sign_in(page, product, who)
            found[who] = await follow(page, product, most)
            await context.close()
    return found


async def test_every_page_of_the_url_configuration_is_looked_at(product: Product, browser: Browser) -> None:
    looked_at = {
        route_of(address) for addresses in (await addresses(browser, product)).values() for address in addresses
    }
    missing = set(pages()) - looked_at
    assert not missing, f"No link leads to a page of {sorted(missing)}: link to it, or say in NO_PAGES why it is none."
    assert not set(NO_PAGES) - set(PEOPLES_PLANE), "NO_PAGES names addresses that are gone."


@pytest.mark.parametrize("who", OF_EACH)
async def test_axe_finds_nothing(product: Product, browser: Browser, page: Page, who: str) -> None:
    where = (await addresses(browser, product))[who]
    blocked: list[str] = []
    page.on("console", lambda message: blocked.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: blocked.append(str(error)))
    await page.goto(f"{product.people}/sign-in/")
    problems = await faults_in_each_look(page, "/sign-in/")
    await sign_in(page, product, who)
    for address in where:
        await page.goto(product.people + address)
        problems |= await faults_in_each_look(page, f"{address} for {who}")
    assert (problems, blocked) == ({}, [])


async def test_axe_finds_nothing_where_somebody_is_refused(product: Product, page: Page) -> None:
    await sign_in(page, product, "vera")
    problems: dict[str, object] = {}
    for address in (*REFUSALS, "/people/invitation/"):
        answer = await page.goto(product.people + address)
        assert answer is not None
        assert 400 <= answer.status < 500
        problems |= await faults_in_each_look(page, address)
    assert problems == {}


@pytest.mark.parametrize("width", list(WIDTHS))
async def test_axe_finds_nothing_on_the_component_page(components: str, browser: Browser, width: str) -> None:
    page = await browser.new_page(viewport={"width": WIDTHS[width], "height": 900}, reduced_motion="reduce")
    await page.set_content(components)
    css = BASE_DIR / "static/css"
    await page.add_style_tag(content="\n".join((css / name).read_text() for name in ("tokens.css", "app.css")))
    grounds = await page.locator(".theme").evaluate_all(
        "parts => parts.map((p) => getComputedStyle(p).backgroundColor)"
    )
    problems = await faults(page, "/ui/")
    await page.close()
    assert problems == {}
    assert len(set(grounds)) == 2, "both themes look the same"


@pytest.fixture
def components(client: Client, make_person: Any, settings: Any) -> str:
    """The component page's HTML, with DEBUG on."""
    settings.DEBUG = True
    client.force_login(make_person("ada"))
    return str(client.get("/ui/").content.decode())
