"""Tests on samples of a metric, whatever the tool: the subject's own series, whole, over the time that counts, good."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from gate.triage.grammars import spellings
from gate.triage.readers import incident as said
from gate.triage.readers.cloudwatch_metrics import MetricData
from gate.triage.readers.prometheus_range import PrometheusRange, PrometheusSeries, PrometheusWrapped
from gate.triage.readers.samples import Metric, Range, Sample, Samples
from gate.triage.rules.language import Case, Judgment
from gate.triage.rules.subjects import ABOUT_THE_ALERT

READERS = (PrometheusRange, PrometheusWrapped, PrometheusSeries, MetricData)
FACTS = ("metric_in_range", "metric_back_in_range")
FEWEST = 5
LONGEST_GAP = 3  # steps
MOST_STEPS = 11_000  # of one series, in one answer of Prometheus
# What an alert reads of itself: whether it fires is no measurement, and its value of 1 is below any threshold above it.
OF_ALERTS = ("ALERTS", "ALERTS_FOR_STATE")
# Series of cAdvisor that are of no container: a sum over a pod has its containers twice without these.
OF_NO_CONTAINER = (("container", ""), ("container", "POD"), ("image", ""))
# `job` is what Prometheus calls a group of targets; a Job of Kubernetes stands here.
FINER = ("job_name", "label_job_name", "k8s_job_name")
# How many values may become one without a bad one being lost: of many, the worst, or all of them together.
FOR_LOW = frozenset(("sum", "avg", "max", "rate", "irate", "increase", "avg_over_time", "max_over_time",
                     "last_over_time", "histogram_quantile", "Maximum", "Average", "Sum"))  # fmt: skip
FOR_HIGH = frozenset(("avg", "min", "rate", "irate", "increase", "avg_over_time", "min_over_time", "last_over_time",
                      "Minimum", "Average"))  # fmt: skip
FOR_NONE = frozenset(("sum", "max", "increase", "max_over_time", "last_over_time", "Maximum", "Sum"))
FOR_ALL = frozenset(("min", "min_over_time", "last_over_time", "Minimum"))


def asked_for_this_metric(samples: Samples, case: Case) -> Judgment:
    """Nothing is demanded of the series that the subject does not have, and what is asked hides no bad value."""
    metric, samples_asked = samples.metric(), samples.asked()
    if is_cited(samples, case) is not True and metric.names not in frozenset(_names_cited(case)):
        return Judgment(False, ", ".join(metric.names), "it asks for another metric than what is cited.")
    if metric.is_abridged is True and type(case.incident.id) is int:
        return Judgment(False, "abridged", "a part of the query was left out, which no server answers.")
    for label, operator, value in metric.demands:
        if is_of_the_subject(label, operator, value, case) is not True:
            return Judgment(False, f"{label}{operator}{value}", f"`{label}{operator}{value}` narrows the subject.")
    for test in (_is_the_metric, _hides_nothing):
        judgment = test(metric, case)
        if judgment.holds is not True:
            return judgment
    return Judgment(samples_asked.begins < samples_asked.ends, _time(samples_asked), "the asked time is empty.")


def has_the_subjects_series(samples: Samples, case: Case) -> Judgment:
    """There are series, and each bears everything that the subject is named by."""
    series, wanted = samples.series(), _wanted(case)
    if is_cited(samples, case) is not True:
        return Judgment(True, f"{series} series", "")  # of a broader question, the subject's own series are compared
    if series < 1:
        return Judgment(False, "no series", "no series came back, and no series is no value.")
    if len(wanted) < 1:
        return Judgment(False, "no subject", "the incident does not say what its metric is of.")
    for index in range(series):
        labels = samples.labels(index)
        missing = _not_borne(labels, wanted)
        if missing != "":
            return Judgment(False, missing, f"a series is not that of {missing} `{wanted[missing]}`.")
        other = _of_another_metric(labels, samples.metric())
        if other != "":
            return Judgment(False, other, f"a series is of the metric {other}, which was not asked for.")
    return Judgment(True, f"{series} series", "")


def every_sample_is_good(samples: Samples, case: Case) -> Judgment:
    """At least five finite samples of each series since recovery, each meeting the alert's condition turned round."""
    samples.complete()
    good = said.fact_condition(case.incident, "metric_good")
    fewest, worst = [], []
    for index in range(samples.series()):
        since = [sample for sample in samples.samples(index) if sample.at >= case.incident.watch_from]
        fewest.append(len(since))
        worst += [sample.value for sample in since if good.is_met_by(sample.value) is not True]
    if len(worst) > 0:
        return Judgment(False, f"{worst[0]}", f"a sample since recovery is {worst[0]}, where {good} is good.")
    least = sorted(fewest)[0] if len(fewest) > 0 else 0
    seen = f"{least} samples {good}"
    return Judgment(least >= FEWEST, seen, f"{least} samples since recovery are too few; {FEWEST} are the least.")


