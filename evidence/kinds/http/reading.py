"""One read of a server with fixed endpoints: what is asked, what comes back unchanged, and whether it is the whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from audit.models import Definition
from evidence.bounds import Limits
from evidence.errors import Refused
from evidence.kinds.http import client, endpoints, site
from evidence.kinds.http.client import Answered
from evidence.kinds.http.endpoints import Api
from evidence.kinds.http.site import Site
from evidence.kinds.kind import Found, request_of

if TYPE_CHECKING:
    from evidence.contracts import Contract

Incomplete = Callable[[Mapping[str, Any], Any], tuple[str, ...]]
# The server understood the request and found it wrong: Prometheus says 400 and 422, Loki 400.
WRONG = (400, 422)


def read(
    api: Api, source: Definition, contract: Contract, given: dict[str, Any], limits: Limits, incomplete: Incomplete
) -> Found:
    """The server's own answer. Raises Refused, or Problem for a credential that is not set."""
    request = request_of(contract)
    if endpoints.asks_freely(api, request) and source.body.get("query") is not True:
        raise Refused("query_off", f"The source {source.name} does not let agents write queries of their own.")
    asked, place = endpoints.sent(api, request, given), site.of(source.name, source.body)
    with answered(place, given):
        answer = client.get(place, asked.target, limits=limits, headers=api.headers).value
    if not isinstance(answer, dict):
        raise Refused("wrong_shape", f"{source.name} answered with something that is no object.")
    codes = incomplete({"endpoint": asked.endpoint, **asked.parameters}, answer)
    if "not_success" in codes:
        raise Refused("source_error", f"{source.name} answered with an error{_why(place, answer)}.")
    return Found(answer, bool(codes), codes)


@contextmanager
def answered(place: Site, given: Mapping[str, Any]) -> Iterator[None]:
    """What the server answers instead of what was asked for, as Refused with its own reason in it."""
    try:
        yield
    except Answered as told:
        code = "parameters" if given and told.status in WRONG else "source_error"
        why = _why(place, told.value) or _words(place, told.text)
        raise Refused(code, f"{place.name} answered with {told.status}{why}.") from told


def _why(place: Site, value: Any) -> str:
    """The server's own reason, as both kinds of server state one."""
    match value:
        case {"errorType": str(kind), "error": str(error)}:
            return _words(place, f"{kind}: {error}")
        case {"error": str(error)} | {"message": str(error)}:
            return _words(place, error)
    return ""


def _words(place: Site, text: str) -> str:
    said = client.said(place, text).rstrip(".")
    return f": {said}" if said else ""
