"""Pages of a write that no link of the demo leads to, looked at by axe: an edit, and one group of a large effect."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.template.loader import render_to_string
from django.test import Client
from playwright.async_api import Browser

from gate.writes import grouping, quorum
from tests.browser.axe import faults_in_each_look
from tests.software_key import SoftwareKey
from tests.writes.conftest import WRITER, agent, body, mia, previewed, propose, shop, target
from tests.writes.signing import pinned_key
from tests.writes.test_target_pages import refunds

__all__ = ["agent", "mia", "previewed", "propose", "shop", "target"]

STATIC = Path(__file__).resolve().parents[2] / "static" / "css"


@pytest.fixture
def pages(
    db: None, client: Client, define: Any, previewed: Any, make_person: Any, shop: Any, mia: Any
) -> dict[str, str]:
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
    found = {address: client.get(address).content.decode() for address in addresses}
    found["a write with its receipt"] = with_receipt(found[f"/writes/{write.pk}/"])
    return found | keyed(client, define, previewed, mia) | targets(client, make_person)


def with_receipt(page: str) -> str:
    """The page with the receipt of a log that has grown for years: its numbers are long."""
    receipt = SimpleNamespace(ref="A-1234567", digest="f" * 64, leaf=1_234_567, size=1_234_568)
    checked = SimpleNamespace(fault="", is_sealed=True, waits="")
    shown = render_to_string("gate/_write_receipt.html", {"checked": checked, "receipt": receipt})
    place = '<div class="panel__body gap">'
    assert place in page
    return page.replace(place, place + shown, 1)


def keyed(client: Client, define: Any, previewed: Any, mia: Any) -> dict[str, str]:
    """A write of a policy that asks for two passkeys and knows emergencies, to whom has no key yet, and has one."""
    define("target", "shop", body(method="passkey", break_glass=True, approvers={"on_call": 2}))
    write = previewed()
    client.force_login(mia)
    without = client.get(f"/writes/{write.pk}/").content.decode()
    pinned_key(mia, SoftwareKey())
    client.force_login(mia)
    keyed = client.get(f"/writes/{write.pk}/").content.decode()
    assert ("Approve: update 1 row" in without, "Approve: update 1 row" in keyed) == (False, True)
    assert "Break the glass" in keyed
    return {"a write that asks for a passkey, without one": without, "a write that asks for a passkey": keyed}


def targets(client: Client, make_person: Any) -> dict[str, str]:
    """The form of an HTTP target, as typed with faults and as drafted, and the page of what was drafted."""
    client.force_login(make_person("olga", "admin"))
    wrong = client.post("/targets/new/", refunds(probe_equals="", url="ftp://a.example.com")).content.decode()
    client.post("/targets/new/", refunds())
    drafted = {address: client.get(address).content.decode() for address in ("/targets/refunds/", "/targets/new/")}
    return {"a target with faults": wrong, **drafted}


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
