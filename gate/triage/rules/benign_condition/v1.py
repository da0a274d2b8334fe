"""A node was reported for a condition that is as it should be: it is ready, under no pressure, nothing is unknown."""

from datetime import timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.kube_nodes import NODE, KubeNode
from gate.triage.rules.kube_subjects import Named
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal

THE_NODE = Named(NODE, ("node", "node_name"), ("condition", "reason"))
PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
# What is known to be harmless, and with which status. Any other condition is one that nobody has thought about.
KNOWN_BENIGN = {"EtcdIsVoter": "True"}
AS_IT_SHOULD_BE = {"NetworkUnavailable": "False"}
CONTRADICTING_TAINTS = (
    "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/disk-pressure", "node.kubernetes.io/pid-pressure", "node.kubernetes.io/network-unavailable",
    "node.kubernetes.io/out-of-service", "node.kubernetes.io/unschedulable",
    "node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
)  # fmt: skip
# A kubelet reports at least every five minutes; twice that is a status that nobody keeps up to date.
HEARD_WITHIN = timedelta(minutes=10)
CLOCKS_APART = timedelta(seconds=5)


def is_ready(node: KubeNode, case: Case) -> Judgment:
    place = THE_NODE.place(node, case)
    return equal(node.status_of(place, "Ready"), "True", f"`Ready` is `{node.status_of(place, 'Ready')}`.")


def was_heard_lately(node: KubeNode, case: Case) -> Judgment:
    place = THE_NODE.place(node, case)
    if node.tells_when_it_was_heard(place, "Ready") is not True:
        return Judgment(True, "not said", "")
    heard, called = node.heard_at(place, "Ready"), node.called_at()
    is_fresh = called - HEARD_WITHIN <= heard <= called + CLOCKS_APART
    return Judgment(is_fresh, f"{heard:%d %b %H:%M:%S} UTC", "its status had not been reported for long.")


def takes_work(node: KubeNode, case: Case) -> Judgment:
    place = THE_NODE.place(node, case)
    if node.is_cordoned(place):
        return Judgment(False, "unschedulable", "the node is cordoned.")
    for key in node.taints(place):
        if key in CONTRADICTING_TAINTS:
            return Judgment(False, key, f"the taint `{key}` says otherwise.")
    return Judgment(True, "schedulable", "")


def is_under_no_pressure(node: KubeNode, case: Case) -> Judgment:
    place = THE_NODE.place(node, case)
    for name in PRESSURES:
        status = node.status_of(place, name)
        if status != "False":
            return Judgment(False, f"{name} {status}", f"`{name}` is `{status}`.")
    return Judgment(True, f"{len(PRESSURES)} False", "")


def others_are_known_benign(node: KubeNode, case: Case) -> Judgment:
    """At least one known condition explains the report, and there is none that is not known."""
    place, explaining = THE_NODE.place(node, case), []
    known = {**AS_IT_SHOULD_BE, **KNOWN_BENIGN}
    for name in node.known_types(place, ("Ready", *PRESSURES, *sorted(known))):
        if name in ("Ready", *PRESSURES):
            continue
        status = node.status_of(place, name)
        if status != known[name]:
            return Judgment(False, f"{name} {status}", f"`{name}` is harmless when it is `{known[name]}` only.")
        if name in frozenset(KNOWN_BENIGN):
            explaining.append(name)
    return _explains(tuple(explaining), case)


def _explains(benign: tuple[str, ...], case: Case) -> Judgment:
    seen = ", ".join(benign)
    if said.subject_has(case.incident, "condition"):
        reported = said.subject_text(case.incident, "condition")
        return Judgment(reported in frozenset(benign), seen, f"`{reported}` is not a harmless condition of this node.")
    return Judgment(len(benign) > 0, seen, "none of its conditions is one that explains the report.")


READY = Need(
    readers=(KubeNode,),
    asked=THE_NODE.asked,
    answered=THE_NODE.answered,
    checks=(
        Check(
            title="The node is ready",
            test=is_ready,
            earn="An answer of `kubectl_get` for {subject} with the condition `Ready` `True`",
            unreadable="A condition that is not there is not met",
        ),
        Check(
            title="Its kubelet has reported lately",
            test=was_heard_lately,
            earn="`lastHeartbeatTime` of `Ready` at most 10 min before the call",
            unreadable="A time that cannot be read may be long ago",
        ),
        Check(
            title="Nothing keeps work away from it",
            test=takes_work,
            earn="Neither `unschedulable` nor a taint that contradicts its conditions",
            unreadable="What cannot be read may keep it from work",
        ),
    ),
    again=(is_ready, takes_work),
)
PRESSURE = Need(
    readers=(KubeNode,),
    asked=THE_NODE.asked,
    answered=THE_NODE.answered,
    checks=(
        Check(
            title="Memory, disk and process ids are all reported, and none is under pressure",
            test=is_under_no_pressure,
            earn="`MemoryPressure`, `DiskPressure` and `PIDPressure` all there and `False`",
            unreadable="A pressure that is not reported may be there",
        ),
    ),
    again=(is_under_no_pressure,),
)
BENIGN = Need(
    readers=(KubeNode,),
    asked=THE_NODE.asked,
    answered=THE_NODE.answered,
    checks=(
        Check(
            title="Every other condition is known to be harmless with the status it has",
            test=others_are_known_benign,
            earn="`EtcdIsVoter` `True`, and besides the usual ones no condition that nobody has looked into",
            unreadable="A condition that cannot be read is not harmless",
        ),
    ),
    again=(others_are_known_benign,),
)

RULE = Rule(
    hypothesis="benign_condition",
    version=1,
    facts=(
        Fact(name="node_ready", needs=(READY,)),
        Fact(name="no_pressure", needs=(PRESSURE,)),
        Fact(name="condition_known_benign", needs=(BENIGN,)),
    ),
)
