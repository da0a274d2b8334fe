"""There is a copy to go back to: a backup from shortly before the incident, and a restore of it that holds rows."""

from datetime import datetime, timedelta

from gate.triage.grammars import hosts
from gate.triage.readers.document import Unreadable
from gate.triage.readers.lvs_report import LvsReport
from gate.triage.readers.pg_select import STATEMENT, PgSelect
from gate.triage.readers.s3_objects import S3Objects
from gate.triage.rules import claims
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule, equal
from gate.triage.rules.subjects import the_only

Backup = LvsReport | S3Objects
HOST = ("host", "hostname")
BUCKET = ("bucket", "Bucket", "bucket_name")
PREFIX = ("prefix", "Prefix")
VOLUME = ("volume", "origin")
DATASET = ("dataset",)
OBJECT = ("key", "object_key")
# Which fields a report has, and how it is written: none of these picks volumes.
LVS_ARGUMENTS = frozenset((*HOST, "fields", "options", "units", "reportformat", "report_format"))
S3_ARGUMENTS = frozenset((*BUCKET, *PREFIX, "MaxKeys", "max_keys"))
# Who backs up at least once a day has one that is this old at most.
OLDEST = timedelta(days=1)
# A table that is in use has a row this young when it is copied.
QUIET = timedelta(hours=1)
# An archive of nothing is a few bytes long; a dump that broke off at once is not longer.
SMALLEST = 1024
RESTORE_ARGUMENTS = frozenset((*HOST, *STATEMENT, "database", "limit"))


def asked_where_it_is_kept(answer: Backup, case: Case) -> Judgment:
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    if isinstance(answer, LvsReport):
        only = claims.asks_only(answer, LVS_ARGUMENTS)
        if only.holds is not True:
            return only
        host = answer.args.text(the_only(HOST, answer.args.keys(), "The host asked for"))
        return equal(host, claims.text(case, HOST), "another host was asked for.")
    only = claims.asks_only(answer, S3_ARGUMENTS)
    if only.holds is not True:
        return only
    bucket = answer.args.text(the_only(BUCKET, answer.args.keys(), "The bucket asked for"))
    if bucket != claims.text(case, BUCKET):
        return Judgment(False, bucket, "another bucket was asked for.")
    return asked_for_its_part(answer, case)


def asked_for_its_part(answer: S3Objects, case: Case) -> Judgment:
    """The part of the bucket that the incident names, or all of it."""
    for key in PREFIX:
        if answer.args.has(key) and not is_its_part(answer.args.text(key), case):
            return Judgment(False, answer.args.text(key), "another part of the bucket was asked for.")
    return Judgment(True, "the bucket", "")


def is_its_part(asked: str, case: Case) -> bool:
    """The prefix of the incident, or where it says none, the folder that bears the name of its data set."""
    if claims.is_said(case, PREFIX):
        return asked == claims.text(case, PREFIX)
    return claims.is_said(case, DATASET) and asked in (f"{claims.text(case, DATASET)}/", claims.text(case, DATASET))


def is_what_was_asked(answer: Backup, case: Case) -> Judgment:
    answer.complete()
    if isinstance(answer, LvsReport):
        return Judgment(len(snapshots(answer, case)) > 0, f"{answer.listed()} volumes", "the host has no snapshot.")
    if answer.bucket() != claims.text(case, BUCKET):
        return Judgment(False, answer.bucket(), "the answer is about another bucket.")
    asked = [answer.args.text(key) for key in PREFIX if answer.args.has(key)]
    return equal(answer.prefix(), asked[0] if len(asked) > 0 else "", "the answer is about another part of the bucket.")


def snapshots(answer: LvsReport, case: Case) -> list[int]:
    """Volumes that are snapshots of the incident's volume, or of the only one that has any. Raises Unreadable."""
    places = [index for index in range(answer.listed()) if answer.origin(index) != ""]
    if claims.is_said(case, VOLUME):
        return [index for index in places if answer.origin(index) == claims.text(case, VOLUME)]
    if len(frozenset(answer.origin(index) for index in places)) > 1:
        raise Unreadable("/report", "there are snapshots of several volumes, and the incident names none.", "several")
    return places


def times(answer: Backup, case: Case) -> list[tuple[datetime, int]]:
    """When each copy was made, and where in the answer it stands."""
    if isinstance(answer, S3Objects):
        return [(answer.stored_at(index), index) for index in objects(answer, case)]
    return [(answer.taken_at(index), index) for index in snapshots(answer, case)]


def objects(answer: S3Objects, case: Case) -> list[int]:
    """The object that the incident names, or all of them."""
    places = list(range(answer.listed()))
    if not claims.is_said(case, OBJECT):
        return places
    return [index for index in places if answer.key(index) == claims.text(case, OBJECT)]


def the_copy(answer: Backup, case: Case) -> tuple[datetime, int]:
    """The newest copy from before the incident: one made later may be a copy of the damage. Raises Unreadable."""
    before = [copy for copy in times(answer, case) if copy[0] <= case.incident.began_at]
    if len(before) < 1:
        raise Unreadable("", "no copy is from before the incident began.", "no copy")
    return sorted(before)[-1]


