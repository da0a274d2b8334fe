"""Hosts, addresses and arguments of HTTP sources: one spelling each, and nothing that leads elsewhere."""

from __future__ import annotations

from decimal import Decimal
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evidence.errors import Refused
from evidence.kinds.http import addresses, encoding, hosts, site

PRIVATE = (
    "127.0.0.1", "127.8.8.8", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
    "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "192.88.99.1", "168.63.129.16", "100.100.100.200",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::", "2002:808:808::1", "2001::1", "2001:db8::1", "fe80::1",
    "fe80::1%eth0", "2606:4700::1%1", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1", "3fff::1", "5f00::1", "4000::1",
    "100::1",
)  # fmt: skip


@pytest.mark.parametrize("text", PRIVATE)
def test_an_address_that_is_not_everybodys_is_not_reached(text: str) -> None:
    assert addresses.is_allowed(ip_address(text), []) is False


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "2606:4700::1"])
def test_everybodys_addresses_are_reached(text: str) -> None:
    assert addresses.is_allowed(ip_address(text), []) is True


@given(st.ip_addresses())
def test_what_python_takes_for_private_is_never_everybodys(address: Any) -> None:
    if not address.is_global or address.is_multicast or address.is_reserved:
        assert addresses.is_public(address) is False


@pytest.mark.parametrize(
    ("named", "address", "allowed"),
    [
        ("10.0.0.0/8", "10.2.3.4", True),
        ("10.0.0.5", "10.0.0.6", False),
        ("127.0.0.1", "127.0.0.1", True),
        ("::1", "::1", True),
        ("fd00::/16", "fd00:1::1", True),
        ("fd00::/16", "fd00:ec2::254", False),  # where a cloud hands out credentials
        ("169.254.0.0/16", "169.254.169.254", False),
        ("169.254.169.254", "169.254.169.254", True),
        ("100.64.0.0/10", "100.100.100.200", False),
        ("10.0.0.0/8", "::ffff:10.0.0.1", False),
        ("64:ff9a::/31", "64:ff9b::7f00:1", False),  # 127.0.0.1 behind a translator, within a network that is named
    ],
)
def test_a_named_address_is_reached(named: str, address: str, allowed: bool) -> None:
    assert addresses.is_allowed(ip_address(address), [addresses.network(named)]) is allowed


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0/0", "::/0", "10.0.0.0/7", "10.0.0.1/8", "fc00::/7", "::ffff:10.0.0.1", "010.0.0.1", "10.1", "0x7f.1",
     "2130706433", 2130706433, None, "10.0.0.5 ", "fe80::1%eth0", "FD00::1", "64:ff9b::/96", "localhost", ""],
)  # fmt: skip
def test_what_names_no_address_or_too_many_is_refused(text: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        addresses.network(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://allowed@evil.example/", "https://user:secret@host.example/", "https://host.example@/",
        "https://[fe80::1%25eth0]/", "https://[fe80::1%eth0]/", "https://[::FFFF]/", "https://[0:0:0:0:0:0:0:1]/",
        "https://0x7f.0.0.1/", "https://0x7f000001/", "https://2130706433/", "https://0177.0.0.1/", "https://127.1/",
        "https://127.0.0.1.", "https://127.0.0.01/", "https://host.example./", "https://host..example/",
        "https://.host.example/", "https://-host.example/", "https://host-.example/", "https://HOST.example/",
        "https://hößt.example/", "https://host。example/", "https://①②⑦.0.0.1/", "https://host.example:0/",
        "https://host.example:65536/", "https://host.example:080/", "https://host.example:/", "https://host.example\\@evil/",
        "https://host.example:443:80/", "https:/host.example/", "https:host.example", "//host.example/", "host.example",
        "ftp://host.example/", "javascript:alert(1)", "https://host.example/ ", "https://host.example/\r\nX: 1", "",
        "https://", "https:///path", "https://host.example\t/", "https://1.2.3.4.5/", "https://256.1.1.1/", "https://a.0x/",
        None, 7, "HTTPS://host.example/", "https://%68ost.example/", f"https://{'a' * 64}.example/",
        "https://" + "a." * 127 + "example/", "https://host.example/" + "a" * 5_000, "https://ho_st.example/",
    ],
)  # fmt: skip
def test_an_address_that_can_be_read_in_two_ways_is_none(text: Any) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        hosts.parse(text)


@pytest.mark.parametrize(
    ("text", "origin", "target"),
    [
        ("https://host.example", "https://host.example", "/"),
        ("https://host.example:443/a?b=c", "https://host.example", "/a?b=c"),
        ("http://localhost:9090/x/", "http://localhost:9090", "/x/"),
        ("https://xn--hst-sna.example/", "https://xn--hst-sna.example", "/"),
        ("https://127.0.0.1:8443/#part", "https://127.0.0.1:8443", "/"),
        ("https://[2606:4700::1]:8443/", "https://[2606:4700::1]:8443", "/"),
        ("https://10.example/", "https://10.example", "/"),
    ],
)
def test_plain_addresses_are_read(text: str, origin: str, target: str) -> None:
    place = hosts.parse(text)
    assert (str(place.origin), place.target) == (origin, target)


@given(st.text(alphabet="https:/[]@.%0127axAX#?\\é。 \n", max_size=40).map(lambda rest: f"https://{rest}"))
def test_what_is_read_is_what_the_standard_library_reads(text: str) -> None:
    """Two readers of one address agree on its host, or one of them refuses it."""
    try:
        place = hosts.parse(text)
    except ValueError:
        return
    parts = urlsplit(text)
    assert (parts.hostname, parts.username) == (place.origin.host, None)


