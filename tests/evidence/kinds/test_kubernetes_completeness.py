"""An answer of the Kubernetes API is whole only when every mark on it says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from evidence.kinds import moments
from evidence.kinds.kubernetes.completeness import CODES, EVENTS_KEPT_FOR, GET, LIST, LOGS, incomplete
from tests.evidence.kinds.recorded import GONE, changed, records

NOW = datetime(2026, 3, 9, 15, 0, tzinfo=UTC)
AT = "2026-03-09T14:00:00.000000001Z "  # before each line of a log
WHOLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "get": ({"act": GET, "kind": "Pod"}, {"kind": "Pod", "metadata": {"name": "a", "resourceVersion": "7"}}),
    "list": (
        {"act": LIST, "kind": "Pod", "limit": 2},
        {"kind": "PodList", "metadata": {"resourceVersion": "7"}, "items": [{"metadata": {"name": "a"}}]},
    ),
    "events": (
        {"act": LIST, "kind": "Event", "limit": 2, "begins": NOW - timedelta(hours=1), "asked_at": NOW,
         "kept_for": EVENTS_KEPT_FOR},
        {"kind": "EventList", "metadata": {"resourceVersion": "7", "continue": ""}, "items": []},
    ),
    "logs": ({"act": LOGS, "tail_lines": 3, "limit_bytes": 100}, {"status": "success", "data": f"{AT}one\n{AT}two\n"}),
}  # fmt: skip
STATUS = {"kind": "Status", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "status": "Failure", "code": 404}
MARKS: tuple[tuple[str, str, Any, str], ...] = (
    ("get", "kind", "Status", "status_object"),
    ("get", "kind", "Table", "table"),
    ("get", "kind", "PodList", "another_kind"),
    ("get", "kind", GONE, "another_kind"),
    ("get", "metadata.resourceVersion", GONE, "no_version"),
    ("get", "metadata.resourceVersion", "", "no_version"),
    ("get", "metadata.resourceVersion", 7, "no_version"),
    ("list", "kind", "Status", "status_object"),
    ("list", "kind", "Table", "table"),
    ("list", "kind", "Pod", "another_kind"),
    ("list", "kind", "JobList", "another_kind"),
    ("list", "metadata.resourceVersion", "0", "no_version"),
    ("list", "metadata", None, "no_version"),
    ("list", "metadata.continue", "abc", "goes_on"),
    ("list", "metadata.continue", None, "goes_on"),
    ("list", "metadata.remainingItemCount", 1, "goes_on"),
    ("list", "metadata.remainingItemCount", "1", "goes_on"),
    ("list", "items", None, "no_items"),
    ("list", "items", GONE, "no_items"),
    ("list", "items", [{}, {}], "limit_reached"),
    ("logs", "data", "", "no_lines"),
    ("logs", "data", None, "no_lines"),
    ("logs", "data", GONE, "no_lines"),
    ("logs", "data", f"{AT}\n" * 3, "tail_reached"),
    ("logs", "data", f"{AT}\n{AT}\n{AT}", "tail_reached"),
    ("logs", "data", AT + "ä" * 35, "bytes_reached"),
    ("logs", "data", f"{AT}{'a' * 60}\n{AT[:9]}", "bytes_reached"),
    ("logs", "data", "unable to retrieve container logs for containerd://ab12", "log_error"),
    ("logs", "data", 'failed to try resolving symlinks in path "/var/log/pods/x/0.log": lstat', "log_error"),
    ("logs", "data", 'failed to open log file "/var/log/pods/x/0.log": open: no such file or directory', "log_error"),
    ("logs", "data", f'{AT}one\nfailed to read log file "/x/0.log": input/output error', "log_error"),
    ("logs", "data", f"{AT}one\n\n", "log_error"),
    ("logs", "data", AT.strip() + "one\n", "log_error"),
)


@pytest.mark.parametrize("name", sorted(WHOLE))
def test_a_whole_answer_is_whole(name: str) -> None:
    assert incomplete(*WHOLE[name]) == ()


@pytest.mark.parametrize(("name", "path", "value", "code"), MARKS)
def test_each_mark_alone_takes_it_away(name: str, path: str, value: Any, code: str) -> None:
    request, answer = WHOLE[name]
    assert incomplete(request, changed(answer, path, value)) == (code,)


def test_events_from_before_they_are_kept_are_missing() -> None:
    request, answer = WHOLE["events"]
    longer = {**request, "begins": request["begins"] - timedelta(seconds=1)}
    assert incomplete(longer, answer) == ("events_expired",)
    assert incomplete({**longer, "kept_for": timedelta(hours=2)}, answer) == ()


def test_every_code_is_tried() -> None:
    assert {code for *_, code in MARKS} | {"events_expired"} == set(CODES)


def test_a_fault_with_a_good_status_code_is_no_object() -> None:
    assert "status_object" in incomplete(WHOLE["list"][0], STATUS)


@pytest.mark.parametrize("record", records("kubernetes"), ids=lambda record: record["name"])
def test_recorded_answers(record: dict[str, Any]) -> None:
    assert incomplete(asked(record["request"]), record["answer"]) == tuple(record["incomplete"])


def asked(request: dict[str, Any]) -> dict[str, Any]:
    """A request as it is judged: JSON has neither moments nor durations."""
    times = {key: moments.parse(request[key]) for key in ("begins", "asked_at") if key in request}
    kept = {"kept_for": timedelta(seconds=request["kept_for"])} if "kept_for" in request else {}
    return {**request, **times, **kept}
