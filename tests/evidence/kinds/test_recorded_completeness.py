"""What rules were tried on is judged alike: an answer that earned a pass is whole, and a doubted one is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import simplejson

from evidence.kinds import moments
from evidence.kinds.cloudwatch import completeness as cloudwatch
from evidence.kinds.elasticsearch import completeness as elasticsearch
from evidence.kinds.elasticsearch import esql
from evidence.kinds.kubernetes import completeness as kubernetes

CASES = Path(__file__).parents[2] / "data" / "incidents"
MOST = 500
Judged = Callable[[dict[str, Any], dict[str, Any], datetime], tuple[str, ...]]


def _search(args: dict[str, Any], answer: dict[str, Any], at: datetime) -> tuple[str, ...]:
    body = args.get("body", {})
    size = body.get("size", elasticsearch.DEFAULT_SIZE) if isinstance(body, dict) else elasticsearch.DEFAULT_SIZE
    return elasticsearch.incomplete({"endpoint": elasticsearch.SEARCH, "size": size}, answer)


def _esql(args: dict[str, Any], answer: dict[str, Any], at: datetime) -> tuple[str, ...]:
    query = esql.parse(args["query"], esql.named(args["query"]))
    about = {"endpoint": elasticsearch.ESQL, "limit": query.limit, "one_row": query.one_row}
    return elasticsearch.incomplete(about, answer)


def _kube(args: dict[str, Any], answer: dict[str, Any], at: datetime) -> tuple[str, ...]:
    kind = str(answer.get("kind"))
    act = kubernetes.LIST if kind.endswith("List") else kubernetes.GET
    about = {"act": act, "kind": kind.removesuffix("List"), "limit": args.get("limit", MOST), "asked_at": at,
             "kept_for": timedelta(hours=1)}  # fmt: skip
    # Records were shortened, and what kubectl itself puts together bears no version.
    return tuple(code for code in kubernetes.incomplete(about, answer) if code != "no_version")


def _of_aws(operation: str) -> Judged:
    def judged(args: dict[str, Any], answer: dict[str, Any], at: datetime) -> tuple[str, ...]:
        query = {"Id": "m1", "MetricStat": {"Period": args.get("Period")}}
        flat = {} if "MetricDataQueries" in args else {"MetricDataQueries": [query]}
        times = {key: moments.parse(args[key]) for key in ("StartTime", "EndTime") if key in args}
        return cloudwatch.incomplete(operation, {**args, **flat, **times, "asked_at": at}, answer)

    return judged


TOOLS: dict[str, Judged] = {
    "es_search": _search, "es_esql": _esql, "kubectl_get": _kube, "kubectl_events": _kube,
    "kubectl_find_resource": _kube,
    "cloudwatch_describe_alarms": _of_aws("DescribeAlarms"), "cloudwatch_get_metric_data": _of_aws("GetMetricData"),
    "cloudwatch_get_query_results": _of_aws("StartQuery"), "rds_describe_events": _of_aws("DescribeEvents"),
}  # fmt: skip


def _calls() -> Iterator[tuple[str, str, Any]]:
    for path in sorted([*CASES.glob("*.json"), *CASES.glob("other/*.json")]):
        case = simplejson.loads(path.read_text(), use_decimal=True)
        for call in case["audit"]:
            if (
                call["tool"] in TOOLS
                and isinstance(call["result"], dict)
                and call.get("meta", {}).get("ok") is not False
            ):
                yield f"{path.stem} {call['id']}", case["actual"], call


CALLS = list(_calls())


@pytest.mark.parametrize(("name", "actual", "call"), CALLS, ids=[name for name, *_ in CALLS])
def test_an_answer_that_earned_a_pass_is_whole(name: str, actual: str, call: Any) -> None:
    at = moments.parse(call["meta"]["called_at"]) if "meta" in call else moments.parse("2026-12-01T00:00:00Z")
    codes = TOOLS[call["tool"]](call["args"], call["result"], at)
    if actual == "pass":
        assert codes == ()
    else:
        assert set(codes) == DOUBTED.get(name, set())


# In cases that did not earn it: the answers that are not whole. The others failed for another reason.
DOUBTED: dict[str, set[str]] = {"insights_query_still_running a1": {"not_finished", "nothing_scanned"}}
