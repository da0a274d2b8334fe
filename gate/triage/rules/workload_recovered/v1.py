"""A workload is back: its Deployment is what it should be, and its namespace has reported no Warning since."""

from gate.triage.readers.kube_deployments import DEPLOYMENT, KubeDeployment
from gate.triage.readers.kube_events import KubeEvents
from gate.triage.rules import kube_warnings
from gate.triage.rules.kube_subjects import Named
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule

WORKLOAD = Named(DEPLOYMENT, ("deployment", "deployment_name"), ("pod", "container", "app", "replicaset"))
CONDITIONS = ("Available", "Progressing", "ReplicaFailure")
MUST_BE = {"Available": "True", "Progressing": "True", "ReplicaFailure": "False"}


def all_replicas_ready(deployment: KubeDeployment, case: Case) -> Judgment:
    place = WORKLOAD.place(deployment, case)
    wanted, counts, missing = deployment.wanted(place), deployment.counts(place), deployment.unavailable(place)
    seen = f"{wanted} wanted; {', '.join(f'{count}' for count in counts)}"
    if wanted < 1:
        return Judgment(False, seen, "no replica is wanted, so that none fails says nothing.")
    if missing != 0:
        return Judgment(False, seen, f"{missing} replicas are unavailable.")
    equal = [count for count in counts if count == wanted]
    return Judgment(len(equal) == len(counts), seen, f"not all of the {wanted} replicas are updated, ready, available.")


def status_is_of_this_version(deployment: KubeDeployment, case: Case) -> Judgment:
    place = WORKLOAD.place(deployment, case)
    observed, generation = deployment.observed_generation(place), deployment.generation(place)
    seen = f"{observed} of {generation}"
    if deployment.is_paused(place):
        return Judgment(False, "paused", "the roll-out is paused.")
    if deployment.called_at() < case.incident.watch_from:
        return Judgment(False, seen, "it was asked before the recovery.")
    return Judgment(observed == generation, seen, "the status is about an older specification.")


def conditions_are_good(deployment: KubeDeployment, case: Case) -> Judgment:
    place = WORKLOAD.place(deployment, case)
    for name in ("Available", "Progressing"):
        deployment.condition(place, name)
    for name in deployment.known_types(place, CONDITIONS):
        status = deployment.status_of(place, name)
        if status != MUST_BE[name]:
            return Judgment(False, f"{name} {status}", f"the condition `{name}` is `{status}`.")
    return Judgment(True, "Available", "")


READY = Need(
    readers=(KubeDeployment,),
    asked=WORKLOAD.asked,
    answered=WORKLOAD.answered,
    checks=(
        Check(
            title="All wanted replicas of the Deployment are updated, ready and available, at least one",
            test=all_replicas_ready,
            earn="An answer of `kubectl_get` for {subject} in which all four counts equal `spec.replicas`, 1 or more",
            unreadable="A count that is not there is zero",
        ),
        Check(
            title="Its status is about the present specification",
            test=status_is_of_this_version,
            earn="`observedGeneration` equal to `generation`, asked after {watch_from}",
            unreadable="A status of unknown age shows nothing",
        ),
        Check(
            title="It is available, and none of its conditions says otherwise",
            test=conditions_are_good,
            earn="`Available` and `Progressing` `True` and no `ReplicaFailure` in the same answer",
            unreadable="A condition that cannot be read is not a good one",
        ),
    ),
    again=(all_replicas_ready, status_is_of_this_version, conditions_are_good),
)
EVENTS = Need(
    readers=(KubeEvents,),
    asked=kube_warnings.asked_in_its_namespace,
    answered=kube_warnings.lists_events,
    checks=(
        Check(
            title="Every Warning of the namespace was asked for, and the list is whole",
            test=kube_warnings.asked_for_every_warning,
            earn="An answer of `kubectl_events` for the whole namespace `{namespace}`, without a narrower filter",
            unreadable="A list that may be cut is not a list of all",
        ),
        Check(
            title="None of them is from after recovery",
            test=kube_warnings.no_warning_since_recovery,
            earn="No event of the type `Warning` whose last time is {watch_from} or later",
            unreadable="An event without a time may be from any time",
        ),
        Check(
            title="The list reaches back to recovery and covers {recurrence} from there",
            test=kube_warnings.events_reach_back,
            earn="A call at least {recurrence} after {watch_from}, within the hour for which events are kept",
            unreadable="A list of unknown reach covers nothing",
        ),
    ),
    again=(kube_warnings.no_warning_since_recovery,),
)

RULE = Rule(
    hypothesis="workload_recovered",
    version=1,
    facts=(
        Fact(name="workload_ready", needs=(READY,)),
        Fact(name="no_new_warning_events", needs=(EVENTS,)),
    ),
)