@pytest.mark.parametrize(
    "path", ["/../admin", "/a/../..", "/a/./b", "/a//b", "/%2e%2e", "/a;b", "/a?b", "/a#b", "/..;/x"]
)
def test_the_path_of_a_source_is_plain(path: str) -> None:
    with pytest.raises(ValueError, match="plain path"):
        hosts.base(f"https://host.example{path}")


SEGMENTS = ("..", ".", "", " ", ". .", "...", "a/b", "a\\b", "a;b", "a?b", "a#b", "%2e%2e", "a%2fb", "a%00", "..%2f",
            "．．", "／", "a／b", "．", "‥", "…", "a？b", "a＃b", "a；b", "％2e", "a＼b", "\0", "a\nb",
            "a\u202eb", "\ud800", "a\u200bb", "\ufeff", "a\u2028b", "a" * 2_001, " ..", ".. ",
            "\u2024\u2024", "﹒﹒")  # fmt: skip


@pytest.mark.parametrize("value", SEGMENTS)
def test_an_argument_cannot_leave_its_segment(value: str) -> None:
    with pytest.raises(Refused) as told:
        encoding.segment(value)
    assert told.value.code == "parameters"


@pytest.mark.parametrize(
    ("value", "text"),
    [("a b+c", "a%20b%2Bc"), (7, "7"), (True, "true"), ("ö@x:1,2", "%C3%B6%40x%3A1%2C2"), ("a.b", "a.b"),
     (Decimal("1E+2"), "100"), ("..a", "..a")],
)  # fmt: skip
def test_plain_arguments_are_written_down(value: Any, text: str) -> None:
    assert encoding.segment(value) == text


@given(st.text(max_size=30))
@example("．．")
@example("a%2e")
def test_a_segment_stays_one_however_often_it_is_decoded(value: str) -> None:
    try:
        written = encoding.segment(value)
    except Refused:
        return
    once, twice = unquote(written), unquote(unquote(written))
    assert once == twice == value
    assert urlsplit(f"https://host.example/a/{written}/b").path.split("/") == ["", "a", written, "b"]


@given(st.lists(st.tuples(st.sampled_from(("query", "match[]", "start")), st.text(max_size=20))))
def test_a_value_adds_no_parameter(pairs: list[tuple[str, str]]) -> None:
    try:
        written = encoding.query(pairs)
    except Refused:
        return
    assert parse_qsl(written[1:], keep_blank_values=True, strict_parsing=bool(pairs)) == pairs
    assert not set("#\r\n \0") & set(written)


def test_lists_are_several_parameters_and_nothing_is_none() -> None:
    assert encoding.query([("match[]", ["up", 'a{b="c"}']), ("start", None), ("limit", 5)]) == (
        "?match%5B%5D=up&match%5B%5D=a%7Bb%3D%22c%22%7D&limit=5"
    )
    assert encoding.query([("start", None)]) == ""


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        [["a"]],
        1.5,
        b"a",
        Decimal("1e999999999"),
        Decimal("1e-999999999"),
        Decimal("NaN"),
        10**41,
        -(10**4000),
    ],
)
def test_what_is_no_plain_value_is_refused(value: Any) -> None:
    with pytest.raises(Refused):
        encoding.query([("a", value)])


SOURCE = {"kind": "http", "url": "https://host.example/api", "environment": "production"}


def test_a_source_says_where_it_is_and_little_else() -> None:
    site.check(SOURCE, ())
    credentials = {"reader_env": "SHELF_READER_TOKEN", "credential": "bearer", "doctor_env": "SHELF_DOCTOR_TOKEN"}
    around = {"hosts": ["https://mirror.example.com"], "addresses": ["10.0.0.5"], "headers": {"X-Scope-OrgID": "a"}}
    site.check({**SOURCE, **credentials, **around}, ())


@pytest.mark.parametrize(
    "more",
    [
        {"url": "https://10.0.0.5/"}, {"url": "http://[::1]:9090"}, {"url": "https://host.example/?a=1"}, {"url": None},
        {"reader_env": "SHELF_READER_TOKEN"}, {"credential": "bearer"}, {"doctor_env": "SHELF_DOCTOR_TOKEN"},
        {"reader_env": "SHELF_READER_DSN", "credential": "bearer"}, {"reader_env": "PATH_TO", "credential": "bearer"},
        {"reader_env": "COUNTERSEAL_READER_TOKEN", "credential": "bearer"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": "header Host"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": "header Content-Length"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": "header Cookie"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": "header X: 1"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": "digest"},
        {"reader_env": "SHELF_READER_TOKEN", "credential": 7},
        {"hosts": ["http://mirror.example.com"]}, {"hosts": ["https://mirror.example.com/"]},
        {"hosts": "https://a.example"},
        {"hosts": ["https://u@mirror.example.com"]}, {"hosts": ["https://a.example"] * 6},
        {"addresses": ["0.0.0.0/0"]}, {"addresses": "10.0.0.5"}, {"addresses": ["10.0.0.5"] * 21},
        {"headers": {"Authorization": "x"}}, {"headers": {"Host": "evil"}}, {"headers": {"Accept": "a\r\nX: 1"}},
        {"headers": {"Accept": ""}}, {"headers": [1]}, {"ca": "no PEM"}, {"ca": 7}, {"environment": "A B"}, {"more": 1},
        {"accepts": ["reached"]},
    ],
)  # fmt: skip
def test_a_source_that_could_lead_elsewhere_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        site.check({**SOURCE, **more}, ())
