"""Pages of a write that no link of the demo leads to, looked at by axe: an edit, and one group of a large effect."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.async_api import Browser

from gate.writes import grouping, quorum
from tests.browser.axe import faults_in_each_look
from tests.writes.conftest import WRITER, agent, body, mia, previewed, propose, shop, target

__all__ = ["agent", "mia", "previewed", "propose", "shop", "target"]

STATIC = Path(__file__).resolve().parents[2] / "static" / "css"


@pytest.fixture
def pages(db: None, client: Client, define: Any, previewed: Any, make_person: Any, shop: Any) -> dict[str, str]:
    """Their HTML by address, as the person sees them who proposed the write."""
    shop.execute(
        "create table shop.many (id int primary key, state text);"
        "insert into shop.many select g, 'running' from generate_series(1, 40) g;"
        f"grant select, insert, update, delete on shop.many to {WRITER}"
    )
    define("target", "shop", body(row_cap=1000))
    ada = make_person("ada", "on_call")
    write = previewed("update shop.many set state = case when id = 7 then 'deleted' else 'queued' end", by_person=ada)
    seen = quorum.latest_preview(write)
    assert seen is not None
    odd = grouping.groups(write.table, seen)[0]
    client.force_login(ada)
    addresses = (f"/writes/{write.pk}/edit/", f"/writes/{write.pk}/rows/{odd.key}/", f"/writes/{write.pk}/")
    return {address: client.get(address).content.decode() for address in addresses}


@pytest.mark.asyncio(loop_scope="session")
async def test_axe_finds_nothing_on_them(pages: dict[str, str], browser: Browser) -> None:
    page = await browser.new_page()
    css = "\n".join((STATIC / name).read_text() for name in ("tokens.css", "app.css"))
    found: dict[str, object] = {}
    for address, html in pages.items():
        await page.set_content(html)
        await page.add_style_tag(content=css)
        found |= await faults_in_each_look(page, address)
    await page.close()
    assert found == {}