def is_recent(answer: Backup, case: Case) -> Judgment:
    made, _ = the_copy(answer, case)
    is_young = made >= case.incident.began_at - OLDEST
    return Judgment(is_young, f"{made:%d %b %H:%M:%S}", "the newest copy was more than a day old when it began.")


def is_not_empty(answer: Backup, case: Case) -> Judgment:
    """Of some size; and a snapshot, as far as the report says it, did not run full since."""
    _, place = the_copy(answer, case)
    size = answer.size(place)
    if isinstance(answer, LvsReport) and not answer.is_valid(place):
        return Judgment(False, answer.name(place), "the snapshot is not valid.")
    return Judgment(size >= SMALLEST, f"{size:f} bytes", f"a copy of {size:f} bytes holds nothing.")


def asked_a_restored_copy(rows: PgSelect, case: Case) -> Judgment:
    """Another machine than the one that the incident is about, which would only show that it itself is there."""
    only = claims.asks_only(rows, RESTORE_ARGUMENTS)
    if only.holds is not True:
        return only
    where = rows.args.text(the_only(HOST, rows.args.keys(), "Where the copy was restored"))
    if not is_a_copy(where, case):
        return Judgment(False, where, "this may be the original, and not a restored copy.")
    return Judgment(rows.asked().where == (), where, "the rows were narrowed, where any were to be counted.")


def is_a_copy(where: str, case: Case) -> bool:
    """Another machine than the incident's; where the incident names none, one whose name says that it holds a copy."""
    if claims.is_said(case, HOST):
        return hosts.is_another(where, claims.text(case, HOST))
    return hosts.is_of_a_copy(where)


def is_whole(rows: PgSelect, case: Case) -> Judgment:
    rows.complete()
    return Judgment(rows.listed() > 0, f"{rows.listed()} rows", "there is no row.")


def holds_rows(rows: PgSelect, case: Case) -> Judgment:
    """A count above zero, or rows themselves."""
    counted = [aggregate for aggregate in rows.asked().aggregates if aggregate.function == "count"]
    if rows.asked().aggregates == ():
        return is_whole(rows, case)
    if len(counted) != 1:
        return Judgment(False, "no count", "the rows of the restored copy were not counted.")
    count = rows.integer(0, counted[0].name)
    return Judgment(count > 0, f"{count} rows", "the restored copy holds no row.")


def is_of_that_backup(rows: PgSelect, case: Case) -> Judgment:
    """Its newest row was written before the backup was made, and not long before: a replica's goes on growing."""
    newest = [rows.moment(0, aggregate.name) for aggregate in rows.asked().aggregates if aggregate.function == "max"]
    made = [the_copy(answer, case)[0] for answer in backups(case)]
    if len(made) < 1:
        return Judgment(False, "no backup", "no backup is cited that this could be a restore of.")
    where = rows.args.text(the_only(HOST, rows.args.keys(), "Where the copy was restored"))
    if len(newest) < 1 and hosts.is_of_a_copy(where) is not True:
        return Judgment(False, "not told", "neither its newest row nor its name tells it from a replica.")
    for moment in newest:
        if len([backup for backup in made if backup - QUIET <= moment <= backup]) < 1:
            return Judgment(False, f"{moment:%d %b %H:%M:%S}", "its newest row is not from the time of a backup.")
    return Judgment(True, ", ".join(f"{backup:%d %b %H:%M:%S}" for backup in sorted(made)), "")


def backups(case: Case) -> list[Backup]:
    fact = "backup_recent_and_nonempty"
    return [*case.answers(fact, LvsReport), *case.answers(fact, S3Objects)]


BACKUP = Need(
    readers=(LvsReport, S3Objects),
    asked=asked_where_it_is_kept,
    answered=is_what_was_asked,
    checks=(
        Check(
            title="The newest copy from before the incident is at most a day older than it",
            test=is_recent,
            earn="A snapshot or object of {subject} from the day before the incident began",
            unreadable="A copy without its time may be old",
        ),
        Check(
            title="It is not empty",
            test=is_not_empty,
            earn="The size of that copy in the same answer, at least 1024 bytes",
            unreadable="A size that cannot be read may be nothing",
        ),
    ),
    again=(is_recent, is_not_empty),
)
RESTORE = Need(
    readers=(PgSelect,),
    asked=asked_a_restored_copy,
    answered=is_whole,
    checks=(
        Check(
            title="The restored copy holds rows",
            test=holds_rows,
            earn="A count above 0 in a table of the restored copy, on another host than {subject}",
            unreadable="A missing count is not above zero",
        ),
        Check(
            title="It is a copy of that backup: its newest row, where it is told, is from that time",
            test=is_of_that_backup,
            earn="The newest time of the same table, at most an hour before the backup and not after it",
            unreadable="A time that cannot be read may be any",
        ),
    ),
    again=(holds_rows,),
)

RULE = Rule(
    hypothesis="backup_present",
    version=1,
    facts=(
        Fact(name="backup_recent_and_nonempty", needs=(BACKUP,)),
        Fact(name="restore_exercised", needs=(RESTORE,)),
    ),
)
