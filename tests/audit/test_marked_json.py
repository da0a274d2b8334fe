import json
from decimal import Decimal

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from audit import marked_json

SEEN = st.text(st.characters(exclude_categories=["Cs", "Cf", "Cc", "Zl", "Zp"])).filter(
    lambda text: marked_json.undisguised(text) == text
)
LEAVES = st.none() | st.booleans() | st.integers(-(2**53), 2**53)
JSON = st.recursive(LEAVES | SEEN, lambda inner: st.lists(inner) | st.dictionaries(SEEN, inner), max_leaves=30)
ANY_TEXT = st.recursive(LEAVES | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=10)

RESULT = {
    "job_kind": "inventory_sync",
    "window": {"from": "08:04", "to": "09:20"},
    "scanned": 41200,
    "attempts": [{"outcome": "ok"}],
    "a/b": {"m~n": 1},
    "job": None,
}


def text(lines) -> str:
    return "\n".join(map(str, lines))


@given(JSON)
def test_without_marks_it_is_pretty_json(value) -> None:
    assert text(marked_json.lines(value)) == json.dumps(value, indent=2, ensure_ascii=False)


@given(ANY_TEXT)
def test_whatever_the_text_it_reads_back_and_can_be_sent(value) -> None:
    drawn = text(marked_json.lines(value))
    drawn.encode()
    assert json.loads(drawn) == value


@given(JSON, st.lists(st.text(), max_size=3))
def test_any_pointer_is_drawn_exactly_once(value, path) -> None:
    pointer = "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in path)
    lines = marked_json.lines(value, {pointer: [1]})
    assert sum(line.marked or line.absent for line in lines) == 1


def marked(pointer: str) -> str:
    (line,) = [line for line in marked_json.lines(RESULT, {pointer: [3]}) if line.marked]
    assert line.refs == (3,)
    return line.text


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [
        ("/scanned", '"scanned": 41200'),
        ("/window/from", '"from": "08:04"'),
        ("/attempts/0/outcome", '"outcome": "ok"'),
        ("/a~1b/m~0n", '"m~n": 1'),
        ("/window", '"window": {'),
        ("/job", '"job": null'),
        ("", "{"),
    ],
)
def test_a_pointer_marks_its_field_without_the_comma(pointer, expected) -> None:
    assert marked(pointer) == expected


@pytest.mark.parametrize(
    ("pointer", "expected", "before"),
    [
        ("/count", '  "count" is not in this result', "}"),
        ("/window/zone", '    "zone" is not in this result', "  },"),
        ("/attempts/1", '    "1" is not in this result', "  ],"),
        ("/attempts/-1", '    "-1" is not in this result', "  ],"),
        ("/job/state", '  "job.state" is not in this result', "}"),
        ("/nowhere/at/all", '  "nowhere.at.all" is not in this result', "}"),
    ],
)
def test_an_absent_field_is_drawn_in_its_nearest_parent(pointer, expected, before) -> None:
    lines = marked_json.lines(RESULT, absent={pointer: [3]})
    (index,) = [number for number, line in enumerate(lines) if line.absent]
    assert str(lines[index]) == expected
    assert str(lines[index + 1]) == before
    assert lines[index].refs == (3,)


def test_a_field_absent_from_nothing_stands_after_it() -> None:
    assert text(marked_json.lines(None, absent={"/job": [1]})) == 'null\n"job" is not in this result'


def test_a_field_absent_from_an_empty_object_opens_it() -> None:
    assert text(marked_json.lines({"job": {}}, absent={"/job/state": [1]})).splitlines() == [
        "{", '  "job": {', '    "state" is not in this result', "  }", "}",
    ]  # fmt: skip


def test_a_field_read_by_two_checks_carries_both_numbers() -> None:
    (line,) = [line for line in marked_json.lines(RESULT, {"/scanned": [5, 3, 5]}) if line.marked]
    assert line.refs == (3, 5)


def test_what_is_not_a_pointer_is_an_error() -> None:
    with pytest.raises(ValueError):
        marked_json.lines({}, {"count": [1]})


def test_decimals_keep_their_digits() -> None:
    assert text(marked_json.lines({"sum": Decimal("28.330")})) == '{\n  "sum": 28.330\n}'


def test_deep_values_do_not_exhaust_the_stack() -> None:
    value: list = []
    for _ in range(400):
        value = [value]
    assert json.loads(text(marked_json.lines(value))) == value


def test_text_that_turns_direction_is_shown_as_escapes() -> None:
    assert text(marked_json.lines("a\u202eb\u200b")) == r'"a\u202eb\u200b"'


def test_the_template_draws_marks_references_and_absent_fields() -> None:
    lines = marked_json.lines({"from": 1, "to": "x"}, {"/from": [4], "/to": [4]}, {"/count": [3]})
    html = render_to_string("ui/_json.html", {"lines": lines}).strip()
    ref = '<a class="ref" href="#c4" aria-label="Check 4">4</a>'
    assert html.splitlines() == [
        '<pre class="json">{',
        f"  <mark>&quot;from&quot;: 1</mark>,{ref}",
        f"  <mark>&quot;to&quot;: &quot;x&quot;</mark>{ref}",
        '  <span class="absent">&quot;count&quot; is not in this result</span>'
        '<a class="ref" href="#c3" aria-label="Check 3">3</a>',
        "}</pre>",
    ]


def test_the_template_never_lets_text_become_markup() -> None:
    evil = "</pre><script>alert(1)</script>"
    lines = marked_json.lines({evil: evil}, {f"/{evil.replace('/', '~1')}": [1]}, {"/<b>": [2]})
    html = render_to_string("ui/_json.html", {"lines": lines})
    assert "<script" not in html
    assert "<b>" not in html