def samples_cover_recurrence(samples: Samples, case: Case) -> Judgment:
    """The asked time covers what counts, every sample lies in it, and none is missing for long."""
    samples.complete()
    asked = samples.asked()
    missed = _missed(samples, asked, case)
    if missed != "":
        return Judgment(False, _time(asked), missed)
    for index in range(samples.series()):
        gap = _gap(samples.samples(index), asked, case)
        if gap != "":
            return Judgment(False, _time(asked), gap)
    return Judgment(samples.series() > 0, _time(asked), "no series came back.")


def still_good(samples: Samples, case: Case) -> Judgment:
    """Asked again: no sample since recovery is bad, whatever time was asked for and however many came."""
    good, wanted = said.fact_condition(case.incident, "metric_good"), _wanted(case)
    own = [index for index in range(samples.series()) if _not_borne(samples.labels(index), wanted) == ""]
    for index in own:
        for sample in samples.samples(index):
            if sample.at >= case.incident.watch_from and good.is_met_by(sample.value) is not True:
                return Judgment(False, f"{sample.value}", f"a sample since recovery is {sample.value}.")
    return Judgment(True, "good", "")


def is_of_the_subject(label: str, operator: str, value: str, case: Case) -> bool:
    """Whether what is demanded of a label leaves the subject in."""
    wanted = _wanted(case)
    named = [key for key in wanted if spellings.is_name_of(label, key)]
    if len(named) == 0:
        return operator == "!=" and (label, value) in OF_NO_CONTAINER
    if len(named) != 1:
        return False
    return (wanted[named[0]] == value) is (operator == "=")


def is_cited(samples: Samples, case: Case) -> bool:
    """Whether this very answer is cited; the others were found beside it."""
    return samples.call.audit_id in frozenset(cited.call.audit_id for cited in _cited(case))


def _cited(case: Case) -> tuple[Samples, ...]:
    facts = sorted(frozenset(FACTS) & frozenset(case.cited))
    return tuple(answer for fact in facts for answer in case.answers(fact, Samples))


def _names_cited(case: Case) -> tuple[tuple[str, ...], ...]:
    return tuple(cited.metric().names for cited in _cited(case))


def _not_borne(labels: dict[str, str], wanted: dict[str, str]) -> str:
    """The first key of the subject that a series does not bear with its value; empty when it bears them all."""
    for key, value in sorted(wanted.items()):
        if _values_of(labels, key) != [value]:
            return key
    return ""


def _of_another_metric(labels: dict[str, str], metric: Metric) -> str:
    """The name that a series bears where it is none that was asked for; a calculated series bears none."""
    if metric.is_abridged is True:
        return ""
    others = [value for label, value in labels.items() if label == "__name__" and value not in frozenset(metric.names)]
    return others[0] if len(others) > 0 else ""


def _wanted(case: Case) -> dict[str, str]:
    keys = sorted(said.subject_keys(case.incident) - ABOUT_THE_ALERT)
    return {key: f"{said.subject_identifier(case.incident, key)}" for key in keys}


def _values_of(labels: dict[str, str], key: str) -> list[str]:
    """What a series says of one key of the subject; a scraper's own label of the name gives way to the exported one."""
    finer = frozenset((f"exported_{key}", *(FINER if key == "job" else ())))
    exact = sorted(frozenset(value for label, value in labels.items() if label in frozenset(finer)))
    if len(exact) > 0:
        return exact
    return sorted(frozenset(value for label, value in labels.items() if spellings.is_name_of(label, key)))


