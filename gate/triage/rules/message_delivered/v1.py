"""A message reached the recipient of the claim: the recipient's own row says when, and nothing bounced since."""

from datetime import datetime, timedelta

from gate.triage.grammars import tables
from gate.triage.readers import mail_search
from gate.triage.readers.document import Unreadable
from gate.triage.readers.mail_search import MailSearch
from gate.triage.readers.pg_select import PgSelect
from gate.triage.rules import claims, sql_questions
from gate.triage.rules.language import Case, Check, Fact, Judgment, Need, Rule

Rows = PgSelect | MailSearch
MESSAGE = ("message_id", "message")
RECIPIENT = ("recipient", "recipient_email", "email")
KEYS: sql_questions.Keys = (
    (("message_id",), MESSAGE),
    (("recipient", "recipient_email", "email"), RECIPIENT),
)
# When a row of the bounces was written. A count may leave out what is older than the incident, and nothing else.
TIMES = frozenset(("created_at", "bounced_at", "received_at"))
STATUSES = (
    "sent", "pending", "queued", "retry", "deferred", "failed", "bounced", "cancelled", "canceled", "internal",
    "rejected", "delivered",
)  # fmt: skip


def asked_for_its_recipients(rows: Rows, case: Case) -> Judgment:
    if isinstance(rows, MailSearch):
        return asked_for_its_message(rows, case)
    table = sql_questions.asked_of(rows, tables.holds_recipients)
    if table.holds is not True:
        return table
    return sql_questions.narrowed_by(rows, case, KEYS, frozenset())


def asked_for_its_message(mail: MailSearch, case: Case) -> Judgment:
    """The message of the claim, for all of its recipients or for this one."""
    scope = claims.is_in_scope(case)
    if scope.holds is not True:
        return scope
    message, recipient = claims.text(case, MESSAGE), claims.text(case, RECIPIENT)
    asked, narrowed = mail.asked(mail_search.MESSAGE), mail.asked(mail_search.RECIPIENT)
    if narrowed not in ((), (recipient,)):
        return Judgment(False, ", ".join(narrowed), "messages to another recipient were asked for.")
    return Judgment(asked == (message,), ", ".join(asked), f"another message than `{message}` was asked for.")


def are_its_recipients(rows: Rows, case: Case) -> Judgment:
    """All rows that were asked for, and exactly one of them is this recipient's."""
    rows.complete()
    if isinstance(rows, PgSelect):
        sql_questions.check_rows_are_as_asked(rows)
    places = its_places(rows, case)
    return Judgment(len(places) == 1, f"{len(places)} rows", "the recipient of the claim is not in exactly one row.")


def its_places(rows: Rows, case: Case) -> list[int]:
    """Where this recipient's row of this message stands. Raises Unreadable where the claim names only one of them."""
    claims.identifier(case, MESSAGE)
    claims.identifier(case, RECIPIENT)
    if isinstance(rows, MailSearch):
        return [index for index in range(rows.listed()) if is_its_row(rows, index, case)]
    return [index for index in range(rows.listed()) if sql_questions.is_named(rows, index, case, KEYS)]


def is_its_row(mail: MailSearch, index: int, case: Case) -> bool:
    named = mail.named(index, mail_search.MESSAGE), mail.named(index, mail_search.RECIPIENT)
    if named[0] != claims.text(case, MESSAGE):
        raise Unreadable(f"/messages/{index}", "a row is of another message than was asked for.", named[0])
    return named[1] == claims.text(case, RECIPIENT)


def has_status_sent(rows: Rows, case: Case) -> Judgment:
    status = rows.one_of(STATUSES, its_places(rows, case)[0], "delivery_status")
    return Judgment(status == "sent", status, f"the delivery status of this recipient is {status}.")


