"""Any HTTP API as a source: what a contract may ask, what is sent, and by what an answer counts as whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.models import Definition
from evidence.bounds import DEFAULT
from evidence.contracts import Contract
from evidence.errors import Refused
from evidence.kinds import KINDS
from evidence.kinds.http import client
from evidence.kinds.http.completeness import RULES, incomplete
from evidence.kinds.kind import Found
from tests.evidence.kinds import http_server
from tests.evidence.kinds.http_server import Server

HTTP = KINDS["http"]
TEXTS = {"type": "string"}
UNPAGED = {"unpaged": "The API lists all of them at once, says its manual."}


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with http_server.running() as server:
        yield server


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    running.scripts.clear()
    running.asked.clear()
    yield running
    client.close()


def source(server: Server, **more: Any) -> Definition:
    body = {"kind": "http", "url": f"{server.url}/api", "environment": "test", "addresses": ["127.0.0.1"],
            "probe": "/status?deep=1", **more}  # fmt: skip
    HTTP.check_source("shelf", body)
    return Definition(name="shelf", version=1, kind="source", body=body)


def tool(request: dict[str, Any], required: tuple[str, ...] | None = None, **properties: Any) -> Contract:
    needed = sorted(properties) if required is None else list(required)
    schema = {"type": "object", "properties": properties, "required": needed}
    HTTP.check_tool("tool", {"request": request, "input_schema": schema})
    return Contract("tool", 1, "", "", "shelf", "state", schema, {}, "live", [], request=request)


REFUNDS = {
    "path": "/charges/{charge_id}/refunds",
    "query": {"expand": "charge", "limit": {"argument": "limit"}},
    "headers": {"Stripe-Version": "2026-01-01"},
    "whole": [{"false": "/has_more"}, {"below": ["/data", "limit"]}],
}


def test_one_get_with_arguments_in_their_places(server: Server) -> None:
    answer = {"object": "list", "has_more": False, "data": [{"id": "re_1"}]}
    server.answer("/api/charges/ch%3A1%20%2B/refunds", answer)
    refunds = tool(REFUNDS, charge_id=TEXTS, limit={"type": "integer"})
    assert HTTP.read(source(server), refunds, {"charge_id": "ch:1 +", "limit": 10}, DEFAULT) == Found(answer)
    (asked,) = server.asked
    assert (asked.method, asked.target) == ("GET", "/api/charges/ch%3A1%20%2B/refunds?expand=charge&limit=10")
    assert asked.headers["stripe-version"] == "2026-01-01"
    cut = HTTP.read(source(server), refunds, {"charge_id": "ch:1 +", "limit": 1}, DEFAULT)
    assert (cut.truncated, cut.incomplete) == (True, ("not_below",))


@pytest.mark.parametrize("value", ["../../admin", "..", "a/b", "a?b=c", "a#b", "a;b", "%2e%2e", "．．", "", "a\r\nb"])
def test_an_argument_does_not_leave_its_segment(server: Server, value: str) -> None:
    refunds = tool(REFUNDS, charge_id=TEXTS, limit={"type": "integer"})
    with pytest.raises(Refused) as told:
        HTTP.read(source(server), refunds, {"charge_id": value, "limit": 1}, DEFAULT)
    assert (told.value.code, server.asked) == ("parameters", [])


def test_a_list_comes_in_an_envelope(server: Server) -> None:
    server.answer("/api/v2/alerts", [{"labels": {"alertname": "a"}}])
    alerts = tool({"path": "/v2/alerts", "whole": [UNPAGED]})
    assert HTTP.read(source(server), alerts, {}, DEFAULT).result == {
        "status": "success", "data": [{"labels": {"alertname": "a"}}],
    }  # fmt: skip


@pytest.mark.parametrize("answer", ["a", 7, None, True])
def test_a_single_value_is_no_result(server: Server, answer: Any) -> None:
    server.answer("/api/x", answer)
    with pytest.raises(Refused, match="single value"):
        HTTP.read(source(server), tool({"path": "/x", "whole": [UNPAGED]}), {}, DEFAULT)


def test_an_error_is_no_result(server: Server) -> None:
    server.answer("/api/x", {"message": "no such thing"}, 404)
    with pytest.raises(Refused) as told:
        HTTP.read(source(server), tool({"path": "/x", "whole": [UNPAGED]}), {}, DEFAULT)
    assert (told.value.code, told.value.sentence) == ("source_error", "shelf answered with 404: no such thing.")


def test_links_in_headers_count(server: Server) -> None:
    server.answer("/api/x", {"data": []}, Link='<https://api.example/x?page=2>; rel="next", <https://a/x>; rel="last"')
    found = HTTP.read(source(server), tool({"path": "/x", "whole": [UNPAGED]}), {}, DEFAULT)
    assert (found.truncated, found.incomplete) == (True, ("link_pages",))


@pytest.mark.parametrize(
    "change",
    [
        {"path": "charges"}, {"path": "//evil.example/x"}, {"path": "/../x"}, {"path": "/./x"}, {"path": "/x?y=1"},
        {"path": "/x#y"}, {"path": "/x%2fy"}, {"path": "/{charge_id}x/{limit}"}, {"path": "/x y/{charge_id}"},
        {"path": "/{charge_id}/é"}, {"path": None}, {"path": "/{other}"}, {"path": "/x;y/{charge_id}"},
        {"path": "/charges"},  # charge_id is then asked for and not sent
        {"query": {"limit": 7}}, {"query": {"li mit": "7", "limit": {"argument": "limit"}}}, {"query": []},
        {"query": {"limit": {"argument": "other"}}}, {"query": {"limit": {"argument": "limit", "more": 1}}},
        {"query": {"limit": {"argument": "limit"}, "x": "a\nb"}},
        {"headers": {"Authorization": "x"}}, {"headers": {"Host": "x"}}, {"headers": {"Accept": "a\r\nb"}},
        {"whole": []}, {"whole": [{}]}, {"whole": [{"false": "/a", "blank": "/b"}]}, {"whole": [{"maybe": "/a"}]},
        {"whole": [{"false": "a"}]}, {"whole": [{"false": ""}]}, {"whole": [{"unpaged": "yes"}]},
        {"whole": [{"below": ["/data", "size"]}]}, {"whole": [{"equals": ["/a", 1]}]}, {"whole": [{"counted": ["/a"]}]},
        {"whole": [UNPAGED] * 11}, {"whole": UNPAGED}, {"method": "POST"}, {"body": {}},
    ],
)  # fmt: skip
def test_a_request_that_is_not_plain_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        tool({**REFUNDS, **change}, charge_id=TEXTS, limit={"type": "integer"})


def test_an_argument_of_the_path_is_required() -> None:
    with pytest.raises(ValueError, match="the input schema requires it"):
        tool(REFUNDS, ("limit",), charge_id=TEXTS, limit={"type": "integer"})


@pytest.mark.parametrize(
    "change",
    [{"probe": None}, {"probe": "status"}, {"probe": "/a b"}, {"probe": "/a#b"}, {"probe": 7}, {"accepts": ["reached"]},
     {"query": True}, {"method": "POST"}],
)  # fmt: skip
def test_a_source_that_is_not_plain_is_refused(server: Server, change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        source(server, **change)


def test_what_no_api_tells_is_accepted_by_name_or_dark(server: Server) -> None:
    server.answer("/api/status", {})
    proven = HTTP.prove(source(server))
    assert (proven.holds, [fact.fact for fact in proven.facts if not fact.holds]) == (False, ["writes_refused"])
    assert HTTP.prove(source(server, accepts=["writes_refused"])).holds
    assert [asked.target for asked in server.asked] == ["/api/status?deep=1"] * 2
    server.answer("/api/status", {}, 401)
    assert not HTTP.prove(source(server, accepts=["writes_refused"])).holds


# Whole or not

ANSWER = {"items": [1, 2], "total": 2, "more": {"flag": False, "token": None}, "state": "complete", "seen": 7,
          "charge": {"id": "c", "money": {"amount": 1}}}  # fmt: skip
HOLDING: tuple[dict[str, Any], ...] = (
    {"false": "/more/flag"}, {"blank": "/more/token"}, {"blank": "/nothing"}, {"equals": ["/state", "complete"]},
    {"counted": ["/items", "/total"]}, {"below": ["/items", "size"]}, {"positive": "/seen"}, {"positive": "/items/0"},
    {"single": "/charge"}, UNPAGED,
)  # fmt: skip
BROKEN: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    *(({"false": "/more/flag"}, {"more": {"flag": value}}) for value in (True, None, 0, "false", "", [])),
    ({"false": "/more/flag"}, {"more": {}}),
    *(({"blank": "/more/token"}, {"more": {"token": value}}) for value in ("x", 0, False, [], {})),
    *(
        ({"equals": ["/state", "complete"]}, {"state": value})
        for value in ("Complete", "running", None, True, "complete ")
    ),
    *(({"counted": ["/items", "/total"]}, {"total": value}) for value in (3, 1, "2", 2.0, True, None)),
    ({"counted": ["/items", "/total"]}, {"items": "ab"}),
    ({"below": ["/items", "size"]}, {"items": [1, 2, 3]}),
    ({"below": ["/items", "size"]}, {"items": None}),
    ({"below": ["/items", "unsent"]}, {}),
    *(({"positive": "/seen"}, {"seen": value}) for value in (0, -1, "7", True, 1.5, None)),
    ({"single": "/charge"}, {"charge": {"refunds": []}}),
    ({"single": "/charge"}, {"charge": {"a": {"b": [1]}}}),
    ({"single": "/charge"}, {"charge": None}),
    ({"single": ""}, {}),
)


@pytest.mark.parametrize("rule", HOLDING, ids=str)
def test_a_rule_that_holds(rule: dict[str, Any]) -> None:
    assert incomplete([rule], {"size": "3"}, {}, ANSWER) == ()


@pytest.mark.parametrize(("rule", "change"), BROKEN, ids=str)
def test_a_rule_that_is_broken(rule: dict[str, Any], change: dict[str, Any]) -> None:
    assert incomplete([rule], {"size": "3"}, {}, {**ANSWER, **change}) == (f"not_{next(iter(rule))}",)


@pytest.mark.parametrize(
    "answer",
    [
        {"has_more": True}, {"has_more": "false"}, {"hasMore": 1}, {"truncated": True}, {"isTruncated": True},
        {"incomplete_results": True}, {"timed_out": True}, {"next": "https://x"}, {"next_page_token": "a"},
        {"nextToken": "a"}, {"@odata.nextLink": "https://x"}, {"meta": {"next_cursor": "a"}}, {"links": {"next": {}}},
        {"pagination": {"has_next": True}}, {"pageInfo": {"hasNextPage": True}},
        {"response_metadata": {"next_cursor": "a"}}, {"count": 9, "next": None, "previous": "https://x"},
    ],
    ids=str,
)  # fmt: skip
def test_marks_of_paging_count_whatever_the_contract_states(answer: dict[str, Any]) -> None:
    assert incomplete([UNPAGED], {}, {}, answer) == ("marked",)


@pytest.mark.parametrize(
    "answer",
    [{"has_more": False}, {"next": None}, {"next": ""}, {"meta": {"next_cursor": None}}, {"items": [{"next": "a"}]},
     [{"next": 1}]],
    ids=str,
)  # fmt: skip
def test_marks_that_say_nothing_do_not_count(answer: Any) -> None:
    assert incomplete([UNPAGED], {}, {}, answer) == ()


@pytest.mark.parametrize(
    ("headers", "codes"),
    [
        ({"link": "<https://x>; rel=self" + ", <https://y>" * 400}, ("link_pages",)),  # too long to be looked through
        ({"link": "<https://x>; rel=next"}, ("link_pages",)),
        ({"link": '<https://x>; title="a"; rel="prev next"'}, ("link_pages",)),
        ({"link": '<https://x>; rel="last"'}, ()),
        ({"link": '<https://x>; rel="prev"'}, ("link_pages",)),  # the last page is not the whole, either
        ({"x-next-page": "2"}, ("page_header",)),
        ({"x-next-page": "", "x-page": "3", "x-total-pages": "3"}, ("page_header",)),
        ({"x-next-page": "", "x-page": "1", "x-total-pages": "1"}, ()),
        ({"x-page": "1", "x-total-pages": "2"}, ("page_header",)),
    ],
)
def test_headers_of_paging(headers: dict[str, str], codes: tuple[str, ...]) -> None:
    assert incomplete([UNPAGED], {}, headers, {}) == codes


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.sampled_from(HOLDING), JSON)
def test_any_json_is_judged(rule: dict[str, Any], answer: Any) -> None:
    assert set(incomplete([rule], {"size": "3"}, {}, answer)) <= {"marked", *(f"not_{name}" for name in RULES)}
