"""Tests on whether the incident's alert has stopped, as the system that raises it says. Silence alone says nothing."""

from __future__ import annotations

from datetime import timedelta

from gate.triage.grammars import spellings, titles
from gate.triage.readers import incident as said
from gate.triage.readers.alertmanager import AlertmanagerAlerts
from gate.triage.readers.cloudwatch_alarms import CloudwatchAlarms, Place
from gate.triage.readers.cloudwatch_metrics import MetricData
from gate.triage.readers.document import Answer
from gate.triage.readers.grafana_alert_test import GrafanaAlertTest
from gate.triage.readers.prometheus_range import PrometheusRange, PrometheusSeries, PrometheusWrapped
from gate.triage.readers.prometheus_rules import PrometheusRules
from gate.triage.readers.samples import Samples
from gate.triage.rules import rule_states, subjects
from gate.triage.rules.language import Case, Judgment
from gate.triage.rules.metric_samples import OF_ALERTS

# Series of ALERTS can show that it fires, so a later one counts against what is cited; never that it does not.
READERS = (AlertmanagerAlerts, GrafanaAlertTest, CloudwatchAlarms, PrometheusRules, PrometheusRange, PrometheusWrapped,
           PrometheusSeries)  # fmt: skip
# Said of the incident, and no label of an alert.
NO_LABELS = frozenset(("error", "pattern", "title", "metric", "threshold"))
ALARM_KEYS = ("alarm_name", "alarm", "AlarmName", "alertname")


def asked_about_this_alert(answer: Answer, case: Case) -> Judgment:
    """No alert of the subject was left out by what was asked."""
    if isinstance(answer, AlertmanagerAlerts):
        return _asked_alertmanager(answer, case)
    if isinstance(answer, CloudwatchAlarms):
        return _asked_cloudwatch(answer, case)
    if isinstance(answer, PrometheusRules):
        return rule_states.asked_for_its_rule(answer, case)
    if isinstance(answer, Samples):
        return _asked_series(answer, case)
    return _asked_grafana(answer, case)


def tells_of_this_alert(answer: Answer, case: Case) -> Judgment:
    """Where the system names its alarms, at least one is the incident's; a list of what fires may be empty."""
    if isinstance(answer, CloudwatchAlarms):
        found = len(_alarms(answer, case))
        return Judgment(found > 0, f"{found} alarms", "no alarm in the answer is that of the incident.")
    if isinstance(answer, PrometheusRules):
        return rule_states.holds_its_rule(answer, case)
    return Judgment(True, "", "")


def does_not_fire(answer: Answer, case: Case) -> Judgment:
    """The alert source, asked for it, has no alert of the subject, in whatever state it may be."""
    if isinstance(answer, AlertmanagerAlerts):
        return _not_listed(answer, case)
    if isinstance(answer, CloudwatchAlarms):
        return _all_alarms_ok(answer, case)
    if isinstance(answer, GrafanaAlertTest):
        return _evaluates_to_ok(answer)
    if isinstance(answer, PrometheusRules):
        return rule_states.is_inactive(answer, case)
    return Judgment(False, "series", "series of ALERTS are no answer of the alert source.")


def was_asked_late_enough(answer: Answer, case: Case) -> Judgment:
    """After the time in which it could have come again: an alert that has just stopped may start again."""
    earliest = case.incident.watch_from + timedelta(seconds=case.incident.recurrence_seconds)
    seen = f"{answer.called_at():%d %b %H:%M:%S}"
    return Judgment(answer.called_at() >= earliest, seen, "it was asked before the alert had time to start again.")


def does_still_not_fire(answer: Answer, case: Case) -> Judgment:
    """Asked again, the source still has no such alert, and ALERTS has no such series."""
    return _has_no_series(answer, case) if isinstance(answer, Samples) else does_not_fire(answer, case)


def _labels_wanted(case: Case) -> dict[str, str]:
    keys = sorted(said.subject_keys(case.incident) - NO_LABELS)
    return {key: f"{said.subject_identifier(case.incident, key)}" for key in keys}


