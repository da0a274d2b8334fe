"""Log lines: text for people at a terminal, JSON for programs. Secrets are masked in both."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from audit import masking, work
from gate.config import environment


def chosen_format() -> str:
    """COUNTERSEAL_LOG; without it text on a terminal and JSON elsewhere. Raises ImproperlyConfigured."""
    chosen = environment.text("COUNTERSEAL_LOG", "text" if sys.stderr.isatty() else "json")
    if chosen not in ("text", "json"):
        raise ImproperlyConfigured(f"COUNTERSEAL_LOG must be text or json, not {chosen!r}.")
    return chosen


class TextFormatter(logging.Formatter):
    """One line, and the traceback below it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with what the process is at work on at its end."""
        doing = "".join(f" {name}={_one_line(value)}" for name, value in work.about().items())
        return str(masking.mask(super().format(record) + doing))


def _one_line(text: str) -> str:
    # A subject may be a name that somebody chose; it must not begin a line of its own.
    return text if text.isprintable() else ascii(text)


class JSONFormatter(logging.Formatter):
    """One JSON object per line, whatever the message holds."""

    def format(self, record: logging.LogRecord) -> str:
        """The line: time, level, logger, message, process, and what the process is at work on."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            "process": settings.PROCESS,
            **work.about(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(masking.mask(line), ensure_ascii=False)


FORMATTERS: dict[str, type[logging.Formatter]] = {"text": TextFormatter, "json": JSONFormatter}
