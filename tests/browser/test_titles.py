"""Titles, names and answers of every sort: no page is broken by them, wide or at 400 pixels."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from playwright.async_api import Browser

from audit import log
from audit.kinds import Kind
from gate.config import smtp
from gate.triage import actions
from gate.triage.models import Comment, Sending
from gate.writes.models import WriteRequest
from tests.gate.conftest import make_draft as make_draft
from tests.writes.conftest import BODY

STATIC = Path(__file__).resolve().parents[2] / "static" / "css"
LONGEST = 200
TITLES = {
    "one word": "x" * LONGEST,
    "many words": ("Payout settlement failed twice on read timeouts, then succeeded " * 4)[:LONGEST],
    "right to left": ("דחיית תשלום נכשלה פעמיים 12, " * 10)[:LONGEST],
    "both ways": ("job 90412 فشل السداد مرتين ثم نجح " * 10)[:LONGEST],
    "invisible": ("a\u202eb\u2066c\u200bd\u00ad" * 50)[:LONGEST],
    "ideographs": "決済の支払いが二回失敗し" * 16,
    "a path": ("/srv/app/releases/2026-11-29/lib/" * 7)[:LONGEST],
}
# What of a page hangs over its right edge, and has no box of its own to scroll in.
OVERHANG = """
() => {
  const edge = document.documentElement.clientWidth;
  const scrolls = (node) => node && (["auto", "scroll", "hidden"].includes(getComputedStyle(node).overflowX) || scrolls(node.parentElement));
  const over = [...document.querySelectorAll("main *")].filter((node) => node.getBoundingClientRect().right > edge + 1 && !scrolls(node.parentElement));
  const log = document.querySelector(".table--log");  // restacked on a phone, so that its statuses stay in sight
  if (edge < 500 && log?.offsetWidth > edge) over.push(log);
  const sideways = document.documentElement.scrollWidth > edge;
  return [...(sideways ? ["the page scrolls sideways"] : []), ...over.slice(0, 3).map((node) => node.outerHTML.slice(0, 160))];
}
"""  # noqa: E501


@pytest.fixture
def shown(
    db: None, settings: Any, client: Client, make_person: Any, make_draft: Any, make_agent: Any, define: Any
) -> Callable[[str], dict[str, str]]:
    """Every page that shows a title, as its HTML, in a world where everything is called like that."""

    def pages(title: str) -> dict[str, str]:
        settings.MAIL = smtp.parse("smtp://127.0.0.1:1", "counterseal@example.org")
        ada = make_person("a" * 150, full_name=title[:120])
        agent, _ = make_agent("n" * 80, owner=ada)
        waits, agreed = make_draft("fail", title=title), make_draft(title=title)
        actions.review(agreed.pk, by=ada, act="agree", reason=title, seen_version=1)
        for draft in (waits, agreed):
            look = draft.investigation
            look.answer, look.agent, look.hypothesis = title, agent, "h" * 80
            look.save()
            look.findings.create(position=9, fact="f" * 80, audit_id="A-1", note=title)
        Sending.objects.create(draft=agreed, by=ada, to=f"{'m' * 60}@example.org", subject=title, text=title + "!")
        incident = agreed.investigation.incident
        incident.facts, incident.owner, incident.subject = {"k" * 60: title}, ada, {"job_id": "s" * 120}
        incident.save()
        entry = log.record(
            Kind.CALL_REFUSED, log.Actor("agent", title[:80], title[:80]), subject="S" * 80, summary=title,
            tool="t" * 80, error=title, status="refused", args={"title": title}, incident_id=incident.pk,
        )  # fmt: skip
        Comment.objects.create(incident=incident, by=ada, text=title, entry_seq=entry.seq)
        write = WriteRequest.objects.create(
            target=define("target", "shop", BODY), title=title, statement=f"update shop.jobs set state = '{'y' * 150}'",
            verb="update", table="shop." + "j" * 58, parameters=[{"t": "text", "v": title}], reason=title,
            proposed_by_agent=agent, expires_at=timezone.now() + timedelta(hours=1), proposal_digest="0" * 64,
            incident=incident, status="waiting",
        )  # fmt: skip
        client.force_login(ada)
        addresses = [
            "/inbox/", f"/drafts/{waits.pk}/", f"/drafts/{agreed.pk}/", f"/drafts/{agreed.pk}/sending/", "/incidents/",
            f"/incidents/{incident.pk}/", "/writes/", f"/writes/{write.pk}/", f"/audit/?incident={incident.pk}",
            f"/audit/{entry.seq}/", "/agents/", f"/agents/{agent.name}/", "/people/", f"/people/{ada.pk}/",
            f"/search/?q={'x' * 150}", f"/search/?q={incident.pk}", "/me/", "/incidents/new/",
        ]  # fmt: skip
        return {address: client.get(address).content.decode() for address in addresses}

    return pages


@pytest.fixture(params=TITLES, ids=lambda name: name.replace(" ", "-"))
def pages(request: pytest.FixtureRequest, shown: Callable[[str], dict[str, str]]) -> dict[str, str]:
    return shown(TITLES[request.param])


@pytest.mark.asyncio(loop_scope="session")
async def test_no_title_breaks_a_page(pages: dict[str, str], browser: Browser) -> None:
    page = await browser.new_page()
    css = "\n".join((STATIC / name).read_text() for name in ("tokens.css", "app.css"))
    broken: dict[str, list[str]] = {}
    for address, html in pages.items():
        await page.set_content(html)
        await page.add_style_tag(content=css)
        for width in (400, 1360):
            await page.set_viewport_size({"width": width, "height": 900})
            if over := await page.evaluate(OVERHANG):
                broken[f"{address} at {width}"] = over
    await page.close()
    assert not broken, "\n".join(f"{where}: {over}" for where, over in broken.items())


# Where the first and the last character of an element's text are drawn.
ENDS = """
(node) => {
  const text = node.firstChild, at = (start) => {
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, start + 1);
    return range.getBoundingClientRect().x;
  };
  return [at(0), at(text.length - 1)];
}
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("place", [".row__title a", "h1"])
async def test_a_title_that_runs_the_other_way_ends_on_its_own_side(
    hebrew: dict[str, str], browser: Browser, place: str
) -> None:
    page = await browser.new_page(viewport={"width": 1360, "height": 900})
    await page.set_content(hebrew[place])
    await page.add_style_tag(content="\n".join((STATIC / name).read_text() for name in ("tokens.css", "app.css")))
    first, last = await page.locator(place).first.evaluate(ENDS)
    await page.close()
    assert last < first


@pytest.fixture
def hebrew(db: None, client: Client, make_person: Any, make_draft: Any) -> dict[str, str]:
    """A list and a page with a Hebrew title that ends in an English sentence's mark."""
    draft = make_draft(title="התשלום נכשל?")
    client.force_login(make_person("ada"))
    pages = {".row__title a": "/inbox/", "h1": f"/drafts/{draft.pk}/"}
    return {place: client.get(address).content.decode() for place, address in pages.items()}
