"""What is asked of a Kubernetes API: a path and parameters that are put together from checked parts, always by GET.

A contract's request is one of
  {"act": "read", "kind": …, "namespace": …, "name": …}   one object, or without a name the list of them; with it may
      stand label_selector, field_selector, limit, and all_namespaces (true) in the place of namespace,
  {"act": "events", "namespace": …}                        with types, field_selector, begins, limit,
  {"act": "logs", "namespace": …, "pod": …}                with container, begins, ends, tail_lines,
with {"argument": "name"} in the place of any value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds import bound, moments
from evidence.kinds.http import encoding
from evidence.kinds.kubernetes import names, resources
from evidence.kinds.kubernetes.completeness import EVENTS_KEPT_FOR, GET, LIST, LOGS
from evidence.kinds.kubernetes.resources import LOG, RESOURCES

KEYS = {"read": {"act", "kind"}, "events": {"act", "namespace"}, "logs": {"act", "namespace", "pod"}}
OPTIONAL = {
    "read": {"namespace", "name", "label_selector", "field_selector", "limit", "all_namespaces"},
    "events": {"types", "field_selector", "begins", "limit"},
    "logs": {"container", "begins", "ends", "tail_lines"},
}
# How rules call what is asked for: an argument of that name is that part of the request, and no other.
PLACES = {
    **dict.fromkeys(("kind", "resource", "resource_type", "resourceType"), ("kind",)),
    **dict.fromkeys(("name", "resource_name", "resourceName"), ("name",)),
    **dict.fromkeys(("namespace", "ns"), ("namespace",)),
    **dict.fromkeys(("all_namespaces", "allNamespaces"), ("all_namespaces",)),
    **dict.fromkeys(("field_selector", "fieldSelector"), ("field_selector",)),
    **dict.fromkeys(("label_selector", "labelSelector", "selector"), ("label_selector",)),
    **dict.fromkeys(("types", "type"), ("types",)),
    **dict.fromkeys(("pod_name", "pod"), ("pod",)),
    **dict.fromkeys(("start_time", "from", "begins"), ("begins",)),
    **dict.fromkeys(("end_time", "to", "ends"), ("ends",)),
    "container": ("container",),
    "limit": ("limit", "tail_lines"),
    # What other tools of these names take, and none of these does.
    **dict.fromkeys(("keyword", "for", "filter", "exclude_filter", "output", "apiVersion", "api_version"), ()),
}
NARROWING = ("label_selector", "field_selector", "types", "container")
TYPES = ("Normal", "Warning")
TAIL_LINES = 2_000
SHARE_OF_BYTES = 0.5  # of what an answer may hold: a log grows when it is written as JSON
Check = Callable[[Any], Any]


@dataclass(frozen=True)
class Asked:
    """A request: its path and parameters, and what its answer is judged by (see completeness.incomplete)."""

    target: str
    about: dict[str, Any]
    ends: datetime | None = None  # of a log, which the API cannot end anywhere but now


def check(request: Any, tool: Mapping[str, Any]) -> None:
    """Raise ValueError with a sentence unless the request can become nothing but a read."""
    act = request.get("act") if isinstance(request, dict) else None
    if not isinstance(act, str) or act not in KEYS:
        raise ValueError(f"The act of a request is one of {', '.join(sorted(KEYS))}.")
    if set(request) - OPTIONAL[act] != KEYS[act]:
        optional = ", ".join(sorted(OPTIONAL[act]))
        raise ValueError(f"To {act} says exactly {', '.join(sorted(KEYS[act]))}, and may say {optional}.")
    bound.check(request, tool)
    bound.check_places(request, PLACES, NARROWING)
    for key in set(request) - {"act"}:
        if not bound.is_argument(request[key]):
            _FIXED[key](request[key])


def compose(
    request: Mapping[str, Any], source: Mapping[str, Any], given: Mapping[str, Any], limits: Limits, now: datetime
) -> Asked:
    """The request with the agent's arguments in it. Raises Refused("parameters") for what may not be asked."""
    try:
        return _ACTS[request["act"]](bound.bind(request, given), source, limits, now)
    except ValueError as error:
        raise Refused("parameters", str(error)) from error


def _read(said: Mapping[str, Any], source: Mapping[str, Any], limits: Limits, now: datetime) -> Asked:
    resource = resources.find(said.get("kind"), source["resources"])
    place = f"{resource.root}{_where(said, source, resource)}/{resource.plural}"
    if "name" in said:
        if set(said) & {"label_selector", "field_selector", "limit"} or said.get("all_namespaces", False):
            raise ValueError("One object is asked for by its name; leave out the selectors, limit and all_namespaces.")
        return Asked(f"{place}/{encoding.segment(names.name(said['name']))}", {"act": GET, "kind": resource.kind})
    limit = _most(said, limits)
    about: dict[str, Any] = {"act": LIST, "kind": resource.kind, "limit": limit}
    if resource.plural == "events":
        about |= {"asked_at": now, "kept_for": _kept_for(source)}
    return Asked(f"{place}{_selected(said, limit)}", about)


