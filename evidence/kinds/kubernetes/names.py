"""Names and selectors of Kubernetes, read strictly, so that none of them becomes a path, another selector or a list.

Sources: the rules for names (RFC 1123 labels and subdomains), and the grammars of label and field selectors.
"""

from __future__ import annotations

import re
from typing import Any

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
LABEL = re.compile(_LABEL, re.ASCII)
SUBDOMAIN = re.compile(rf"{_LABEL}(?:\.{_LABEL})*", re.ASCII)
LONGEST_NAME = 253
LONGEST_SELECTOR = 1_000
_VALUE = r"(?:[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?"
_KEY = rf"(?:{_LABEL}(?:\.{_LABEL})*/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{{0,61}}[A-Za-z0-9])?"
# Spaces are taken for good (*+): around a value that may be empty, each could else be read in two ways, and a text of
# many such places in more ways than could ever be tried.
_SET = rf"{_KEY}\s++(?:in|notin)\s++\(\s*+{_VALUE}(?:\s*+,\s*+{_VALUE})*\s*+\)"
_REQUIREMENT = rf"\s*+(?:{_SET}|{_KEY}\s*+(?:==?|!=)\s*+{_VALUE}|!?{_KEY})\s*+"
LABELS = re.compile(rf"{_REQUIREMENT}(?:,{_REQUIREMENT})*", re.ASCII)
# Fields that the API server takes in selectors of the resources that are read here.
FIELDS = (
    "metadata.name", "metadata.namespace", "status.phase", "status.successful", "spec.nodeName", "spec.unschedulable",
    "type", "reason", "involvedObject.kind", "involvedObject.name", "involvedObject.namespace", "involvedObject.uid",
)  # fmt: skip
_FIELD = rf"(?:{'|'.join(map(re.escape, FIELDS))})(?:==?|!=)[A-Za-z0-9](?:[A-Za-z0-9_.:-]{{0,251}}[A-Za-z0-9])?"
SELECTED = re.compile(rf"{_FIELD}(?:,{_FIELD})*", re.ASCII)


def name(value: Any) -> str:
    """The name of an object. Raises ValueError with a sentence."""
    if not isinstance(value, str) or len(value) > LONGEST_NAME or SUBDOMAIN.fullmatch(value) is None:
        raise ValueError("A name is small letters, digits, - and ., like checkout-6c9.")
    return value


def label(value: Any, what: str = "A namespace") -> str:
    """The name of a namespace or container. Raises ValueError with a sentence."""
    if not isinstance(value, str) or LABEL.fullmatch(value) is None:
        raise ValueError(f"{what} is small letters, digits and -, like shop.")
    return value


def labels(value: Any) -> str:
    """A label selector. Raises ValueError with a sentence."""
    if not isinstance(value, str) or len(value) > LONGEST_SELECTOR or LABELS.fullmatch(value) is None:
        raise ValueError("A label selector is like app=checkout,tier in (web, api),!canary.")
    return value


def fields(value: Any) -> str:
    """A field selector. Raises ValueError with a sentence."""
    if not isinstance(value, str) or len(value) > LONGEST_SELECTOR or SELECTED.fullmatch(value) is None:
        raise ValueError(f"A field selector compares {', '.join(FIELDS)} by = or !=.")
    return value
