"""Storage ran low, was enlarged by autoscaling, and the metric has been good since."""

from datetime import timedelta

from gate.triage.readers import incident as said
from gate.triage.readers.cloudwatch_metrics import MetricData
from gate.triage.readers.rds_events import RdsEvents
from gate.triage.readers.samples import Samples
from gate.triage.rules import metric_samples
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal
from gate.triage.rules.subjects import ABOUT_THE_ALERT, asked_in_its_region, the_only

NAMES = ("db_instance", "db_instance_identifier", "DBInstanceIdentifier", "db_cluster", "DBClusterIdentifier")
STORAGE = ("FreeStorageSpace", "FreeLocalStorage", "FreeLocalStoragePercent", "FreeStorageSpaceLogVolume",
           "VolumeBytesLeftTotal", "AuroraVolumeBytesLeftTotal")  # fmt: skip


def name_of(case: Case) -> str:
    """The database that the incident is about, and nothing besides."""
    keys = said.subject_keys(case.incident) - ABOUT_THE_ALERT
    return said.subject_text(case.incident, the_only(NAMES, keys, "the database"))


def asked_for_this_database(events: RdsEvents, case: Case) -> Judgment:
    region = asked_in_its_region(events, case)
    if region.holds is not True:
        return region
    return equal(events.asked_source(), name_of(case), "events of another database were asked for.")


def tells_of_this_database(events: RdsEvents, case: Case) -> Judgment:
    name = name_of(case)
    for index in range(events.events()):
        if events.source(index) != name:
            return Judgment(False, events.source(index), "an event is of another database.")
    return Judgment(events.events() > 0, f"{events.events()} events", "no event at all came back.")


def asked_for_its_storage(samples: Samples, case: Case) -> Judgment:
    """How much storage is free, as Amazon RDS measures it: memory that is free says nothing of a disk."""
    names = samples.metric().names
    if isinstance(samples, MetricData) and is_its_metric(names, case) is not True:
        return Judgment(False, " ".join(names), "it is no metric of the storage that was enlarged.")
    return metric_samples.asked_for_this_metric(samples, case)


def is_its_metric(names: tuple[str, ...], case: Case) -> bool:
    """A metric of the storage of a database, or the one that the incident itself is about."""
    if said.subject_has(case.incident, "metric"):
        return names[-1] == said.subject_text(case.incident, "metric")
    return (names[0], names[-1] in STORAGE) == ("AWS/RDS", True)


def scaling_is_done(events: RdsEvents, case: Case) -> Judgment:
    """One event says so, after the beginning; none tells of a failure, and none of low storage after it."""
    events.complete()
    since = [index for index in range(events.events()) if events.date(index) >= case.incident.began_at]
    done = sorted(events.date(index) for index in since if events.says_scaled(index) is True)
    failed = [index for index in since if events.says_failed(index) is True]
    if len(failed) > 0:
        return Judgment(False, f"{events.date(failed[0]):%d %b %H:%M:%S}", "an event tells of a failure.")
    if len(done) < 1:
        return Judgment(False, "no such event", "no event says that autoscaling is done.")
    after = [index for index in since if events.date(index) >= done[-1]]
    if len([index for index in after if events.says_begun(index) is True]) > 0:
        return Judgment(False, f"{done[-1]:%d %b %H:%M:%S}", "autoscaling began again after it, and is not done.")
    low = [index for index in after if events.says_low(index) is True]
    return Judgment(len(low) == 0, f"{done[-1]:%d %b %H:%M:%S}", "storage was low again after it.")


def events_cover_the_incident(events: RdsEvents, case: Case) -> Judgment:
    """From its beginning until it could have come again, every event inside, and all of them have arrived."""
    begins, ends, incident = events.asked_from(), events.asked_to(), case.incident
    seen = f"{begins:%d %b %H:%M:%S} to {ends:%d %b %H:%M:%S}"
    for index in range(events.events()):
        if not begins <= events.date(index) <= ends:
            return Judgment(False, seen, "an event lies outside the asked time.")
    if begins > incident.began_at:
        return Judgment(False, seen, "the asked time begins after the incident did.")
    latest = events.called_at() - timedelta(seconds=incident.ingestion_lag_seconds)
    if events.has_end() and ends > latest:
        return Judgment(False, seen, "the asked time reaches into what may not have arrived.")
    needed = incident.watch_from + timedelta(seconds=incident.recurrence_seconds)
    surely = ends if events.has_end() else latest
    return Judgment(surely >= needed, seen, "the asked time ends before it could have come again.")


def has_not_failed_since(events: RdsEvents, case: Case) -> Judgment:
    """Asked again: no failure and no low storage since recovery."""
    for index in range(events.events()):
        bad = (events.says_failed(index), events.says_low(index)) != (False, False)
        if bad is True and events.date(index) >= case.incident.watch_from:
            return Judgment(False, f"{events.date(index):%d %b %H:%M:%S}", "an event since recovery speaks against it.")
    return Judgment(True, "none", "")


SCALING = Need(
    readers=(RdsEvents,),
    asked=asked_for_this_database,
    answered=tells_of_this_database,
    checks=(
        Check(
            title="Autoscaling of {subject} is done, and nothing failed",
            test=scaling_is_done,
            earn="All events of {subject} with the one that says that storage autoscaling is done, and no failure",
            unreadable="An event that cannot be read may tell of a failure",
        ),
        Check(
            title="The events reach from the beginning to {recurrence} after {watch_from}",
            test=events_cover_the_incident,
            earn="Events from before it began until {recurrence} after {watch_from}",
            unreadable="A time that cannot be read covers nothing",
        ),
    ),
    again=(has_not_failed_since,),
)
METRIC = Need(
    readers=metric_samples.READERS,
    asked=asked_for_its_storage,
    answered=metric_samples.has_the_subjects_series,
    checks=(
        Check(
            title="Every sample since {watch_from} is {metric_good}, and there are at least five",
            test=metric_samples.every_sample_is_good,
            earn="Samples of the metric for {subject}, every one since {watch_from} {metric_good}",
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

RULE = Rule(
    hypothesis="capacity_autoscaled",
    version=1,
    facts=(
        Fact(name="scaling_completed", needs=(SCALING,)),
        Fact(name="metric_back_in_range", needs=(METRIC,)),
    ),
)
