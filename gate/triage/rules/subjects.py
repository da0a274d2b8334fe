"""What an incident's subject must have in common with the arguments of a call, whatever the tool."""

from __future__ import annotations

from gate.triage.readers import incident as said
from gate.triage.readers.document import Answer, Unreadable
from gate.triage.rules.language import Case, Judgment

# Said of the alert, not of the thing: no answer about the thing can show it, and it makes the thing no other.
ABOUT_THE_ALERT = frozenset(("alertname", "alarm", "alarm_name", "AlarmName", "severity", "error", "pattern", "title",
                             "metric", "threshold", "rule_uid", "ruleUid", "rule_id", "alert_id"))  # fmt: skip


def the_only(keys: tuple[str, ...], there: frozenset[str], what: str) -> str:
    """The one of several spellings that is used. Raises Unreadable for none and for two, which may disagree."""
    used = [key for key in keys if key in frozenset(there)]
    if len(used) != 1:
        names = ", ".join(used) if len(used) > 1 else "none"
        raise Unreadable("", f"{what} must be said exactly once, as one of {', '.join(keys)}.", names)
    return used[0]


def nothing_else_asked(answer: Answer, case: Case, known: frozenset[str]) -> Judgment:
    """Any further argument must be part of the subject, with the subject's own value: it says where, not which."""
    for key in sorted(answer.args.keys() - known):
        if answer.args.is_null(key):
            continue  # not given: many tools write out all that they have
        if not said.subject_has(case.incident, key):
            return Judgment(False, key, f"`{key}` was asked for too, which narrows or moves the question.")
        if answer.args.identifier(key) != said.subject_identifier(case.incident, key):
            return Judgment(False, f"{answer.args.identifier(key)}", f"`{key}` is not that of the incident.")
    return Judgment(True, "", "")


def asked_in_its_region(answer: Answer, case: Case) -> Judgment:
    """Where the subject says its region, that was asked: things of the same name live in others."""
    if not said.subject_has(case.incident, "region"):
        return Judgment(True, "", "")
    if not answer.args.has("region"):
        return Judgment(False, "no region", "the incident is about one region, and the question does not say which.")
    is_its = answer.args.text("region") == said.subject_text(case.incident, "region")
    return Judgment(is_its, answer.args.text("region"), "another region was asked than that of the incident.")


def nothing_left_out(answer: Answer, case: Case, compared: frozenset[str]) -> Judgment:
    """Whatever else the subject is named by must have been asked for: another cluster has jobs of the same name."""
    named = said.subject_keys(case.incident) - compared - ABOUT_THE_ALERT
    for key in sorted(named):
        if key not in frozenset(answer.args.keys()):
            return Judgment(False, key, f"the incident is about one `{key}`, and the question does not say which.")
        if answer.args.identifier(key) != said.subject_identifier(case.incident, key):
            return Judgment(False, f"{answer.args.identifier(key)}", f"`{key}` is not that of the incident.")
    return Judgment(True, "", "")
