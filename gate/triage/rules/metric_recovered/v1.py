"""A metric is back where it should be and has stayed there, and the alert on it has stopped."""

from gate.triage.rules import alert_states, metric_samples
from gate.triage.rules.language import Check, Fact, Need, Rule

METRIC = Need(
    readers=metric_samples.READERS,
    asked=metric_samples.asked_for_this_metric,
    answered=metric_samples.has_the_subjects_series,
    checks=(
        Check(
            title="Every sample since {watch_from} is {metric_good}, and there are at least five",
            test=metric_samples.every_sample_is_good,
            earn="A range of the alert's metric for {subject}, with every sample since {watch_from} {metric_good}",
            unreadable="A sample that cannot be read is not good",
        ),
        Check(
            title="The samples cover {recurrence} from {watch_from} without a gap",
            test=metric_samples.samples_cover_recurrence,
            earn="A range from {watch_from} or before, over at least {recurrence}, with a sample at each step",
            unreadable="A time that cannot be read covers nothing",
        ),
    ),
    again=(metric_samples.still_good,),
)
ALERT = Need(
    readers=alert_states.READERS,
    asked=alert_states.asked_about_this_alert,
    answered=alert_states.tells_of_this_alert,
    checks=(
        Check(
            title="The alert source has no active alert for {subject}",
            test=alert_states.does_not_fire,
            earn="The alert source asked for {subject}: nothing listed, or its alarm evaluated on data as OK",
            unreadable="An alert that cannot be read may be firing",
        ),
        Check(
            title="It was asked after {recurrence} from {watch_from}",
            test=alert_states.was_asked_late_enough,
            earn="The same question, asked {recurrence} after {watch_from} or later",
            unreadable="A question without a time was asked too early",
        ),
    ),
    again=(alert_states.does_still_not_fire,),
)

RULE = Rule(
    hypothesis="metric_recovered",
    version=1,
    facts=(
        Fact(name="metric_in_range", needs=(METRIC,)),
        Fact(name="alert_not_firing", needs=(ALERT,)),
    ),
)
