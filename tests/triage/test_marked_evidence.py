"""The draft's page shows for each check which bytes earned it: exactly what its receipt says, arguments included."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from audit.agents import Principal
from gate.people.models import Person
from gate.triage.models import Draft, Investigation
from gate.triage.presenting import dotted, draft_page
from tests.triage.trying import decided

pytestmark = pytest.mark.django_db
PARTS = ("args", "read")  # in the order of the page: what was asked, what was answered
Marks = dict[tuple[str, str, str], set[int]]  # entry, part, JSON pointer: the checks
KEY = re.compile(r'^("(?:[^"\\]|\\.)*"): ')
ABSENT = re.compile(r'^("(?:[^"\\]|\\.)*") is not in this result$')


class Cards(HTMLParser):
    """The lines of JSON of each entry on the page, each with the checks that it is marked for."""

    def __init__(self) -> None:
        super().__init__()
        self.entry = ""
        self.blocks: dict[str, list[list[tuple[str, list[int], bool]]]] = defaultdict(list)
        self.is_json = self.is_ref = self.is_marked = False
        self.text, self.refs = "", list[int]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        about = dict(attrs)
        if tag == "article":
            self.entry = f"A-{(about['id'] or '').removeprefix('a')}"
        if tag == "pre":
            self.is_json = True
            self.blocks[self.entry].append([])
        self.is_ref = self.is_json and tag == "a"
        self.is_marked |= self.is_json and (tag == "mark" or about.get("class") == "absent")

    def handle_endtag(self, tag: str) -> None:
        if tag == "pre":
            self._end_line()
            self.is_json = False
        self.is_ref = False

    def handle_data(self, data: str) -> None:
        if not self.is_json:
            return
        if self.is_ref:
            self.refs.append(int(data))
            return
        first, *others = data.split("\n")
        self.text += first
        for other in others:
            self._end_line()
            self.text = other

    def _end_line(self) -> None:
        self.blocks[self.entry][-1].append((self.text, self.refs, self.is_marked))
        self.text, self.refs, self.is_marked = "", [], False


def marked(page: str) -> Marks:
    """What the page marks, as JSON pointers that its own lines spell."""
    cards, found = Cards(), Marks()
    cards.feed(page)
    for entry, blocks in cards.blocks.items():
        assert len(blocks) == len(PARTS)
        for part, lines in zip(PARTS, blocks, strict=True):
            for pointer, refs, is_marked in pointed(lines):
                assert bool(refs) == is_marked, pointer
                if refs:
                    found[entry, part, pointer] = set(refs)
    return found


def pointed(lines: list[tuple[str, list[int], bool]]) -> list[tuple[str, list[int], bool]]:
    """Each line with the pointer of what stands on it."""
    found, above, counts = [], [""], [0]
    for text, refs, is_marked in lines:
        said = text.strip()
        depth = (len(text) - len(text.lstrip())) // 2
        if said.rstrip(",") in ("}", "]"):
            continue
        key, absent = KEY.match(said), ABSENT.match(said)
        name = json.loads((key or absent or ['""', '""'])[1]) if key or absent else str(counts[depth] if depth else "")
        above, counts = above[: depth + 1], counts[: depth + 1]
        pointer = f"{above[depth]}/{name}" if depth else ""
        counts[depth] += 1
        above.append(pointer)
        counts.append(0)
        found.append((pointer, refs, is_marked))
    return found


def received(checks: list[Mapping[str, Any]]) -> Marks:
    """What the receipt says that each check read."""
    found: defaultdict[tuple[str, str, str], set[int]] = defaultdict(set)
    for check in checks:
        for part, said in (("args", "args"), ("read", "read"), ("read", "absent")):
            for entry, pointers in check[said].items():
                for pointer in pointers:
                    found[entry, part, pointer].add(check["number"])
    return dict(found)


@pytest.fixture
def page(client: Client, make_person: Any) -> Any:
    def fetch(draft: Draft) -> str:
        client.force_login(make_person("mia"))
        return client.get(f"/drafts/{draft.pk}/").content.decode()

    return fetch


def test_each_check_of_a_pass_marks_exactly_what_its_receipt_says(
    principal: Principal, running: Investigation, page: Any
) -> None:
    draft = decided(principal, running)
    assert draft.outcome == "pass", draft.reasons
    wanted = received(draft.receipt["checks"])
    assert {part for _, part, _ in wanted} == set(PARTS)
    assert {entry for entry, _, _ in wanted} == set(draft.receipt["entries"])
    assert marked(page(draft)) == wanted


def test_what_is_missing_is_drawn_where_it_belongs(principal: Principal, running: Investigation, page: Any) -> None:
    draft = decided(principal, running, count=...)
    wanted = received(draft.receipt["checks"])
    assert any(pointer == "/count" for _, _, pointer in wanted)
    assert marked(page(draft)) == wanted


def test_each_line_of_the_verdict_names_the_same_fields(
    principal: Principal, running: Investigation, make_person: Callable[..., Person]
) -> None:
    draft = decided(principal, running)
    shown = draft_page(draft.pk, make_person("mia")).checks
    for line, check in zip(shown, draft.receipt["checks"], strict=True):
        read = {one.ref: (list(one.paths), list(one.asked)) for one in line.reads if one.paths or one.asked}
        entries = set(check["read"]) | set(check["args"]) | set(check["absent"])
        assert read == {
            entry: (
                sorted(map(dotted, {*check["read"].get(entry, ()), *check["absent"].get(entry, ())})),
                sorted(map(dotted, check["args"].get(entry, ()))),
            )
            for entry in entries
        }


def test_the_reader_of_the_page_in_these_tests_spells_pointers() -> None:
    text = '{\n  "a": [\n    1,\n    {\n      "b": 2\n    }\n  ],\n  "c": "x"\n}'
    lines = [(line, [1], True) for line in text.split("\n")]
    assert [pointer for pointer, _, _ in pointed(lines)] == ["", "/a", "/a/0", "/a/1", "/a/1/b", "/c"]
