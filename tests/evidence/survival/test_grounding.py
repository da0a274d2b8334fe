"""What each fact of an answer rests on: every status and every named derivation, and what must not count as one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.survival.formats import read_trace
from evidence.survival.grounding import Source, ground, ground_answer

TRACES = Path(__file__).resolve().parents[2] / "data/survival/traces"

# Evidence, answer, status and how of the answer's only fact.
GROUNDED: list[tuple[str, str, str, str | None]] = [
    ("order 88213 failed", "Order 88213.", "supported", None),
    ("1234 rows", "1,234 rows", "supported", None),
    ("3.0 of them: 17.0", "17", "supported", None),
    ('{"took_ms": 4200}', "took 4200 ms", "supported", None),
    ("28112.345 ms", "about 28.1 s", "derived", "rounding"),
    ("took 28.1 seconds", "~28 seconds", "derived", "rounding"),
    ("took 28.1 seconds", "~29 seconds", "unsupported", None),
    ("took 28.5 seconds", "29 seconds", "derived", "rounding"),
    ("took 28.6 seconds", "28 seconds", "unsupported", None),
    ("at -2.5 °C", "-3 °C", "derived", "rounding"),
    ("took 28 seconds", "28.1 seconds", "unsupported", None),
    ("DB timeout 30000ms", "30 seconds", "derived", "unit"),
    ("Read 2.1GB of log data in last minute", "2.1GB/minute", "supported", None),
    ("Read 2.1GB of log data in last minute", "35MB/s", "derived", "unit"),
    ("Read 2.1GB of log data", "35MB/s", "unsupported", None),
    ("a share of 0.5", "50%", "unsupported", None),
    ("45 of 90 failed", "50%", "derived", "percent"),
    ("45 of 90 failed", "51%", "unsupported", None),
    ("45 failed\n90 ran", "50%", "unsupported", None),
    ('{"failed": 1, "all": 3}', "33.3%", "derived", "percent"),
    ('[{"price": 100}, {"price": 250}]', "$350", "derived", "sum"),
    ('[{"price": 100}, {"tax": 250}]', "$350", "unsupported", None),
    ("30 ms, then 40 ms", "70 ms", "derived", "sum"),
    ("30 ms, then 40 s", "70 ms", "unsupported", None),
    ("at 5 ms", "-5 ms", "unsupported", None),
    ("5 ms", "5 s", "unsupported", None),
    ("$20.50", "€20.50", "unsupported", None),
    ("2026-03-04T09:12:01Z", "at 09:12", "supported", None),
    ("2026-03-04T09:12:01Z", "at 12:01", "unsupported", None),
    ("2026-03-04T09:12:01Z", "2026-03-04 09:12", "supported", None),
    ("2026-03-04", "2026-03-05", "unsupported", None),
    ("f9e8d7c6b5a4f3e2", "commit f9e8d7c", "supported", None),
    ("f9e8d7c6b5a4f3e2", "commit f9e8d7d", "unsupported", None),
    ("self.pool.acquire", "pool.acquire", "supported", None),
    ("10.0.0.1", "10.0.0.11", "unsupported", None),
    ("/srv/app/app.log", "/app/app.log", "supported", None),
    ("worker-node-05", "worker-node-50", "unsupported", None),
    ("2026-03-04T09:12:01Z", "March 4, 2026", "supported", None),
    ("on 4 March 2026", "2026-03-04", "supported", None),
    ("on Mar 4th, 2026", "4 March 2026", "supported", None),
    ("on March 4, 2026", "2026-04-03", "unsupported", None),
    ("$1,200", "$1.2k", "derived", "unit"),
    ("$1.2M", "$12", "unsupported", None),
    ("$12M", "$12", "unsupported", None),
    ("3.14159", "3.14", "derived", "rounding"),
    ("3.14159", "3.15", "unsupported", None),
    ("50 MB", "50M", "unsupported", None),
    ("50M rows", "50 min", "unsupported", None),
    ("at 09:12:01", "12:01", "unsupported", None),
    ("at 09:12:01", "09:12", "supported", None),
    ('{"cpu": 95}', "95%", "supported", None),
    ("CPU 95", "95%", "supported", None),
    ("duration=4200 status=500", "4200 ms", "supported", None),
    # What is counted in words, or is money of another kind, is of no unit, and the other way round.
    *(
        (f"{one} there", f"about {other}", "unsupported", None)
        for one, other in (
            ("20 items", "20 ms"),
            ("20 items", "$20"),
            ("20 ms", "20 items"),
            ("15 percentage points", "15%"),
            ("15 pp", "15%"),
            ("15%", "15 percentage points"),
            ("100 Mbit/s", "100 MB/s"),
            ("100 GB", "100 Gb"),
            ("512 kb", "512 KB"),
            ("512 kB", "512 KiB"),
            ("512 KB", "512 KiB"),
            ("¥2000", "$2000"),
            ("$2000", "¥2000"),
            ("₹500", "$500"),
            ("CHF 20", "$20"),
            ("20 CHF", "20 USD"),
            ("20-item", "20 ms"),
        )
    ),
    *(
        (f'{{"{name}": 20}}', other, "unsupported", None)
        for name in ("items", "job_id", "retryCount")
        for other in ("20 ms", "$20", "20%", "20 MB")
    ),
    # A name is not in a longer one.
    *(
        (one, other, "unsupported", None)
        for one, other in (
            ("evil-example.com", "example.com"),
            ("example.com.evil.org", "example.com"),
            ("order_77_old", "order_77"),
            ("web-7d9f-abc12", "web-7d9f"),
            ("old-app.service", "app.service"),
            ("req-A12-b", "req-A12"),
            ("123e4567-e89b-12d3-a456-426614174000", "a456-426614174000"),
            ("CVE-2024-12345", "CVE-2024-1234"),
        )
    ),
]


@pytest.mark.parametrize(("evidence", "answer", "status", "how"), GROUNDED)
def test_a_fact_rests_on_what_it_rests_on(evidence: str, answer: str, status: str, how: str | None) -> None:
    (fact,) = ground(answer, [Source("e", evidence)])["facts"]
    assert (fact["status"], fact["how"]) == (status, how)
    assert bool(fact["rests_on"]) == (status != "unsupported")


def test_the_question_counts_after_evidence_and_before_derivations() -> None:
    asked = [Source("q", "job 88213, limit 30 s")]
    facts = ground("88213 after 30 s, 17.5", [Source("e", "30000 ms, 88213")], asked)["facts"]
    assert [fact["status"] for fact in facts] == ["supported", "from the question", "unsupported"]
    assert [one["ref"] for fact in facts for one in fact["rests_on"]] == ["e", "q"]


def test_a_percentage_and_a_sum_name_their_operands() -> None:
    facts = ground("50% and 135 ms", [Source("e", "45 ms of 90 ms")])["facts"]
    assert [[one["text"] for one in fact["rests_on"]] for fact in facts] == [["45 ms", "90 ms"], ["45 ms", "90 ms"]]


def test_of_many_numbers_only_neighbors_are_added_up() -> None:
    many = ", ".join(f"{2**power} ms" for power in range(1, 13))
    statuses = [ground(sum_, [Source("e", many)])["facts"][0]["status"] for sum_ in ("6 ms", "10 ms", "124 ms")]
    assert statuses == ["derived", "unsupported", "derived"]


def test_only_what_stands_before_the_answer_is_looked_at() -> None:
    steps = [{"type": "assistant", "content": "Job 88213."}, {"type": "tool_result", "content": "88213"}]
    before, after = ground_answer(steps[::-1]), ground_answer(steps)
    assert before is not None
    assert after is not None
    assert (before["counts"]["supported"], after["counts"]["unsupported"]) == (1, 1)
    assert ground_answer(steps[1:]) is None


def test_numbering_is_no_fact() -> None:
    assert ground("1. First\n2. Second, 3 of them", [])["facts"] == []


def test_parameters_of_a_write_are_grounded_leaf_by_leaf() -> None:
    facts = ground('["queued", "90433", "90434"]', [Source("A-1", '{"job_id": 90433}')])["facts"]
    assert [(fact["text"], fact["status"]) for fact in facts] == [("90433", "supported"), ("90434", "unsupported")]


def test_the_answer_of_the_cascading_failure_rests_on_its_evidence() -> None:
    steps = read_trace((TRACES / "holmes_cascading_failure.json").read_text()).steps
    report = ground_answer(steps)
    assert report is not None
    unsupported = [fact["text"] for fact in report["facts"] if fact["status"] == "unsupported"]
    derived = {fact["text"]: fact["how"] for fact in report["facts"] if fact["status"] == "derived"}
    assert unsupported == ["45%", "95%"]
    assert derived["35MB/s"] == "unit"
    assert derived["28 seconds"] == "rounding"


@given(st.text(), st.text())
def test_any_text_is_grounded_with_spans_that_hold(answer: str, evidence: str) -> None:
    for fact in ground(answer, [Source("e", evidence)])["facts"]:
        assert answer[fact["start"] : fact["end"]] == fact["text"]
        assert all(evidence[one["start"] : one["end"]] == one["text"] for one in fact["rests_on"])


@given(st.text(alphabet="0123456789.,%$ -:ms/GB\n"))
def test_what_evidence_says_word_for_word_is_supported(text: str) -> None:
    assert {fact["status"] for fact in ground(text, [Source("e", text)])["facts"]} <= {"supported"}
