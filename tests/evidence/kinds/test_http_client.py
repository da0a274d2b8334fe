"""The guarded client against a server that does whatever it likes, in this process."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest

from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds.http import bodies, client, site
from evidence.kinds.http.site import Site
from tests.evidence.kinds import http_server
from tests.evidence.kinds.http_server import CHUNKED, Asked, Server, chunk, whole

SECRET = "tok-7f3a9c2e41"
QUICK = Limits(bytes=20_000, seconds=0.4)


@pytest.fixture(scope="module")
def running() -> Iterator[Server]:
    with http_server.running() as server:
        yield server


@pytest.fixture
def server(running: Server) -> Iterator[Server]:
    client.close()
    running.scripts.clear()
    running.asked.clear()
    running.connections = 0
    yield running
    client.close()


def source(server: Server, **more: Any) -> Site:
    """The server as a source, which names its address."""
    body = {"kind": "http", "url": server.url, "environment": "test", "addresses": ["127.0.0.1"], **more}
    site.check(body, ())
    return site.of("shelf", body)


def refused(asking: Callable[[], object]) -> Refused:
    with pytest.raises(Refused) as told:
        asking()
    assert SECRET not in told.value.sentence
    assert told.value.sentence.endswith(".")
    return told.value


def test_json_comes_back_exactly(server: Server) -> None:
    server.answer("/v1/thing", b'{"ratio": 0.10000000000000000001, "count": 12345678901234567890, "ok": true}')
    reply = client.get(source(server), "/v1/thing")
    assert reply.value == {"ratio": Decimal("0.10000000000000000001"), "count": 12345678901234567890, "ok": True}
    assert reply.headers["content-type"] == "application/json"
    assert [(asked.method, asked.target) for asked in server.asked] == [("GET", "/v1/thing")]


def test_a_path_of_the_source_stands_before_every_target(server: Server) -> None:
    server.answer("/prometheus/api", {})
    client.get(source(server, url=f"{server.url}/prometheus/"), "/api?x=1")
    assert server.asked[0].target == "/prometheus/api?x=1"


@pytest.mark.parametrize(
    ("credential", "secret", "header", "value"),
    [
        ("bearer", SECRET, "authorization", f"Bearer {SECRET}"),
        ("basic", f"reader:{SECRET}", "authorization", "Basic cmVhZGVyOnRvay03ZjNhOWMyZTQx"),
        ("header X-Api-Key", SECRET, "x-api-key", SECRET),
    ],
)
def test_the_credential_comes_from_the_environment(
    server: Server, monkeypatch: pytest.MonkeyPatch, credential: str, secret: str, header: str, value: str
) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", secret)
    server.answer("/", {})
    client.get(source(server, reader_env="SHELF_READER_TOKEN", credential=credential), "/")
    assert server.asked[0].headers[header] == value


def test_a_credential_that_is_not_set_is_a_problem(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHELF_READER_TOKEN", raising=False)
    with pytest.raises(Problem, match="SHELF_READER_TOKEN") as told:
        client.get(source(server, reader_env="SHELF_READER_TOKEN", credential="bearer"), "/")
    assert (told.value.code, server.asked) == ("source_unset", [])


@pytest.mark.parametrize(
    "secret", [f"{SECRET}\r\nX-Admin: 1", f"{SECRET}\n", f"{SECRET}\0", f" {SECRET}", f"ö{SECRET}"]
)
def test_a_credential_that_is_no_header_value_is_not_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    if "\0" in secret:
        monkeypatch.setattr(client.os, "environ", {"SHELF_READER_TOKEN": secret})
    else:
        monkeypatch.setenv("SHELF_READER_TOKEN", secret)
    told = refused(lambda: client.get(source(server, reader_env="SHELF_READER_TOKEN", credential="bearer"), "/"))
    assert (told.code, server.asked) == ("credential", [])


@pytest.mark.parametrize(
    "target", ["/a b", "/a\r\nX-Admin: 1", "/a\n", "//evil\\x", "a", "", "/ö", "/a#b", "/" + "a" * 9_000]
)
def test_a_target_that_is_no_path_is_not_sent(server: Server, target: str) -> None:
    assert refused(lambda: client.get(source(server), target)).code == "parameters"
    assert server.asked == []


def test_no_proxy_of_the_environment_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with http_server.running() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url)
        server.answer("/", {})
        client.get(source(server), "/")
        assert (proxy.asked, len(server.asked)) == ([], 1)


def test_no_cookie_is_kept(server: Server) -> None:
    server.answer("/", {}, Set_Cookie="session=1; Path=/")
    client.get(source(server), "/")
    client.get(source(server), "/")
    assert [asked.headers.get("cookie") for asked in server.asked] == [None, None]


def test_headers_are_sent_once_each(server: Server) -> None:
    """The server of the test fails a request that says a header twice."""
    server.answer("/", {})
    client.get(source(server, headers={"X-Scope-OrgID": "a", "Accept": "application/x+json"}), "/",
               headers=(("X-Scope-OrgID", "b"),))  # fmt: skip
    told = server.asked[0].headers
    assert (told["x-scope-orgid"], told["accept"], told["user-agent"]) == ("b", "application/x+json", "counterseal")


def test_a_header_that_carries_the_credential_is_sent_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    server.answer("/", {})
    shelf = source(server, reader_env="SHELF_READER_TOKEN", credential="header X-Scope-OrgID",
                   headers={"X-Scope-OrgID": "ours"})  # fmt: skip
    client.get(shelf, "/")
    assert server.asked[0].headers["x-scope-orgid"] == SECRET


def test_a_search_is_a_post_of_json(server: Server) -> None:
    server.answer("/_search", {"hits": 0})
    client.search(source(server), "/_search", {"size": 0, "ratio": Decimal("0.10")})
    (asked,) = server.asked
    assert (asked.method, asked.body, asked.headers["content-type"]) == (
        "POST", b'{"size":0,"ratio":0.10}', "application/json",
    )  # fmt: skip


def test_connections_are_kept_and_calls_run_side_by_side(server: Server) -> None:
    barrier = threading.Barrier(4, timeout=5)

    def together(asked: Asked) -> Iterable[bytes]:
        barrier.wait()
        yield whole(b"{}")

    server.scripts["/"] = together
    shelf = source(server)
    for _ in range(2):
        threads = [threading.Thread(target=client.get, args=(shelf, "/")) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert (len(server.asked), server.connections) == (8, 4)


def test_a_definition_that_changed_takes_no_connection_of_before(server: Server) -> None:
    server.answer("/", {})
    client.get(source(server), "/")
    told = refused(lambda: client.get(Site(**{**vars(source(server)), "named": ()}), "/"))
    assert (told.code, len(server.asked)) == ("address_refused", 1)


# What a server may answer


@pytest.mark.parametrize("status", [201, 204, 206, 304, 400, 401, 403, 404, 429, 500, 503])
def test_every_status_but_200_is_refused_with_what_it_says(server: Server, status: int) -> None:
    server.answer("/", {"error": "why"} if status not in (204, 304) else b"", status)
    told = refused(lambda: client.get(source(server), "/"))
    assert isinstance(told, client.Answered)
    assert (told.status, told.code) == (status, f"http_{status}")
    assert told.value == ({"error": "why"} if status not in (204, 304) else None)
    assert len(server.asked) == 1  # never a second time


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<html></html>", "cannot be read"),
        (b'{"a": NaN}', "cannot be read"),
        (b'{"a": Infinity}', "cannot be read"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b'{"a": {"b": [{"c": 1, "c": 1}]}}', "twice"),
        (b'{"a": "\xff"}', "UTF-8"),
        (b"", "cannot be read"),
        (b"{} {}", "cannot be read"),
        (b"[" * 15_000, "cannot be read"),
        (b"1" * 15_000, "cannot be read"),
    ],
)
def test_what_is_no_plain_json_is_refused(server: Server, body: bytes, why: str) -> None:
    server.answer("/", body)
    told = refused(lambda: client.get(source(server), "/"))
    assert (told.code, why in told.sentence) == ("not_json", True), told.sentence


@pytest.mark.parametrize("kind", ["text/html", "text/plain", "application/jsonp", "application/json-seq", ""])
def test_an_answer_that_does_not_say_it_is_json_is_refused(server: Server, kind: str) -> None:
    server.answer("/", b"{}", Content_Type=kind)
    assert refused(lambda: client.get(source(server), "/")).code == "not_json"


@pytest.mark.parametrize("kind", ["application/json; charset=UTF-8", "application/vnd.api+json", "Application/JSON"])
def test_json_by_any_of_its_names_is_read(server: Server, kind: str) -> None:
    server.answer("/", b"{}", Content_Type=kind)
    assert client.get(source(server), "/").value == {}


def test_a_packed_answer_is_unpacked(server: Server) -> None:
    server.answer("/", gzip.compress(b'{"a": 1}'), Content_Encoding="gzip")
    assert client.get(source(server), "/").value == {"a": 1}


def _endless(asked: Asked) -> Iterable[bytes]:
    yield CHUNKED
    while True:
        yield chunk(b" " * 4_096)


def _empty_blocks(asked: Asked) -> Iterable[bytes]:
    """A packed body that goes on for ever and holds nothing."""
    packer = zlib.compressobj(wbits=31)
    yield CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n")
    yield chunk(packer.compress(b" ") + packer.flush(zlib.Z_FULL_FLUSH))
    while True:
        yield chunk(b"\0\0\0\xff\xff" * 500)


def _bomb(asked: Asked) -> Iterable[bytes]:
    yield whole(gzip.compress(b" " * 8_000_000), Content_Encoding="gzip")


def _bomb_in_a_bomb(asked: Asked) -> Iterable[bytes]:
    yield whole(gzip.compress(gzip.compress(b" " * 8_000_000)), Content_Encoding="gzip, gzip")


def _many_headers(asked: Asked) -> Iterable[bytes]:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in range(100_000):
        yield f"X-{number}: {'a' * 100}\r\n".encode()


def _long(asked: Asked) -> Iterable[bytes]:
    yield whole(b'{"a": "' + b"a" * 20_000 + b'"}')


@pytest.mark.parametrize(
    ("script", "code"),
    [
        (_endless, "too_large"),
        (_empty_blocks, "too_large"),
        (_bomb, "too_large"),
        (_bomb_in_a_bomb, "not_json"),
        (_many_headers, "broken_off"),
        (_long, "too_large"),
        (lambda asked: [whole(b"{}", Content_Encoding="br")], "not_json"),
        (lambda asked: [whole(gzip.compress(b"{}")[:-9], Content_Encoding="gzip")], "broken_off"),
        (lambda asked: [whole(gzip.compress(b"{}") + b"{}", Content_Encoding="gzip")], "not_json"),
        (lambda asked: [whole(b"{}", Content_Encoding="gzip")], "not_json"),
        (lambda asked: [b"no HTTP at all\r\n\r\n"], "broken_off"),
        (lambda asked: [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n{}"], "broken_off"),
        (lambda asked: [whole(b"{}", Content_Length="5,6")], "broken_off"),
    ],
)
def test_a_body_is_counted_as_it_comes_and_as_it_unpacks(server: Server, script: http_server.Script, code: str) -> None:
    server.scripts["/"] = script
    assert refused(lambda: client.get(source(server), "/", limits=Limits(bytes=20_000, seconds=3))).code == code


def test_a_bomb_is_never_unpacked_in_memory() -> None:
    packed = gzip.compress(b" " * 8_000_000)
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="larger than 20,000 bytes"):
            bodies.taken([packed], {"content-encoding": "gzip"}, 20_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def _waits(*before: bytes) -> http_server.Script:
    def script(asked: Asked) -> Iterable[bytes]:
        yield from before
        time.sleep(3)

    return script


def _drip(first: bytes, one: bytes) -> http_server.Script:
    """Always something, never the end."""

    def script(asked: Asked) -> Iterable[bytes]:
        yield first
        for _ in range(60):
            time.sleep(0.05)
            yield one

    return script


@pytest.mark.parametrize(
    "script",
    [
        _waits(),
        _waits(b"HTTP/1.1 200 OK\r\n"),
        _waits(CHUNKED, chunk(b"{")),
        _drip(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"a"),
        _drip(CHUNKED, chunk(b" ")),
        _drip(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        _drip(b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", b""),
    ],
)
def test_the_time_of_a_call_is_over_when_it_is_over(server: Server, script: http_server.Script) -> None:
    server.scripts["/"] = script
    begun = time.monotonic()
    told = refused(lambda: client.get(source(server), "/", limits=QUICK))
    assert told.code in ("too_slow", "redirect_refused")
    assert time.monotonic() - begun < 1.5


def test_a_server_that_is_not_there_is_unreachable(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        away = source(server, url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        assert refused(lambda: client.get(away, "/")).code == "unreachable"


def test_a_servers_words_are_short_and_without_the_credential(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", f"reader:{SECRET}")
    shelf = source(server, reader_env="SHELF_READER_TOKEN", credential="basic")
    said = client.said(shelf, f"bad\r\n\x1b[31m reader:{SECRET}, {SECRET}, cmVhZGVyOnRvay03ZjNhOWMyZTQx " + "x" * 900)
    assert SECRET not in said
    assert "cmVhZ" not in said
    assert said.isprintable()
    assert len(said) <= client.LONGEST_SAID


def test_an_answer_that_nests_without_end_is_refused_before_anything_walks_through_it(server: Server) -> None:
    server.answer("/", b'{"a":' * 600 + b"1" + b"}" * 600)
    assert refused(lambda: client.get(source(server), "/")).code == "too_nested"


# Redirects


def moved(location: str, status: int = 302) -> http_server.Script:
    return lambda asked: [whole(b"", status, Location=location)]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_within_the_source_is_followed(server: Server, status: int) -> None:
    server.scripts["/old"] = moved("/new?a=1", status)
    server.answer("/new", {"new": True})
    assert client.get(source(server), "/old").value == {"new": True}


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/latest/meta-data/",
        "http://metadata.google.internal/",
        "http://127.0.0.1:1/",
        "https://127.0.0.1/",
        "//evil.example/",
        "http://localhost/",
        "http://127.0.0.1.evil.example/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://user@127.0.0.1/",
        "http:\\\\evil.example\\",
        "file:///etc/passwd",
        "gopher://127.0.0.1/",
        "http://127.0.0.1%2eevil.example/",
        "http://evil.example/ ",
        "http://évil.example/",
        "",
    ],
)
def test_a_redirect_elsewhere_is_not_followed(server: Server, location: str) -> None:
    server.scripts["/"] = moved(location)
    told = refused(lambda: client.get(source(server), "/"))
    assert told.code == "redirect_refused"
    assert len(server.asked) == (4 if location == "" else 1)


def test_a_redirect_with_a_user_before_the_very_host_is_not_followed(server: Server) -> None:
    server.scripts["/"] = moved(f"http://allowed@127.0.0.1:{server.port}/x")
    assert refused(lambda: client.get(source(server), "/")).code == "redirect_refused"


def test_redirects_end(server: Server) -> None:
    server.scripts["/"] = moved("/")
    assert refused(lambda: client.get(source(server), "/")).code == "redirect_refused"
    assert len(server.asked) == client.MOST_REDIRECTS + 1


def test_a_search_is_not_led_on(server: Server) -> None:
    server.scripts["/_search"] = moved("/_delete_by_query", 307)
    assert refused(lambda: client.search(source(server), "/_search", {})).code == "redirect_refused"
    assert len(server.asked) == 1


def test_another_host_that_the_definition_names_is_followed_without_the_credential(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    with http_server.running() as mirror:
        mirror.answer("/copy", {"here": True})
        server.scripts["/"] = moved(f"{mirror.url}/copy")
        shelf = source(server, reader_env="SHELF_READER_TOKEN", credential="header X-Api-Key", hosts=[mirror.url],
                       headers={"X-Scope-OrgID": "ours"})  # fmt: skip
        assert client.get(shelf, "/").value == {"here": True}
        assert "x-api-key" in server.asked[0].headers
        assert {"x-api-key", "authorization", "x-scope-orgid"} & set(mirror.asked[0].headers) == set()


# Where a redirect may lead, hop by hop: the source itself, and two hosts that it names.
ROADS = [road for length in (1, 2, 3) for road in product(("own", "one", "other"), repeat=length)]


@pytest.fixture(scope="module")
def mirrors() -> Iterator[dict[str, Server]]:
    with http_server.running() as one, http_server.running() as other:
        yield {"one": one, "other": other}


@pytest.mark.parametrize("credential", ["bearer", "basic", "header X-Api-Key"])
@pytest.mark.parametrize("status", client.MOVED)
def test_the_credential_goes_along_no_redirect_wherever_it_leads(
    server: Server, mirrors: dict[str, Server], monkeypatch: pytest.MonkeyPatch, credential: str, status: int
) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    servers = {"own": server, **mirrors}
    shelf = source(server, reader_env="SHELF_READER_TOKEN", credential=credential, headers={"X-Scope-OrgID": "ours"},
                   hosts=[mirror.url for mirror in mirrors.values()])  # fmt: skip
    header = "x-api-key" if "X-Api-Key" in credential else "authorization"
    for road in ROADS:
        for one in servers.values():
            one.asked.clear()
        ends = ["own", *road]
        for step, (here, there) in enumerate(pairwise(ends)):
            servers[here].scripts[f"/{step}"] = moved(f"{servers[there].url}/{step + 1}", status)
        servers[road[-1]].answer(f"/{len(road)}", {"here": True})
        assert client.get(shelf, "/0").value == {"here": True}, road
        asked = [(place, one) for place, found in servers.items() for one in found.asked]
        assert len(asked) == len(ends), road
        assert [(place, one.target) for place, one in asked if header in one.headers] == [("own", "/0")], road
        assert all(place == "own" for place, one in asked if "x-scope-orgid" in one.headers), road
        assert not any(SECRET in f"{one.target}{one.headers}{one.body!r}" for _, one in asked[1:]), road


@pytest.mark.parametrize("status", client.SHUT)
@pytest.mark.parametrize("end", ["own", "other"])
def test_a_redirect_to_where_the_credential_is_wanted_says_so(
    server: Server, mirrors: dict[str, Server], monkeypatch: pytest.MonkeyPatch, status: int, end: str
) -> None:
    monkeypatch.setenv("SHELF_READER_TOKEN", SECRET)
    there = server if end == "own" else mirrors["other"]
    server.scripts["/"] = moved(f"{there.url}/in")
    there.answer("/in", {}, status)
    shelf = source(server, reader_env="SHELF_READER_TOKEN", credential="bearer", hosts=[mirrors["other"].url])
    told = refused(lambda: client.get(shelf, "/"))
    assert (told.code, "wants its credential" in told.sentence) == ("redirect_refused", True)


# Addresses


def test_a_private_address_is_refused_unless_it_is_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    _names(monkeypatch, {"shelf.example": ["127.0.0.1"]})
    server.answer("/", {"here": True})
    url = f"http://shelf.example:{server.port}"
    told = refused(lambda: client.get(source(server, url=url, addresses=[]), "/"))
    assert (told.code, "127.0.0.1" in told.sentence, server.connections) == ("address_refused", True, 0)
    assert client.get(source(server, url=url), "/").value == {"here": True}
    assert server.asked[0].headers["host"] == f"shelf.example:{server.port}"


def test_a_name_with_a_good_and_a_bad_address_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    _names(monkeypatch, {"shelf.example": ["127.0.0.1", "127.0.0.2"]})
    told = refused(lambda: client.get(source(server, url=f"http://shelf.example:{server.port}"), "/"))
    assert (told.code, "127.0.0.2" in told.sentence, server.connections) == ("address_refused", True, 0)


def test_a_name_that_changes_after_the_check_changes_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """DNS rebinding: what was checked is what is connected to, for the name is asked for once."""
    lookups = _names(monkeypatch, {"shelf.example": ["127.0.0.1"]}, then={"shelf.example": ["127.0.0.3"]})
    server.answer("/", {})
    shelf = source(server, url=f"http://shelf.example:{server.port}")
    client.get(shelf, "/")
    client.get(shelf, "/")  # by the same connection
    assert lookups == ["shelf.example"]
    client.close()
    assert refused(lambda: client.get(shelf, "/")).code == "address_refused"
    assert len(server.asked) == 2


def test_a_redirect_to_a_named_host_at_a_forbidden_address_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    _names(monkeypatch, {"mirror.example": ["169.254.169.254"]})
    server.scripts["/"] = moved("http://mirror.example/latest/")
    told = refused(lambda: client.get(source(server, hosts=["http://mirror.example"]), "/"))
    assert (told.code, "169.254.169.254" in told.sentence) == ("address_refused", True)


def test_the_next_address_of_a_name_is_tried_when_one_does_not_answer(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    _names(monkeypatch, {"shelf.example": ["127.0.0.9", "127.0.0.1"]})
    server.answer("/", {})
    shelf = source(server, url=f"http://shelf.example:{server.port}", addresses=["127.0.0.1", "127.0.0.9"])
    assert client.get(shelf, "/").value == {}


def test_a_resolver_that_hangs_ends_with_the_call(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def hanging(*args: Any, **kwargs: Any) -> list[Any]:
        done.wait(5)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hanging)
    shelf = source(server, url="http://shelf.example")
    assert refused(lambda: client.get(shelf, "/", limits=QUICK)).code == "too_slow"
    done.set()


@pytest.mark.parametrize("failure", [socket.gaierror(-2, "unknown"), UnicodeError("label too long")])
def test_a_name_that_leads_nowhere_is_said(server: Server, monkeypatch: pytest.MonkeyPatch, failure: Exception) -> None:
    def failing(*args: Any, **kwargs: Any) -> list[Any]:
        raise failure

    monkeypatch.setattr(socket, "getaddrinfo", failing)
    assert refused(lambda: client.get(source(server, url="http://shelf.example"), "/")).code == "unreachable"


def _names(
    monkeypatch: pytest.MonkeyPatch, told: dict[str, list[str]], then: dict[str, list[str]] | None = None
) -> list[str]:
    """Answers of the resolver for some names: the first time these, then those. Which names were asked for."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        if host not in told:
            return real(host, port, *args, **kwargs)
        asked.append(host)
        found = told[host] if then is None or asked.count(host) == 1 else then[host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


# TLS


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The PEM of a certificate for shelf.example that signs itself, and the file of its key and itself."""
    from datetime import UTC, datetime, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "shelf.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("shelf.example")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = made.public_bytes(serialization.Encoding.PEM).decode()
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_text(private + pem)
    return pem, file


@pytest.fixture(scope="module")
def secure(authority: tuple[str, Path]) -> Iterator[Server]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority[1])
    with http_server.running(context) as server:
        server.answer("/", {"secure": True})
        yield server


def test_tls_is_held_against_the_name_whatever_address_it_has(
    secure: Server, authority: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    client.close()
    _names(monkeypatch, {"shelf.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
    url = f"https://shelf.example:{secure.port}"
    assert client.get(source(secure, url=url, ca=authority[0]), "/").value == {"secure": True}
    for site_ in (
        source(secure, url=f"https://other.example:{secure.port}", ca=authority[0]),  # another name
        source(secure, url=f"https://127.0.0.1:{secure.port}", ca=authority[0]),
        source(secure, url=url),  # signed by nobody whom the machine knows
    ):
        told = refused(lambda site_=site_: client.get(site_, "/"))  # type: ignore[misc]
        assert (told.code, "certificate" in told.sentence) == ("unreachable", True)


def test_a_redirect_from_https_to_http_is_not_followed(
    secure: Server, server: Server, authority: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    _names(monkeypatch, {"shelf.example": ["127.0.0.1"]})
    secure.scripts["/down"] = moved(f"http://shelf.example:{secure.port}/")
    told = refused(
        lambda: client.get(source(secure, url=f"https://shelf.example:{secure.port}", ca=authority[0]), "/down")
    )
    assert told.code == "redirect_refused"
