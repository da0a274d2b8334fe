"""Arguments in fixed PromQL and LogQL: one text each, which nothing that stands in it can leave."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.errors import Refused
from evidence.kinds.http import literals

QUERY = 'sum(rate(errors_total{job=$job, path!="/a$b", env=~"prod|test"}[5m])) # $nothing'


def test_a_placeholder_is_found_where_a_text_stands() -> None:
    assert literals.names(QUERY) == {"job"}
    assert literals.names('{app="a"} |= $error != $other | level=$level') == {"error", "other", "level"}
    assert literals.names("up") == set()


def test_arguments_become_texts() -> None:
    filled = literals.filled(QUERY, {"job": 'a"} or up{b="\\'})
    assert filled == QUERY.replace("$job", '"a\\"} or up{b=\\"\\\\"')
    assert literals.filled("up{a=$n}", {"n": 7}) == 'up{a="7"}'


@pytest.mark.parametrize(
    "query",
    [
        "up{job=~$job}", "up{job!~$job}", "up == $value", "up >= $value", "up <= $value", "up[$range]", "$metric",
        "up{$label}", "sum by ($label) (up)", "{app=$a} |~ $error", "{app=$a} !~ $error", "{app=$a} |> $error",
        '{app=$a} | line_format "{{.x}}"', '{app=$a} | label_format x="{{.y}}"',
        'label_replace(up{job=$job}, "a", "$1", "b", "(.*)")', 'up{job="a}', "up{job='a}", "up{job=`a}", "up{job=$}",
        "up{job=$Job}", "up $", 'up{job="a\nb"}', "", None, 7, "a" * 5_001, 'up{job="a"$job}', "up{job=1$job}",
    ],
)  # fmt: skip
def test_a_query_where_an_argument_would_be_more_than_a_text_is_refused(query: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        literals.pieces(query)


@pytest.mark.parametrize(
    "value", [None, "", "a\nb", "a\0b", "\ud800", "a\u202eb", "\u200b", 1.5, ["a"], {"a": 1}, "a" * 2_001]
)
def test_what_is_no_plain_text_is_refused(value: Any) -> None:
    with pytest.raises(Refused) as told:
        literals.filled("up{job=$job}", {"job": value})
    assert told.value.code == "parameters"


def read_as_go_does(text: str) -> tuple[str, str]:
    """A string literal as Go reads it (its escapes as far as they can occur here), and what follows behind it."""
    found = re.match(r'"((?:[^"\\\n]|\\[\\"])*)"', text)
    assert found is not None
    return re.sub(r"\\(.)", r"\1", found[1]), text[found.end() :]


@given(st.text(max_size=40))
@example('"')
@example("\\")
@example('\\"} or up{')
@example("`")
@example("#")
@example("$job")
def test_a_literal_is_read_back_as_the_very_text(value: str) -> None:
    try:
        filled = literals.filled("up{a=$a} # end", {"a": value})
    except Refused:
        return
    assert filled.startswith("up{a=")
    assert read_as_go_does(filled.removeprefix("up{a=")) == (value, "} # end")


@given(st.text(max_size=60))
def test_any_query_is_read_or_refused(query: str) -> None:
    try:
        found = literals.pieces(query)
    except ValueError:
        return
    assert "".join(piece if isinstance(piece, str) else f"${piece.name}" for piece in found) == query
