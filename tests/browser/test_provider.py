"""A browser's own way to the sign-in provider and back: our strict policy lets it go, and the pages on it are sound."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from playwright.async_api import Page

from gate.config import database
from gate.config.roles import role_name
from tests.browser.axe import faults
from tests.people import sign_in_provider
from tests.people.sign_in_provider import PASSWORD

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.django_db(transaction=True)]
MAIL = {"COUNTERSEAL_SMTP_URL": "smtp://127.0.0.1:1", "COUNTERSEAL_MAIL_FROM": "counterseal@example.org"}


@pytest.fixture
def origin(make_person: Any, cluster_socket: Path, tmp_path: Path, settings: Any) -> Iterator[str]:
    """Where people sign in, with a provider and a mail server that is down; mia is an admin there."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.ScryptPasswordHasher"]
    mia = make_person("mia", "admin", "Mia Lindqvist")
    type(mia).objects.filter(pk=mia.pk).update(email="mia@example.org")
    url = database.socket_url(cluster_socket, role_name("people"), "test-people", connection.settings_dict["NAME"])
    with sign_in_provider.idp() as provider, sign_in_provider.plane(tmp_path, url, provider, **MAIL) as where:
        yield where


async def press(page: Page, words: str) -> None:
    async with page.expect_navigation():
        await page.get_by_role("button", name=words).or_(page.get_by_role("link", name=words)).first.click()


async def as_mia_there(page: Page) -> None:
    """Fill the provider's page, and let it send the browser back."""
    await page.fill("input[name=sub]", "mia-there")
    async with page.expect_navigation():
        await page.locator("button").first.click()


async def test_a_browser_connects_and_signs_in(page: Page, origin: str) -> None:
    found: dict[str, object] = {}
    await page.goto(f"{origin}/sign-in/?next=/mail/")
    found |= await faults(page, "the door")
    await page.fill("#username", "mia")
    await page.fill("#password", PASSWORD)
    await press(page, "Sign in")
    found |= await faults(page, "mail")
    await press(page, "Send a test mail to me")
    assert "cannot be reached (Connection refused)" in await page.inner_text("main")
    found |= await faults(page, "mail that failed")

    await page.goto(f"{origin}/me/")
    await page.fill("#connect_password", PASSWORD)
    await press(page, "Connect")
    found |= await faults(page, "one's own page before")
    await press(page, "Continue to")
    await as_mia_there(page)
    assert page.url == f"{origin}/me/"
    assert "Connected with" in await page.inner_text("main")
    found |= await faults(page, "one's own page after")

    await press(page, "Sign out")
    await press(page, "Sign in with")
    await as_mia_there(page)
    assert page.url == f"{origin}/inbox/"
    await page.goto(f"{origin}/me/")
    await press(page, "Disconnect it")
    await press(page, "Sign out")
    await press(page, "Sign in with")
    await as_mia_there(page)
    assert "That identity is connected with nobody here" in await page.inner_text("main")
    found |= await faults(page, "the door that stays closed")
    assert found == {}
