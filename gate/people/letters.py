"""Letters to people. Who had which kind sent to whom, and what became of it, is an entry; what stood in it is not.

Callers MUST have committed what a letter is about, and be in no transaction any more.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.urls import reverse

from audit import log
from audit.kinds import Kind
from audit.templatetags.ui import minutes_until
from gate.people import limits, mail
from gate.people.models import Person

WITHIN = timedelta(hours=1)
MOST_BY_ONE = 30  # a new team is invited in one go
MOST_TO_ONE = 6

INVITATION = """\
{by} invited you to Counterseal at {origin}.

You sign in as {username}. Set your password here; the link works once, for 3 days:

{link}

Whoever opens the link sets your password: pass it on to nobody.
"""
PASSWORD_LINK = """\
Two admins agreed that you get a link to set your password at {origin}; {by} confirmed it.

You sign in as {username}. The link works once, for 3 days:

{link}

Whoever opens the link sets your password: pass it on to nobody. If you did not ask for it, tell an admin.
"""
KEY_ENROLLED = """\
A passkey was added to your account {username} at {origin}; {by} confirmed it.
For 24 hours it opens no write of high risk.

If it is not yours, revoke it at {link} at once, change your password there, and tell an admin.
"""
ALERT = """\
{agent}, which you answer for, has an alert at {origin}:

{sentence}

Look at it here, and say there why it needs nothing more, or stop the agent:

{link}
"""
TEST = """\
{by} asked Counterseal at {origin} for this letter, to see whether mail arrives. It did.
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a letter: the address, and why it did not go out; "" when it did.

    `is_doubtful` where nobody can tell whether it did.
    """

    address: str
    why_not: str = ""
    is_doubtful: bool = False


def invite(person: Person, token: str, *, by: Person) -> Outcome:
    """Send somebody who was invited the link that sets their password."""
    return _send(person, "invitation", "You are invited to Counterseal", INVITATION, by=by, link=_link(token))


def send_password_link(person: Person, token: str, *, by: Person) -> Outcome:
    """Send somebody the link to set their password that two admins agreed on."""
    return _send(person, "password link", "Set your Counterseal password", PASSWORD_LINK, by=by, link=_link(token))


def tell_of_key(person: Person, *, by: Person) -> Outcome:
    """Tell somebody that a key was added to their account, whoever did it."""
    link = f"{settings.ORIGIN}{reverse('people:keys')}"
    return _send(person, "new key", "A passkey was added to your Counterseal account", KEY_ENROLLED, by=by, link=link)


def tell_of_alert(owner: Person, agent: str, sentence: str) -> Outcome:
    """Tell the person who answers for an agent what a look at its calls found. Nobody asked for it: we write."""
    link = f"{settings.ORIGIN}{reverse('audit:agent', args=[agent])}"
    return _send(
        owner, "alert", f"An alert about {agent}", ALERT, by=None, link=link, agent=agent, sentence=sentence
    )  # fmt: skip


def send_test(person: Person) -> Outcome:
    """Send somebody a letter that they asked for to see whether mail arrives."""
    return _send(person, "test", "A test letter from Counterseal", TEST, by=person)


def _link(token: str) -> str:
    # Never from the request: its Host header is the caller's.
    return f"{settings.ORIGIN}{reverse('people:password_link', args=[token])}"


def _send(
    to: Person, kind: str, subject: str, template: str, *, by: Person | None, link: str = "", **more: str
) -> Outcome:
    words = {"by": str(by), "origin": settings.ORIGIN, "username": to.username, "link": link, **more}
    try:
        _take(to, by)
        mail.send(
            to=to.email, subject=subject, text=template.format(**{name: mail.one_line(w) for name, w in words.items()})
        )
    except mail.NotSent as refusal:
        _record(to, kind, by, str(refusal))
        return Outcome(to.email, str(refusal), refusal.is_doubtful)
    _record(to, kind, by)
    return Outcome(to.email)


def _take(to: Person, by: Person | None) -> None:
    try:
        if by is not None:
            limits.take(f"letters by {by.pk}", most=MOST_BY_ONE, within=WITHIN)
        limits.take(f"letters to {to.email.lower()}", most=MOST_TO_ONE, within=WITHIN)
    except limits.UsedUp as used:
        raise mail.NotSent(f"Too many letters within an hour. Try again in {minutes_until(used.until)}.") from used


def _record(to: Person, kind: str, by: Person | None, why_not: str = "") -> None:
    log.record(
        Kind.MAIL_FAILED if why_not else Kind.MAIL_SENT, by.actor() if by else log.Actor.process(),
        subject=f"person {to.username}",
        summary=f"{kind} to {to.email}", status="failed" if why_not else "ok", error=why_not,
        args={"kind": kind, "to": to.email},
    )  # fmt: skip
