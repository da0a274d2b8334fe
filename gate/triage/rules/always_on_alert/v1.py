"""An alert fires because it is meant to fire always: its rule is a constant, and its severity is `none`."""

from datetime import timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.prometheus_rules import Place, PrometheusRules
from gate.triage.rules import subjects
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule

NAME = ("rule_name[]", "rule_name", "rule_names", "alertname")
KNOWN = frozenset((*NAME, "type", "exclude_alerts"))
NAMED_BY = ("alertname", "alert", "rule_name")
# The longest that rules are usually left between two evaluations, several times over.
EVALUATED_WITHIN = timedelta(minutes=10)
CLOCKS_APART = timedelta(seconds=5)


def name_of_the_alert(case: Case) -> str:
    """The name of the incident's alert. Raises Unreadable."""
    key = subjects.the_only(NAMED_BY, said.subject_keys(case.incident), "the alert in the subject")
    return said.subject_text(case.incident, key)


def asked_for_this_rule(rules: PrometheusRules, case: Case) -> Judgment:
    """All alerting rules of that name, or all rules. A group or file would leave out a second rule of the name."""
    name, used = name_of_the_alert(case), [key for key in NAME if key in frozenset(rules.args.keys())]
    for key in used:
        if rules.asked_names(key) != (name,):
            return Judgment(False, ", ".join(rules.asked_names(key)), f"it was not asked for `{name}` alone.")
    if rules.args.has("type") and rules.args.text("type") != "alert":
        return Judgment(False, rules.args.text("type"), "alerting rules were not asked for.")
    return subjects.nothing_else_asked(rules, case, KNOWN)


def holds_this_rule(rules: PrometheusRules, case: Case) -> Judgment:
    """The answer is whole, and a rule of that name is in it."""
    rules.complete()
    count = len(rules.places(name_of_the_alert(case)))
    return Judgment(count > 0, f"{count} rules", "the answer holds no rule of that name.")


def expression_is_constant(rules: PrometheusRules, case: Case) -> Judgment:
    numbers = [rules.constant(place) for place in rules.places(name_of_the_alert(case))]
    return Judgment(len(numbers) > 0, f"vector({numbers[0]})", "there is no rule of that name.")


def is_an_alert_that_fires(rules: PrometheusRules, case: Case) -> Judgment:
    for place in rules.places(name_of_the_alert(case)):
        if not rules.is_alerting(place):
            return Judgment(False, "recording", "a rule of that name records, and raises no alert.")
        if rules.state(place) != "firing":
            return Judgment(False, rules.state(place), "it does not fire, which is what would be wrong with it.")
        if rules.health(place) != "ok":
            return Judgment(False, rules.health(place), "the rule could not be evaluated.")
        evaluated = _was_evaluated(rules, place)
        if evaluated.holds is not True:
            return evaluated
    return Judgment(True, "firing", "")


def _was_evaluated(rules: PrometheusRules, place: Place) -> Judgment:
    if rules.tells_when_it_was_evaluated(place) is not True:
        return Judgment(True, "not said", "")
    moment, called = rules.evaluated_at(place), rules.called_at()
    is_fresh = called - EVALUATED_WITHIN <= moment <= called + CLOCKS_APART
    return Judgment(is_fresh, f"{moment:%d %b %H:%M:%S} UTC", "the rule had not been evaluated for long.")


def severity_is_none(rules: PrometheusRules, case: Case) -> Judgment:
    for place in rules.places(name_of_the_alert(case)):
        if rules.severity(place) != "none":
            return Judgment(False, rules.severity(place), f"its severity is `{rules.severity(place)}`.")
        for severity in _severities_of_alerts(rules, place):
            if severity != "none":
                return Judgment(False, severity, f"an alert of it has the severity `{severity}`.")
    return Judgment(True, "none", "")


def _severities_of_alerts(rules: PrometheusRules, place: Place) -> list[str]:
    if rules.tells_its_alerts(place) is not True:
        return []
    return [rules.severity_of_alert(place, number) for number in range(rules.alerts(place))]


def labels_are_the_subjects(rules: PrometheusRules, case: Case) -> Judgment:
    """Whatever else the subject is named by was asked for, or is a label of the rule."""
    named = said.subject_keys(case.incident) - frozenset(NAMED_BY)
    not_asked = named - rules.args.keys()
    asked = subjects.nothing_left_out(rules, case, not_asked.union(NAMED_BY))
    if asked.holds is not True:
        return asked
    for place in rules.places(name_of_the_alert(case)):
        labels = rules.labels(place)
        for key in sorted(not_asked):
            if key not in frozenset(labels):
                return Judgment(False, key, f"the incident is about one `{key}`, which neither rule nor question says.")
            if labels[key] != said.subject_text(case.incident, key):
                return Judgment(False, labels[key], f"the label `{key}` of the rule is not that of the incident.")
    return Judgment(True, name_of_the_alert(case), "")


CONSTANT = Need(
    readers=(PrometheusRules,),
    asked=asked_for_this_rule,
    answered=holds_this_rule,
    checks=(
        Check(
            title="Every rule of that name is a constant: `vector(<number>)`",
            test=expression_is_constant,
            earn="An answer of `prometheus_rules` for {subject} with the query `vector(1)`",
            unreadable="An expression that may change is no constant",
        ),
        Check(
            title="It is an alert, it is evaluated, and it fires",
            test=is_an_alert_that_fires,
            earn="`type` `alerting`, `health` `ok` and `state` `firing` in the same answer",
            unreadable="A state that cannot be read is none",
        ),
        Check(
            title="It is the alert of this incident",
            test=labels_are_the_subjects,
            earn="The labels that the subject says, on the rule itself",
            unreadable="A label that is not there is not the subject's",
        ),
    ),
    again=(expression_is_constant, is_an_alert_that_fires),
)
SEVERITY = Need(
    readers=(PrometheusRules,),
    asked=asked_for_this_rule,
    answered=holds_this_rule,
    checks=(
        Check(
            title="Its label severity is `none`",
            test=severity_is_none,
            earn="`labels.severity` `none` on every rule of that name",
            unreadable="A severity that is not there is not none",
        ),
    ),
    again=(severity_is_none,),
)

RULE = Rule(
    hypothesis="always_on_alert",
    version=1,
    facts=(
        Fact(name="rule_expression_constant", needs=(CONSTANT,)),
        Fact(name="severity_none", needs=(SEVERITY,)),
    ),
)
