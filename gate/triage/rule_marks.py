"""How rules, their verdicts and their files are named on pages."""

from __future__ import annotations

import difflib

from audit import marked_json
from gate.triage.rules import registry
from gate.triage.rules.language import Rule

# Class, glyph and word of a verdict.
GLYPHS = {"pass": ("state--ok", "✓", "Pass"), "fail": ("state--bad", "✕", "Fail"), "": ("", "–", "not known")}


def about(rule: Rule) -> str:
    """The first line of a rule's file, which says what it is about."""
    first = registry.file_of(rule).read_text().split("\n", 1)[0]
    return first.strip('"').rstrip(".")


def source(rule: Rule) -> str:
    """The text of a rule's file, with nothing in it that could pass for something else."""
    return "\n".join(map(marked_json.undisguised, registry.file_of(rule).read_text().splitlines()))


def source_diff(older: Rule, newer: Rule) -> list[str]:
    """The lines of a unified diff between two rule files."""
    before, after = (registry.file_of(rule).read_text().split("\n") for rule in (older, newer))
    return [marked_json.undisguised(line) for line in difflib.unified_diff(before, after, lineterm="", n=3)][2:]
