"""How a verification is put into words."""

from __future__ import annotations

from audit.verify.findings import CODES
from audit.verify.run import Verification


def summary(verification: Verification) -> str:
    """What was looked at, what it showed about integrity and about completeness, and what else is worth knowing."""
    report = verification.report
    pruned = f", {verification.claims.pruned} dropped by retention" if verification.claims.pruned else ""
    lines = [f"{verification.entries} entries, {verification.unsealed} of them not sealed yet{pruned}."]
    sealed = "what is sealed is what was written" if verification.unsealed else "what is there is what was written"
    lines += [f"Integrity: {_answer(report.integrity, sealed)}"]
    if verification.is_selection:
        lines += [f"Completeness: {_answer(report.completeness, 'not claimed by a selection')}"]
    else:
        lines += [f"Completeness: {_answer(report.completeness, 'nothing is missing')}"]
    lines += [f"  {code} × {count}: {CODES[code]}" for code, count in sorted(report.counts.items())]
    lines += [f"Note: {printable(sentence)}" for sentence in report.information]
    return "\n".join(lines)


def _answer(findings: int, when_clean: str) -> str:
    return f"{findings} findings." if findings else f"{when_clean}."


def printable(text: str) -> str:
    """A text that shows what it holds: nothing in it steers a terminal."""
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape", "surrogatepass").decode() for letter in text
    )
