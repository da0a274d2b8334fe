"""Where admission repeats what an entry holds: for the page of a redaction, which names each place."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import connection
from django.urls import reverse

from audit import reading
from audit.copies import Copy
from audit.kinds import Kind
from audit.models import Entry
from gate.admission import judging
from gate.admission.models import AnswerLabel

SENT = "holds what the answering model was sent and said about it; ask to redact it too."


def of(entry: Entry) -> Iterable[Copy]:
    """The labels of a decision's answers, and the other half of what a model was asked."""
    if entry.kind == Kind.ADMISSION_ANSWERED:
        # People's plane does not see the asks themselves.
        yield Copy(entry.tool, _policy(entry.tool), "keeps what was asked and said for an hour; it is taken away.")
    elif entry.kind in judging.KINDS:
        yield from _labels(entry)
        yield from _sent(entry)


def clear(redaction: int) -> None:
    """Clear what admission repeats of a redacted entry: what a model was sent, and answers beside their labels."""
    with connection.cursor() as cursor:
        cursor.execute("select admission_clear_copies(%s)", [redaction])


def _labels(entry: Entry) -> Iterable[Copy]:
    for name in AnswerLabel.objects.filter(decision=entry.seq).values_list("policy", flat=True).distinct():
        yield Copy(name, _policy(name), "measures its answers by what people said of them; the answers are cleared.")


def _sent(entry: Entry) -> Iterable[Copy]:
    args = reading.content_of(entry).args
    asked = args.get("asked") if isinstance(args, dict) else None
    seq = reading.seq_of(asked.get("entry", "")) if isinstance(asked, dict) else None
    if seq is not None:
        yield Copy(f"A-{seq}", reverse("audit:entry", args=[seq]), SENT)


def _policy(name: str) -> str:
    return reverse("policies:one", args=[name])
