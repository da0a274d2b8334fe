"""Tests on whether the rule of the incident's alert, as Prometheus itself evaluates it, is inactive."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.prometheus_rules import Place, PrometheusRules
from gate.triage.rules import subjects
from gate.triage.rules.language import Case, Judgment

NAME = ("rule_name[]", "rule_name", "rule_names", "alertname")
KNOWN = frozenset((*NAME, "type"))
NAMED_BY = ("alertname", "alert", "rule_name")
# The longest that rules are usually left between two evaluations, several times over.
EVALUATED_WITHIN = timedelta(minutes=10)
CLOCKS_APART = timedelta(seconds=5)


def _own_name(case: Case) -> str:
    """The name of the incident's alert. Raises Unreadable."""
    key = subjects.the_only(NAMED_BY, said.subject_keys(case.incident), "the alert in the subject")
    return said.subject_text(case.incident, key)


def asked_for_its_rule(rules: PrometheusRules, case: Case) -> Judgment:
    """All alerting rules, or those of that name. A group or file would leave out a second rule of the name."""
    name = _own_name(case)
    for key in [key for key in NAME if key in frozenset(rules.args.keys())]:
        if rules.asked_names(key) != (name,):
            return Judgment(False, ", ".join(rules.asked_names(key)), f"it was not asked for `{name}` alone.")
    if rules.args.has("type") and rules.args.text("type") != "alert":
        return Judgment(False, rules.args.text("type"), "alerting rules were not asked for.")
    return subjects.nothing_else_asked(rules, case, KNOWN)


def holds_its_rule(rules: PrometheusRules, case: Case) -> Judgment:
    """A rule of that name is in the answer: of one that is not there nothing is known."""
    count = len(rules.places(_own_name(case)))
    return Judgment(count > 0, f"{count} rules", "the answer holds no rule of that name.")


def is_inactive(rules: PrometheusRules, case: Case) -> Judgment:
    """Every rule of that name was evaluated just now, without an error, and found nothing."""
    rules.complete()
    for place in rules.places(_own_name(case)):
        judgment = _finds_nothing(rules, place)
        if judgment.holds is not True:
            return judgment
    return Judgment(True, "inactive", "")


def _finds_nothing(rules: PrometheusRules, place: Place) -> Judgment:
    if not rules.is_alerting(place):
        return Judgment(False, "recording", "a rule of that name records, and raises no alert.")
    if rules.health(place) != "ok":
        return Judgment(False, rules.health(place), "the rule could not be evaluated.")
    if rules.state(place) != "inactive":
        return Judgment(False, rules.state(place), f"the rule is {rules.state(place)}.")
    if rules.alerts(place) != 0:
        return Judgment(False, f"{rules.alerts(place)} alerts", "the rule has alerts.")
    moment, called = rules.evaluated_at(place), rules.called_at()
    is_fresh = called - EVALUATED_WITHIN <= moment <= called + CLOCKS_APART
    return Judgment(is_fresh, f"{moment:%d %b %H:%M:%S} UTC", "the rule had not been evaluated for long.")
