"""What is asked of CloudWatch or RDS: one operation of the list, with parameters that were each read.

A contract's request is {"operation": "GetMetricData", "parameters": {"MetricDataQueries": …, "StartTime": …}} with
{"argument": "name"} in the place of any value, and may have a "region", which must then be the source's own. StartQuery
stands for a query of Logs Insights from its start to its result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import bound
from evidence.kinds.cloudwatch.operations import OPERATIONS, Operation, is_exposed, named_groups

KEYS = {"operation", "parameters"}
OPTIONAL = {"region"}
# How rules call what is asked for: an argument of that name is that parameter, and no other.
PLACES = {
    **{name: (name,) for operation in OPERATIONS.values() for name in operation.parameters},
    **{name: (name,) for name in ("Namespace", "MetricName", "Dimensions", "Period", "Stat", "region")},
    **dict.fromkeys(("query_string", "query"), ("queryString",)),
    "log_group_name": ("logGroupName",),
    "log_group_names": ("logGroupNames",),
    **dict.fromkeys(("start", "startRfc3339", "start_time", "from"), ("startTime", "StartTime")),
    **dict.fromkeys(("end", "endRfc3339", "end_time", "to"), ("endTime", "EndTime")),
    # What other tools of these names take, and none of these does.
    **dict.fromkeys(("logGroupIdentifiers", "accountId", "account", "queryId", "query_id"), ()),
}
NARROWING = ("AlarmNames", "AlarmNamePrefix", "AlarmTypes", "SourceType", "filterPattern", "logStreamNames")
# Operations whose lists are as long as a service likes, unless a limit is given.
LIMITED = {"StartQuery": "limit", "FilterLogEvents": "limit"}


@dataclass(frozen=True)
class Asked:
    """A call: its operation, and its parameters as they are sent."""

    name: str
    operation: Operation
    parameters: dict[str, Any]


def check(request: Any, tool: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the request can become nothing but a read."""
    if not isinstance(request, dict) or set(request) - OPTIONAL != KEYS:
        raise ValueError("A request says exactly operation and parameters, and may say region.")
    operation = OPERATIONS.get(request["operation"]) if isinstance(request["operation"], str) else None
    if operation is None:
        raise ValueError(f"The operation is one of {', '.join(sorted(OPERATIONS))}.")
    parameters = request["parameters"]
    if not isinstance(parameters, dict) or not operation.needed <= set(parameters) <= set(operation.parameters):
        known, needed = ", ".join(operation.parameters), ", ".join(sorted(operation.needed)) or "none"
        raise ValueError(f"The parameters are of these: {known}; and needed is of them: {needed}.")
    bound.check(request, tool)
    bound.check_places(request, PLACES, NARROWING)
    operation.read({name: value for name, value in parameters.items() if not list(bound.names(value))})


def compose(
    request: Mapping[str, Any], source: Mapping[str, Any], given: Mapping[str, Any], limits: Limits
) -> Asked:  # fmt: skip
    """The call with the agent's arguments in it. Raises Refused("parameters") for what may not be asked."""
    try:
        return _composed(bound.bind(request, given), source, limits)
    except ValueError as error:
        raise Refused("parameters", str(error)) from error


def _composed(filled: Mapping[str, Any], source: Mapping[str, Any], limits: Limits) -> Asked:
    name = filled["operation"]
    if filled.get("region", source["region"]) != source["region"]:
        raise ValueError(f"The region is {source['region']}.")
    parameters = OPERATIONS[name].taken(filled["parameters"])
    _check_groups(name, parameters, source["log_groups"])
    if name in LIMITED:
        parameters[LIMITED[name]] = min(parameters.get(LIMITED[name], limits.rows), limits.rows)
    return Asked(name, OPERATIONS[name], parameters)


def _check_groups(name: str, parameters: Mapping[str, Any], exposed: list[str]) -> None:
    groups = named_groups(parameters)
    if OPERATIONS[name].service == "logs" and not groups:
        raise ValueError("A search of logs names its log group.")
    stray = next((group for group in groups if not is_exposed(group, exposed)), None)
    if stray is not None:
        raise ValueError(f"The log group is one of {', '.join(exposed)}.")


def about(asked: Asked, now: datetime) -> dict[str, Any]:
    """What the answer is judged by (see completeness.incomplete). A duration of events is a start, too."""
    found = {**asked.parameters, "asked_at": now}
    if asked.name == "DescribeEvents" and "Duration" in found:
        found["StartTime"] = now - timedelta(minutes=found["Duration"])
    return found
