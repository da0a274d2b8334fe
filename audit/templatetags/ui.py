"""Small words and marks that every page uses."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from audit import diff_lines, reading

register = template.Library()

STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (float("inf"), 86_400, "d"))


@register.filter
def age(moment: datetime) -> str:
    """How long ago, in one unit: 48 min. The future reads the same way."""
    return span(abs((timezone.now() - moment).total_seconds()))


def span(seconds: float) -> str:
    """A length of time in one unit: 40 s, 48 min, 3 h."""
    for limit, size, unit in STEPS:
        if seconds < limit:
            return f"{int(seconds // size)} {unit}"
    raise AssertionError("the last step has no limit")


@register.simple_tag
def ago(moment: datetime | None, css: str = "meta") -> SafeString | str:
    """A <time> that shows its age and carries the exact moment."""
    if moment is None:
        return "–"
    exact = moment.astimezone(timezone.get_current_timezone())
    return format_html(
        '<time class="{}" datetime="{}" title="{}">{}</time>',
        css, moment.isoformat(), exact.strftime("%-d %b %Y %H:%M:%S %Z"), age(moment),
    )  # fmt: skip


@register.simple_tag
def moment(at: datetime | None, form: str = "%-d %b %Y %H:%M:%S %Z") -> SafeString | str:
    """A <time> in the reader's zone, to the second."""
    if at is None:
        return "–"
    local = at.astimezone(timezone.get_current_timezone())
    return format_html('<time datetime="{}">{}</time>', at.isoformat(), local.strftime(form))


@register.filter
def code(digest: bytes | memoryview | str) -> str:
    """A digest's short code for people: the first twelve hex digits in groups of four."""
    text = digest if isinstance(digest, str) else bytes(digest).hex()
    return " ".join(text[start : start + 4] for start in range(0, 12, 4))


@register.filter
def counted(number: int, noun: str) -> str:
    """A number with its noun: "1 row", "2 rows", "2 entries"."""
    if number == 1:
        return f"{number:,} {noun}"
    return f"{number:,} {noun[:-1]}ies" if noun.endswith("y") else f"{number:,} {noun}s"


@register.filter
def duration(seconds: int) -> str:
    """Seconds as people say them: 3 h, 1 h 10 min, 40 s."""
    units = ((seconds // 3600, "h"), (seconds % 3600 // 60, "min"), (seconds % 60, "s"))
    return " ".join(f"{number} {unit}" for number, unit in units if number) or "0 s"


@register.filter
def minutes_until(moment: datetime) -> str:
    """How long until a moment, to the minute: 3 h 57 min."""
    seconds = max(0, int((moment - timezone.now()).total_seconds()))
    return duration(seconds - seconds % 60) if seconds >= 60 else "less than a minute"


@register.filter
def allowed(user: Any, permission: str) -> bool:
    """Whether a person may do an act of the permission matrix."""
    return bool(user.has_perm(permission))


@register.filter
def entry_number(subject: str) -> int | None:
    """The number of an entry that something is about, like A-12; None for anything else."""
    return reading.seq_of(subject)


@register.filter
def milliseconds(number: int) -> str:
    """How long something took: 41 ms, 1.9 s."""
    return f"{number} ms" if number < 1000 else f"{number / 1000:.1f} s"


@register.filter
def thousands(number: int) -> str:
    """A number with its thousands apart: 48,977."""
    return f"{number:,}"


@register.simple_tag
def address(filters: Any, **changes: Any) -> str:
    """The query of an address with filters of which some are changed; None leaves one out."""
    return f"?{filters.link(**{name: '' if value is None else str(value) for name, value in changes.items()})}"


BAD = frozenset({"refused", "failed", "stale", "blocked", "rejected"})


@register.simple_tag
def status_mark(entry: Any) -> SafeString:
    """An entry's status as glyph, word and color. A result that was cut is not quite ok."""
    word, css, glyph = entry.status, "state--wait", "!"
    if entry.status == "ok" and entry.truncated:
        word = "cut"
    elif entry.status == "ok":
        css, glyph = "state--ok", "✓"
    elif entry.status in BAD:
        css, glyph = "state--bad", "✕"
    return _state(css, glyph, word)


def _state(css: str, glyph: str, word: str) -> SafeString:
    return format_html('<span class="state {}" data-glyph="{}">{}</span>', css, glyph, word)


@register.filter
def diff_rows(lines: Sequence[str]) -> list[diff_lines.Row]:
    """The lines of a unified diff as rows."""
    return diff_lines.rows(lines)


@register.filter
def digest_text(digest: bytes | memoryview) -> str:
    """A whole digest in hex, in groups of eight that a line can break between."""
    text = bytes(digest).hex()
    return " ".join(text[start : start + 8] for start in range(0, len(text), 8))


MARKS = {"active": ("state--ok", "✓", "active"), "retired": ("", "–", "retired"), "shadow": ("", "◌", "in shadow")}


@register.simple_tag
def definition_mark(version: Any) -> SafeString:
    """A definition version's status as glyph, word and color."""
    return _state(*MARKS.get(version.status, ("", "◌", "draft")))
