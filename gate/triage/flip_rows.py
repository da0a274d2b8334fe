"""The flips of a trial, each with its evidence and its signatures, as one person may act on them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from gate.people.models import Person
from gate.triage.presenting import Part, dotted, parts
from gate.triage.rule_marks import GLYPHS
from gate.triage.rule_models import Flip, FlipSignature, Trial

MOST = 50


class FlipRow:
    """A flip with its evidence and its signatures."""

    def __init__(self, flip: Flip, signatures: Sequence[FlipSignature], person: Person) -> None:
        self.flip, self.signatures, self.person = flip, signatures, person

    @property
    def is_to_sign(self) -> bool:
        is_mine = any(one.by_id == self.person.pk for one in self.signatures)
        return self.flip.kind == Flip.Kind.FAIL_TO_PASS and not self.flip.is_known_false and not is_mine

    @property
    def marks(self) -> Sequence[tuple[str, str, str]]:
        """What it was, and what it is with this version."""
        after = "pass" if self._is_pass else "fail"
        before = {"pass_to_fail": "pass", "fail_to_pass": "fail"}.get(self.flip.kind, after)
        return [GLYPHS[before], GLYPHS[after]]

    @property
    def _is_pass(self) -> bool:
        return self.flip.kind == Flip.Kind.FAIL_TO_PASS or self.flip.is_known_false

    @property
    def checks(self) -> Sequence[Mapping[str, Any]]:
        """The new verdict's checks, with what they read."""
        return [
            {
                "number": check["number"], "title_parts": parts(check["title"]), "seen": check["seen"],
                "outcome": check["outcome"], "why_parts": parts(check["why"]),
                "reads": [(ref, [dotted(one) for one in read]) for ref, read in check["paths"].items()],
            }
            for check in self.flip.checks
        ]  # fmt: skip

    @property
    def reasons(self) -> Sequence[Sequence[Part]]:
        return [parts(reason["sentence"]) for reason in self.flip.reasons[:3]]


def of(trial: Trial, person: Person) -> Sequence[FlipRow]:
    """What the trial found that is not only another receipt: what blocks, what waits to be signed, and the rest.

    All of it: whoever looks at a part signs a part, so the page cuts only what nobody has to sign.
    """
    found = trial.flips.exclude(kind=Flip.Kind.RECEIPT, is_known_false=False).select_related("investigation")
    by_key: defaultdict[tuple[str, str], list[FlipSignature]] = defaultdict(list)
    for one in FlipSignature.objects.filter(definition=trial.definition_id).select_related("by"):
        by_key[(one.subject, one.receipt_sha256)].append(one)
    rows = [FlipRow(flip, by_key[(flip.subject, flip.receipt_sha256)], person) for flip in found.order_by("pk")]
    return sorted(rows, key=lambda row: (not row.flip.is_known_false, not row.is_to_sign))
