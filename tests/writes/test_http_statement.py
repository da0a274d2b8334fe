from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.writes import http_target, targets
from gate.writes.errors import Unfit
from gate.writes.http_statement import canonical
from tests.writes.billing import Billing
from tests.writes.test_http_execution import action, body

HERE = Billing(port=8080)
ACTION = http_target.of(action(HERE))
plain = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=20)


@given(plain.filter(lambda one: set(one) != {"."}), st.integers(-(2**53) + 1, 5000), st.none() | plain)
def test_a_request_is_the_same_however_often_it_is_written(refund: str, cents: int, note: str | None) -> None:
    fields = {"refund_id": refund, "amount_cents": cents, **({"note": note} if note else {})}
    made = canonical(ACTION, json.dumps(fields, indent=3), [])
    assert canonical(ACTION, made.text, []) == made
    assert json.loads(made.body) == fields
    assert made.url.count("/") == 4  # whatever the field holds, it stays one segment of the path
    assert not set(made.url.removeprefix(f"http://{HERE.host}/refunds/")) & set("/?#&=@: ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "JSON object"), ("refund it", "JSON object"), ("", "JSON object"),
        ('{"refund_id": "r", "amount_cents": 1.5}', "fraction"),
        ('{"refund_id": "r", "amount_cents": NaN}', "fraction"),
        ('{"refund_id": "r", "amount_cents": 9007199254740993}', "too large"),
        ('{"refund_id": "r", "amount_cents": 1e3}', "fraction"),
        ('{"refund_id": "r", "refund_id": "q", "amount_cents": 1}', "twice"),
        ('{"refund_id": "r", "amount_cents": 1, "more": 1}', "schema"), ('{"refund_id": "r"}', "schema"),
        ('{"refund_id": "r", "amount_cents": 5001}', "schema"), ('{"refund_id": "", "amount_cents": 1}', "not empty"),
        ('{"refund_id": "..", "amount_cents": 1}', "another one"),
        ('{"refund_id": "r", "amount_cents": 1, "note": "a\\u202eb"}', "U+202E"),
        ('{"refund_id": "r", "amount_cents": 1, "note": "\\ud800"}', "no text"),
        ('POST http://127.0.0.1:8080/refunds/q\n{"refund_id":"r","amount_cents":1}', "first line"),
        ('{"a":' * 100_000, "longer"), ('{"a":' * 3000, "JSON object"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_as_shown_is_refused(text: str, why: str) -> None:
    with pytest.raises(Unfit, match=why.replace("+", r"\+")):
        canonical(ACTION, text, [])


def test_parameters_are_none_of_its_business() -> None:
    with pytest.raises(Unfit, match="no parameters"):
        canonical(ACTION, "{}", [{"t": "text", "v": "a"}])


@pytest.mark.parametrize("changed", [
    {"method": "GET"}, {"header": "Host"}, {"header": "Idempotency-Key"}, {"header": "A\r\nB"}, {"timeout_seconds": 31},
    {"timeout_seconds": True}, {"named_hosts": []}, {"named_hosts": ["*"]}, {"named_hosts": "127.0.0.1:8080"},
    {"url": "ftp://billing.example.com/x"}, {"url": "http://billing.example.com/x"}, {"url": "https://10.0.0.1/x"},
    {"url": "https://u:p@billing.example.com/x"}, {"url": "https://{refund_id}.example.com/x"},
    {"url": "https://billing.example.com"}, {"url": "https://billing.example.com/{note}"},
    {"url": "https://billing.example.com/{lost}"}, {"url": "https://billing.example.com/x#y"},
    {"url": "https://billing.example.com/{}"}, {"url": "https://billing.example.com/a b"},
    {"body": {"type": "array"}}, {"body": {"type": "object", "properties": {}}}, {"body": {"type": "object"}},
    {"probe": {"url": "https://billing.example.com/x", "pointer": "/a"}},
    {"probe": {"url": "https://billing.example.com/x", "pointer": "a", "equals": 1}},
    {"probe": {"url": "http://billing.example.com/x", "pointer": "/a", "equals": 1}},
    {"probe": {"url": "https://billing.example.com/x", "pointer": "/a", "equals": 1.5}},
    {"probe": {"url": "https://billing.example.com/x", "pointer": "/a", "equals": {"field": "note"}}},
])  # fmt: skip
def test_an_action_that_cannot_be_used_is_refused(changed: dict[str, Any]) -> None:
    targets.check_body("billing", body(HERE))
    with pytest.raises(ValueError, match=r"\.$"):
        targets.check_body("billing", body(HERE, **changed))