def _is_the_metric(metric: Metric, case: Case) -> Judgment:
    """Where the intake says which metric it was, it is that; and the state of an alert is never a measurement."""
    seen = ", ".join(metric.names)
    for name in metric.names:
        if name in OF_ALERTS:
            return Judgment(False, name, "an alert's own state is no measurement.")
    own = _own_metrics(case)
    if len(own) == 0:
        return Judgment(True, seen, "")
    if metric.is_abridged is True:
        return Judgment(False, seen, "a part of the query was left out, so which metric it is cannot be told.")
    return Judgment(
        frozenset(own) <= frozenset(metric.names), seen, f"another metric than {', '.join(own)} was asked for."
    )


def _own_metrics(case: Case) -> tuple[str, ...]:
    found = [said.subject_text(case.incident, "metric")] if said.subject_has(case.incident, "metric") else []
    found += [said.fact_text(case.incident, "metric")] if said.fact_has(case.incident, "metric") else []
    return tuple(sorted(frozenset(found)))


def _hides_nothing(metric: Metric, case: Case) -> Judgment:
    """A minimum shows nothing of what must stay low, nor a rate over a day of what must come back in five minutes."""
    good = said.fact_condition(case.incident, "metric_good")
    hiding = sorted(metric.taken - _allowed(good.operator, good.bound))
    if len(hiding) > 0:
        return Judgment(False, hiding[0], f"`{hiding[0]}` may hide a bad value where {good} is good.")
    if metric.looks_back > timedelta(seconds=case.incident.recurrence_seconds):
        return Judgment(False, f"{metric.looks_back}", "each value looks back over more than the time that counts.")
    if metric.is_plain_ratio is True and good.operator in ("<", "<=") and good.bound > 1:
        return Judgment(False, f"{good}", "a ratio is compared with a bound in percent, below which it always is.")
    return Judgment(True, f"{good}", "")


def _allowed(operator: str, bound: Decimal) -> frozenset[str]:
    if operator in ("<", "<="):
        return FOR_LOW
    if operator in (">", ">="):
        return FOR_HIGH
    if operator == "==" and bound == 0:
        return FOR_NONE
    return FOR_ALL if operator == "==" and bound == 1 else frozenset(("last_over_time",))


def _missed(samples: Samples, asked: Range, case: Case) -> str:
    incident = case.incident
    if not isinstance(samples, MetricData) and asked.ends - asked.begins > MOST_STEPS * asked.step:
        return f"the asked time has more than {MOST_STEPS} steps, which Prometheus refuses to answer."
    if asked.begins > incident.watch_from:
        return "the asked time begins after recovery."
    if asked.ends < incident.watch_from + timedelta(seconds=incident.recurrence_seconds):
        return "the asked time ends before it could have come again."
    if asked.ends > samples.called_at() - timedelta(seconds=incident.ingestion_lag_seconds):
        return "the asked time reaches into what may not have arrived."
    return ""


def _gap(samples: tuple[Sample, ...], asked: Range, case: Case) -> str:
    """What is wrong with where the samples lie; nothing when they lie close enough, from recovery to the end."""
    if len([sample for sample in samples if not asked.begins <= sample.at <= asked.ends]) > 0:
        return "samples lie outside the asked time."
    seen: datetime | None = None
    for sample in samples:
        if seen is not None and sample.at - seen < asked.step:
            return "samples lie closer together than was asked for."
        seen = sample.at
    since = [sample.at for sample in samples if sample.at >= case.incident.watch_from]
    places = [case.incident.watch_from, *since, asked.ends]
    for before, after in pairwise(places):
        if after - before > LONGEST_GAP * asked.step:
            return f"no sample for {after - before}, where one came every {asked.step}."
    until = case.incident.watch_from + timedelta(seconds=case.incident.recurrence_seconds)
    if len(since) < 1:
        return "no sample since recovery."
    return "" if since[-1] + asked.step >= until else "the samples end before it could have come again."


def _time(asked: Range) -> str:
    return f"{asked.begins:%d %b %H:%M:%S} to {asked.ends:%d %b %H:%M:%S}"
