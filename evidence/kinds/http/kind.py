"""Any HTTP API as a kind of source: one GET each, with JSON for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence.bounds import Limits
from evidence.errors import Problem, Refused
from evidence.kinds.fields import SITE, Field, accepts
from evidence.kinds.http import client, completeness, hosts, proving, reading, request, site
from evidence.kinds.kind import Found, request_of
from evidence.layers import Attack
from evidence.stating import Proven, Seen, unreached

if TYPE_CHECKING:
    from evidence.contracts import Contract

WRITES = "writes_refused"


class Http:
    """A server of which nothing is known but its address.

    A result is the answer's object, unchanged. An answer that is a list comes as {"status": "success", "data": […]}, in
    the envelope that the first version of Alertmanager's API had around the list which its second one gives bare.
    """

    name = "http"
    title = "Any HTTP API that answers in JSON"
    fields = (
        *SITE,
        Field("probe", "Path that the credential is tried on", "A plain path that answers 200, like /status.",
              is_needed=True),
        accepts((WRITES,)),
    )  # fmt: skip
    attacks = (Attack("Writing through the API", (WRITES,), proving.CLIENT), *proving.ATTACKS)
    codes: Mapping[str, str] = completeness.CODES
    source_example: Mapping[str, Any] = {
        "kind": "http",
        "url": "https://api.example.com/v1",
        "probe": "/status",
        "environment": "production",
        "reader_env": "MYAPI_READER_TOKEN",
        "credential": "bearer",
        "accepts": [WRITES],
    }
    tool_example: Mapping[str, Any] = {
        "request": {"path": "/jobs/{job_id}", "query": {"fields": "state,attempts"}, "whole": [{"single": "/job"}]},
    }

    def check_source(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body describes an API and what of it answers."""
        site.check(body, {WRITES}, {"probe"})
        if "probe" not in body:
            raise ValueError("probe is a path that answers 200, by which the credential is tried.")
        if not _is_path(body["probe"]):
            raise ValueError("probe is a plain path, which may have a query.")

    def check_tool(self, name: str, body: Mapping[str, Any]) -> None:
        """Raise ValueError with a sentence unless the body holds a request that can be sent."""
        request.check(body)

    def credentials(self, source: Definition) -> tuple[str, ...]:
        """The variables that the definition names."""
        return proving.credentials(source)

    def address(self, source: Definition) -> str:
        """Where it is, and as whom it is read. Raises Problem when the credential is unset."""
        return proving.address(source)

    def prove(self, source: Definition) -> Proven:
        """That the credential is let in. Whether the server would refuse a write of it, no API tells."""
        place = site.of(source.name, source.body)
        try:
            status = client.status(place, source.body["probe"])
            return proving.proven(source, str(place.origin), [_let_in(source, status), _writes(source)])
        except (Refused, Problem) as error:
            return unreached(error.sentence)

    def read(self, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits) -> Found:
        """One guarded GET. Raises Refused, or Problem for a credential that is not set."""
        asked_for = request_of(contract)
        asked, place = request.sent(asked_for, given), site.of(source.name, source.body)
        with reading.answered(place, given):
            reply = client.get(place, asked.target, limits=limits, headers=asked.headers)
        codes = completeness.incomplete(asked_for["whole"], asked.parameters, reply.headers, reply.value)
        return Found(_object(source, reply.value), bool(codes), codes)

    def strongest_reader(self, source: Definition) -> list[str]:
        """What to ask of whoever runs the API."""
        return [
            f"# The strongest reader of {source.name} is a credential of its own whose scopes only read.",
            "# No API tells what a credential may do, so let a gateway before it refuse every method but GET, and look",
            "# whether any GET of it changes something: some do. Then name writes_refused in the source's accepts.",
        ]


def _let_in(source: Definition, status: int) -> Seen:
    return Seen(
        "reached", "The reader's credential is let in.", status == 200, f"{source.body['probe']} answers {status}",
        "Look whether the credential is right and probe a path that answers 200.",
    )  # fmt: skip


def _writes(source: Definition) -> Seen:
    return proving.layer(
        source, WRITES, "The server itself refuses writes of this credential.", "no API tells it", "",
        "Use a credential that may only read, and let the source accept this fact by its name.",
    )  # fmt: skip


def _is_path(text: object) -> bool:
    try:
        return hosts.parse(f"https://host.example{text}").target == text
    except ValueError:
        return False


def _object(source: Definition, value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {"status": "success", "data": value}
    raise Refused("wrong_shape", f"{source.name} answered with a single value, and no object or list.")