def was_delivered_in_time(rows: Rows, case: Case) -> Judgment:
    """After the incident began: before it the message is said to have been waiting. And not in the future."""
    delivered = delivered_at(rows, case)
    seen = f"{delivered:%d %b %H:%M:%S}"
    if delivered < case.incident.began_at:
        return Judgment(False, seen, "it was delivered before the incident began, so the incident is another one.")
    return Judgment(delivered <= rows.called_at(), seen, "the delivery lies in the future.")


def delivered_at(rows: Rows, case: Case) -> datetime:
    return rows.moment(its_places(rows, case)[0], "delivered_at")


def asked_for_its_bounces(rows: PgSelect, case: Case) -> Judgment:
    table = sql_questions.asked_of(rows, tables.holds_bounces)
    if table.holds is not True:
        return table
    return sql_questions.narrowed_by(rows, case, KEYS, TIMES)


def is_a_count(rows: PgSelect, case: Case) -> Judgment:
    """One count of rows, made where they lie; rows that somebody has listed may be fewer than there are."""
    rows.complete()
    counted = [aggregate.function for aggregate in rows.asked().aggregates]
    return Judgment(counted == ["count"], ", ".join(counted), "the bounces were not counted.")


def none_bounced(rows: PgSelect, case: Case) -> Judgment:
    count = rows.integer(0, rows.asked().aggregates[0].name)
    return Judgment(count == 0, f"{count}", f"the count of bounces is {count}, not 0.")


def looked_at_all_the_time(rows: PgSelect, case: Case) -> Judgment:
    """From the beginning of the incident or before, until a bounce has had the time to come back."""
    called, ready = rows.called_at(), case.incident.watch_from + timedelta(seconds=case.incident.recurrence_seconds)
    seen = f"until {called:%H:%M:%S}"
    for begins in sql_questions.looked_from(rows, TIMES):
        if begins > case.incident.began_at:
            return Judgment(False, f"from {begins:%H:%M:%S}", "bounces from before that were not counted.")
    for delivered in deliveries(case):
        if called < delivered:
            return Judgment(False, seen, "the bounces were counted before the message was delivered.")
    return Judgment(called >= ready, seen, "the bounces were counted before one had the time to come back.")


def deliveries(case: Case) -> list[datetime]:
    fact = "delivery_confirmed_for_recipient"
    found: list[Rows] = [*case.answers(fact, PgSelect), *case.answers(fact, MailSearch)]
    return [delivered_at(rows, case) for rows in found]


DELIVERY = Need(
    readers=(PgSelect, MailSearch),
    asked=asked_for_its_recipients,
    answered=are_its_recipients,
    checks=(
        Check(
            title="The row of this recipient has the delivery status `sent`",
            test=has_status_sent,
            earn="`delivery_status` of {subject}, in one row, selected by message or recipient alone",
            unreadable="A status that cannot be read is not a delivery",
        ),
        Check(
            title="It says when, and that is since the incident began",
            test=was_delivered_in_time,
            earn="`delivered_at` with its zone in the same row",
            unreadable="A delivery without its time is none",
        ),
    ),
    again=(has_status_sent, was_delivered_in_time),
)
NO_BOUNCE = Need(
    readers=(PgSelect,),
    asked=asked_for_its_bounces,
    answered=is_a_count,
    checks=(
        Check(
            title="The count of bounces of this message is exactly 0",
            test=none_bounced,
            earn="A `count(*)` of the bounces of {subject}, exactly 0, as a whole number",
            unreadable="A missing count is not zero",
        ),
        Check(
            title="It counts from the beginning of the incident until a bounce had time to come back",
            test=looked_at_all_the_time,
            earn="A count without a time, or from before the incident began, made after the delivery",
            unreadable="A window that cannot be read covers nothing",
        ),
    ),
    again=(none_bounced,),
)

RULE = Rule(
    hypothesis="message_delivered",
    version=1,
    kinds=("claim",),
    facts=(
        Fact(name="delivery_confirmed_for_recipient", needs=(DELIVERY,)),
        Fact(name="no_bounce", needs=(NO_BOUNCE,)),
    ),
)
