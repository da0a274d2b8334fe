"""A model asked once, in the protocol of its endpoint, through the client of the protocol's maker.

A client takes a second to load, and one is wanted by the answering worker alone: `load` does it when that starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

import httpx2

from gate.admission import reading
from gate.admission.answering.endpoint import Endpoint, Kind
from gate.admission.answering.parsing import NOT_IN_THE_FORM, NoAnswer
from gate.admission.reading import Unreadable

LONGEST_MODEL = 200
MODULES: Mapping[Kind, str] = {
    "openai": "gate.admission.answering.openai_chat",
    "anthropic": "gate.admission.answering.anthropic_messages",
}


@dataclass(frozen=True)
class Said:
    """The text that a model answered with, and how the endpoint calls the model that did."""

    text: str
    model: str


class Spoken(Protocol):
    """One protocol: both raise NoAnswer with a sentence that holds nothing of the server's own words."""

    def send(self, endpoint: Endpoint, http: httpx2.Client, message: str, schema: dict[str, Any]) -> bytes:
        """Ask once, and give the body of the answer as it came."""

    def text_of(self, body: Any) -> str:
        """The one text that a whole answer holds."""


def load(kind: Kind) -> Spoken:
    """The protocol of an endpoint, with its client."""
    return cast("Spoken", import_module(MODULES[kind]))


def ask(endpoint: Endpoint, http: httpx2.Client, message: str, schema: Mapping[str, Any]) -> Said:
    """Ask once. Raises NoAnswer."""
    spoken = load(endpoint.kind)
    try:
        # By its bytes: a client that makes an object of a body takes what fits and forgives the rest.
        body = reading.read(spoken.send(endpoint, http, message, dict(schema)), is_finite=True)
    except Unreadable as error:
        raise NoAnswer(NOT_IN_THE_FORM) from error
    text = spoken.text_of(body)
    return Said(text, _model(body, endpoint.model))


def _model(body: Mapping[str, Any], asked: str) -> str:
    said = body.get("model")
    is_name = isinstance(said, str) and said.isprintable() and 0 < len(said) <= LONGEST_MODEL
    return str(said) if is_name else asked
