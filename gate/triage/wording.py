"""Filling a check's sentences from the incident: how long, since when, of what. Pure."""

from __future__ import annotations

from collections import defaultdict

from gate.triage.cases import IncidentFacts
from gate.triage.readers.document import shown, storable


class Wording:
    """The words that a title may use: {ref}, {subject}, {watch_from}, {recurrence}, {lag}, {freshness}, and facts."""

    def __init__(self, incident: IncidentFacts) -> None:
        known = {key: plain(value) for key, value in sorted({**incident.facts, **incident.subject}.items())}
        self._words: defaultdict[str, str] = defaultdict(lambda: "?", known)
        self._words.update(
            ref=incident.ref,
            subject=", ".join(f"{key} {plain(value)}" for key, value in sorted(incident.subject.items())),
            watch_from=incident.watch_from.strftime("%d %b %H:%M:%S UTC"),
            recurrence=elapsed(incident.recurrence_seconds),
            lag=elapsed(incident.ingestion_lag_seconds),
            freshness=elapsed(incident.freshness_seconds),
        )

    def fill(self, template: str) -> str:
        """The sentence with its words."""
        return template.format_map(self._words)


def plain(value: object) -> str:
    """A value of the incident inside a sentence; backticks would start a code span."""
    text = value if isinstance(value, str) else shown(value)
    return storable(text[:80]).replace("`", "'")


def elapsed(seconds: float) -> str:
    """A duration as people say it: 3 h, 5 min, 1 h 10 min, 40 s."""
    whole = int(seconds)
    hours, minutes, rest = whole // 3600, whole % 3600 // 60, whole % 60
    parts = [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (rest, "s")) if number > 0]
    return " ".join(parts) if parts else "0 s"