def _where(said: Mapping[str, Any], source: Mapping[str, Any], resource: resources.Resource) -> str:
    """The namespace as a part of the path; nothing for what lies in none, and for all of them where that is allowed."""
    is_everywhere = said.get("all_namespaces", False)
    if not isinstance(is_everywhere, bool):
        raise ValueError("all_namespaces is true or false.")
    if not resource.is_namespaced:
        if "namespace" in said or is_everywhere:
            raise ValueError(f"{resource.plural} lie in no namespace; leave it out.")
        return ""
    if is_everywhere:
        if "namespace" in said or source.get("everywhere") is not True:
            raise ValueError(f"Name one namespace: {', '.join(source['namespaces'])}.")
        return ""
    return f"/namespaces/{encoding.segment(_namespace(said, source))}"


def _namespace(said: Mapping[str, Any], source: Mapping[str, Any]) -> str:
    found = names.label(said.get("namespace"))
    if source.get("everywhere") is not True and found not in source["namespaces"]:
        raise ValueError(f"The namespace is one of {', '.join(source['namespaces'])}.")
    return found


def _selected(said: Mapping[str, Any], limit: int) -> str:
    pairs: list[tuple[str, Any]] = [("limit", limit)]
    if "label_selector" in said:
        pairs.append(("labelSelector", names.labels(said["label_selector"])))
    if "field_selector" in said:
        pairs.append(("fieldSelector", names.fields(said["field_selector"])))
    return encoding.query(pairs)


def _most(said: Mapping[str, Any], limits: Limits) -> int:
    return min(_count(said.get("limit", limits.rows)), limits.rows)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError("A limit is a whole number from 1.")
    return value


def _kept_for(source: Mapping[str, Any]) -> timedelta:
    seconds = source.get("events_kept_seconds")
    return EVENTS_KEPT_FOR if seconds is None else timedelta(seconds=seconds)


def _events(said: Mapping[str, Any], source: Mapping[str, Any], limits: Limits, now: datetime) -> Asked:
    resource = resources.find("events", source["resources"])
    chosen = _chosen(said)
    limit = _most(said, limits)
    about = {"act": LIST, "kind": "Event", "limit": limit, "asked_at": now, "kept_for": _kept_for(source)}
    if "begins" in said:
        about["begins"] = moments.parse(said["begins"])
    place = f"{resource.root}/namespaces/{encoding.segment(_namespace(said, source))}/events"
    return Asked(f"{place}{_selected({'field_selector': chosen} if chosen else {}, limit)}", about)


def _chosen(said: Mapping[str, Any]) -> str:
    """The field selector, with the type of events in it where one alone was asked for."""
    parts = [names.fields(said["field_selector"])] if "field_selector" in said else []
    parts += [f"type={one}" for one in _types(said.get("types", TYPES))]
    return ",".join(parts)


def _types(asked: Any) -> Iterator[str]:
    listed = asked.split(",") if isinstance(asked, str) else asked
    if not isinstance(listed, list | tuple) or not listed or not all(one in TYPES for one in listed):
        raise ValueError(f"types lists {' and '.join(TYPES)}, or one of them.")
    if len(set(listed)) < len(TYPES):
        yield listed[0]


def _logs(said: Mapping[str, Any], source: Mapping[str, Any], limits: Limits, now: datetime) -> Asked:
    if LOG not in source["resources"]:
        raise ValueError("The source exposes no logs of pods.")
    lines = min(_count(said.get("tail_lines", TAIL_LINES)), TAIL_LINES)
    most = int(limits.bytes * SHARE_OF_BYTES)
    pairs: list[tuple[str, Any]] = [("timestamps", True), ("tailLines", lines), ("limitBytes", most)]
    if "container" in said:
        pairs.append(("container", names.label(said["container"], "A container")))
    if "begins" in said:
        pairs.append(("sinceTime", moments.spelled(moments.parse(said["begins"]).replace(microsecond=0))))
    pod = encoding.segment(names.name(said.get("pod")))
    place = f"/api/v1/namespaces/{encoding.segment(_namespace(said, source))}/pods/{pod}/log"
    ends = moments.parse(said["ends"]) if "ends" in said else None
    about = {"act": LOGS, "tail_lines": lines, "limit_bytes": most}
    return Asked(f"{place}{encoding.query(pairs)}", about, ends)


_ACTS = {"read": _read, "events": _events, "logs": _logs}


def _check_flag(value: Any) -> None:
    if not isinstance(value, bool):
        raise ValueError("all_namespaces is true or false.")


_FIXED: Mapping[str, Check] = {
    "kind": lambda value: resources.find(value, RESOURCES),
    "namespace": names.label,
    "name": names.name,
    "pod": names.name,
    "limit": _count,
    "tail_lines": _count,
    "all_namespaces": _check_flag,
    "begins": moments.parse,
    "ends": moments.parse,
}
