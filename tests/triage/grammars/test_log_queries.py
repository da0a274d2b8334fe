"""Queries of logs and metrics are understood whole, in their one shape, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.triage.grammars import (
    durations,
    error_words,
    esql,
    insights,
    labels,
    log_groups,
    logql,
    moments,
    promql,
    query_dsl,
    rds_events,
    titles,
)  # fmt: skip

AT = datetime(2026, 5, 5, 2, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-05T02:00:00Z", "2026-05-05T04:00:00+02:00", "2026-05-05T02:00:00.000000000Z", "2026-05-05t02:00:00z",
        "2026-05-05 02:00:00Z", "1777946400", Decimal(1777946400), Decimal("1777946400.0"),
    ],
)  # fmt: skip
def test_each_spelling_of_a_moment_is_that_moment(written: Any) -> None:
    assert moments.parse(written, moments.SECONDS) == AT


@pytest.mark.parametrize(
    ("units", "digits"),
    [(moments.SECONDS, [10]), (moments.MILLISECONDS, [13]), (moments.SECONDS_OR_NANOSECONDS, [10, 19])],
)
def test_a_number_is_a_moment_only_in_the_unit_that_the_tool_takes(units: frozenset[int], digits: list[int]) -> None:
    for count in range(8, 22):
        number = 1777946400 * 10 ** (count - 10) if count >= 10 else 17779464
        for written in (f"{number}", Decimal(number)):
            assert moments.parse(written, units) == (AT if count in digits else None)


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-05T02:00:00", "2026-05-05", "now", "now-6h", "-6h", "", "177794640", "17779464000",
        "1.7e9",
        "+1777946400", " 1777946400", "2026-05-05T02:00:00Z ", "２026-05-05T02:00:00Z", "2026-02-30T02:00:00Z",
        "9999999999",
        Decimal("NaN"), Decimal("Infinity"), Decimal("1e400"), Decimal(-1777946400), Decimal(177794640), None, True, [],
        1777946400.0,
    ],
)  # fmt: skip
def test_what_is_no_moment_for_certain_is_none(written: Any) -> None:
    assert moments.parse(written, moments.SECONDS_OR_NANOSECONDS) is None


@given(st.text() | st.decimals(allow_nan=True) | st.integers() | st.floats())
def test_whatever_is_read_as_a_moment_has_its_zone(written: Any) -> None:
    moment = moments.parse(written, frozenset((10, 13, 16, 19)))
    assert moment is None or moment.tzinfo is UTC


@pytest.mark.parametrize(
    ("written", "seconds"), [(60, 60), ("60", 60), ("1m", 60), ("1h30m", 5400), (Decimal("15.0"), 15), ("500ms", 0.5)]
)
def test_a_duration_is_read(written: Any, seconds: float) -> None:
    assert durations.parse(written) == timedelta(seconds=seconds)


@pytest.mark.parametrize("written", [0, "0", "", "-5m", "1.5m", "m", "1y", "5M", "1h 30m", None, True, Decimal("0.5")])
def test_a_doubtful_duration_is_none(written: Any) -> None:
    assert durations.parse(written) is None


SELECTOR = '{namespace="billing"}'
LOGQL_REFUSED = [
    "", SELECTOR[:-1], "{}", '{namespace=~"b.*"}', '{namespace!="x"}', '{namespace="a",namespace="b"}',
    f'{SELECTOR} != "a"', f'{SELECTOR} |~ "a.b"', f'{SELECTOR} |~ "(?s)a"', f'{SELECTOR} |~ "a|b"',
    f'{SELECTOR} !~ "a"', f'{SELECTOR} | json', f'{SELECTOR} |= "a" | line_format "b"',
    f'{SELECTOR} |= ip("10.0.0.1")', f'{SELECTOR} |= "a" or "b"', f"count_over_time({SELECTOR})",
    f"count_over_time({SELECTOR}[0])", f"count_over_time({SELECTOR}[5m] offset 1h)", f"rate({SELECTOR}[5m])",
    f"bytes_over_time({SELECTOR}[5m])", f"sum by (app) (count_over_time({SELECTOR}[5m]))",
    f"sum(count_over_time({SELECTOR}[5m])) or vector(1)", f"sum(count_over_time({SELECTOR}[5m])) > 0",
    f"sum(count_over_time({SELECTOR}[5m])) * 0", f"sum(count_over_time({SELECTOR}[5m])) or vector(0) or vector(0)",
    f"absent_over_time({SELECTOR}[5m])", f"{SELECTOR} # |= \"a\"", f'{SELECTOR} |= "a\\n"', f"{SELECTOR} |= a",
    f"sum(count_over_time({SELECTOR}[$__interval]))", f"topk(1, count_over_time({SELECTOR}[5m]))",
]  # fmt: skip


@pytest.mark.parametrize("text", LOGQL_REFUSED)
def test_logql_of_another_shape_is_not_understood(text: str) -> None:
    assert logql.parse(text) is None


def test_logql_is_understood_whatever_its_quotes_and_spaces() -> None:
    plain = logql.parse('sum(count_over_time({a="b",c="d"} |= "x" |= "y" [1h30m])) or vector(0)')
    spaced = logql.parse("sum ( count_over_time( { c = 'd' , a = `b`, } |=`x`|=\"y\"[90m] ) )  or  vector( 0 )")
    assert plain == spaced
    assert plain is not None
    assert (plain.patterns, plain.range_ms, plain.has_zero, plain.is_count) == (("x", "y"), 5_400_000, True, True)
    escaped = logql.parse('{a="b"} |= "say \\"no\\""')
    assert escaped is not None
    assert escaped.patterns == ('say "no"',)


PROMQL_REFUSED = [
    "", "1", "vector(1)", 'up offset 5m', "up @ 1777946400", "up[5m]", "rate(up[5m:1m])", "up == 1", "up > bool 1",
    "up or vector(1)", "up and on() x", "up unless x", "up * 0", "0 * up", "up * 100", "a / b * 1000", "up + 1", "-up",
    "a - b", "a * b", "a / b / c", "clamp_max(up, 1)", "absent(up)", "scalar(up)", "sum without (pod) (up)",
    "count(up)", "quantile(0.1, up)", "topk(1, up)", "histogram_quantile(0.1, up)", "label_join(up, 'a', 'b', 'c')",
    'up{pod=~"a.*"}', 'up{pod!~"a"}', '{pod="a"}', "rate(up)", "rate(up[5])", "up # comment", "sum(up", "up)", "by",
    "avg by () (up)", 'x{code=~"5.."}',
    'x / x{code=~"5.."}', 'x{code=~"5.."} / y', 'x{code=~"4.."} / x', "100 * 100 * a / b",
]  # fmt: skip


@pytest.mark.parametrize("text", PROMQL_REFUSED)
def test_promql_of_another_shape_is_not_understood(text: str) -> None:
    assert promql.parse(text) is None


def test_promql_tells_all_that_it_is_made_of() -> None:
    told = promql.parse(
        'sum by (a) (rate(x_total{a="1",b!=""}[3m])) / sum(rate({__name__="y_total",a="1"}[5m])) by (a) * 100'
    )
    assert told is not None
    assert [selector.metric for selector in told.selectors] == ["x_total", "y_total"]
    assert [len(selector.matchers) for selector in told.selectors] == [2, 1]
    assert (told.taken, told.longest_ms, told.is_ratio, told.is_percent, told.is_abridged) == (
        {"sum", "rate"}, 300_000, True, True, False,
    )  # fmt: skip
    abridged = promql.parse("...throttled / periods * 100")
    assert abridged is not None
    assert abridged.is_abridged is True


@given(st.text(max_size=60))
def test_no_text_makes_a_grammar_crash(text: str) -> None:
    for parse in (logql.parse, promql.parse, insights.parse, esql.parse, labels.parse):
        parse(text)
    query_dsl.parse_text(text, None)
    error_words.names_an_error(text)
    error_words.named_in(text)
    log_groups.name(text)
    titles.begins_with(text, "a")
    rds_events.says_completed(text, "a")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["query", "bool", "filter", "term", "range", "match", "a", "@timestamp"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_no_body_makes_the_grammar_crash(body: Any) -> None:
    query_dsl.parse(body)


@pytest.mark.parametrize(
    "text",
    [
        "", "OR", 'a:"b" OR c:"d"', 'NOT a:"b"', "a:b*", "a:>5", "a:/b/", 'a:"b" AND', '(a:"b")', "message:timeout~",
        '-a:"b"', 'a:"b" c:"d"', "message:ETIMEDOUT", "@timestamp:[now-1h TO now]",
    ],
)  # fmt: skip
def test_query_strings_of_another_shape_are_not_understood(text: str) -> None:
    assert query_dsl.parse_text(text, None) is None


def test_a_query_string_and_a_body_say_the_same() -> None:
    text = query_dsl.parse_text(
        'a:"b" AND message:ETIMEDOUT AND @timestamp:["2026-05-05T02:00:00Z" TO 1777950000000]', None
    )
    clauses = [
        {"match": {"a": "b"}}, {"match_phrase": {"message": "ETIMEDOUT"}},
        {"range": {"@timestamp": {"gte": "2026-05-05T02:00:00Z", "lte": "1777950000000"}}},
    ]  # fmt: skip
    body = query_dsl.parse({"query": {"bool": {"must": clauses}}})
    assert text is not None
    assert body is not None
    assert text.demands == body.demands


def test_a_log_group_has_one_name() -> None:
    assert log_groups.name("arn:aws:logs:eu-west-1:123456789012:log-group:/aws/x:*") == "/aws/x"
    assert log_groups.name("/aws/x") == "/aws/x"
    assert log_groups.name("arn:aws:logs:eu-west-1:1:log-group:/aws/x") != "/aws/x"


def test_a_title_names_its_alert_first() -> None:
    assert titles.begins_with("[FIRING:2] Down in west", "Down") is True
    assert titles.begins_with("Down", "Down") is True
    assert titles.begins_with("DownToo", "Down") is False
    assert titles.begins_with("It is Down", "Down") is False
