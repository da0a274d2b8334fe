"""The operations that may be called: a closed list, all of them reads, and of each the parameters that it may have.

Left out on purpose: page tokens (an answer that goes on is not whole, and says so), other accounts (AccountId, ARNs),
Expression of GetMetricData (its LAMBDA() runs a function, and SEARCH() looks for whatever there is), and `unmask`.
Sources: the API references of CloudWatch, CloudWatch Logs and RDS.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from evidence.kinds import moments
from evidence.kinds.cloudwatch import insights

Read = Callable[[Any], Any]
MOST_NAMES = 100
MOST_QUERIES = 50
TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,1024}")
GROUP = re.compile(r"[A-Za-z0-9_/.#-]{1,512}", re.ASCII)  # no colon: an ARN may name another account's
IDENTIFIER = re.compile(r"[a-z][A-Za-z0-9_]{0,254}", re.ASCII)
STATISTIC = re.compile(r"Average|Maximum|Minimum|SampleCount|Sum|p\d{1,2}(?:\.\d{1,2})?", re.ASCII)
PERIODS = range(1, 86_401)


@dataclass(frozen=True)
class Operation:
    """One operation: of which service, boto3's name for it, what it takes, and what of that it must be given."""

    service: str
    method: str
    parameters: Mapping[str, Read]
    needed: frozenset[str] = frozenset()

    def taken(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters as they are sent. Raises ValueError with a sentence."""
        missing = sorted(self.needed - set(given))
        if missing:
            raise ValueError(f"{missing[0]} is missing.")
        return self.read(given)

    def read(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Some of its parameters as they are sent. Raises ValueError with a sentence."""
        return {name: self._one(name, value) for name, value in given.items()}

    def _one(self, name: str, value: Any) -> Any:
        try:
            return self.parameters[name](value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str) or TEXT.fullmatch(value) is None:
        raise ValueError("it is a text of one line.")
    return value


def _one_of(*known: str) -> Read:
    def read(value: Any) -> str:
        if value not in known or not isinstance(value, str):
            raise ValueError(f"it is one of {', '.join(known)}.")
        return value

    return read


def _some(read: Read, most: int = MOST_NAMES) -> Read:
    def listed(value: Any) -> list[Any]:
        if not isinstance(value, list) or not 0 < len(value) <= most:
            raise ValueError(f"it is a list of at most {most}.")
        return [read(item) for item in value]

    return listed


def _up_to(most: int, least: int = 1) -> Read:
    def read(value: Any) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueError(f"it is a whole number from {least} to {most:,}.")
        return value

    return read


def _group(value: Any) -> str:
    if not isinstance(value, str) or GROUP.fullmatch(value) is None:
        raise ValueError("it is the name of a log group of this account.")
    return value


def _seconds(value: Any) -> int:
    return int(moments.parse(value).timestamp())


def _milliseconds(value: Any) -> int:
    found: datetime = moments.parse(value)
    return int(found.timestamp()) * 1_000 + found.microsecond // 1_000


def _query(value: Any) -> str:
    insights.check(value)
    return str(value)


def _object(known: Mapping[str, Read], needed: frozenset[str]) -> Read:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or not needed <= set(value) <= set(known):
            raise ValueError(
                f"it is an object that says {', '.join(sorted(needed))}, and nothing but {', '.join(known)}."
            )
        return {name: known[name](inner) for name, inner in value.items()}

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("it is true or false.")
    return value


def _matching(pattern: re.Pattern[str], sentence: str) -> Read:
    def read(value: Any) -> str:
        if not isinstance(value, str) or pattern.fullmatch(value) is None:
            raise ValueError(sentence)
        return value

    return read


def _period(value: Any) -> int:
    """A period; some callers write 60 as 60.0."""
    # Compared before it is converted: 1e999999999 would be a thousand million digits.
    is_whole = isinstance(value, Decimal) and 0 < value <= PERIODS[-1] and value == value.to_integral_value()
    return int(_up_to(PERIODS[-1])(int(value) if is_whole else value))


_DIMENSION = _object({"Name": _text, "Value": _text}, frozenset(("Name", "Value")))
_METRIC = _object(
    {"Namespace": _text, "MetricName": _text, "Dimensions": _some(_DIMENSION, 30)},
    frozenset(("Namespace", "MetricName")),
)
_METRIC_STAT = _object(
    {"Metric": _METRIC, "Period": _period, "Stat": _matching(STATISTIC, "it is a statistic like Average or p99.")},
    frozenset(("Metric", "Period", "Stat")),
)
_METRIC_QUERY = _object(
    {
        "Id": _matching(IDENTIFIER, "it begins with a small letter."),
        "MetricStat": _METRIC_STAT,
        "ReturnData": _flag,
        "Label": _text,
    },
    frozenset(("Id", "MetricStat")),
)
OPERATIONS: Mapping[str, Operation] = {
    "DescribeAlarms": Operation(
        "cloudwatch",
        "describe_alarms",
        {
            "AlarmNames": _some(_text),
            "AlarmNamePrefix": _text,
            "AlarmTypes": _some(_one_of("MetricAlarm", "CompositeAlarm"), 2),
            "MaxRecords": _up_to(100),
        },
    ),
    "GetMetricData": Operation(
        "cloudwatch",
        "get_metric_data",
        {
            "MetricDataQueries": _some(_METRIC_QUERY, MOST_QUERIES),
            "StartTime": moments.parse,
            "EndTime": moments.parse,
            "ScanBy": _one_of("TimestampAscending", "TimestampDescending"),
        },
        frozenset(("MetricDataQueries", "StartTime", "EndTime")),
    ),
    "StartQuery": Operation(
        "logs",
        "start_query",
        {
            "logGroupName": _group,
            "logGroupNames": _some(_group, 50),
            "queryString": _query,
            "startTime": _seconds,
            "endTime": _seconds,
            "limit": _up_to(10_000),
            "queryLanguage": _one_of("CWLI"),
        },
        frozenset(("queryString", "startTime", "endTime")),
    ),
    "FilterLogEvents": Operation(
        "logs",
        "filter_log_events",
        {
            "logGroupName": _group,
            "logStreamNames": _some(_text),
            "filterPattern": _text,
            "startTime": _milliseconds,
            "endTime": _milliseconds,
            "limit": _up_to(10_000),
        },
        frozenset(("logGroupName", "startTime", "endTime")),
    ),
    "DescribeEvents": Operation(
        "rds",
        "describe_events",
        {
            "SourceIdentifier": _text,
            "SourceType": _one_of("db-instance", "db-cluster"),
            "StartTime": moments.parse,
            "EndTime": moments.parse,
            "Duration": _up_to(20_160),
            "MaxRecords": _up_to(100, 20),
        },
    ),
}
GROUPS = ("logGroupName", "logGroupNames")  # where an operation names log groups


def named_groups(parameters: Mapping[str, Any]) -> list[str]:
    """The log groups that the parameters name."""
    found = [parameters[name] for name in GROUPS if name in parameters]
    return [group for value in found for group in (value if isinstance(value, list) else [value])]


def is_exposed(group: str, exposed: list[str]) -> bool:
    """Whether a source exposes a log group: by its name, or by the beginning of it before a star."""
    return any(group.startswith(one[:-1]) if one.endswith("*") else group == one for one in exposed)
