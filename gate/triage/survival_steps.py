"""The steps of an investigation: those of the trace that was uploaded, or those that the log has of it.

Out of the log, a trace is the briefing, every finished call with what was asked and answered, the notes of the findings
and the answer. What an agent thought in between is in an uploaded trace alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audit import reading
from audit.kinds import Kind
from audit.models import Entry
from evidence.exact_json import dumps
from gate.triage import traces
from gate.triage.models import Investigation
from gate.triage.trace_models import Trace

FORMAT = "the log"
# What an agent is briefed with that says something about the matter; the rest is how its work is set up.
BRIEFED = ("title", "subject", "facts", "members", "began_at", "watch_from", "guidance")


@dataclass
class Run:
    """Steps for the measures, and beside each of them the entry that it stands for, where there is one."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    entries: list[Entry | None] = field(default_factory=list)
    left_out: list[tuple[Entry, str]] = field(default_factory=list)  # entries that cannot be read, and why
    trace: Trace | None = None

    @property
    def size(self) -> int:
        """How many characters it has."""
        return sum(len(step["content"]) for step in self.steps)

    def add(self, kind: str, content: str, entry: Entry | None = None, **named: str) -> None:
        self.steps.append({"type": kind, "content": content, **{key: value for key, value in named.items() if value}})
        self.entries.append(entry)


def of_trace(trace: Trace) -> Run:
    """The steps of an uploaded trace that still has its content, with the entries of the log that answered the same."""
    collected = traces.steps_of(trace)
    return Run(collected.steps, list(_recognized(trace.investigation, collected.steps)), [], trace)


def of_log(investigation: Investigation) -> Run:
    """The steps that the log has of an investigation."""
    run = Run()
    run.add("user", _briefing(investigation.briefing.get("offered", {})))
    calls = _calls(investigation)
    contents = reading.contents_of(calls)
    for entry in calls:
        _add_call(run, entry, contents[entry.pk])
    for finding in investigation.findings.all():
        if finding.note:
            run.add("reasoning", finding.note)
    if investigation.answer:
        run.add("assistant", investigation.answer)
    return run


def _calls(investigation: Investigation) -> list[Entry]:
    found = Entry.objects.filter(kind=Kind.CALL_FINISHED, run_id=str(investigation.pk), incident_id__isnull=False)
    return list(found.filter(incident_id=investigation.incident_id).order_by("seq"))


def _add_call(run: Run, entry: Entry, content: reading.Content) -> None:
    if not content.is_readable:
        run.left_out.append((entry, content.why))
        return
    run.add("tool_call", _text(content.args), entry, tool=entry.tool)
    run.add("tool_result", _text(content.result), entry, tool=entry.tool, source=entry.source, evidence_id=entry.ref)


def _briefing(offered: Mapping[str, Any]) -> str:
    return _text({key: offered[key] for key in BRIEFED if offered.get(key)})


def _text(value: Any) -> str:
    """A value as people read it: the fields of an object one below the other."""
    return _indented(value, "")


def _indented(value: Any, indent: str) -> str:
    inner = f"{indent}  "
    if isinstance(value, Mapping) and value:
        fields = (f"{inner}{_scalar(str(key))}: {_indented(child, inner)}" for key, child in value.items())
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(f"{inner}{_indented(child, inner)}" for child in value) + f"\n{indent}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    # A text in its own script; half a pair of surrogates could be shown by nothing.
    if isinstance(value, str) and not value.isascii() and value.isprintable():
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return dumps(value)


def _recognized(investigation: Investigation, steps: Sequence[Mapping[str, Any]]) -> Iterator[Entry | None]:
    """The entry of each result that names one as its evidence: the client's account alone proves nothing."""
    known = {entry.ref: entry for entry in _calls(investigation)}
    for step in steps:
        yield known.get(str(step.get("evidence_id", "")))