def _asked_alertmanager(answer: AlertmanagerAlerts, case: Case) -> Judgment:
    seen = [f"{matcher.label}{matcher.operator}{matcher.value}" for matcher in answer.matchers()]
    for matcher in answer.matchers():
        if is_label_of(matcher.label, matcher.operator, matcher.value, case) is not True:
            return Judgment(False, matcher.label, f"alerts of `{matcher.label}` {matcher.value} alone were asked for.")
    return Judgment(True, ", ".join(seen), "")


def _asked_cloudwatch(answer: CloudwatchAlarms, case: Case) -> Judgment:
    names, keys, region = answer.asked_names(), _alarm_keys(case), subjects.asked_in_its_region(answer, case)
    if region.holds is not True:
        return region
    if len(keys) == 0:
        return Judgment(answer.leaves_any_out() is False, ", ".join(names), "alarms were left out by their names.")
    own = said.subject_text(case.incident, keys[0])
    if answer.leaves_out(own) is True:
        return Judgment(False, own, f"alarms of another name than {own} were asked for.")
    return Judgment(names in ((), (own,)), ", ".join(names), f"another alarm than {own} was asked for.")


def _asked_grafana(answer: Answer, case: Case) -> Judgment:
    """By parts of the subject alone. A whole dashboard in the question would bring its own rule along."""
    asked = sorted(answer.args.keys())
    for key in asked:
        if not said.subject_has(case.incident, key):
            return Judgment(False, key, f"`{key}` was asked for, which the incident does not name.")
        if answer.args.identifier(key) != said.subject_identifier(case.incident, key):
            return Judgment(False, key, f"`{key}` is not that of the incident.")
    return Judgment(len(asked) > 0, ", ".join(asked), "nothing says which rule was evaluated.")


def _asked_series(answer: Samples, case: Case) -> Judgment:
    metric = answer.metric()
    others = [name for name in metric.names if name not in OF_ALERTS]
    if len(metric.names) < 1:
        return Judgment(False, "no metric", "it asks for no metric.")
    for label, operator, value in metric.demands:
        if (label, value) != ("alertstate", "firing") and is_label_of(label, operator, value, case) is not True:
            return Judgment(False, label, f"series of `{label}` {value} alone were asked for.")
    return Judgment(len(others) == 0, ", ".join(metric.names), "it asks for a metric, not for alerts.")


def is_label_of(label: str, operator: str, value: str, case: Case) -> bool:
    """Whether what is demanded of a label leaves the incident's alert in."""
    wanted = _labels_wanted(case)
    named = [key for key in wanted if spellings.is_name_of(label, key)]
    if len(named) == 1:
        return (wanted[named[0]] == value) is (operator == "=")
    if (label, operator) == ("alertname", "=") and said.fact_has(case.incident, "title"):
        return titles.begins_with(said.fact_text(case.incident, "title"), value) is True
    return False


def _not_listed(answer: AlertmanagerAlerts, case: Case) -> Judgment:
    answer.complete()
    wanted = _labels_wanted(case)
    for index in range(answer.alerts()):
        labels, state = answer.labels(index), answer.state(index)
        if (is_of_another(labels, wanted), is_the_alert(labels, case)) != (True, False):
            return Judgment(False, state, f"an alert of the subject is listed as {state}.")
    return Judgment(True, f"none of {answer.alerts()} listed", "")


def is_of_another(labels: dict[str, str], wanted: dict[str, str]) -> bool:
    """Whether a label says so, or none says anything of the subject, which the incident's own alert did."""
    said_of_it = 0
    for key, value in sorted(wanted.items()):
        seen = sorted(own for label, own in labels.items() if spellings.is_name_of(label, key))
        if len(seen) == 1 and seen != [value]:
            return True
        said_of_it += len(seen)
    return said_of_it == 0


