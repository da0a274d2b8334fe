"""What an agent gets of a hostile answer: no secret, nothing hidden, and exactly what the log keeps."""

from __future__ import annotations

from typing import Any

import pytest

from audit import reading
from audit.models import Entry
from evidence import gateway
from evidence.errors import Problem
from gate.triage.readers.document import Document, Unreadable
from tests.evidence import bodies

pytestmark = pytest.mark.django_db
HOSTILE = "select 'a' || chr(8238) || 'b' as note, 'hunter2' as password, 'Bearer abcdefghijklmnop' as line"


def ask(asker: Any, tool: str, **given: Any) -> gateway.CallResult:
    return gateway.call(asker[0], tool, given, None)


@pytest.fixture
def hostile(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    define("tool", "hostile", bodies.any_tool(HOSTILE, shape="row"))
    two = "select jsonb_build_object('Bearer abcdefghijkl', 1, 'Bearer mnopqrstuvwx', 2) as result"
    define("tool", "two_keys", bodies.any_tool(two, shape="object"))
    define("tool", "strict", bodies.any_tool(
        "select 7 as token", shape="row", output_schema={"type": "object", "properties": {"row": {
            "type": "object", "properties": {"token": {"type": "integer"}}}}}))  # fmt: skip
    define("tool", "failing", bodies.any_tool("select ('x' || chr(8203) || $1::text)::integer as n", "text"))
    scope_of(asker[0], "hostile", "two_keys", "strict", "failing")


def test_the_agent_gets_what_the_log_keeps(hostile: None, asker: Any) -> None:
    answer = ask(asker, "hostile")
    assert answer.result == {
        "row": {"note": "a⟦U+202E⟧b", "password": "[masked: password]", "line": "[masked: bearer token]"}
    }
    kept = reading.payload_of(Entry.objects.get(seq=int(answer.audit_id[2:])).pk)
    assert kept.result == answer.result
    assert b"hunter2" not in kept.result_raw
    assert b"202e" not in kept.result_raw.lower().replace(b"u+202e", b"")


def test_no_check_reads_what_was_changed(hostile: None, asker: Any) -> None:
    told = Document(ask(asker, "hostile").result)
    for name in ("note", "password", "line"):
        for read in (told.text, told.text_or_null, told.identifier, told.scalar):
            with pytest.raises(Unreadable, match=r"was (masked|written out)"):
                read("row", name)


def test_what_masking_would_lose_or_break_is_kept_out(hostile: None, asker: Any) -> None:
    with pytest.raises(Problem, match="differ in nothing but a secret") as lost:
        ask(asker, "two_keys")
    assert lost.value.code == "masked_keys"
    with pytest.raises(Problem, match="breaks the tool's contract") as broken:
        ask(asker, "strict")
    assert broken.value.code == "output_mismatch"


def test_an_error_hides_nothing_either(hostile: None, asker: Any) -> None:
    with pytest.raises(Problem) as failed:
        ask(asker, "failing", text="y")
    assert "⟦U+200B⟧" in failed.value.sentence


def test_a_tool_has_caps_below_those_of_all(certified: Any, define: Any, asker: Any, scope_of: Any) -> None:
    numbers = "select g as n from generate_series(1, 50) g"
    define("tool", "few", bodies.any_tool(numbers, max_rows=3))
    define("tool", "small", bodies.any_tool(numbers, max_bytes=100))
    scope_of(asker[0], "few", "small")
    few, small = ask(asker, "few"), ask(asker, "small")
    assert (len(few.result["rows"]), few.truncated, few.left.rows_cap) == (3, True, 3)
    assert (0 < len(small.result["rows"]) < 20, small.truncated, small.left.bytes_cap) == (True, True, 100)
    for key, number in (("max_rows", 0), ("max_rows", 1_001), ("max_bytes", True), ("max_bytes", 10**6)):
        with pytest.raises(ValueError, match=f"{key} is a whole number"):
            define("tool", "wrong", bodies.any_tool(numbers, **{key: number}))
