"""A diff is read by its numbers, signs and words; color only helps."""

from __future__ import annotations

import difflib
import html
import re

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from audit import diff_lines

OLDER = ["rule = Rule(", '    hypothesis="drained",', "    version=1,", ")", *("same" for _ in range(20)), "end"]
NEWER = [*OLDER]
NEWER[2] = "    version=2,"
NEWER.append("more")


def diff(older: list[str], newer: list[str]) -> list[str]:
    return list(difflib.unified_diff(older, newer, lineterm="", n=2))[2:]


def said(lines: list[str]) -> list[str]:
    """What is read out of each line of the page."""
    page = render_to_string("ui/_diff_lines.html", {"lines": lines})
    found = re.sub(r'<span[^>]* aria-hidden="true">.*?</span>', "", page)
    rows = re.split(r'<span class="(?:add|del|dim|gap)">', found)[1:]
    return [html.unescape(re.sub(r"<[^>]+>", "", row)) for row in rows]


def test_each_line_has_its_number_its_sign_and_what_changed_in_it() -> None:
    found = {(row.kind, row.number, row.before, row.middle, row.after) for row in diff_lines.rows(diff(OLDER, NEWER))}
    assert ("del", 3, "    version=", "1", ",") in found
    assert ("add", 3, "    version=", "2", ",") in found
    assert ("add", 26, "more", "", "") in found
    assert ("gap", 24, "", "", "") in found
    assert ("gap", 1, "", "", "") not in found


def test_what_is_new_and_what_is_gone_is_said_in_words_and_signs() -> None:
    lines = diff(OLDER, NEWER)
    assert "removed:     version=1," in said(lines)
    assert "added:     version=2," in said(lines)
    assert "from line 24" in said(lines)
    page = render_to_string("ui/_diff_lines.html", {"lines": lines})
    assert page.count('<span aria-hidden="true">+</span>') == 2
    assert page.count('<span aria-hidden="true">−</span>') == 1
    assert "<ins>2</ins>" in page
    assert "<del>1</del>" in page


@pytest.mark.parametrize("lines", [["+one", " two", "-three"], ["+ <b>", "-"], []])
def test_lines_without_a_hunk_have_no_numbers(lines: list[str]) -> None:
    assert [row.number for row in diff_lines.rows(lines)] == [None] * len(lines)
    assert "<b>" not in render_to_string("ui/_diff_lines.html", {"lines": lines})


@given(st.lists(st.text("ab@+- ", max_size=6), max_size=9), st.lists(st.text("ab@+- ", max_size=6), max_size=9))
def test_both_texts_can_be_read_back(older: list[str], newer: list[str]) -> None:
    """Whatever the lines are, nothing of them is lost and each number is that of its line."""
    rows = diff_lines.rows(list(difflib.unified_diff(older, newer, lineterm="", n=99))[2:])
    for text, kinds in ((older, ("dim", "del")), (newer, ("dim", "add"))):
        shown = [row.before + row.middle + row.after for row in rows if row.kind in kinds]
        assert shown == (text if older != newer else [])
    for row in rows:
        if row.kind != "gap" and row.number is not None:
            text = older if row.kind == "del" else newer
            assert row.before + row.middle + row.after == text[row.number - 1]