def is_the_alert(labels: dict[str, str], case: Case) -> bool:
    """Whether an alert that names nothing of the subject bears the name with which the incident's title begins."""
    names = [value for label, value in sorted(labels.items()) if label == "alertname"]
    if (len(names), said.fact_has(case.incident, "title")) != (1, True):
        return False
    borne = [key for key in _labels_wanted(case) for label in labels if spellings.is_name_of(label, key)]
    return len(borne) == 0 and titles.begins_with(said.fact_text(case.incident, "title"), names[0]) is True


def _has_no_series(answer: Samples, case: Case) -> Judgment:
    """A series of ALERTS has samples only while the alert is pending or fires."""
    wanted = _labels_wanted(case)
    for index in range(answer.series()):
        labels = answer.labels(index)
        since = [sample for sample in answer.samples(index) if sample.at >= case.incident.watch_from]
        is_pending = sorted(value for label, value in labels.items() if label == "alertstate") == ["pending"]
        if len(since) > 0 and is_pending is False and not is_of_another(labels, wanted):
            return Judgment(False, f"{len(since)} samples", "ALERTS shows it firing after recovery.")
    return Judgment(True, "no series", "")


def _alarm_keys(case: Case) -> tuple[str, ...]:
    return tuple(key for key in ALARM_KEYS if said.subject_has(case.incident, key))


def _alarms(answer: CloudwatchAlarms, case: Case) -> tuple[Place, ...]:
    """The alarms that are the incident's: by their name where it says one, otherwise by what they are of."""
    keys = _alarm_keys(case)
    if len(keys) > 0:
        own = said.subject_text(case.incident, keys[0])
        return tuple(place for place in answer.places() if answer.name(place) == own)
    # A region is where an alarm lives, and none of its dimensions.
    wanted = {key: value for key, value in _labels_wanted(case).items() if key != "region"}
    return tuple(place for place in answer.places() if is_of_all(answer.dimensions(place), wanted))


def is_of_all(dimensions: dict[str, str], wanted: dict[str, str]) -> bool:
    """Whether an alarm's dimensions name everything that the subject does, and nothing else."""
    named = {
        key: value for field, value in sorted(dimensions.items()) for key in wanted if spellings.is_name_of(field, key)
    }
    return named == wanted and len(dimensions) == len(wanted) and len(wanted) > 0


def _all_alarms_ok(answer: CloudwatchAlarms, case: Case) -> Judgment:
    answer.complete()
    for place in _alarms(answer, case):
        state, name = answer.state(place), answer.name(place)
        if state != "OK":
            return Judgment(False, state, f"the alarm {name} is {state}.")
        if samples_are_of_another(answer.metric(place), case) is True:
            return Judgment(
                False, name, f"the alarm {name} watches another metric than the one whose samples are cited."
            )
        if answer.is_quiet_without_data(place) is True and has_data_of(answer.metric(place), case) is not True:
            return Judgment(False, state, f"the alarm {name} is OK also when no data arrives, and none is shown.")
    return Judgment(True, "OK", "")


def has_data_of(metric: tuple[str, ...], case: Case) -> bool:
    """Whether the samples cited for the metric are those that the alarm watches."""
    cited = [answer.metric().names for answer in case.answers("metric_in_range", MetricData)]
    return len([names for names in cited if names == metric]) > 0


def samples_are_of_another(metric: tuple[str, ...], case: Case) -> bool:
    """Whether samples of CloudWatch are cited, and none of what the alarm watches. A calculated alarm names nothing."""
    cited = [answer.metric().names for answer in case.answers("metric_in_range", MetricData)]
    return (len(cited) > 0, metric == (), metric in frozenset(cited)) == (True, False, False)


def _evaluates_to_ok(answer: GrafanaAlertTest) -> Judgment:
    answer.complete()
    state = answer.state()
    if answer.is_firing() is not False:
        return Judgment(False, "firing", "the rule fires.")
    if answer.matches() > 0:
        return Judgment(False, f"{answer.matches()} matches", "series met the rule's condition.")
    return Judgment(state == "ok", state, f"the state is {state}, and only `ok` is over.")
