"""What the intake said about the incident, read as strictly as an answer."""

from gate.triage.cases import IncidentFacts
from gate.triage.grammars import conditions
from gate.triage.readers.document import Document, Unreadable


def subject_has(incident: IncidentFacts, key: str) -> bool:
    """Whether the subject names something of this kind at all."""
    return key in frozenset(incident.subject)


def subject_integer(incident: IncidentFacts, key: str) -> int:
    """A whole number of the subject. Raises Unreadable."""
    return _said(incident, "subject", key).integer(key)


def subject_text(incident: IncidentFacts, key: str) -> str:
    """A text of the subject. Raises Unreadable."""
    return _said(incident, "subject", key).text(key)


def subject_identifier(incident: IncidentFacts, key: str) -> str | int:
    """A text or a whole number of the subject, as it stands. Raises Unreadable."""
    return _said(incident, "subject", key).identifier(key)


def subject_keys(incident: IncidentFacts) -> frozenset[str]:
    """Everything that the subject is named by."""
    return frozenset(incident.subject)


def fact_integer(incident: IncidentFacts, key: str) -> int:
    """A whole number of the facts. Raises Unreadable."""
    return _said(incident, "facts", key).integer(key)


def fact_text(incident: IncidentFacts, key: str) -> str:
    """A text of the facts. Raises Unreadable."""
    return _said(incident, "facts", key).text(key)


def fact_has(incident: IncidentFacts, key: str) -> bool:
    """Whether the facts say something of this kind at all."""
    return key in frozenset(incident.facts)


def fact_condition(incident: IncidentFacts, key: str) -> conditions.Condition:
    """A condition of the facts, such as metric_good "< 0.05". Raises Unreadable."""
    text = fact_text(incident, key)
    condition = conditions.parse(text)
    if condition is None:
        raise Unreadable("", f"The incident's `{key}` is not an operator and a number.", text)
    return condition


def _said(incident: IncidentFacts, part: str, key: str) -> Document:
    said = dict(incident.subject) if part == "subject" else dict(incident.facts)
    if key not in frozenset(said):
        raise Unreadable("", f"The incident does not say its `{key}`, so nothing can be compared with it.", "not said")
    return Document(said)
