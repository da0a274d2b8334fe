"""An autoscaler was reported as limited, and it is: it would want fewer replicas than the fewest it is allowed."""

from gate.triage.readers.kube_autoscalers import AUTOSCALER, KubeAutoscaler
from gate.triage.rules.kube_subjects import Named
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal

CONDITIONS = ("AbleToScale", "ScalingActive", "ScalingLimited")
THE_AUTOSCALER = Named(
    AUTOSCALER,
    ("hpa", "horizontalpodautoscaler", "horizontal_pod_autoscaler", "hpa_name"),
    ("deployment", "app", "condition", "reason"),
)


def is_limited(autoscaler: KubeAutoscaler, case: Case) -> Judgment:
    place = THE_AUTOSCALER.place(autoscaler, case)
    status = autoscaler.status_of(place, "ScalingLimited")
    return equal(status, "True", f"`ScalingLimited` is `{status}`.")


def wants_fewer(autoscaler: KubeAutoscaler, case: Case) -> Judgment:
    place = THE_AUTOSCALER.place(autoscaler, case)
    reason = autoscaler.reason_of(place, "ScalingLimited")
    return equal(reason, "TooFewReplicas", f"it is limited for another reason, `{reason}`.")


def works_otherwise(autoscaler: KubeAutoscaler, case: Case) -> Judgment:
    """Without its metrics it does not know what it wants, and what it says of its limit is old."""
    place = THE_AUTOSCALER.place(autoscaler, case)
    if not autoscaler.is_observed(place):
        return Judgment(False, "another generation", "the status is about an older specification.")
    for name in autoscaler.known_types(place, CONDITIONS):
        if autoscaler.status_of(place, name) != "True":
            return Judgment(False, f"{name} {autoscaler.status_of(place, name)}", f"`{name}` is not `True`.")
    return Judgment(True, f"{len(autoscaler.condition_types(place))} True", "")


def rests_at_its_minimum(autoscaler: KubeAutoscaler, case: Case) -> Judgment:
    place = THE_AUTOSCALER.place(autoscaler, case)
    least, current, desired = autoscaler.least(place), autoscaler.current(place), autoscaler.desired(place)
    seen = f"{current} current, {desired} desired, {least} at least"
    if least < 1:
        return Judgment(False, seen, "it is allowed to keep no replica at all.")
    if autoscaler.most(place) < least:
        return Judgment(False, seen, "it allows fewer replicas than it must keep.")
    return Judgment(current == desired == least, seen, "current, desired and fewest replicas are not the same number.")


LIMITED = Need(
    readers=(KubeAutoscaler,),
    asked=THE_AUTOSCALER.asked,
    answered=THE_AUTOSCALER.answered,
    checks=(
        Check(
            title="The autoscaler says that it is limited",
            test=is_limited,
            earn="An answer of `kubectl_get` for {subject} with the condition `ScalingLimited` `True`",
            unreadable="A condition that is not there says nothing",
        ),
        Check(
            title="The reason is `TooFewReplicas`: it would want fewer than it must keep",
            test=wants_fewer,
            earn="The reason `TooFewReplicas` of that condition; `TooManyReplicas` is a shortage",
            unreadable="A reason that is not given is not this one",
        ),
        Check(
            title="It can scale, and it has its metrics",
            test=works_otherwise,
            earn="`AbleToScale` and `ScalingActive` `True` in the same answer",
            unreadable="A condition that cannot be read is not met",
        ),
    ),
    again=(is_limited, wants_fewer, works_otherwise),
)
AT_MINIMUM = Need(
    readers=(KubeAutoscaler,),
    asked=THE_AUTOSCALER.asked,
    answered=THE_AUTOSCALER.answered,
    checks=(
        Check(
            title="Current and desired replicas are its minimum, at least one",
            test=rests_at_its_minimum,
            earn="`currentReplicas`, `desiredReplicas` and `minReplicas` all the same, 1 or more",
            unreadable="A count that is not there is not a minimum",
        ),
    ),
    again=(rests_at_its_minimum,),
)

RULE = Rule(
    hypothesis="hpa_limited_by_design",
    version=1,
    facts=(
        Fact(name="reason_is_too_few_replicas", needs=(LIMITED,)),
        Fact(name="replicas_at_minimum", needs=(AT_MINIMUM,)),
    ),
)
