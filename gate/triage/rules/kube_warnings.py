"""Tests on whether a namespace of Kubernetes has reported no Warning since recovery, by the list of its events."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.kube_args import KNOWN
from gate.triage.readers.kube_events import API_VERSIONS, ASKED_AS, KubeEvents
from gate.triage.rules import subjects
from gate.triage.rules.language import Case, Judgment

# How long an API server keeps events unless it is told otherwise (--event-ttl).
KEPT_FOR = timedelta(hours=1)
EVENT_ARGS = KNOWN.union(("types", "type", "for"))
WARNINGS_TOO = frozenset(("Warning", "Normal,Warning", "Warning,Normal"))
WARNING_FIELDS = frozenset(("type=Warning", "type==Warning", "type!=Normal"))
# What lies inside a namespace: its events are about all of it.
INSIDE = frozenset((
    "namespace", "kind", "name", "uid", "deployment", "deployment_name", "replicaset", "pod", "container", "app",
))  # fmt: skip


def asked_in_its_namespace(events: KubeEvents, case: Case) -> Judgment:
    """Events of the namespace, or of all of them. A narrower question is about it too, and says less."""
    if events.call.tool != "kubectl_events" and events.asked.kind() not in ASKED_AS:
        return Judgment(False, events.asked.kind(), "events were not asked for.")
    namespace = said.subject_text(case.incident, "namespace")
    if events.asked.has_namespace():
        asked = events.asked.namespace()
        return Judgment(asked == namespace, asked, f"it was asked in another namespace than `{namespace}`.")
    is_everywhere = events.asked.is_everywhere() is True
    return Judgment(is_everywhere, "no namespace", f"it was not asked in the namespace `{namespace}`.")


def lists_events(events: KubeEvents, case: Case) -> Judgment:
    """A whole list, of that namespace."""
    events.complete()
    namespace = said.subject_text(case.incident, "namespace")
    for index in range(events.listed()):
        is_its_own = events.namespace(index) == namespace
        if events.asked.has_namespace() and is_its_own is False:
            return Judgment(False, events.namespace(index), f"it lists events of another namespace than `{namespace}`.")
    return Judgment(True, f"{events.listed()} events", "")


def asked_for_every_warning(events: KubeEvents, case: Case) -> Judgment:
    """Nothing that was asked leaves a Warning of the namespace out."""
    if events.is_asked_for_one():
        return Judgment(False, "for one object", "only events of one object or kind were asked for.")
    for judgment in (_types_asked(events), _selectors_asked(events)):
        if judgment.holds is not True:
            return judgment
    events.asked.check_output()
    events.asked.check_version(API_VERSIONS)
    events.asked.check_limit(events.listed())
    more = subjects.nothing_else_asked(events, case, EVENT_ARGS)
    if more.holds is not True:
        return more
    left_out = subjects.nothing_left_out(events, case, INSIDE)
    return Judgment(left_out.holds is True, f"{events.listed()} events", left_out.why)


def _types_asked(events: KubeEvents) -> Judgment:
    if events.is_asked_by("type"):
        asked = events.args.text("type")
        return Judgment(asked in WARNINGS_TOO, asked, "not every Warning was asked for.")
    if not events.is_asked_by("types"):
        return Judgment(True, "all", "")
    asked_types = events.asked_types()
    return Judgment(asked_types.count("Warning") == 1, ", ".join(asked_types), "not every Warning was asked for.")


def _selectors_asked(events: KubeEvents) -> Judgment:
    if events.asked.has_name():
        return Judgment(False, events.asked.name(), "only one event was asked for.")
    if events.asked.has_labels():
        return Judgment(False, events.asked.labels(), "only events with a label were asked for.")
    if events.asked.has_fields():
        asked = events.asked.fields()
        return Judgment(asked in WARNING_FIELDS, asked, "its field selector leaves out more than what is normal.")
    return Judgment(True, "all", "")


def no_warning_since_recovery(events: KubeEvents, case: Case) -> Judgment:
    namespace, count = said.subject_text(case.incident, "namespace"), 0
    for index in range(events.listed()):
        if events.namespace(index) == namespace and events.is_warning(index):
            count += 1
            if events.last_at(index) >= case.incident.watch_from:
                seen = f"{events.last_at(index):%H:%M:%S} {events.reason(index)}"
                return Judgment(False, seen, f"a Warning was reported at {events.last_at(index):%d %b %H:%M:%S} UTC.")
    return Judgment(True, f"{count} Warnings, none since", "")


def events_reach_back(events: KubeEvents, case: Case) -> Judgment:
    """The list shows all that happened since recovery, over the time in which it would have happened again."""
    incident, called_at = case.incident, events.called_at()
    since = called_at - incident.watch_from
    seen = f"{since} after recovery"
    needed = timedelta(seconds=incident.recurrence_seconds + incident.ingestion_lag_seconds)
    if since < needed:
        return Judgment(False, seen, "it was asked before it had time to happen again.")
    if since <= KEPT_FOR:
        return Judgment(True, seen, "")
    # An event from before recovery that is still there shows that they are kept for longer here.
    older = [index for index in range(events.listed()) if events.last_at(index) <= incident.watch_from]
    why = "events are kept for an hour, and none in the list shows that these are kept for longer."
    return Judgment(len(older) > 0, seen, why)
