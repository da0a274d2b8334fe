"""Small words and marks that every page uses."""

from datetime import datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

STEPS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (float("inf"), 86_400, "d"))


@register.filter
def age(moment: datetime) -> str:
    """How long ago, in one unit: 48 min. The future reads the same way."""
    seconds = abs((timezone.now() - moment).total_seconds())
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
    """A number with its noun: "1 row", "2 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@register.filter
def allowed(user: Any, permission: str) -> bool:
    """Whether a person may do an act of the permission matrix."""
    return bool(user.has_perm(permission))
