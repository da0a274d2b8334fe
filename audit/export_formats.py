"""The forms in which the log leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from audit import export_csv, ocsf
from audit.export_lines import Line


@dataclass(frozen=True)
class Format:
    """One form: how a line of an export is written."""

    name: str
    title: str
    content_type: str
    ending: str  # of a file's name
    render: Callable[[Line], str]


def _jsonl(line: Line) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def _ocsf(line: Line) -> str:
    return json.dumps(ocsf.event(line), separators=(",", ":")) + "\n"


FORMATS = {
    form.name: form
    for form in (
        Format("jsonl", "JSONL", "application/x-ndjson", "jsonl", _jsonl),
        Format("csv", "CSV", "text/csv; charset=utf-8", "csv", export_csv.render),
        Format("ocsf", "OCSF", "application/x-ndjson", "ocsf.jsonl", _ocsf),
    )
}
JSONL = FORMATS["jsonl"]
