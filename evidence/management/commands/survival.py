"""`manage.py survival FILE|- [--format auto] [--finer] [--json] [--fail-under R]`: what became of what was read."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from evidence.survival import analyze
from evidence.survival.fields import analyze_finer
from evidence.survival.formats import FORMATS, decoded, read_trace
from evidence.survival.formats.collected import Collected, TraceError
from evidence.survival.formats.reading import AUTO
from evidence.survival.grounding import UNSUPPORTED, ground_answer

UNDER, NO_TRACE = 1, 2
LIMITATION = "It measures overlap of words, and cannot show what a text relied on, or that it relied on nothing."


class Command(BaseCommand):
    """Exits 0 with a report, 1 when it is under what `--fail-under` asks, 2 when the file is no trace."""

    help = (
        "Show which evidence in an agent's trace is repeated in later steps and in the last answer. Needs no database. "
        "Exits 1 when final_answer_survival_ratio is under --fail-under, 2 when the file is not a trace."
    )
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a trace, or - for standard input")
        parser.add_argument(
            "--format", default=AUTO, dest="form", choices=[AUTO, *FORMATS], help="found out by default"
        )
        parser.add_argument("--finer", action="store_true", help="the finer measure and the answer's facts as well")
        parser.add_argument("--json", action="store_true", dest="as_json", help="the report as JSON, nothing else")
        parser.add_argument("--fail-under", type=float, metavar="R", help="the least share of units in the last answer")

    def handle(
        self, *args: Any, file: str, form: str, finer: bool, as_json: bool, fail_under: float | None, **options: Any
    ) -> None:
        try:
            collected = read_trace(_text(file), form)
        except TraceError as error:
            raise CommandError(error.sentence, returncode=NO_TRACE) from error
        report = analyze(collected.steps)
        more = _finer(collected) if finer else None
        if as_json:
            # Under its own key, so that neither measure is taken for the other.
            self.stdout.write(json.dumps(report if more is None else {"compatible": report, **more}))
        else:
            self.stdout.write("\n".join([*_lines(collected, report), *(_finer_lines(more) if more else ())]))
        _check(report["final_answer_survival_ratio"], fail_under)


def _text(file: str) -> str:
    try:
        raw = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise TraceError(f"{file} cannot be read: {error.strerror}.") from error
    return decoded(raw)


def _finer(collected: Collected) -> dict[str, Any]:
    return {"finer": analyze_finer(collected.steps), "grounding": ground_answer(collected.steps)}


def _finer_lines(more: Mapping[str, Any]) -> Iterator[str]:
    finer, grounding = more["finer"], more["grounding"]
    yield ""
    yield f"The finer measure ({finer['measure']}):"
    yield f"{'evidence':32} {'pieces':>6} {'later':>6} {'answer':>6} {'calls':>6}"
    for record in finer["evidence"]:
        label = _printable(f"step {record['step']} {record['tool'] or record['source'] or ''}")[:32]
        counts = " ".join(f"{record[key]:6}" for key in ("pieces", "surviving", "in_answer", "in_actions"))
        yield f"{label:32} {counts}" if record["class"] == "pieces" else f"{label:32} an acknowledgement"
    yield (
        f"{finer['sources_surviving']} of {finer['sources']} pieces of evidence are met again in later steps, "
        f"{finer['sources_in_actions']} in calls."
    )
    if grounding:
        yield ""
        yield "Facts of the last answer: " + ", ".join(f"{n} {status}" for status, n in grounding["counts"].items())
        yield from (
            f"  unsupported: {_printable(fact['text'])}" for fact in grounding["facts"] if fact["status"] == UNSUPPORTED
        )
    yield finer["limitation"]


def _check(ratio: float, fail_under: float | None) -> None:
    # Written so that a limit which is no number is under nothing, and nothing passes it.
    if fail_under is not None and not ratio >= fail_under:
        sentence = f"The last answer repeats {ratio:.1%} of the evidence units, which is under {fail_under:.1%}."
        raise CommandError(sentence, returncode=UNDER)


def _lines(collected: Collected, report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{collected.format}: {collected.kept} of {collected.records} records give {report['steps']} steps."
    for reason, count in sorted(collected.skipped.items()):
        yield f"  {count} skipped: {reason}"
    yield ""
    yield f"{'evidence':32} {'units':>6} {'later':>6} {'answer':>6}  last seen"
    for record in report["evidence"]:
        yield _row(record)
    yield ""
    yield _summary(report)
    yield LIMITATION


def _row(record: Mapping[str, Any]) -> str:
    name = record["tool"] or record["source"] or record["source_type"]
    label = _printable(f"{record['step_id']} {name}")[:32]
    last = f"{record['steps_until_last_reuse']} steps later" if record["last_reuse_step"] else "no overlap detected"
    last = last if record["evidence_units"] else "too short to tell"
    return (
        f"{label:32} {record['evidence_units']:6} {record['reused_units']:6} {record['final_reused_units']:6}  {last}"
    )


def _printable(text: str) -> str:
    """Names come from the trace: nothing in one may move the cursor or color a terminal."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)


def _summary(report: Mapping[str, Any]) -> str:
    return (
        f"{report['evidence_sources']} pieces of evidence, {report['evidence_units']} units: "
        f"{report['overall_survival_ratio']:.1%} in later steps, "
        f"{report['final_answer_survival_ratio']:.1%} in the last answer."
    )
