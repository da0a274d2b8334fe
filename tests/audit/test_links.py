import pytest

from audit import links

pytestmark = pytest.mark.django_db


def test_a_citation_is_shown_with_what_it_read() -> None:
    links.cite(41, "V-2041", "/drafts/2041/", "checks 3, 4", ["/count", "/window/from", "/count"])
    (link,) = links.citing(41)
    assert (link.subject, link.url, link.note) == ("V-2041", "/drafts/2041/", "checks 3, 4")
    assert link.paths == ["/count", "/window/from"]


def test_citing_again_changes_nothing() -> None:
    links.cite(42, "V-1", "/drafts/1/", "first", ["/a"])
    links.cite(42, "V-1", "/drafts/1/", "second", ["/b"])
    links.cite(42, "W-1", "/writes/1/", "", [])
    assert [(link.subject, link.note) for link in links.citing(42)] == [("V-1", "first"), ("W-1", "")]
    assert links.citing(43) == []


@pytest.mark.parametrize("process", ["people", "worker"])
def test_the_processes_that_decide_may_cite(as_role, process) -> None:
    as_role(process)
    links.cite(44, f"V-{process}", "/drafts/1/", "", [])
    links.cite(44, f"V-{process}", "/drafts/1/", "", [])
    assert len(links.citing(44)) == 1
