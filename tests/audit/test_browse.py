"""Filters together: a page looks at a part of the log that is small whatever the log holds, and goes on behind it."""

from __future__ import annotations

import uuid
from dataclasses import replace

import pytest

from audit import browse, log
from audit.browse import Filters, Page
from audit.kinds import Kind

pytestmark = pytest.mark.django_db


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> str:
    """A tool whose every third call failed, oldest first; five entries are looked at for a page."""
    monkeypatch.setattr(browse, "MOST_WALKED", 5)
    name = f"tool-{uuid.uuid4().hex}"
    agent = log.Actor("agent", "browse-agent", "mia")
    for number in range(20):
        status = "failed" if number % 3 == 0 else "ok"
        log.record(Kind.CALL_FINISHED, agent, tool=name, summary=str(number), status=status)
    return name


def shown(page: Page) -> list[int]:
    return [int(entry.summary) for entry in page.entries]


FAILED = [18, 15, 12, 9, 6, 3, 0]


def test_walking_down_page_by_page_misses_nothing(tool: str) -> None:
    filters = Filters(tool=tool, status="failed")
    pages = [browse.page(filters)]
    while pages[-1].older is not None:
        pages.append(browse.page(filters, before=pages[-1].older))
    assert [number for page in pages for number in shown(page)] == FAILED
    assert len(pages) in (4, 5), "Twenty entries of the tool, five for each page."


def test_walking_up_page_by_page_misses_nothing(tool: str) -> None:
    filters = Filters(tool=tool, status="failed")
    pages = [browse.page(filters, after=0)]
    while pages[-1].newer is not None:
        pages.append(browse.page(filters, after=pages[-1].newer))
    assert [number for page in pages[::-1] for number in shown(page)] == FAILED
    assert len(pages) in (4, 5)


def test_the_count_says_that_it_did_not_look_at_all(tool: str) -> None:
    page = browse.page(Filters(tool=tool, status="failed"))
    assert page.counted == "2+ match"
    assert browse.page(Filters(tool=tool, status="failed"), before=page.older).counted == ""


def test_filters_that_meet_nowhere_are_a_page_with_a_way_on(tool: str) -> None:
    page = browse.page(Filters(tool=tool, status="failed", kind=str(Kind.CALL_STARTED.value)))
    assert (shown(page), page.counted) == ([], "0+ match")
    assert page.older is not None


def test_one_filter_alone_is_not_bounded(tool: str) -> None:
    page = browse.page(Filters(tool=tool))
    assert len(page.entries) == 20
    assert (page.older, page.counted) == (None, "20 match")


def test_agent_and_tool_have_an_index_together(tool: str) -> None:
    page = browse.page(Filters(tool=tool, agent="browse-agent"))
    assert (len(page.entries), page.counted) == (20, "20 match")


@pytest.mark.parametrize(
    ("filters", "lead"),
    [
        (Filters(), Filters()),
        (Filters(time="2026-11-30"), Filters()),
        (Filters(tool="a"), Filters(tool="a")),
        (Filters(tool="a", agent="b"), Filters(tool="a", agent="b")),
        (Filters(tool="a", agent="b", status="failed"), Filters(tool="a", agent="b")),
        (Filters(incident="1", tool="a", agent="b"), Filters(incident="1")),
        (Filters(subject="V-1", status="ok"), Filters(subject="V-1")),
        (Filters(status="not-ok"), Filters(status="not-ok")),
        (Filters(status="failed"), Filters(status="not-ok")),
        (Filters(status="failed", agent="b"), Filters(status="not-ok")),
        (Filters(status="ok"), Filters()),
        (Filters(status="ok", agent="b"), Filters(agent="b")),
        (Filters(kind="call.finished", agent="b"), Filters(agent="b")),
        (Filters(view="agents-refused", kind="call.refused"), Filters(kind="call.refused")),
    ],
)
def test_the_choosiest_filter_leads(filters: Filters, lead: Filters) -> None:
    assert browse._lead(filters) == lead
    assert browse._lead(replace(filters, time="2026-11-30")) == lead
