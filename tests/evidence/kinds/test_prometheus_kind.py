"""Prometheus and Loki as sources, against a server in this process that plays recorded answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from audit.models import Definition
from evidence.bounds import DEFAULT, Limits
from evidence.contracts import Contract
from evidence.errors import Refused
from evidence.kinds import KINDS
from evidence.kinds.http import client
from evidence.kinds.http.endpoints import Api
from evidence.kinds.kind import Found, Proven
from evidence.kinds.loki.endpoints import API as LOKI
from evidence.kinds.prometheus.endpoints import API as PROMETHEUS
from tests.evidence.kinds import http_server
from tests.evidence.kinds.http_server import Server, whole
from tests.evidence.kinds.recorded import records

SECRET = "tok-93c1d0"
TEXTS = {"type": "string"}
APIS: dict[str, Api] = {"prometheus": PROMETHEUS, "loki": LOKI}


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with http_server.running() as server:
        yield server


@pytest.fixture
def server(running: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    monkeypatch.setenv("SHELF_DOCTOR_TOKEN", "tok-doctor")
    running.scripts.clear()
    running.asked.clear()
    yield running
    client.close()


def source(server: Server, kind: str, **more: Any) -> Definition:
    body = {
        "kind": kind, "url": server.url, "environment": "test", "addresses": ["127.0.0.1"],
        "reader_env": "SHELF_READER_TOKEN", "credential": "bearer", **more,
    }  # fmt: skip
    KINDS[kind].check_source("shelf", body)
    return Definition(name="shelf", version=1, kind="source", body=body)


def contract(kind: str, endpoint: str, parameters: dict[str, Any], **properties: Any) -> Contract:
    schema = {"type": "object", "properties": properties, "required": sorted(properties)}
    request = {"endpoint": endpoint, "parameters": parameters}
    KINDS[kind].check_tool("tool", {"request": request, "input_schema": schema})
    return Contract("tool", 1, "", "", "shelf", "state", schema, {}, "live", [], request=request)


def read(source: Definition, tool: Contract, limits: Limits = DEFAULT, **given: Any) -> Found:
    return KINDS[source.body["kind"]].read(source, tool, given, limits)


def given(name: str) -> dict[str, str]:
    return {"argument": name}


@pytest.mark.parametrize("kind", ["prometheus", "loki"])
def test_recorded_answers_come_back_unchanged_and_judged(server: Server, kind: str) -> None:
    for record in records(kind):
        asked = {name: value for name, value in record["request"].items() if name != "endpoint"}
        endpoint = APIS[kind].endpoints[record["request"]["endpoint"]]
        if not set(endpoint.needs) <= set(asked) or any(isinstance(value, list) for value in asked.values()):
            continue  # what was asked for is not recorded in full
        server.answer(endpoint.path.replace("{label}", asked.get("label", "")), record["answer"])
        found = read(source(server, kind), contract(kind, record["request"]["endpoint"], asked))
        assert found == Found(record["answer"], bool(record["incomplete"]), tuple(record["incomplete"]))
    assert len(server.asked) > 4
    assert {(asked.method, asked.headers["authorization"]) for asked in server.asked} == {("GET", f"Bearer {SECRET}")}


def test_a_query_of_the_agent_goes_out_as_it_is(server: Server) -> None:
    answer = {"status": "success", "data": {"resultType": "matrix", "result": [],
              "stats": {"samples": {"totalQueryableSamples": 3}}}}  # fmt: skip
    server.answer("/api/v1/query_range", answer)
    asked = {"query": given("query"), "start": given("start"), "end": given("end"), "step": given("step")}
    tool = contract("prometheus", "query_range", asked, query=TEXTS, start=TEXTS, end=TEXTS, step={"type": "integer"})
    times = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z", "step": 60}
    found = read(source(server, "prometheus", query=True), tool, query='up{job="a&b"} > 0', **times)
    assert found == Found(answer)
    assert server.asked[0].target == (
        "/api/v1/query_range?query=up%7Bjob%3D%22a%26b%22%7D%20%3E%200&start=2026-01-01T00%3A00%3A00Z"
        "&end=2026-01-01T01%3A00%3A00Z&step=60&partial_response=false&deny_partial_response=1&nocache=1&stats=all"
    )
    assert server.asked[0].headers["cache-control"] == "no-store"
    with pytest.raises(Refused) as told:
        read(source(server, "prometheus"), tool, query="up", **times)
    assert (told.value.code, len(server.asked)) == ("query_off", 1)


def test_a_fixed_query_takes_texts_that_stay_texts(server: Server) -> None:
    server.answer("/loki/api/v1/query", {"status": "success", "data": {"resultType": "vector", "result": []}})
    tool = contract("loki", "query", {"query": 'count_over_time({app=$app} |= "error" [5m])'}, app=TEXTS)
    found = read(source(server, "loki"), tool, app='a"} or {b="')
    assert (found.truncated, found.incomplete) == (True, ("scan_unknown",))
    sent = "count_over_time%28%7Bapp%3D%22a%5C%22%7D%20or%20%7Bb%3D%5C%22%22%7D%20%7C%3D%20%22error%22%20%5B5m%5D%29"
    assert server.asked[0].target == f"/loki/api/v1/query?query={sent}"


def test_an_argument_that_is_left_out_is_not_sent(server: Server) -> None:
    server.answer("/api/v1/alerts", {"status": "success", "data": {"alerts": []}})
    server.answer("/api/v1/rules", {"status": "success", "data": {"groups": []}})
    schema = {"type": "object", "properties": {"rule_name": TEXTS}}
    tool = contract("prometheus", "rules", {"type": "alert", "rule_name[]": given("rule_name")}, rule_name=TEXTS)
    rules = Contract(**{**vars(tool), "input_schema": schema})
    assert read(source(server, "prometheus"), rules).incomplete == ()
    read(source(server, "prometheus"), rules, rule_name="Watchdog")
    assert [asked.target.partition("?")[2].partition("&partial")[0] for asked in server.asked] == [
        "type=alert", "type=alert&rule_name%5B%5D=Watchdog",
    ]  # fmt: skip


def test_a_label_in_the_path_stays_there(server: Server) -> None:
    server.answer("/api/v1/label/job/values", {"status": "success", "data": ["a"]})
    tool = contract("prometheus", "label_values", {"label": given("label")}, label=TEXTS)
    assert read(source(server, "prometheus"), tool, label="job").result["data"] == ["a"]
    for label in ("../../../admin/tsdb/delete_series", "..", "job/values?x=", "a%2fb"):
        with pytest.raises(Refused) as told:
            read(source(server, "prometheus"), tool, label=label)
        assert told.value.code == "parameters"
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("status", "answer", "code", "sentence"),
    [
        (400, {"status": "error", "errorType": "bad_data", "error": "parse error: unexpected }"}, "parameters",
         "shelf answered with 400: bad_data: parse error: unexpected }."),
        (422, {"status": "error", "errorType": "execution", "error": "too many samples."}, "parameters",
         "shelf answered with 422: execution: too many samples."),
        (503, {"status": "error", "errorType": "timeout", "error": f"Bearer {SECRET}"}, "source_error",
         "shelf answered with 503: timeout: Bearer [masked]."),
        (401, b"no", "source_error", "shelf answered with 401."),
        (200, {"status": "error", "errorType": "internal", "error": "no ring"}, "source_error",
         "shelf answered with an error: internal: no ring."),
        (200, ["a"], "wrong_shape", "shelf answered with something that is no object."),
        (200, b"up 1\n", "not_json", "The answer is no plain JSON: it cannot be read."),
    ],
)  # fmt: skip
def test_an_error_is_told_and_is_no_result(server: Server, status: int, answer: Any, code: str, sentence: str) -> None:
    server.answer("/api/v1/query", answer, status)
    tool = contract("prometheus", "query", {"query": "up{job=$job}"}, job=TEXTS)
    with pytest.raises(Refused) as told:
        read(source(server, "prometheus"), tool, job="a")
    assert (told.value.code, told.value.sentence) == (code, sentence)


def test_lokis_plain_text_of_an_error_is_told(server: Server) -> None:
    server.scripts["/loki/api/v1/query"] = lambda asked: [
        whole(b"parse error at line 1, col 3\n", 400, Content_Type="text/plain; charset=utf-8")
    ]
    tool = contract("loki", "query", {"query": "{app=$app}"}, app=TEXTS)
    with pytest.raises(Refused, match="shelf answered with 400: parse error at line 1, col 3"):
        read(source(server, "loki"), tool, app="a")


@pytest.mark.parametrize(
    ("endpoint", "parameters", "properties"),
    [
        ("admin/tsdb/delete_series", {"match[]": "up"}, {}),
        ("write", {}, {}), ("otlp", {}, {}), ("../query", {"query": "up"}, {}), (None, {}, {}), ("tail", {}, {}),
        ("query", {}, {}),
        ("query", {"query": "up", "delete": "1"}, {}),
        ("query", {"query": ""}, {}),
        ("query", {"query": 7}, {}),
        ("query", {"query": {"argument": 7}}, {}),
        ("query", {"query": "up{job=~$job}"}, {"job": TEXTS}),
        ("query", {"query": "up{job=$job}"}, {}),
        ("query", {"query": "up"}, {"job": TEXTS}),  # asked for and not sent
        ("query", {"query": "up"}, {"query": TEXTS}),  # a rule would read a query that was never sent
        ("query", {"query": "up{job=$time}"}, {"time": TEXTS}),
        ("query", {"query": given("job")}, {"job": TEXTS}),
        ("query", {"query": "up", "time": given("end")}, {"end": TEXTS}),
        ("query_range", {"query": "up", "start": given("end"), "end": given("start"), "step": "60"},
         {"start": TEXTS, "end": TEXTS}),
        ("query_range", {"query": "up", "start": "1"}, {}),
        ("labels", [], {}),
        ("alerts", {"match[]": "up"}, {}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["prometheus", "loki"])
def test_a_request_that_could_be_misread_is_refused(kind: str, endpoint: Any, parameters: Any, properties: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        contract(kind, endpoint, parameters, **properties)


@pytest.mark.parametrize("kind", ["prometheus", "loki", "http"])
def test_examples_are_what_they_show(kind: str) -> None:
    KINDS[kind].check_source("example", KINDS[kind].source_example)
    schema = {"type": "object", "properties": {"job_id": {"type": "integer"}}, "required": ["job_id"]}
    KINDS[kind].check_tool("example", {**KINDS[kind].tool_example, "input_schema": schema})


def test_an_argument_that_is_needed_is_required() -> None:
    request = {"endpoint": "query", "parameters": {"query": "up{job=$job}"}}
    schema = {"type": "object", "properties": {"job": TEXTS}}
    with pytest.raises(ValueError, match="the input schema requires it"):
        KINDS["prometheus"].check_tool("tool", {"request": request, "input_schema": schema})


@pytest.mark.parametrize("kind", ["prometheus", "loki", "http"])
@pytest.mark.parametrize(
    "body", [{}, {"sql": "select 1", "parameters": [], "shape": "rows"}, {"request": []}, {"request": {}}]
)
def test_a_tool_of_another_kind_is_refused(kind: str, body: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        KINDS[kind].check_tool("tool", {**body, "input_schema": {"type": "object", "properties": {}}})


# Proof


FLAGS = {"web.enable-admin-api": "false", "web.enable-lifecycle": "false", "enable-feature": "",
         "web.enable-remote-write-receiver": "false", "web.enable-otlp-receiver": "false"}  # fmt: skip


def prometheus(server: Server, **flags: str) -> None:
    server.answer("/api/v1/status/buildinfo", {"status": "success", "data": {"version": "3.1.0"}})
    server.answer("/api/v1/query", {"status": "success", "data": {"resultType": "vector", "result": []}})
    told = {name: value for name, value in {**FLAGS, **flags}.items() if value}
    server.answer("/api/v1/status/flags", {"status": "success", "data": told})


def failing(proven: Proven) -> list[str]:
    assert all(fact.holds or fact.mend for fact in proven.facts)
    return [fact.fact for fact in proven.facts if not fact.holds]


def test_a_prometheus_whose_doors_are_shut_is_proven(server: Server) -> None:
    prometheus(server)
    proven = KINDS["prometheus"].prove(source(server, "prometheus", doctor_env="SHELF_DOCTOR_TOKEN"))
    assert (proven.holds, failing(proven), proven.server) == (True, [], "version 3.1.0")
    assert proven.address == KINDS["prometheus"].address(source(server, "prometheus"))
    assert proven.address.startswith(f"{server.url}, credential ")
    assert SECRET not in str(proven)
    assert {asked.method for asked in server.asked} == {"GET"}
    assert [asked.headers["authorization"][-6:] for asked in server.asked] == ["93c1d0", "93c1d0", "doctor"]


@pytest.mark.parametrize(
    ("flags", "fact"),
    [
        ({"web.enable-admin-api": "true"}, "admin_api"),
        ({"web.enable-lifecycle": "true"}, "lifecycle"),
        ({"web.enable-remote-write-receiver": "true"}, "remote_write"),
        ({"web.enable-remote-write-receiver": "", "enable-feature": "a,remote-write-receiver"}, "remote_write"),
        ({"web.enable-otlp-receiver": "true"}, "otlp"),
        ({"web.enable-otlp-receiver": "", "enable-feature": "otlp-write-receiver"}, "otlp"),
    ],
)
def test_an_open_door_is_a_fact_that_does_not_hold(server: Server, flags: dict[str, str], fact: str) -> None:
    prometheus(server, **flags)
    assert failing(KINDS["prometheus"].prove(source(server, "prometheus"))) == [fact]
    accepted = KINDS["prometheus"].prove(source(server, "prometheus", accepts=[fact]))
    assert (accepted.holds, failing(accepted)) == (True, [fact])


def test_a_server_that_tells_no_flags_proves_nothing(server: Server) -> None:
    prometheus(server)
    server.answer("/api/v1/status/flags", {"status": "success", "data": {}})
    assert failing(KINDS["prometheus"].prove(source(server, "prometheus"))) == [
        "admin_api", "lifecycle", "remote_write", "otlp",
    ]  # fmt: skip
    del server.scripts["/api/v1/status/flags"]
    proven = KINDS["prometheus"].prove(source(server, "prometheus"))
    assert (proven.holds, "could not be seen: shelf answered with 404." in proven.facts[1].seen) == (False, True)


def loki(server: Server, push: int = 404, delete: int = 404, ruler: int = 403) -> None:
    server.answer("/loki/api/v1/status/buildinfo", {"version": "3.4.2"})
    server.answer("/loki/api/v1/labels", {"status": "success", "data": ["app"]})
    for name, status in (("push", push), ("delete", delete), ("rules", ruler)):
        server.answer(f"/loki/api/v1/{name}", b"said", status, Content_Type="text/plain")


def test_a_loki_whose_doors_are_shut_is_proven(server: Server) -> None:
    loki(server)
    proven = KINDS["loki"].prove(source(server, "loki"))
    assert (proven.holds, failing(proven), proven.server) == (True, [], "version 3.4.2")
    assert {asked.method for asked in server.asked} == {"GET"}


@pytest.mark.parametrize(
    ("door", "status", "fact"),
    [("push", 405, "push_api"), ("push", 200, "push_api"), ("delete", 200, "delete_api"), ("delete", 500, "delete_api"),
     ("ruler", 200, "ruler_api"), ("ruler", 400, "ruler_api")],
)  # fmt: skip
def test_a_door_that_answers_is_open(server: Server, door: str, status: int, fact: str) -> None:
    loki(server, **{door: status})
    proven = KINDS["loki"].prove(source(server, "loki"))
    assert (proven.holds, failing(proven)) == (False, [fact])
    assert KINDS["loki"].prove(source(server, "loki", accepts=[fact])).holds


@pytest.mark.parametrize(
    ("path", "fact"),
    [("/api/prom/push", "push_api"), ("/otlp/v1/logs", "push_api"), ("/api/prom/rules", "ruler_api")],
)
def test_a_second_way_in_is_open_where_the_first_is_shut(server: Server, path: str, fact: str) -> None:
    loki(server)
    server.answer(path, b"said", 405, Content_Type="text/plain")
    proven = KINDS["loki"].prove(source(server, "loki"))
    assert (proven.holds, failing(proven)) == (False, [fact])


@pytest.mark.parametrize("kind", ["prometheus", "loki", "http"])
def test_a_source_that_is_not_reached_is_proven_to_nobody(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"probe": "/status"} if kind == "http" else {}
    unreached = KINDS[kind].prove(source(server, kind, **more))  # 404 for everything
    assert (unreached.holds, failing(unreached)[:1]) == (False, ["reached"])
    monkeypatch.delenv("SHELF_READER_TOKEN")
    unset = KINDS[kind].prove(source(server, kind, **more))
    assert (unset.holds, "SHELF_READER_TOKEN" in unset.facts[0].seen) == (False, True)


@pytest.mark.parametrize("kind", ["prometheus", "loki", "http"])
def test_two_processes_with_other_credentials_have_other_addresses(
    server: Server, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = source(server, kind, **({"probe": "/status"} if kind == "http" else {}))
    first = KINDS[kind].address(shelf)
    monkeypatch.setenv("SHELF_READER_TOKEN", "another")
    assert KINDS[kind].address(shelf) != first
    assert KINDS[kind].strongest_reader(shelf)[0].startswith("# The strongest reader of shelf")
